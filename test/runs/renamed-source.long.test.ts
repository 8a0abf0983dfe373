import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { sumRefused } from '../../src/reports/doubts/list-doubts.ts';
import { CODES, openWorkshop, toCsv, type Workshop } from './workshop.ts';

const flowOf = (source: string) => `
sources:
  ${source}: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: ${source}, brand_id: 4819, codes: ./codes.csv, revenue: total}
`;

/** Returns the orders of the job, as analysts count them: `source: orders disposition reason`. */
async function funnelOf({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ said: string }>`
    select concat_ws(' ', source || ':', count(*), disposition, disposition_reason) as said
    from bi.orders_attributed group by source, disposition, disposition_reason order by 1`.execute(db);
  return rows.map(({ said }) => said);
}

async function unownedOf({ db }: Workshop): Promise<readonly unknown[]> {
  const { rows } = await sql`
    select code, sum(orders)::int as orders, sum(amount)::float8 as amount from bi.unattributed_revenue group by 1`.execute(
    db,
  );
  return rows;
}

const refusedOf = async ({ db }: Workshop) => (await sumRefused(db)).map(({ entries }) => entries);

it('a renamed source counts each order once, and what was refused under its old name is corrected under the new one', async () => {
  const shop = await openWorkshop({ flow: flowOf('shop') });
  const rename = (from: string, to: string): void => {
    const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    shop.write('pipeline.yaml', text.replace(flowOf(from), flowOf(to)));
  };
  shop.drop(
    'orders.csv',
    toCsv([
      { id: 'sent' },
      { id: 'refused', code: 'BEN15' },
      { id: 'unowned', code: 'NOBODYS' },
      { id: 'organic', code: '' },
    ]),
  );
  const ofBen = { body: { deal_id: 'DEALBEN' } };
  await shop.sandbox.setFaults([{ kind: 'error_before', match: ofBen, status: 422, text: 'No such deal.' }]);
  expect((await shop.run()).exitCode).toBe(3);

  rename('shop', 'nl-shop');
  expect((await shop.run()).exitCode).toBe(3);
  expect(await funnelOf(shop)).toEqual([
    'nl-shop: 1 excluded known_from_another_source',
    'nl-shop: 1 organic',
    'nl-shop: 1 rejected No such deal.',
    'nl-shop: 1 unattributed unknown_code',
    'shop: 1 accepted',
    'shop: 3 excluded source_removed',
  ]);
  expect(await unownedOf(shop)).toEqual([{ code: 'NOBODYS', orders: 1, amount: 10 }]);
  expect(await refusedOf(shop)).toEqual([1]);
  const checks = await shop.cli('checks', '--json');
  expect(checks.stdout).toContain('"source":"nl-shop"');
  expect(checks.stdout).not.toContain('"source":"shop"');

  // The cause is fixed under the new name.
  shop.write('codes.csv', CODES.replace('ben.test,DEALBEN', 'zoe.test,DEALZOE'));
  expect((await shop.run()).exitCode).toBe(0);
  expect(await shop.posted()).toEqual(['refused', 'sent']);
  expect(await refusedOf(shop)).toEqual([]);
  expect((await funnelOf(shop)).filter((line) => line.endsWith(' accepted'))).toEqual([
    'nl-shop: 1 accepted',
    'shop: 1 accepted',
  ]);

  // Back to the old name: the job decides again, and posts nothing twice.
  rename('nl-shop', 'shop');
  expect((await shop.run()).exitCode).toBe(0);
  expect(await funnelOf(shop)).toEqual([
    'nl-shop: 1 accepted',
    'nl-shop: 3 excluded source_removed',
    'shop: 1 accepted',
    'shop: 1 excluded known_from_another_source',
    'shop: 1 organic',
    'shop: 1 unattributed unknown_code',
  ]);
  expect(await unownedOf(shop)).toEqual([{ code: 'NOBODYS', orders: 1, amount: 10 }]);
  expect(await shop.posted()).toEqual(['refused', 'sent']);
});

const OWN = `
title: Own orders
lacks: [consent]
columns:
  order_id: [order_id]
  status: [status]
  currency: [currency]
  total: [total]
  refunded: [refunded]
  codes: [code]
  placed_at: [placed_at]
required: [order_id, total]
times: [iso]
codes: { split: "," }
status: { credited: [paid], known: [cancelled] }
`;

it.each(['total', 'total_less_refunds'])(
  'what becomes of an order after its source was renamed changes what it earns, with revenue: %s',
  async (revenue) => {
    const ownFlow = (source: string) =>
      flowOf(source)
        .replace('layout: generic', 'layout: own')
        .replace('revenue: total', `revenue: ${revenue}`);
    const shop = await openWorkshop({ flow: ownFlow('shop') });
    mkdirSync(join(shop.folder, 'layouts'), { recursive: true });
    shop.write('layouts/own.yaml', OWN);
    const drop = (name: string, ...rows: readonly string[]): void =>
      shop.drop(
        name,
        `order_id,status,total,refunded,currency,code,placed_at\n${rows.map((row) => `${row},EUR,MIA10,2026-10-01T10:00:00Z\n`).join('')}`,
      );
    const netOf = async (): Promise<number> => {
      const { rows } = await sql<{ net: number }>`
        select sum(net_amount)::float8 as net from bi.returns_monthly`.execute(shop.db);
      return rows[0]?.net ?? 0;
    };
    drop('orders-1.csv', 'kept,paid,100,', 'partly,paid,100,', 'fully,paid,100,', 'cancelled,paid,100,');
    expect((await shop.run()).exitCode).toBe(0);
    expect(await netOf()).toBe(400);

    const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    shop.write('pipeline.yaml', text.replace(ownFlow('shop'), ownFlow('nl-shop')));
    // The first one arrives before the first run under the new name, the others after it.
    drop('orders-2.csv', 'fully,paid,100,100');
    await shop.run();
    expect(await netOf()).toBe(300);
    drop('orders-3.csv', 'partly,paid,100,30', 'cancelled,cancelled,100,');
    await shop.run();
    expect(await netOf()).toBe(170);
    drop('orders-4.csv', 'partly,paid,100,', 'cancelled,paid,100,');
    await shop.run();
    expect(await netOf()).toBe(300);
    expect(await shop.posted()).toEqual(['cancelled', 'fully', 'kept', 'partly']);
  },
);

it('an order that waits under the old name is withdrawn if the new name cancels it, and counts once if it returns', async () => {
  const shop = await openWorkshop({ flow: flowOf('shop').replace('generic', 'own') });
  mkdirSync(join(shop.folder, 'layouts'), { recursive: true });
  shop.write('layouts/own.yaml', OWN);
  const drop = (name: string, status: string): void =>
    shop.drop(
      name,
      `order_id,status,total,refunded,currency,code,placed_at\n${['first,paid', `waits,${status}`].map((row) => `${row},100,,EUR,MIA10,2026-10-01T10:00:00Z\n`).join('')}`,
    );
  drop('orders-1.csv', 'paid');
  await shop.run('--limit', '1');
  const states = async () => {
    const { rows } = await sql<{ said: string }>`
      select concat_ws(' ', source, state, state_reason) as said from ledger.entries where order_id = 'waits'`.execute(
      shop.db,
    );
    return rows.map(({ said }) => said);
  };
  expect(await states()).toEqual(['shop ready']);

  const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
  shop.write(
    'pipeline.yaml',
    text.replace('  shop:', '  nl-shop:').replace('source: shop', 'source: nl-shop'),
  );
  drop('orders-2.csv', 'cancelled');
  await shop.run();
  expect(await states()).toEqual(['shop held no_longer_attributed']);
  expect(await shop.posted()).toEqual(['first']);

  drop('orders-3.csv', 'paid');
  await shop.run();
  expect(await states()).toEqual(['nl-shop accepted']);
  expect(await shop.posted()).toEqual(['first', 'waits']);
  expect(await funnelOf(shop)).toEqual([
    'nl-shop: 1 accepted',
    'nl-shop: 1 excluded known_from_another_source',
    'shop: 1 accepted',
    'shop: 1 excluded source_removed',
  ]);
  const { rows } = await sql<{ net: number }>`
    select sum(net_amount)::float8 as net from bi.returns_monthly`.execute(shop.db);
  expect(rows).toEqual([{ net: 200 }]);
});

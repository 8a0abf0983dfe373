import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { CODES, openWorkshop, type Workshop } from '../../runs/workshop.ts';

const FLOW = (told: string, zone = 'UTC', revenue = 'total_less_refunds') => `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: ${revenue}}
  tell: {kind: tell-corrections, of: orders, as: ${told}, from: 2026-01-01, time_zone: ${zone}, assigned_to: U7}
`;
/** Here it is another day than there, whatever the time is. */
const [EAST, WEST] = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'];

let files = 0;
async function state(shop: Workshop, ...orders: readonly string[]): Promise<void> {
  files += 1;
  shop.drop(
    `orders-${String(files).padStart(3, '0')}.csv`,
    `order_id,status,order_revenue,refunded_amount,currency,discount_codes,placed_at,updated_at\n${orders.map((order) => `${order},2026-10-01T10:00:00Z,2026-10-01T10:00:${String(files).padStart(2, '0')}Z\n`).join('')}`,
  );
  expect((await shop.cli('run', 'orders')).exitCode).toBeLessThanOrEqual(3);
}

async function tell(shop: Workshop, told: string, zone?: string, ...args: readonly string[]) {
  const path = `${shop.folder}/pipeline.yaml`;
  const before = readFileSync(path, 'utf8');
  const revenue = /revenue: (\w+)/.exec(before)?.[1];
  shop.write('pipeline.yaml', before.slice(0, before.indexOf('\nsources:')) + FLOW(told, zone, revenue));
  const ended = await shop.cli('run', 'tell', '--json', ...args);
  const finished = ended.stdout
    .split('\n')
    .filter((line) => line.includes('"run_finished"'))
    .map((line) => JSON.parse(line) as { counts: Record<string, number> });
  const { corrections, notes, ...rest } = finished[0]?.counts ?? {};
  const counts = Object.fromEntries(Object.entries(rest).filter(([, count]) => count > 0));
  return { exitCode: ended.exitCode, counts };
}

async function written(shop: Workshop): Promise<readonly Record<string, string>[]> {
  const { rows } = await sql<{ body: Record<string, string> }>`
    select body::json as body from ledger.entries where effect in ('note', 'task') order by entry_id`.execute(
    shop.db,
  );
  return rows.map(({ body }) => body);
}

it('a refund, an edit and a cancellation after posting are told in one note a deal and day, each once', async () => {
  const shop = await openWorkshop({ flow: FLOW('note', EAST) });
  await state(
    shop,
    'A1,paid,50.00,,EUR,MIA10',
    'A2,paid,30.00,,EUR,MIA10',
    'A3,paid,20.00,,EUR,BEN15',
    'A4,paid,10.00,,EUR,MIA10',
    'A6,paid,7.00,,EUR,MIA10',
  );
  expect(await tell(shop, 'note', EAST)).toEqual({ exitCode: 0, counts: {} });
  await state(
    shop,
    'A1,paid,50.00,12.50,EUR,MIA10',
    'A2,cancelled,30.00,,EUR,MIA10',
    'A3,paid,18.00,,EUR,BEN15',
    'A6,paid,7.00,7.00,EUR,MIA10',
  );
  expect(await tell(shop, 'note', EAST, '--dry-run')).toEqual({ exitCode: 0, counts: { ready: 4 } });
  expect(await tell(shop, 'note', EAST)).toEqual({ exitCode: 0, counts: { told: 4 } });
  const first =
    'Orders changed after they were credited. Their amounts in this service stay as they are; commissions are paid of the new ones.';
  expect(await written(shop)).toEqual([
    {
      deal_id: 'DEALBEN',
      note_description: `${first}\n- order A3: changed, 20.00 EUR to 18.00 EUR\nIn all: 20.00 EUR to 18.00 EUR`,
    },
    {
      deal_id: 'DEALMIA',
      note_description: `${first}\n- order A1: refunded, 50.00 EUR to 37.50 EUR\n- order A2: cancelled, 30.00 EUR to 0.00 EUR\n- order A6: refunded, 7.00 EUR to 0.00 EUR\nIn all: 87.00 EUR to 37.50 EUR`,
    },
  ]);
  // Another one on the same day waits for the next; an order whose amount is not known is not told.
  await state(shop, 'A1,paid,50.00,,EUR,MIA10', 'A4,mystery,10.00,,EUR,MIA10');
  expect(await tell(shop, 'note', EAST)).toEqual({
    exitCode: 0,
    counts: { told_before: 3, waiting: 1, held: 1 },
  });
  expect(await tell(shop, 'note', WEST)).toEqual({
    exitCode: 0,
    counts: { told: 1, told_before: 3, held: 1 },
  });
  expect((await written(shop)).at(-1)?.note_description).toContain(
    '\n- order A1: counts as it was credited, again, 50.00 EUR to 50.00 EUR\n',
  );
  expect((await tell(shop, 'note', WEST)).counts).toEqual({ told_before: 4, held: 1 });
  // Another owner of the code is no correction: the service goes on crediting the deal, and statements pay it.
  shop.write('codes.csv', CODES.replace('BEN15,4819,ben.test,DEALBEN', 'BEN15,4819,mia.test,DEALMIA'));
  await state(shop, 'A5,paid,10.00,,EUR,');
  const { rows } = await sql<{ kind: string }>`
    select kind from ledger.adjustments order by adjustment_id desc limit 1`.execute(shop.db);
  expect(rows).toEqual([{ kind: 'held' }]);
  expect((await tell(shop, 'note', EAST)).counts).toMatchObject({ held: 2 });
  expect((await written(shop)).filter(({ note_description: text }) => text?.includes('A3'))).toHaveLength(1);
  const log = await (await fetch(`${shop.sandbox.url}/_sandbox/log/requests`)).text();
  expect(log.split('\n').filter((line) => line.includes('create_note'))).toHaveLength(3);
});

it('a task says who has to do what until when, and a refused one is not sent again', async () => {
  const shop = await openWorkshop({ flow: FLOW('task') });
  await state(shop, 'B1,paid,50.00,,EUR,MIA10', 'B2,paid,30.00,,EUR,BEN15');
  await state(shop, 'B1,cancelled,50.00,,EUR,MIA10', 'B2,cancelled,30.00,,EUR,BEN15');
  await sql`update ledger.entries set deal_id = null where order_id = 'B2'`.execute(shop.db);
  await sql`delete from reporting.changed_earnings`.execute(shop.db);
  expect(await tell(shop, 'task')).toEqual({ exitCode: 3, counts: { told: 1, no_deal: 1 } });
  const [task] = await written(shop);
  expect(task).toMatchObject({
    deal_id: 'DEALMIA',
    tasktype: 'todo_task',
    task_title: 'Orders changed after they were credited: 1',
    assigned_to: 'U7',
  });
  expect(task?.deadline).toMatch(/^\d\d-\d\d-\d{4}$/);
});

it('what was told is not told again when a person decides so, and another decision is', async () => {
  const shop = await openWorkshop({ flow: FLOW('note', EAST) });
  await state(shop, 'C1,paid,50.00,,EUR,MIA10');
  await state(shop, 'C1,paid,50.00,12.50,EUR,MIA10');
  expect((await tell(shop, 'note', EAST)).counts).toEqual({ told: 1 });
  await state(shop, 'C1,paid,60.00,,USD,MIA10');
  expect((await tell(shop, 'note', WEST)).counts).toEqual({ held: 1 });
  const decide = async (comesTo: string) =>
    await shop.cli('statement', 'restated', '--as', comesTo, '--order', 'C1', '--reason', 'asked the shop');
  // It comes to what was told: 37.50 EUR.
  expect((await decide('sent')).exitCode).toBe(0);
  expect((await tell(shop, 'note', WEST)).counts).toEqual({});
  expect((await decide('returned')).exitCode).toBe(0);
  expect((await tell(shop, 'note', WEST)).counts).toEqual({ told: 1 });
  expect((await written(shop)).map(({ note_description: text }) => text?.split('\n')[1])).toEqual([
    '- order C1: refunded, 50.00 EUR to 37.50 EUR',
    '- order C1: refunded, 50.00 EUR to 0.00 EUR',
  ]);
});

it('a partial refund after posting is told with revenue: total, too, and what is left is what statements pay for', async () => {
  const shop = await openWorkshop({ flow: FLOW('note', EAST, 'total') });
  await state(
    shop,
    'D1,paid,50.00,,EUR,MIA10',
    'D2,paid,40.00,10.00,EUR,MIA10',
    'D3,paid,30.00,,EUR,MIA10',
    'D4,paid,20.00,,EUR,BEN15',
  );
  // What was refunded before is no correction, and what was not refunded is none either.
  expect((await tell(shop, 'note', EAST)).counts).toEqual({});
  await state(
    shop,
    'D1,paid,50.00,12.50,EUR,MIA10',
    'D3,paid,24.00,4.00,EUR,MIA10',
    'D4,paid,20.00,20.00,EUR,BEN15',
  );
  expect((await tell(shop, 'note', EAST)).counts).toEqual({ told: 3 });
  const lines = async () =>
    (await written(shop)).map(({ note_description: text }) => text?.split('\n').slice(1));
  const [ben, mia] = [
    ['- order D4: refunded, 20.00 EUR to 0.00 EUR', 'In all: 20.00 EUR to 0.00 EUR'],
    [
      '- order D1: refunded, 50.00 EUR to 37.50 EUR',
      '- order D3: refunded, 30.00 EUR to 20.00 EUR',
      'In all: 80.00 EUR to 57.50 EUR',
    ],
  ];
  expect(await lines()).toEqual([ben, mia]);
  expect((await tell(shop, 'note', WEST)).counts).toEqual({ told_before: 3 });
  // While it is not computed what an order comes to now, nothing is told of it.
  await sql`insert into reporting.changed_earnings (entry_id) select entry_id from ledger.entries where order_id = 'D1'`.execute(
    shop.db,
  );
  expect((await tell(shop, 'note', WEST)).counts).toEqual({ told_before: 2, held: 1 });
  await state(shop, 'D1,paid,50.00,,EUR,MIA10');
  expect((await tell(shop, 'note', WEST)).counts).toEqual({ told: 1, told_before: 2 });
  expect((await lines()).at(-1)?.[0]).toBe(
    '- order D1: counts as it was credited, again, 50.00 EUR to 50.00 EUR',
  );
  expect((await tell(shop, 'note', EAST)).counts).toEqual({ told_before: 3 });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { manyRows, openWorkshop, repeated, toCsv, type Workshop } from './workshop.ts';

const REFERRAL = 'new_influencer_referral';

const NAMED = `order_id,order_name,order_revenue,currency,discount_codes
5001,#1001,12.50,EUR,MIA10
5002,#1002,7.00,EUR,ZOE20
`;

/**
 * Opens a shop after a run that left one of three orders in doubt. `kind` decides whether the service has
 * processed it.
 */
async function openWithDoubt(
  kind: 'reset_after' | 'reset_before',
): Promise<{ shop: Workshop; entryId: string; order: string }> {
  const shop = await openWorkshop();
  shop.drop('orders.csv', toCsv(manyRows(3)));
  await shop.sandbox.setFaults([{ kind, operation: REFERRAL, count: 1 }]);
  const run = await shop.run();
  expect(run).toMatchObject({
    exitCode: 6,
    finished: { status: 'issues', counts: { entries: { accepted: 2, in_doubt: 1 } } },
  });
  const { rows } = await sql<{ id: string; order: string }>`
    select entry_id as id, order_id as order from ledger.entries where state = 'in_doubt'`.execute(shop.db);
  return { shop, entryId: rows[0]?.id ?? '', order: rows[0]?.order ?? '' };
}

describe('explain order', () => {
  it('shows file and line, attribution, attempts and answers for an order id or name', async () => {
    const shop = await openWorkshop();
    shop.drop('april.csv', NAMED);
    await shop.run();
    for (const which of ['5001', '#1001']) {
      const { exitCode, stdout } = await shop.cli('explain', 'order', which);
      expect(exitCode).toBe(0);
      expect(stdout).toContain('april.csv line 2');
      expect(stdout).toContain('MIA10');
      expect(stdout).toContain('DEALMIA');
      expect(stdout).toMatch(/attempt 1/);
      expect(stdout).toMatch(/accepted, HTTP 200/);
      expect(stdout).toContain('12.50 EUR');
    }
    const unowned = await shop.cli('explain', 'order', '#1002');
    expect(unowned.stdout).toContain('ZOE20');
    expect(unowned.stdout).toMatch(/unattributed|nobody/i);
    const events = (await shop.cli('explain', 'order', '5001', '--json')).stdout.trim().split('\n');
    expect(events).toHaveLength(1);
    expect(JSON.parse(events[0] ?? '')).toMatchObject({ event: 'order', order_id: '5001' });
  });

  it('shows a doubt, the decision about it and the second attempt', async () => {
    const { shop, entryId, order } = await openWithDoubt('reset_before');
    expect((await shop.cli('explain', 'order', order)).stdout).toMatch(/doubt/);
    await shop.cli('review', entryId, '--resend', '--reason', 'not in the dashboard', '--yes');
    await shop.run();
    const { stdout } = await shop.cli('explain', 'order', order);
    expect(stdout).toContain('not in the dashboard');
    expect(stdout).toMatch(/attempt 2: accepted/);
  });
});

describe('review', () => {
  it('--resend has the next run post the order again, exactly once', async () => {
    const { shop, entryId, order } = await openWithDoubt('reset_before');
    expect((await shop.posted()).length).toBe(2);
    // A doubt is never sent again automatically.
    expect((await shop.run()).exitCode).toBe(6);
    expect((await shop.posted()).length).toBe(2);
    expect((await shop.cli('review', entryId, '--resend', '--reason', 'x', '--yes')).exitCode).toBe(0);
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 1, already: 2, in_doubt: 0 } } },
    });
    await shop.run();
    expect((await shop.posted()).filter((id) => id === order)).toHaveLength(1);
    // A second approval of an accepted entry is refused.
    expect((await shop.cli('review', entryId, '--resend', '--reason', 'x', '--yes')).exitCode).toBe(2);
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('--accepted counts the order as accepted and never sends it again', async () => {
    const { shop, entryId } = await openWithDoubt('reset_after');
    expect((await shop.posted()).length).toBe(3);
    expect(
      (await shop.cli('review', entryId, '--accepted', '--reason', 'it is in the dashboard')).exitCode,
    ).toBe(0);
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { already: 3, in_doubt: 0 } } },
    });
    expect((await shop.cli('review')).exitCode).toBe(0);
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('--write-off holds the order and never sends it again', async () => {
    const { shop, entryId } = await openWithDoubt('reset_before');
    expect((await shop.cli('review', entryId, '--write-off', '--reason', 'four euros')).exitCode).toBe(0);
    expect((await shop.run()).finished).toMatchObject({
      counts: { entries: { already: 2, held: 1, in_doubt: 0 } },
    });
    expect((await shop.posted()).length).toBe(2);
  });
});

describe('rejected', () => {
  it('--export writes the original rows, and their corrected copies are credited by the next run', async () => {
    const shop = await openWorkshop();
    const bad = [
      { id: 'bad1', revenue: 'twelve' },
      { id: 'bad2', revenue: '1.2.3' },
    ];
    // The total below the rows is none of them, whatever it is called.
    const rows = [...manyRows(20), ...bad];
    shop.drop('orders.csv', `${toCsv(rows)}Suma,212.10,,,,\n`);
    expect(await shop.run()).toMatchObject({
      exitCode: 3,
      finished: { counts: { rows: 22, rejected_rows: 2, orders: 20 } },
    });
    expect((await shop.cli('explain', 'orders.csv')).stdout).toContain(
      'line 24: "Suma", the sum of the orders above',
    );
    expect((await shop.cli('explain', 'bad1')).stdout).toContain('Not read: line 22 of orders.csv could not');
    expect((await shop.cli('status')).stdout.replace(/\s+/g, ' ')).toContain(
      '2 rows in 1 file: This is not an amount',
    );
    const listed = await shop.cli('rejected');
    expect(listed.stdout).toContain('orders.csv line 22');
    expect(listed.stdout).toContain('order_revenue');
    expect((await shop.cli('rejected', '--export', 'fix.csv')).exitCode).toBe(0);
    const text = readFileSync(join(shop.folder, 'fix.csv'), 'utf8');
    expect(text.trim().split(/\r?\n/)).toEqual(toCsv(bad).trim().split('\n'));
    writeFileSync(
      join(shop.folder, 'exports', 'fixed.csv'),
      text.replace('twelve', '12.00').replace('1.2.3', '1.23'),
    );
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { counts: { files: 1, rejected_rows: 0, orders: 22, entries: { accepted: 2, already: 20 } } },
    });
    expect(repeated(await shop.posted())).toEqual([]);
    expect(await shop.posted()).toEqual(expect.arrayContaining(['bad1', 'bad2']));
    const settled = (await shop.cli('rejected')).stdout;
    expect(settled).toContain('No rejected row waits for a correction. 2 rejected rows are not listed');
    expect((await shop.cli('rejected', '--all')).stdout).toContain('orders.csv line 22');
    expect((await shop.cli('explain', 'bad1')).stdout).toContain('not used, and settled by a later file');
    expect((await shop.cli('status')).stdout).not.toContain('Rejected rows');
    // An older file that is read later says nothing about a newer row.
    await sql`update intake.source_files set aged_at = '2020-01-01' where uri like '%fixed.csv'`.execute(
      shop.db,
    );
    expect((await shop.cli('rejected')).stdout).toContain('orders.csv line 22');
    const { rows: open } = await sql`select from bi.rejected_rows where not is_settled`.execute(shop.db);
    expect(open).toHaveLength(2);
  });
});

it('each run ends with 3 while no row of a file could be used, until the order is stated', async () => {
  const shop = await openWorkshop();
  shop.drop('bad.csv', toCsv([{ id: 'bad1', revenue: 'twelve' }]));
  expect(await shop.run()).toMatchObject({ exitCode: 3 });
  expect(await shop.run()).toMatchObject({
    exitCode: 3,
    finished: { counts: { files: 0, rejected_rows: 0 } },
  });
  shop.drop('good.csv', toCsv([{ id: 'bad1', revenue: '12.00' }]));
  expect(await shop.run()).toMatchObject({ exitCode: 0 });
});

describe('status and runs', () => {
  it('show what each run did and what needs an operator', async () => {
    const { shop } = await openWithDoubt('reset_before');
    const status = await shop.cli('status');
    expect(status.stdout).toMatch(/in doubt/);
    const runs = await shop.cli('runs', '--json');
    const [run] = runs.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(run).toMatchObject({ event: 'run', status: 'issues', exit_code: 6 });
    shop.env.INFLUENCER_API_KEY = 'another-key';
    expect((await shop.run()).exitCode).toBe(4);
    expect((await shop.cli('runs')).stdout).toMatch(/failed/);
  });

  it('agree with the sandbox on the orders that were posted', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv(manyRows(12)));
    await shop.run('--limit', '5');
    const events = (await shop.cli('status', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(JSON.stringify(events)).toContain('"already"');
    const { rows } = await sql<{ accepted: string }>`
      select count(*) as accepted from ledger.entries where state = 'accepted'`.execute(shop.db);
    expect(Number(rows[0]?.accepted)).toBe((await shop.posted()).length);
  });
});

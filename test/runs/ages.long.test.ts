import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openWorkshop, type Row, toCsv, type Workshop } from './workshop.ts';

const TIME = new Date('2026-11-16T00:00:00Z');

/** Writes an export that was put there at a certain time. */
function put(shop: Workshop, name: string, rows: readonly Row[], modifiedAt = TIME): void {
  shop.drop(name, toCsv(rows));
  utimesSync(join(shop.folder, 'exports', name), modifiedAt, modifiedAt);
}

/** The amount in force of each adjusted order. */
async function adjusted({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ said: string }>`
    select e.order_id || ': ' || d.kind || ' ' || coalesce(trim_scale(d.new_amount)::text, '-') as said
    from ledger.adjustments d join ledger.entries e using (entry_id) order by d.adjustment_id`.execute(db);
  return rows.map(({ said }) => said);
}

it('an older export that arrives late changes no order that a newer one states', async () => {
  const shop = await openWorkshop();
  put(shop, 'orders-10.csv', [{ id: '1', revenue: '4.00' }]);
  await shop.run();
  put(shop, 'orders-9.csv', [
    { id: '1', revenue: '10.00' },
    { id: '2', revenue: '7.00' },
  ]);
  // A plan says it, too.
  const plan = await shop.cli('plan', 'orders');
  expect(plan.stderr).toContain(
    'orders-9.csv is older than a file that was read before, by the number in its name: 1 of its orders changed nothing.',
  );
  const { exitCode, finished } = await shop.run();
  expect(exitCode).toBe(0);
  expect(finished?.counts).toMatchObject({ rows: 2, rejected_rows: 0, entries: { accepted: 1 } });
  expect(await shop.posted()).toEqual(['1', '2']);
  expect(await adjusted(shop)).toEqual([]);

  const { stdout: life } = await shop.cli('explain', 'order', '1');
  expect(life).toMatch(/older by\s+the\s+number\s+in\s+its\s+name:\s+changed\s+nothing/);
  expect(life).toContain('in force');
  const { stdout: files } = await shop.cli('files');
  expect(files.replaceAll(/\s+/g, ' ')).toContain(
    'orders-9.csv 2 rows: 1 of its orders changed nothing: a newer file states them (it is older by the number in its name)',
  );
});

it('an order is held if nothing says which of two exports is newer, until a newer one states it', async () => {
  const shop = await openWorkshop();
  put(shop, 'east.csv', [{ id: '1', revenue: '10.00' }, { id: '2' }]);
  put(shop, 'west.csv', [{ id: '1', revenue: '4.00' }, { id: '2' }]);
  await shop.run();
  expect(await shop.posted()).toEqual(['2']);
  const { rows } = await sql`
    select outcome, reason, amount::float8 from intake.attributions where order_id = '1'`.execute(shop.db);
  expect(rows).toMatchObject([{ outcome: 'held', reason: 'conflicting_states' }]);
  expect((await shop.cli('explain', 'order', '1')).stdout).toContain('in doubt: conflicting states');

  put(shop, 'all.csv', [{ id: '1', revenue: '4.00' }], new Date('2026-11-17T00:00:00Z'));
  await shop.run();
  expect(await shop.posted()).toEqual(['1', '2']);
  expect(await adjusted(shop)).toEqual([]);
});

it('a file that was overwritten with earlier content counts again', async () => {
  const shop = await openWorkshop();
  for (const [day, revenue] of ['4.00', '10.00', '4.00'].entries()) {
    put(shop, 'latest.csv', [{ id: '1', revenue }], new Date(Date.UTC(2026, 10, 1 + day)));
    await shop.run();
  }
  expect(await adjusted(shop)).toEqual(['1: changed 10', '1: changed 4']);
  // It is not read again and again.
  expect((await shop.run()).finished?.counts.files).toBe(0);
});

it('orders that were read before ages were stored stay as they are', async () => {
  const shop = await openWorkshop();
  put(shop, 'orders-2026-11-01.csv', [{ id: '1', revenue: '10.00' }]);
  put(shop, 'orders-2026-11-08.csv', [{ id: '1', revenue: '4.00' }]);
  await shop.run();
  await sql`update intake.source_files set modified_at = null, aged_at = null, age_basis = null`.execute(
    shop.db,
  );
  await sql`delete from intake.restated_orders`.execute(shop.db);
  await shop.run();
  put(shop, 'orders-2026-11-05.csv', [{ id: '1', revenue: '6.00' }], new Date('2026-12-01T00:00:00Z'));
  await shop.run();
  expect(await adjusted(shop)).toEqual([]);
  put(shop, 'orders-2026-11-15.csv', [{ id: '1', revenue: '5.00' }]);
  await shop.run();
  expect(await adjusted(shop)).toEqual(['1: changed 5']);
});

it('rows that say when their orders last changed decide, whatever their files are called', async () => {
  const shop = await openWorkshop();
  const flow = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
  shop.write('pipeline.yaml', flow.replace('layout: generic', 'layout: generic, age: column'));
  const drop = (name: string, revenue: string, changedAt: string): void =>
    shop.drop(
      name,
      `order_id,status,order_revenue,currency,discount_code,placed_at,updated_at\n1,paid,${revenue},EUR,MIA10,2026-10-01T10:00:00Z,${changedAt}\n`,
    );
  drop('orders-2026-11-01.csv', '10.00', '2026-11-05T10:00:00Z');
  await shop.run();
  drop('orders-2026-11-08.csv', '8.00', '2026-11-04T10:00:00Z');
  const said =
    'orders-2026-11-08.csv: 1 of its orders changed nothing, because the states that were read before are newer by the column changed_at or updated_at.';
  expect((await shop.cli('plan', 'orders')).stderr).toContain(said);
  expect((await shop.run()).exitCode).toBe(0);
  expect(await adjusted(shop)).toEqual([]);
  const { stdout: files } = await shop.cli('files');
  expect(files.replaceAll(/\s+/g, ' ')).toContain(
    'orders-2026-11-08.csv 1 row: 1 of its orders changed nothing: other rows of them are newer by the column',
  );
  const { stdout: life } = await shop.cli('explain', 'order', '1');
  expect(life).toContain('last changed 2026-11-04 10:00');
});

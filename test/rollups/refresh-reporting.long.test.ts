import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { beginStep, refreshReporting } from '../../src/rollups/refresh-reporting.ts';
import { JOB, seedRuns } from '../reports/seed.ts';
import { CODES, LATER_CODE, manyRows, openWorkshop, toCsv } from '../runs/workshop.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

/** Returns everything in the daily sums, regardless of the order in which it is stored. */
async function readSums(db: Database): Promise<unknown> {
  const tables = [
    'order_dispositions',
    'funnel_days',
    'deal_days',
    'brand_days',
    'code_days',
    'code_use_days',
  ];
  const totals = await sql`
    select target, currency, orders, amount from reporting.deal_totals where orders > 0 order by 1, 2`.execute(
    db,
  );
  const sums = tables.map(async (table) => {
    const { rows } =
      await sql`select to_json(t)::text as row from ${sql.table(`reporting.${table}`)} t order by 1`.execute(
        db,
      );
    return rows;
  });
  return [totals.rows, ...(await Promise.all(sums))];
}

/** Rebuilds the sums from scratch and returns them. */
async function rebuild(db: Database, job: string): Promise<unknown> {
  await sql`truncate reporting.counted_files, reporting.order_dispositions, reporting.funnel_days, reporting.deal_days, reporting.deal_totals, reporting.brand_days,
    reporting.code_days, reporting.code_use_days`.execute(db);
  await refreshReporting(db, { job });
  return readSums(db);
}

describe('a refresh', () => {
  test('changes nothing if nothing has happened since the last one', async () => {
    const { db } = await setup();
    await seedRuns(db);
    expect(await refreshReporting(db, { job: JOB })).toEqual({ orders: 14, days: 1 });
    const before = await readSums(db);
    expect(await refreshReporting(db, { job: JOB })).toEqual({ orders: 0, days: 0 });
    expect(await readSums(db)).toEqual(before);
  });

  test('moves an order from one day to another and leaves no empty day behind', async () => {
    const { db } = await setup();
    await seedRuns(db);
    await refreshReporting(db, { job: JOB });
    await sql`update intake.orders set placed_at = '2026-03-31T23:30:00-02:00' where order_id = '1002'`.execute(
      db,
    );
    await sql`update intake.attributed_files set attributed_at = now()`.execute(db);
    expect(await refreshReporting(db, { job: JOB })).toEqual({ orders: 1, days: 2 });
    const { rows } =
      await sql`select day_utc::text as day, accepted_orders as orders from bi.brand_performance_daily where currency = 'USD'`.execute(
        db,
      );
    expect(rows).toEqual([{ day: '2026-04-01', orders: '1' }]);
    expect(await readSums(db)).toEqual(await rebuild(db, JOB));
  });

  test('adds the totals of influencers up again after an older version has refreshed', async () => {
    const { db } = await setup();
    await seedRuns(db);
    await refreshReporting(db, { job: JOB });
    const before = await readSums(db);
    await sql`update reporting.deal_totals set orders = orders + 1`.execute(db);
    await refreshReporting(db, { job: JOB });
    expect(await readSums(db)).not.toEqual(before);
    await sql`update reporting.refresh set refreshed_at = now()`.execute(db);
    await refreshReporting(db, { job: JOB });
    expect(await readSums(db)).toEqual(before);
  });

  test('includes entries that were settled since the last one', async () => {
    const { db } = await setup();
    const { doubtId } = await seedRuns(db);
    await refreshReporting(db, { job: JOB });
    await sql`update ledger.entries set state = 'accepted', state_reason = 'accepted by decision', deal_id = 'https://service.test/deal/D9?x=1',
      state_changed_at = now() where entry_id = ${doubtId}::bigint`.execute(db);
    expect(await refreshReporting(db, { job: JOB })).toEqual({ orders: 1, days: 1 });
    const { rows } =
      await sql`select disposition, deal_id from bi.orders_attributed where order_id = '1005'`.execute(db);
    expect(rows).toEqual([{ disposition: 'accepted', deal_id: 'D9' }]);
    expect(await readSums(db)).toEqual(await rebuild(db, JOB));
  });

  test('commits its steps without waiting for the disk, and nothing after them', async () => {
    const { db } = await setup();
    const modes: unknown[] = [];
    await db.transaction().execute(async (trx) => {
      await beginStep(trx);
      modes.push((await sql`show synchronous_commit`.execute(trx)).rows[0]);
    });
    modes.push((await sql`show synchronous_commit`.execute(db)).rows[0]);
    expect(modes).toEqual([{ synchronous_commit: 'off' }, { synchronous_commit: 'on' }]);
  });

  test('processes small files together, in one step', async () => {
    const { db } = await setup();
    await seedRuns(db);
    const seen: number[] = [];
    await refreshReporting(db, { job: JOB, onStep: (orders) => seen.push(orders) });
    const { rows } = await sql`select from reporting.counted_files`.execute(db);
    expect(rows.length).toBeGreaterThan(1);
    expect(seen.filter((orders) => orders > 0)).toHaveLength(1);
  });

  test('yields the same sums in steps of three orders as in one step', async () => {
    const { db } = await setup();
    await seedRuns(db);
    const seen: number[] = [];
    await refreshReporting(db, { job: JOB, stepOrders: 3, onStep: (orders) => seen.push(orders) });
    // Each partition compares its half of six.
    expect(Math.max(...seen)).toBeLessThanOrEqual(6);
    const inSteps = await readSums(db);
    expect(inSteps).toEqual(await rebuild(db, JOB));
    await sql`update intake.attributed_files set attributed_at = now()`.execute(db);
    await sql`update intake.attributions set amount = amount + 1 where order_id like '10%'`.execute(db);
    expect((await refreshReporting(db, { job: JOB, stepOrders: 3 })).orders).toBeGreaterThan(3);
    expect(await readSums(db)).toEqual(await rebuild(db, JOB));
  });

  test('that ends between any two steps leaves the rest to the next', async () => {
    const { db } = await setup();
    await seedRuns(db);
    const rest = async (steps: number): Promise<boolean> => {
      let left = steps;
      const onStep = (): void => {
        left -= 1;
        if (left === 0) throw new Error('enough');
      };
      const error = await refreshReporting(db, { job: JOB, stepOrders: 3, onStep }).catch(
        (cause: unknown) => cause,
      );
      return error instanceof Error;
    };
    let steps = 1;
    while (await rest(steps)) {
      await refreshReporting(db, { job: JOB });
      expect(await readSums(db), `ended after ${steps} steps`).toEqual(await rebuild(db, JOB));
      await sql`truncate reporting.counted_files, reporting.order_dispositions, reporting.funnel_days, reporting.deal_days, reporting.deal_totals,
        reporting.brand_days, reporting.code_days, reporting.code_use_days`.execute(db);
      steps += 1;
    }
    expect(steps).toBeGreaterThan(5);
  });

  test('by two jobs at once counts both', async () => {
    const { db } = await setup();
    await seedRuns(db);
    await sql`insert into intake.attributions select 'other', source, order_id, order_version_id, outcome, reason, matched_by, matched_value,
      target, brand_id, influencer_handle, deal_id, collab_id, amount, currency, null, false, rules_hash, decided_at
      from intake.attributions where outcome <> 'attributed'`.execute(db);
    await sql`insert into intake.attributed_files select 'other', source_file_id, rules_hash, attributed_at from intake.attributed_files`.execute(
      db,
    );
    await Promise.all([refreshReporting(db, { job: JOB }), refreshReporting(db, { job: 'other' })]);
    const { rows } =
      await sql`select job, sum(orders) as orders from reporting.funnel_days group by job order by job`.execute(
        db,
      );
    expect(rows).toEqual([
      { job: JOB, orders: '14' },
      { job: 'other', orders: '14' },
    ]);
  });
});

describe('the daily sums after a run', () => {
  test('are correct for new exports, changed orders and new codes', async () => {
    const shop = await openWorkshop();
    shop.drop('1.csv', toCsv(manyRows(40)));
    await shop.run();
    await expectRight(shop.db);
    shop.drop(
      '2.csv',
      toCsv([...manyRows(10).map((row) => ({ ...row, revenue: '1.00' })), { id: 'zoe', code: 'ZOE20' }]),
    );
    await shop.run();
    await expectRight(shop.db);
    const revenue = await unownedRevenue(shop.db);
    expect(revenue).toEqual([{ code: 'ZOE20', orders: '1' }]);
    shop.write('codes.csv', CODES + LATER_CODE);
    await shop.run();
    expect(await unownedRevenue(shop.db)).toEqual([]);
    await expectRight(shop.db);
  });

  test('count a code once for each order that carries it, and with its amount if nobody owns it', async () => {
    const shop = await openWorkshop();
    shop.drop(
      '1.csv',
      toCsv([
        { id: 'owned' },
        { id: 'twice', code: '"LOST5, lost5"', revenue: '1.00' },
        { id: 'two', code: '"LOST5, GONE7"', revenue: '2.00' },
        { id: 'one', code: 'LOST5', revenue: '4.00' },
        { id: 'alike', code: 'LOST5', revenue: '16.00' },
        { id: 'dollars', code: 'LOST5', revenue: '8.00', currency: 'USD' },
        { id: 'cancelled', code: 'LOST5', status: 'cancelled' },
        { id: 'organic', code: '' },
      ]),
    );
    await shop.run();
    const unowned = await sql`
      select code_folded as code, currency, orders::integer, amount::float8 from reporting.code_days order by 1, 2`.execute(
      shop.db,
    );
    expect(unowned.rows).toEqual([
      { code: 'GONE7', currency: 'EUR', orders: 1, amount: 2 },
      { code: 'LOST5', currency: 'EUR', orders: 4, amount: 23 },
      { code: 'LOST5', currency: 'USD', orders: 1, amount: 8 },
    ]);
    const used = await sql`
      select upper(code_folded) as code, orders::integer, without_link::integer from reporting.code_use_days order by 1`.execute(
      shop.db,
    );
    expect(used.rows).toEqual([
      { code: 'GONE7', orders: 1, without_link: 1 },
      { code: 'LOST5', orders: 5, without_link: 5 },
      { code: 'MIA10', orders: 1, without_link: 1 },
    ]);
  });

  test('are correct if the previous run was killed before it updated them', async () => {
    const shop = await openWorkshop({ sandbox: { latencyMs: 20 } });
    shop.drop('1.csv', toCsv(manyRows(300)));
    const killed = shop.start('run', 'orders');
    await waitFor(async () => (await shop.posted()).length >= 20);
    killed.kill('SIGKILL');
    await killed.ended;
    const { rows } = await sql`select from reporting.order_dispositions`.execute(shop.db);
    expect(rows, 'nothing was added up yet').toEqual([]);
    await sql`delete from ops.leases`.execute(shop.db);
    await shop.run();
    await expectRight(shop.db);
    const counted = await sql<{ orders: string; accepted: string }>`
      select sum(orders)::text as orders, sum(accepted_orders)::text as accepted from bi.attribution_funnel_daily`.execute(
      shop.db,
    );
    const entries = await sql<{
      accepted: string;
    }>`select count(*)::text as accepted from ledger.entries where state = 'accepted'`.execute(shop.db);
    expect(counted.rows).toEqual([{ orders: '300', accepted: entries.rows[0]?.accepted }]);
  });
});

async function expectRight(db: Database): Promise<void> {
  expect(await readSums(db)).toEqual(await rebuild(db, 'orders'));
}

async function unownedRevenue(db: Database): Promise<readonly unknown[]> {
  const { rows } = await sql`select code, orders from bi.unattributed_revenue where code = 'ZOE20'`.execute(
    db,
  );
  return rows;
}

describe('a run whose reports cannot be updated', () => {
  test('states that everything was posted, with correct counts, and the next run updates the reports', async () => {
    const shop = await openWorkshop();
    shop.drop(
      '1.csv',
      toCsv([...manyRows(12), { id: 'zoe', code: 'ZOE20' }, { id: 'off', status: 'cancelled' }]),
    );
    await sql`alter table reporting.order_dispositions add constraint no_room check (false) not valid`.execute(
      shop.db,
    );
    const failed = await shop.run();
    expect(failed.exitCode).toBe(1);
    expect(failed.finished).toMatchObject({
      status: 'issues',
      counts: {
        orders: 14,
        unattributed: 1,
        excluded: { cancelled: 1 },
        entries: { accepted: 12, already: 0, ready: 0 },
      },
    });
    expect(await shop.posted()).toHaveLength(12);
    const { rows } = await sql<{ problem: string }>`select problem from ops.runs`.execute(shop.db);
    expect(rows[0]?.problem).toMatch(
      /^Everything that was ready was posted\. The reports .* could not be updated: .*23514/,
    );
    const { stdout } = await shop.cli('run', 'orders');
    expect(stdout.replace(/\s+/g, ' ')).toContain('Everything that was ready was posted.');

    await sql`alter table reporting.order_dispositions drop constraint no_room`.execute(shop.db);
    const next = await shop.run();
    expect(next).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 0, already: 12 } } },
    });
    expect(next.events).toContainEqual(
      expect.objectContaining({ event: 'step_began', step: 'refresh', label: 'Updating the reports' }),
    );
    await expectRight(shop.db);
    expect(await shop.posted()).toHaveLength(12);
  });
});

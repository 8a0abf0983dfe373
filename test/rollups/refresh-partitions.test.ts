import { type RawBuilder, sql, type Transaction } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import type { DB } from '../../src/db/tables.ts';
import { openOrders, ordersOfFile } from '../../src/rollups/orders-to-refresh.ts';
import { inPartitions, isDayOf, isOrderOf, type Partition } from '../../src/rollups/partitions.ts';
import {
  beginPartitionStep,
  beginStep,
  refreshPage,
  refreshReporting,
} from '../../src/rollups/refresh-reporting.ts';
import { JOB, SOURCE, seedRuns } from '../reports/seed.ts';
import { setup } from '../support/setup.ts';

/** A file of orders on consecutive days, of which a third is credited to one deal and the others are organic. */
async function addLargeFile(
  db: Database,
  { orders, days }: { orders: number; days: number },
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, rows_read, order_rows, sealed_at, run_id)
    select source, 'file:///exports/large.csv', 'v1', 1, layout, layout_hash, 'sealed', ${orders}, ${orders}, now(), run_id
    from intake.source_files where state = 'sealed' order by source_file_id limit 1
    returning source_file_id as id`.execute(db);
  const id = rows[0]?.id ?? '';
  await sql`
    insert into intake.orders (source, source_file_id, is_current, content_hash, group_key, order_id, currency, total, placed_at, line_no, record_no, row_count)
    select ${SOURCE}, ${id}::bigint, true, md5(n::text), 'L' || n, 'L' || n, 'EUR', n, timestamptz '2025-01-01 12:00Z' + (n % ${days}) * interval '1 day', n, n, 1
    from generate_series(1, ${orders}) n`.execute(db);
  await sql`
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, amount, currency, is_pending, rules_hash)
    select ${JOB}, source, order_id, order_version_id, 'organic', total, currency, false, 'r' from intake.orders
    where source_file_id = ${id}::bigint`.execute(db);
  await sql`insert into intake.attributed_files (job, source_file_id, rules_hash) values (${JOB}, ${id}::bigint, 'r')`.execute(
    db,
  );
  return id;
}

/** Sums by day that differ from those of the orders. */
async function wrongDays(db: Database): Promise<readonly unknown[]> {
  const { rows } = await sql`
    select day_utc, job, stored.orders as stored, counted.orders as counted
    from (select day_utc, job, sum(orders) as orders, sum(amount) as amount from reporting.funnel_days group by 1, 2) stored
    full join (
      select (coalesce(o.placed_at, o.paid_at, o.first_seen_at) at time zone 'UTC')::date as day_utc, a.job, count(*) as orders, sum(a.amount) as amount
      from intake.orders o join intake.attributions a using (order_version_id) where a.order_id like 'L%' group by 1, 2) counted using (day_utc, job)
    where day_utc < '2026-01-01' and (stored.orders is distinct from counted.orders or stored.amount is distinct from counted.amount)`.execute(
    db,
  );
  return rows;
}

describe('the partitions of a refresh', () => {
  test('work at the same time', async () => {
    const { db } = await setup();
    const begun = new Set<Partition>();
    let bothHaveBegun = (): void => {};
    const both = new Promise<void>((resolve) => {
      bothHaveBegun = resolve;
    });
    await inPartitions(db, async (partition) => {
      await db.transaction().execute(async (trx) => {
        await beginPartitionStep(trx, partition);
        begun.add(partition);
        if (begun.size === 2) bothHaveBegun();
        await both;
      });
      return true;
    });
    expect(begun.size).toBe(2);
  });

  test('both end their step before the next two begin, so that another refresh gets its turn', async () => {
    const { db } = await setup();
    const begun = [0, 0];
    const seen: unknown[] = [];
    await inPartitions(db, async (partition) => {
      begun[partition] = (begun[partition] ?? 0) + 1;
      // The step of the other partition has ended long before.
      if (partition === 0) for (let query = 0; query < 20; query += 1) await sql`select 1`.execute(db);
      seen.push([...begun]);
      return begun[partition] === 2;
    });
    expect(seen).toEqual([
      [1, 1],
      [1, 1],
      [2, 2],
      [2, 2],
    ]);
  });

  test('end with the current step if one of them fails', async () => {
    const { db } = await setup();
    const steps: Partition[] = [];
    const work = inPartitions(db, async (partition) => {
      steps.push(partition);
      await sql`select 1`.execute(db);
      if (partition === 1) throw new Error('partition 1 failed');
      return false;
    });
    await expect(work).rejects.toThrow('partition 1 failed');
    const ended = steps.length;
    await sql`select 1`.execute(db);
    expect(steps).toHaveLength(ended);
  });

  test('follow each other in a transaction, as in a plan', async () => {
    const { db } = await setup();
    const steps: Partition[] = [];
    await db.transaction().execute((trx) =>
      inPartitions(trx, async (partition) => {
        steps.push(partition);
        return steps.filter((step) => step === partition).length === 2;
      }),
    );
    expect(steps).toEqual([0, 1, 0, 1]);
  });

  test('divide all orders and all days between them', async () => {
    const { db } = await setup();
    const shares = async (
      isOf: (partition: Partition) => RawBuilder<boolean>,
    ): Promise<readonly number[]> => {
      const { rows } = await sql<{ first: string; second: string; both: string }>`
        select count(*) filter (where ${isOf(0)}) as first, count(*) filter (where ${isOf(1)}) as second,
          count(*) filter (where ${isOf(0)} = ${isOf(1)}) as both
        from (select '#' || n as id, date '1999-01-01' + n as day from generate_series(1, 1000) n) o`.execute(
        db,
      );
      return Object.values(rows[0] ?? {}).map(Number);
    };
    expect(await shares((partition) => isDayOf(partition, sql`day`))).toEqual([500, 500, 0]);
    const [first = 0, second = 0, both] = await shares((partition) => isOrderOf(partition, sql`id`));
    expect([first + second, both]).toEqual([1000, 0]);
    expect(Math.min(first, second)).toBeGreaterThan(400);
  });
});

describe('a step of a partition', () => {
  test('waits for a step that runs alone, and for one of its own partition, but not for the other partition', async () => {
    const { db } = await setup();
    const isFree = (begin: (trx: Transaction<DB>) => Promise<void>): Promise<boolean> =>
      db
        .transaction()
        .execute(async (trx) => {
          await sql`set local lock_timeout = '200ms'`.execute(trx);
          await begin(trx);
          return true;
        })
        .catch(() => false);
    const during = (begin: (trx: Transaction<DB>) => Promise<void>): Promise<unknown> =>
      db.transaction().execute(async (trx) => {
        await begin(trx);
        return [
          await isFree(beginStep),
          await isFree((other) => beginPartitionStep(other, 0)),
          await isFree((other) => beginPartitionStep(other, 1)),
        ];
      });
    expect(await during(beginStep)).toEqual([false, false, false]);
    expect(await during((trx) => beginPartitionStep(trx, 0))).toEqual([false, false, true]);
  });

  test('keeps the marks of its days locked, so that no other step can remove one without its orders', async () => {
    const { db } = await setup();
    await seedRuns(db);
    const id = await addLargeFile(db, { orders: 10, days: 1 });
    await sql`insert into reporting.changed_days values ('2025-01-01'), ('2025-01-02')`.execute(db);
    await db.transaction().execute(async (trx) => {
      await beginPartitionStep(trx, 0);
      await refreshPage(trx, { job: JOB, limit: 100, orders: ordersOfFile(id, '', 0) });
      const { rows } = await sql`
        select day_utc::text as day from reporting.changed_days order by day_utc for update skip locked`.execute(
        db,
      );
      expect(rows).toEqual([{ day: '2025-01-02' }]);
    });
  });

  test('compares only the orders of its partition, and says when the last page was read', async () => {
    const { db } = await setup();
    await seedRuns(db);
    const id = await addLargeFile(db, { orders: 100, days: 5 });
    const pages = [];
    for (const partition of [0, 1] as const)
      for (let after = '', isOver = false; !isOver; ) {
        const page = await db
          .transaction()
          .execute((trx) =>
            refreshPage(trx, { job: JOB, limit: 30, orders: ordersOfFile(id, after, partition) }),
          );
        pages.push(page);
        isOver = page.isLast;
        after = page.lastId;
      }
    expect(pages.map(({ isLast }) => isLast)).toEqual([false, false, false, true, false, false, false, true]);
    expect(pages.reduce((sum, { changed }) => sum + changed, 0)).toBe(100);
    expect(pages.reduce((sum, { seen }) => sum + seen, 0)).toBe(100);
    const open = await db
      .transaction()
      .execute((trx) =>
        refreshPage(trx, { job: JOB, limit: 30, orders: openOrders(JOB, { source: '', orderId: '' }) }),
      );
    expect(open).toMatchObject({ seen: 0, isLast: true });
  });
});

describe('a large refresh', () => {
  test('by several processes at once, of one job whose orders change meanwhile, ends with the right sums', async () => {
    const { db } = await setup();
    await seedRuns(db);
    const id = await addLargeFile(db, { orders: 2_000, days: 90 });
    const refresh = (): Promise<unknown> => refreshReporting(db, { job: JOB, stepOrders: 100 });
    await Promise.all([refresh(), refresh(), refresh()]);
    expect(await wrongDays(db)).toEqual([]);
    for (let round = 1; round <= 5; round += 1) {
      const change = async (): Promise<void> => {
        await sql`update intake.attributions set amount = amount + ${round} where hashtext(order_id) % 7 = ${round} and order_id like 'L%'`.execute(
          db,
        );
        await sql`update intake.attributed_files set attributed_at = clock_timestamp() where source_file_id = ${id}::bigint`.execute(
          db,
        );
      };
      await Promise.all([refresh(), change(), refresh()]);
      await refresh();
      expect(await wrongDays(db), `round ${round}`).toEqual([]);
    }
    const { rows } = await sql`select from reporting.changed_days`.execute(db);
    expect(rows).toEqual([]);
  });
});

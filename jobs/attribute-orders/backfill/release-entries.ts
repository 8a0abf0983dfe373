import { sql, type Transaction } from 'kysely';
import type { BackfillState } from '../../../src/core/backfill.ts';
import { inTransaction } from '../../../src/db/in-transaction.ts';
import { suitLargeStatements } from '../../../src/db/large-statements.ts';
import { type Database, execute, rowsOf } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import { giveBack, holdForBackfill } from '../../../src/ledger/backfill-entries.ts';
import { lockJobs } from '../../../src/ledger/propose.ts';
import { type Day, orderedAt, startOf } from '../decide/decisions.ts';
import { listBackfills, lockBackfill, moveBackfill } from './backfills.ts';

type Job = {
  readonly job: string;
  /** First day of the job's own period; see `AttributionRules`. */
  readonly start: Day | null;
};

/**
 * Ends a backfill. Entries that it has not posted are not posted and return to their earlier state. Entries
 * that it has posted, including those in doubt, belong to the job from then on.
 *
 * @returns true if the backfill was in one of the given states.
 */
export function endBackfill(
  db: Database,
  backfillId: string,
  options: Job & { readonly from: readonly BackfillState[]; readonly to: 'done' | 'cancelled' },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockBackfill(trx, backfillId);
    if (!(await moveBackfill(trx, backfillId, options))) return false;
    await lockJobs(trx, [options.job]);
    await release(trx, backfillId, options);
    return true;
  });
}

/** Takes back entries that were still being sent when a backfill of the job ended. */
export async function releaseEnded(db: Database, options: Job): Promise<void> {
  const rows = await rowsOf<{ id: string }>(db)`
    select b.backfill_id as id from ops.backfills b
    where b.job = ${options.job} and b.state in ('done', 'cancelled')
      and (select true from ledger.entries e where e.backfill_id = b.backfill_id and e.state <> 'sending'
        limit 1)`;
  if (rows.length === 0) return;
  await inTransaction(db, async (trx) => {
    await lockJobs(trx, [options.job]);
    for (const { id } of rows) await release(trx, id, options);
  });
}

/** Returns the job's backfill that is running or paused, or null if there is none. */
export async function findUnfinished(db: Database, job: string) {
  const [backfill] = await listBackfills(db, { job, states: ['running', 'paused'], limit: 1 });
  return backfill ?? null;
}

async function release(trx: Transaction<DB>, backfillId: string, { job, start }: Job): Promise<void> {
  await holdForBackfill(trx, backfillId);
  await suitLargeStatements(trx);
  const released = sql`
    select a.source, a.order_id, a.outcome, o.source_file_id, ${orderedAt} as ordered_at, e.state_reason
    from ledger.entries e
    cross join lateral (
      select a.* from intake.attributions a
      where a.entry_id = e.entry_id and a.job is not distinct from ${job} offset 0) a
    cross join lateral (select o.* from intake.orders o where o.order_version_id = a.order_version_id
      limit 1) o
    where e.backfill_id = ${backfillId}::bigint and e.state = 'held'`;
  await execute(trx)`
    update intake.attributed_files f set attributed_at = clock_timestamp()
    where f.job = ${job} and f.source_file_id in (select source_file_id from (${released}) r)`;
  if (start !== null) {
    await execute(trx)`
      with late as materialized (
        select * from (${released}) r
        where outcome = 'attributed' and state_reason in ('backfill_cancelled', 'changed_since_the_plan')
          and ordered_at < ${startOf(start)}
      )
      update intake.attributions a
      set outcome = 'excluded', reason = 'before_start', matched_by = null, target = null, is_pending = false,
        decided_at = now()
      from late r
      where a.job = ${job} and a.source = r.source and a.order_id = r.order_id
        and a.source = any (array(select distinct source from late))
        and a.order_id = any (array(select order_id from late))`;
  }
  await giveBack(trx, backfillId);
}

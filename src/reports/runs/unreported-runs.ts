import { type RawBuilder, sql } from 'kysely';

/**
 * SQL for the runs whose files a report covers: the run itself, and earlier runs of its job that ended
 * without a report because their process died or lost its database. Without them, rows that such a run
 * rejected would appear in no report.
 *
 * @param since `reported`: runs after the last one that stored its counts, so that no file is counted in two
 *   runs. `completed`: runs after the last one that completed and could therefore report rejected rows by its
 *   exit code; an interrupted run has another exit code.
 */
export function unreportedRuns(runId: string, since: 'reported' | 'completed'): RawBuilder<unknown> {
  const isBound = since === 'reported' ? sql`p.counts is not null` : sql`p.status in ('ok', 'issues')`;
  return sql`(
    select u.run_id from ops.runs r join ops.runs u on u.job = r.job and u.run_id <= r.run_id
    where r.run_id = ${runId}::bigint and u.run_id > coalesce(
      (select max(p.run_id) from ops.runs p where p.job = r.job and p.run_id < r.run_id and ${isBound}), 0))`;
}

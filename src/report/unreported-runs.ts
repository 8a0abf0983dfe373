import { type RawBuilder, sql } from 'kysely';

/**
 * The runs whose files a report accounts for: the run itself, and those of its job before it that ended without a report, because their
 * process died or lost its database. Without them, rows that such a run had rejected would be in no report.
 *
 * @param since `reported`: those after the last run that stored its counts, so that no file is counted in two runs. `completed`: those after
 * the last run that came to its end, and could therefore say by its exit code that rows were rejected; an interrupted one says something else.
 */
export function unreportedRuns(runId: string, since: 'reported' | 'completed'): RawBuilder<unknown> {
  const isBound = since === 'reported' ? sql`p.counts is not null` : sql`p.status in ('ok', 'issues')`;
  return sql`(
    select u.run_id from ops.runs r join ops.runs u on u.job = r.job and u.run_id <= r.run_id
    where r.run_id = ${runId}::bigint and u.run_id > coalesce(
      (select max(p.run_id) from ops.runs p where p.job = r.job and p.run_id < r.run_id and ${isBound}), 0))`;
}

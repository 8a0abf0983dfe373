import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { RunAmount } from '../model/report.ts';

export type ListedRun = {
  readonly runId: string;
  readonly job: string;
  /** As stored, or `lost`: it still says running, but its process gives no sign of life. */
  readonly status: string;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly seconds: number;
  readonly exitCode: number | null;
  readonly amounts: readonly RunAmount[] | null;
  readonly problem: string | null;
  /** The kind of the job, or `backfill`. */
  readonly kind: string;
  /** As the kind counts; null where the run did not come to its end. */
  readonly counts: object | null;
};

/** Runs, newest first. `perJob`: only the last one of each job. */
export async function listRuns(
  db: Database,
  options: { readonly job?: string; readonly limit?: number; readonly perJob?: boolean } = {},
): Promise<readonly ListedRun[]> {
  const { job = null, limit = null, perJob = false } = options;
  const { rows } = await sql<ListedRun>`
    select r.run_id as "runId", r.job, r.kind, r.started_at as "startedAt", r.finished_at as "finishedAt",
      case when r.status = 'running' and not exists (
        select 1 from ops.leases l where l.name = 'job:' || r.job and l.expires_at > clock_timestamp() and l.acquired_at <= r.started_at + interval '1 minute'
      ) then 'lost' else r.status end as status,
      extract(epoch from coalesce(r.finished_at, clock_timestamp()) - r.started_at)::float8 as seconds,
      r.exit_code as "exitCode", r.counts, r.amounts, r.problem
    from ops.runs r
    where (${job}::text is null or r.job = ${job})
      and (not ${perJob}::boolean or r.run_id = (select max(o.run_id) from ops.runs o where o.job = r.job))
    order by r.run_id desc
    limit ${limit}::bigint`.execute(db);
  return rows;
}

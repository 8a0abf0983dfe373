import { type RawBuilder, sql } from 'kysely';
import type { RunAmount } from '../../core/report.ts';
import type { RunActivity, RunRequests, RunStep } from '../../core/run.ts';
import { countOf, type Database, rowOf, rowsOf } from '../../db/statement.ts';
import type { Page } from '../wanted-rows.ts';

export type ListedRun = {
  readonly runId: string;
  readonly job: string;
  /** Status as stored, or `lost` if it is still `running` but its process no longer renews its lease. */
  readonly status: string;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly seconds: number;
  readonly exitCode: number | null;
  readonly amounts: readonly RunAmount[] | null;
  readonly problem: string | null;
  /** What to do about it. Null if it was not recorded. */
  readonly help: string | null;
  /** Stable code of the problem; null if there is none. */
  readonly problemCode: string | null;
  /** The kind of the job, or `backfill`. */
  readonly kind: string;
  /** Counts of the job's kind; null if the run did not reach its end. */
  readonly counts: object | null;
  /** How many of the files that it read are held now: nothing in them counts. */
  readonly heldFiles: number;
  /** Base address of the service that the run called; null for a plan, or if unknown. */
  readonly service: string | null;
  /** Id of the OpenTelemetry trace; null if the run was not traced. */
  readonly traceId: string | null;
};

export type RunFilter = {
  readonly job?: string | null;
  /** Status as shown, including `lost`. */
  readonly status?: string | null;
  /** First and last day on which the run started, in UTC, both included. */
  readonly from?: string | null;
  readonly to?: string | null;
};

/** SQL for the status: as stored, or `lost`. */
const status = sql<string>`case when r.status = 'running' and not exists (
  select 1
  from ops.leases l
  where l.name = 'job:' || r.job and l.expires_at > clock_timestamp()
    and l.acquired_at <= r.started_at + interval '1 minute'
) then 'lost' else r.status end`;

const columns = sql`
  r.run_id as "runId", r.job, r.kind, r.started_at as "startedAt", r.finished_at as "finishedAt",
  ${status} as status,
  extract(epoch from coalesce(r.finished_at, clock_timestamp()) - r.started_at)::float8 as seconds,
  (select count(*) from intake.source_files f where f.run_id = r.run_id and f.state = 'held')::integer
    as "heldFiles",
  r.exit_code as "exitCode", r.counts, r.amounts, split_part(r.problem, E'\\n', 1) as problem,
  nullif(split_part(r.problem, E'\\n', 2), '') as help, r.problem_code as "problemCode", r.service,
  r.trace_id as "traceId"`;

const LAST_OF_EACH_JOB = sql`(
  select l.*
  from ${jobsOf('ops.runs')} j
    cross join lateral (select * from ops.runs o where o.job = j.job order by o.run_id desc limit 1) l
) r`;

/** Lists runs, newest first, with the key `runId`. @param options.perJob only the last run of each job. */
export function listRuns(
  db: Database,
  {
    limit = null,
    perJob = false,
    after = null,
    ...filter
  }: RunFilter & Partial<Page> & { perJob?: boolean } = {},
) {
  return rowsOf<ListedRun>(db)`
    select ${columns} from ${perJob ? LAST_OF_EACH_JOB : sql`ops.runs r`}
    where ${matches(filter)} and (${after}::bigint is null or r.run_id < ${after}::bigint)
    order by r.run_id desc
    limit ${limit}::bigint`;
}

/** Counts the matching runs, up to `limit` + 1. */
export async function countRuns(
  db: Database,
  { limit, ...filter }: RunFilter & { readonly limit: number },
): Promise<number> {
  return countOf(db)`
    select count(*) as count from (select from ops.runs r where ${matches(filter)} limit ${limit + 1}) found`;
}

/** @returns null if there is no such run. */
export async function findRun(db: Database, runId: string): Promise<ListedRun | null> {
  const row = await rowOf<ListedRun>(db)`select ${columns} from ops.runs r where r.run_id = ${runId}::bigint`;
  return row ?? null;
}

/** Finds the previous run of the same job; null for the first run. */
export async function findRunBefore(
  db: Database,
  { job, runId }: Pick<ListedRun, 'job' | 'runId'>,
): Promise<ListedRun | null> {
  const [before] = await listRuns(db, { job, after: runId, limit: 1 });
  return before ?? null;
}

function matches(filter: RunFilter): RawBuilder<boolean> {
  const { job = null, status: wanted = null, from = null, to = null } = filter;
  return sql`(${job}::text is null or r.job = ${job}) and (${wanted}::text is null or ${status} = ${wanted})
    and (${from}::date is null or r.started_at >= ${from}::date::timestamp at time zone 'UTC')
    and (${to}::date is null or r.started_at < (${to}::date + 1)::timestamp at time zone 'UTC')`;
}

/**
 * SQL for the jobs that have rows in a table, as rows with `job`. Jumps from job to job in an index that begins with it:
 * `distinct` would read every row.
 */
export function jobsOf(table: 'ops.runs' | 'ops.slots'): RawBuilder<unknown> {
  return sql`(
    with recursive jobs as (
      (select job from ${sql.table(table)} order by job limit 1)
      union all
      select (select n.job from ${sql.table(table)} n where n.job > j.job order by n.job limit 1)
      from jobs j
      where j.job is not null
    )
    select job from jobs where job is not null
  )`;
}

/** A backfill that was approved and is neither finished nor cancelled. */
export type UnfinishedBackfill = {
  readonly backfillId: string;
  readonly job: string;
  /** Why it stopped; null if it runs, its process died, or a person paused it. */
  readonly problem: string | null;
  readonly isPaused: boolean;
  /** Orders that it still has to post, by currency, with their revenue. */
  readonly left: readonly { readonly currency: string; readonly orders: number; readonly amount: string }[];
};

/** Lists the backfills that are running or paused, at most one for each job. */
export function listUnfinishedBackfills(db: Database) {
  return rowsOf<UnfinishedBackfill>(db)`
    select b.backfill_id as "backfillId", b.job, b.problem, b.state = 'paused' as "isPaused", coalesce((
      select json_agg(json_build_object('currency', currency, 'orders', orders, 'amount', amount::text)
        order by currency)
      from (
        select e.currency, count(*) as orders, sum(e.amount) as amount from ledger.entries e
        where e.backfill_id = b.backfill_id and not e.is_settled and e.state in ('ready', 'sending')
        group by 1) s
    ), '[]') as left
    from ops.backfills b where b.state in ('running', 'paused') order by b.job`;
}

/**
 * Reads the steps, requests and messages of a run. They lag about a second behind a running run, and are
 * empty for runs of older versions.
 */
export async function readRunActivity(db: Database, runId: string): Promise<RunActivity> {
  const [steps, requests, messages] = await Promise.all([
    rowsOf<RunStep>(db)`
      select step as name, label, times, started_at as "startedAt", finished_at as "finishedAt",
        seconds::float8 as seconds, unit, done::float8 as done, total::float8 as total
      from ops.run_steps where run_id = ${runId} order by position`,
    rowsOf<RunRequests>(db)`
      select operation, requests::float8 as requests, answered::float8 as answered,
        refused::float8 as refused,
        throttled::float8 as throttled, failed::float8 as failed, median_ms::float8 as "medianMs",
        p95_ms::float8 as "p95Ms", slowest_ms::float8 as "slowestMs"
      from ops.run_requests where run_id = ${runId} order by requests desc, operation`,
    db
      .selectFrom('ops.run_messages')
      .select(['message_no as number', 'at', 'message'])
      .where('run_id', '=', runId)
      .orderBy('message_no')
      .execute(),
  ]);
  return { steps, requests, messages };
}

export type RunFile = {
  readonly sourceFileId: string;
  readonly source: string;
  readonly uri: string;
  readonly readFor: string;
  readonly state: string;
  /** Null while the file is being read. */
  readonly rows: number | null;
  readonly rejectedRows: number;
  readonly holdMessage: string | null;
  /** The run that read the file: the requested one, or an earlier one that could not report it. */
  readonly runId: string;
};

export type RunFiles = {
  /** The files with the most rows. */
  readonly files: readonly RunFile[];
  readonly total: number;
};

/**
 * Lists the files that a run's counts include: its own, and those of earlier runs that ended without a report.
 *
 * @param options.isReported whether the run stored its counts; otherwise only its own files are listed.
 */
export async function listRunFiles(
  db: Database,
  options: { readonly runId: string; readonly isReported: boolean; readonly limit: number },
): Promise<RunFiles> {
  const { runId, isReported, limit } = options;
  const rows = await rowsOf<RunFile & { total: number }>(db)`
    select f.source_file_id as "sourceFileId", f.source, f.uri, f.read_for as "readFor", f.state,
      f.rows_read::float8 as rows,
      f.rejected_rows::float8 as "rejectedRows", f.hold_message as "holdMessage", f.run_id as "runId",
      count(*) over ()::float8 as total
    from intake.source_files f
    where f.run_id in ${isReported ? unreportedRuns(runId, 'reported') : sql`(${runId}::bigint)`}
    order by f.rows_read desc nulls last, f.source_file_id limit ${limit}`;
  return { files: rows.map(({ total: _, ...file }) => file), total: rows[0]?.total ?? 0 };
}

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

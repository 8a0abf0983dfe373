import { sql } from 'kysely';
import type { Database } from '../../../src/db/connect.ts';
import type { BackfillRunReport } from '../../../src/model/backfill.ts';
import type { RunAmount } from '../../../src/model/report.ts';

/** The current state of the orders of a plan. The parts add up to `planned`. */
export type BackfillProgress = {
  readonly planned: number;
  readonly accepted: number;
  /** Orders that the backfill still has to post. */
  readonly toPost: number;
  readonly rejected: number;
  readonly inDoubt: number;
  /** Not posted: changed or credited elsewhere since the plan was made, cancelled, or written off. */
  readonly held: number;
  /** Accepted amounts per currency. */
  readonly amounts: readonly RunAmount[];
  /** Attempts that the latest process claimed in the last minute. Shows how fast the backfill progresses. */
  readonly answersLastMinute: number;
  /** The process that works on the backfill. Null if no process holds its lease. */
  readonly process: { readonly host: string; readonly pid: number } | null;
};

/** Reads the progress of a backfill from the ledger. */
export async function readBackfillProgress(
  db: Database,
  { backfillId, job }: { readonly backfillId: string; readonly job: string },
): Promise<BackfillProgress> {
  const { rows } = await sql<{ state: string | null; currency: string; orders: number; amount: string }>`
    select e.state, b.currency, count(*)::float8 as orders, sum(b.amount)::text as amount
    from ops.backfill_orders b
    left join ops.account a on true
    left join ledger.entries e on e.account_id = a.account_id and e.effect = 'referral' and e.key = b.key
    where b.backfill_id = ${backfillId}::bigint group by 1, 2 order by 2`.execute(db);
  const { rows: lately } = await sql<{ answers: string }>`
    select count(*) as answers from ledger.attempts t
    join ops.runs r on r.run_id = t.run_id and r.job = ${runNameOf(job)}
    where t.claimed_at > clock_timestamp() - interval '1 minute'
      and t.run_id = (select max(run_id) from ops.runs where job = ${runNameOf(job)})`.execute(db);
  const { rows: process } = await sql<{ host: string; pid: number }>`
    select host, pid from ops.leases where name = ${`job:${runNameOf(job)}`} and expires_at > clock_timestamp()`.execute(
    db,
  );
  const count = (...states: readonly (string | null)[]): number =>
    rows.reduce((sum, { state, orders }) => (states.includes(state) ? sum + orders : sum), 0);
  const planned = rows.reduce((sum, { orders }) => sum + orders, 0);
  const [accepted, toPost] = [count('accepted'), count('ready', 'sending', null)];
  const [rejected, inDoubt] = [count('rejected'), count('in_doubt')];
  const amounts = rows
    .filter(({ state }) => state === 'accepted')
    .map(({ currency, amount }): RunAmount => ({ currency, accepted: amount }));
  return {
    planned,
    accepted,
    toPost,
    rejected,
    inDoubt,
    held: planned - accepted - toPost - rejected - inDoubt,
    amounts,
    answersLastMinute: Number(lately[0]?.answers ?? 0),
    process: process[0] ?? null,
  };
}

/**
 * The name under which the runs of a job's backfills are recorded and hold their lease. No job can have this
 * name.
 */
export function runNameOf(job: string): string {
  return `backfill:${job}`;
}

/**
 * Reports what a process that planned or executed a backfill did. Call it once the process has settled all
 * its claims.
 */
export async function reportBackfill(db: Database, runId: string): Promise<BackfillRunReport> {
  const { rows: files } = await sql<{ files: number; rows: number; rejected: number }>`
    select count(*)::float8 as files, coalesce(sum(rows_read), 0)::float8 as rows, coalesce(sum(rejected_rows), 0)::float8 as rejected
    from intake.source_files where run_id = ${runId}::bigint and state = 'sealed'`.execute(db);
  const { rows: plans } = await sql<{ orders: number }>`
    select (
        select coalesce(sum((g ->> 'orders')::bigint), 0)::float8 from jsonb_array_elements(b.plan -> 'groups') g
        where g ->> 'standing' = 'to_post') as orders
    from ops.backfills b where b.run_id = ${runId}::bigint`.execute(db);
  const { rows: sent } = await sql<{ state: string; currency: string; orders: number; amount: string }>`
    select e.state, e.currency, count(*)::float8 as orders, sum(e.amount)::text as amount
    from ledger.attempts t join ledger.entries e on e.entry_id = t.entry_id and e.attempt = t.attempt
    where t.run_id = ${runId}::bigint group by e.state, e.currency order by e.state, e.currency`.execute(db);
  const countOf = (which: string): number =>
    sent.reduce((sum, { state, orders }) => (state === which ? sum + orders : sum), 0);
  const [read] = files;
  return {
    counts: {
      files: read?.files ?? 0,
      rows: read?.rows ?? 0,
      rejected_rows: read?.rejected ?? 0,
      planned: plans[0]?.orders ?? null,
      entries: {
        accepted: countOf('accepted'),
        rejected: countOf('rejected'),
        in_doubt: countOf('in_doubt'),
      },
    },
    amounts: sent
      .filter(({ state }) => state === 'accepted')
      .map(({ currency, amount }): RunAmount => ({ currency, accepted: amount })),
  };
}

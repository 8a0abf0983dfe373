import { sql } from 'kysely';
import { type Backfill, type BackfillRunReport, backfillRunName } from '../../../src/core/backfill.ts';
import { type DecimalText, subtractMoney, sumMoney } from '../../../src/core/money.ts';
import { sumOrders } from '../../../src/core/order.ts';
import type { RunAmount } from '../../../src/core/report.ts';
import { databaseClock } from '../../../src/db/clock.ts';
import { countOf, type Database, finds, rowOf, rowsOf } from '../../../src/db/statement.ts';

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
  /** Accepted amounts per currency. Null if so many orders wait that they were counted, but not added up. */
  readonly amounts: readonly RunAmount[] | null;
  /** Attempts that the latest process claimed in the last minute. Shows how fast the backfill progresses. */
  readonly answersLastMinute: number;
  /** The process that works on the backfill. Null if no process holds its lease. */
  readonly process: { readonly host: string; readonly pid: number } | null;
};

/**
 * Reads the progress of a backfill from the ledger.
 *
 * A plan may have millions of orders. Approving it makes an entry for each of them or keeps nothing
 * (`takeForBackfill`), and entries are never deleted. So only entries that are not accepted are read, by
 * indexes; the other orders of the plan are accepted.
 *
 * @param options.sumUpTo if more orders than this are still to be posted, they are only counted, which takes half
 * the time.
 */
export async function readBackfillProgress(
  db: Database,
  { backfillId, job, plan }: Pick<Backfill, 'backfillId' | 'job' | 'plan'>,
  { sumUpTo = null }: { sumUpTo?: number | null } = {},
): Promise<BackfillProgress> {
  const planned = plan.groups.filter(({ standing }) => standing === 'to_post');
  const total = sumOrders(planned);
  // Read anew, because the caller may have read the backfill before it was approved.
  const now = await db
    .selectFrom('ops.backfills')
    .select('approved_at')
    .where('backfill_id', '=', backfillId)
    .executeTakeFirst();
  const isApproved = now !== undefined && now.approved_at !== null;
  const isSummed = sumUpTo === null || !(await haveMoreToPost(db, backfillId, sumUpTo));
  const others = isApproved ? await sumOthers(db, backfillId, { isSummed }) : [];
  const answersLastMinute = await countOf(db)`
    select count(*) as answers from ledger.attempts t
    where t.claimed_at > statement_timestamp() - interval '1 minute'
      and t.run_id = (select max(run_id) from ops.runs where job = ${backfillRunName(job)})`;
  const process = await db
    .selectFrom('ops.leases')
    .select(['host', 'pid'])
    .where('name', '=', `job:${backfillRunName(job)}`)
    .where('expires_at', '>', databaseClock)
    .executeTakeFirst();
  const count = (...states: readonly string[]): number =>
    sumOrders(others.filter(({ state }) => states.includes(state)));
  return {
    planned: total,
    accepted: isApproved ? total - sumOrders(others) : 0,
    toPost: isApproved ? count('ready', 'sending') : total,
    rejected: count('rejected'),
    inDoubt: count('in_doubt'),
    held: count('held', 'written_off'),
    amounts: isSummed ? (isApproved ? subtract(planned, others) : []) : null,
    answersLastMinute,
    process: process ?? null,
  };
}

type Sum = { readonly currency: string; readonly orders: number; readonly amount: DecimalText };

/** Subtracts the sums of other orders from the planned ones. Omits currencies in which no order remains. */
function subtract(planned: readonly Sum[], others: readonly Sum[]): readonly RunAmount[] {
  const currencies = [...new Set(planned.map(({ currency }) => currency))].sort();
  return currencies.flatMap((currency) => {
    const of = (sums: readonly Sum[]) => sums.filter((sum) => sum.currency === currency);
    if (sumOrders(of(planned)) === sumOrders(of(others))) return [];
    const [all = '0', rest = '0'] = [planned, others].map((sums) =>
      sumMoney(of(sums).map(({ amount }) => amount)),
    );
    return [{ currency, accepted: subtractMoney(all, rest) }];
  });
}

/** SQL for the entries that a backfill still has to post, found and read in the index of open entries alone. */
const entriesToPost = (backfillId: string) => sql`
  ledger.entries e
  where not e.is_settled and e.backfill_id = ${backfillId}::bigint and e.state in ('ready', 'sending')`;

async function haveMoreToPost(db: Database, backfillId: string, limit: number): Promise<boolean> {
  return finds(db)`select from ${entriesToPost(backfillId)} offset ${limit}::bigint limit 1`;
}

/**
 * Orders of an approved plan whose entries are not accepted, by state. Entries that the backfill still posts
 * have their planned amounts. For the others, the plan states which belong to it, and their amounts.
 *
 * @param options.isSummed false to count the entries that the backfill still posts without their amounts.
 */
async function sumOthers(db: Database, backfillId: string, { isSummed }: { isSummed: boolean }) {
  const toPost = isSummed
    ? sql`
      select e.state, e.currency, count(*) as orders, sum(e.amount) as amount
      from ${entriesToPost(backfillId)}
      group by 1, 2`
    : sql`select 'ready', '', count(*), 0 from ${entriesToPost(backfillId)}`;
  // Found in the index of open entries too. Those of a backfill that has ended belong to the runs of the job again
  // (`giveBack`), so all are looked at.
  const others = sql`
    select e.entry_id from ledger.entries e
    where not e.is_settled and e.backfill_id = ${backfillId}::bigint and e.state in ('held', 'in_doubt')
    union all
    select e.entry_id from ledger.entries e
    where not e.is_settled and e.backfill_id is distinct from ${backfillId}::bigint
      and (select b.state not in ('running', 'paused') from ops.backfills b
        where b.backfill_id = ${backfillId}::bigint)`;
  return rowsOf<Sum & { state: string }>(db)`
    select state, currency, sum(orders)::float8 as orders, sum(amount)::text as amount
    from (
      select * from (${toPost}) waiting (state, currency, orders, amount)
      union all
      select e.state, b.currency, 1, b.amount
      from (
        select e.*
        from (${others}) o
          cross join lateral (select e.* from ledger.entries e where e.entry_id = o.entry_id limit 1) e
        union all select e.* from ledger.entries e where e.state = 'rejected'
        union all select e.* from ledger.entries e where e.state = 'written_off'
      ) e
      cross join lateral (
        select b.currency, b.amount
        from ops.backfill_orders b
        where b.backfill_id = ${backfillId}::bigint and b.key = e.key
        limit 1) b
      where e.effect = 'referral' and e.account_id = (select account_id from ops.account)
    ) entries
    group by 1, 2`;
}

/** Says why an order that this process sent is not accepted, as a sentence. Null if all are. */
export async function describeUnposted(db: Database, runId: string): Promise<string | null> {
  const row = await rowOf<{ state: string; reason: string }>(db)`
    select e.state, e.state_reason as reason
    from ledger.attempts t join ledger.entries e on e.entry_id = t.entry_id and e.attempt = t.attempt
    where t.run_id = ${runId}::bigint and e.state in ('in_doubt', 'rejected')
    order by e.state, e.entry_id limit 1`;
  if (row === undefined) return null;
  const what = row.state === 'rejected' ? 'The service refused an order' : 'An order is in doubt';
  return `${what}: ${row.reason}.`;
}

/**
 * Reports what a process that planned or executed a backfill did. Call it once the process has settled all
 * its claims.
 */
export async function reportBackfill(db: Database, runId: string): Promise<BackfillRunReport> {
  const files = await rowsOf<{ files: number; rows: number; rejected: number }>(db)`
    select count(*)::float8 as files, coalesce(sum(rows_read), 0)::float8 as rows,
      coalesce(sum(rejected_rows), 0)::float8 as rejected
    from intake.source_files where run_id = ${runId}::bigint and state = 'sealed'`;
  const plans = await rowsOf<{ orders: number }>(db)`
    select (
        select coalesce(sum((g ->> 'orders')::bigint), 0)::float8
        from jsonb_array_elements(b.plan -> 'groups') g
        where g ->> 'standing' = 'to_post') as orders
    from ops.backfills b where b.run_id = ${runId}::bigint`;
  const sent = await rowsOf<{ state: string; currency: string; orders: number; amount: string }>(db)`
    select e.state, e.currency, count(*)::float8 as orders, sum(e.amount)::text as amount
    from ledger.attempts t join ledger.entries e on e.entry_id = t.entry_id and e.attempt = t.attempt
    where t.run_id = ${runId}::bigint group by e.state, e.currency order by e.state, e.currency`;
  const sentAs = (which: string): number =>
    sent.reduce((sum, { state, orders }) => (state === which ? sum + orders : sum), 0);
  const [read] = files;
  return {
    counts: {
      files: read?.files ?? 0,
      rows: read?.rows ?? 0,
      rejected_rows: read?.rejected ?? 0,
      planned: plans[0]?.orders ?? null,
      entries: { accepted: sentAs('accepted'), rejected: sentAs('rejected'), in_doubt: sentAs('in_doubt') },
    },
    amounts: sent
      .filter(({ state }) => state === 'accepted')
      .map(({ currency, amount }): RunAmount => ({ currency, accepted: amount })),
  };
}

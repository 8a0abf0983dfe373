import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { CheckFinding } from '../model/checks/check-result.ts';
import type { DoubleCredit, Doubt } from '../model/ledger.ts';
import type { HeldFile } from '../model/report.ts';
import type { GivenUpUnit, WorkerSeen } from '../model/work.ts';
import { listFindings } from './checks/read-checks.ts';
import { isDoubt } from './disposition.ts';
import { listHeldFiles } from './files/list-held-files.ts';
import { listQueues, type QueueState } from './files/list-queues.ts';
import { listDoubleCredits, listDoubts } from './list-doubts.ts';
import {
  type ChannelTrouble,
  listChannelTroubles,
  listOpenProblems,
  type OpenProblem,
} from './list-notices.ts';
import { type ListedRun, listRuns } from './list-runs.ts';
import { listPausedJobs, type PausedJob, type SlotSummary, summariseSlots } from './list-slots.ts';
import { listGivenUpUnits, listWorkers } from './list-workers.ts';
import { type OpenBacklog, readOpenBacklog } from './open-backlog.ts';
import { acceptedEntries } from './refresh/count-accepted.ts';
import { readWaitingClaims, type WaitingClaims } from './waiting-claims.ts';

/** Entries of a job in one state. Entries in state `sending` whose process is gone count as in_doubt. */
export type Backlog = {
  readonly job: string;
  readonly state: string;
  /** The unfinished backfill that alone may post these ready or sending entries; null for all others. */
  readonly backfillId: string | null;
  readonly currency: string | null;
  readonly entries: number;
  readonly amount: string;
  readonly oldest: Date;
};

export type LiveLease = {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly secondsLeft: number;
};

export type Status = {
  readonly account: string | null;
  readonly backlog: readonly Backlog[];
  readonly customers: readonly CustomerGroup[];
  /** The oldest doubts. */
  readonly doubts: readonly Doubt[];
  /** Orders that the service has accepted more than once, until a person acknowledges them. */
  readonly doubleCredits: readonly DoubleCredit[];
  /** Claims that the database lost and whose orders no file has contained since. */
  readonly waitingClaims: WaitingClaims;
  readonly lastRuns: readonly ListedRun[];
  readonly heldFiles: readonly HeldFile[];
  /** Recent unacknowledged warnings of checks about files that count nevertheless. */
  readonly warnings: readonly CheckFinding[];
  /** Queues that announce new files. */
  readonly queues: readonly QueueState[];
  readonly leases: readonly LiveLease[];
  readonly workers: readonly WorkerSeen[];
  readonly givenUpUnits: readonly GivenUpUnit[];
  readonly slots: readonly SlotSummary[];
  readonly pausedJobs: readonly PausedJob[];
  /** Open problems, as in notices; empty if no channel is configured. */
  readonly problems: readonly OpenProblem[];
  readonly channelTroubles: readonly ChannelTrouble[];
};

const SHOWN_DOUBTS = 5;

/**
 * Restricts held files and warnings to these sources, so that those of a renamed source, for example, are
 * omitted. Without `sources`, all are included.
 */
export type StatusOf = { readonly sources?: readonly string[] };

/** Reads the current state of all jobs. @param of.queued sources whose new files a queue announces. */
export async function readStatus(
  db: Database,
  { queued = [], ...of }: StatusOf & { readonly queued?: readonly string[] } = {},
): Promise<Status> {
  const account = await db.selectFrom('ops.account').select('account_id').executeTakeFirst();
  return {
    account: account?.account_id ?? null,
    backlog: await readBacklog(db),
    ...(await readWaiting(db, of)),
    customers: await countCustomers(db),
    warnings: (await listFindings(db, of)).filter(({ verdict }) => verdict === 'warn'),
    queues: queued.length === 0 ? [] : await listQueues(db, queued),
    doubts: await listDoubts(db, { limit: SHOWN_DOUBTS }),
    lastRuns: await listRuns(db, { perJob: true }),
    leases: await readLeases(db),
    workers: await listWorkers(db),
    givenUpUnits: await listGivenUpUnits(db),
    slots: await summariseSlots(db),
    pausedJobs: await listPausedJobs(db),
    problems: await listOpenProblems(db),
    channelTroubles: await listChannelTroubles(db),
  };
}

type Waiting = Pick<Status, 'doubleCredits' | 'waitingClaims' | 'heldFiles'>;

async function readWaiting(db: Database, of: StatusOf): Promise<Waiting> {
  return {
    doubleCredits: await listDoubleCredits(db),
    waitingClaims: await readWaitingClaims(db),
    heldFiles: await listHeldFiles(db, of),
  };
}

/** What waits to be sent, or for a person. */
export type Needs = Waiting & { readonly backlog: readonly OpenBacklog[] };

/** @param of.limit counts at most this number of open entries of each job, backfill and state. */
export async function readNeeds(
  db: Database,
  { limit, ...of }: StatusOf & { readonly limit: number },
): Promise<Needs> {
  return {
    backlog: await readOpenBacklog(db, limit),
    ...(await readWaiting(db, of)),
  };
}

async function readBacklog(db: Database): Promise<readonly Backlog[]> {
  // Each state is read through its own index. Accepted entries come from totals that are already summed up.
  const { rows } = await sql<Omit<Backlog, 'entries'> & { entries: string }>`
    select job, state, backfill_id as "backfillId", currency, sum(entries) as entries, sum(amount) as amount, min(oldest) as oldest
    from (
      ${sumEntries(sql`not e.is_settled`, { isSettled: false })}
      union all ${sumEntries(sql`e.state = 'rejected'`, { isSettled: true })}
      union all ${sumEntries(sql`e.state = 'written_off'`, { isSettled: true })}
      union all select a.job, 'accepted', null, a.currency, a.entries, a.amount, a.oldest from (${acceptedEntries}) a
    ) e
    group by 1, 2, 3, 4 order by 1, 2, 3 nulls first, 4`.execute(db);
  return rows.map((row) => ({ ...row, entries: Number(row.entries) }));
}

/**
 * SQL for the matching entries `e` in groups, with the columns job, state, backfill_id, currency, entries,
 * amount and oldest. The entries are added up by columns of their index alone, which takes a third of the time, and
 * whether a process is alive is asked once for each.
 *
 * @param options.isSettled what `is_settled` is for all of them.
 */
function sumEntries(
  matches: RawBuilder<unknown>,
  { isSettled }: { readonly isSettled: boolean },
): RawBuilder<unknown> {
  return sql`
    select e.job, case when ${isDoubt} then 'in_doubt' else e.state end as state,
      case when e.state = 'ready' or (e.state = 'sending' and not ${isDoubt}) then e.backfill_id end as backfill_id, e.currency,
      e.entries, e.amount, e.oldest
    from (
      select e.job, e.state, ${isSettled}::boolean as is_settled, e.backfill_id, e.currency, e.owner, count(*) as entries,
        coalesce(sum(e.amount), 0) as amount, min(e.state_changed_at) as oldest
      from ledger.entries e where ${matches} group by 1, 2, 4, 5, 6) e`;
}

async function readLeases(db: Database): Promise<readonly LiveLease[]> {
  const { rows } = await sql<Omit<LiveLease, 'secondsLeft'> & { secondsLeft: string }>`
    select name, host, pid, extract(epoch from expires_at - clock_timestamp()) as "secondsLeft"
    from ops.leases where expires_at > clock_timestamp() order by name`.execute(db);
  return rows.map((row) => ({ ...row, secondsLeft: Math.round(Number(row.secondsLeft)) }));
}

/**
 * Customers of a brand in the same state. `staged` customers wait to be submitted; their addresses are still
 * stored.
 */
export type CustomerGroup = {
  readonly brandId: string;
  readonly state: 'staged' | 'submitted' | 'refused' | 'unsubscribed';
  readonly customers: number;
  /** When the first of these customers was read. */
  readonly oldest: Date;
};

/** Counts the customers of each brand by state. Customers of files that do not count yet are left out. */
export async function countCustomers(db: Database): Promise<readonly CustomerGroup[]> {
  const { rows } = await sql<Omit<CustomerGroup, 'customers'> & { customers: string }>`
    select c.brand_id as "brandId", c.state, sum(c.customers) as customers, min(c.first_seen_at) as oldest
    from intake.customer_counts c group by 1, 2 order by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, customers: Number(row.customers) }));
}

import { sql } from 'kysely';
import type { CheckFinding } from '../../core/checks/check-result.ts';
import type { ReadFor } from '../../core/layout.ts';
import type { DoubleCredit, Doubt } from '../../core/ledger.ts';
import type { HeldFile } from '../../core/report.ts';
import type { GivenUpUnit, WorkerSeen } from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';
import { type Backlog, readBacklog } from '../../rollups/backlog.ts';
import { listFindings } from '../checks/read-checks.ts';
import { listDoubleCredits, listDoubts } from '../doubts/list-doubts.ts';
import { readWaitingClaims, type WaitingClaims } from '../doubts/waiting-claims.ts';
import { listHeldFiles } from '../files/list-held-files.ts';
import { listRejectedCauses, type RejectedCause } from '../files/list-rejected.ts';
import { type HeldGroup, listHeldGroups } from '../held/held-orders.ts';
import { listStatementMails, type StatementMail } from '../money/statement-mails.ts';
import {
  type ChannelTrouble,
  listChannelTroubles,
  listOpenProblems,
  type OpenProblem,
} from '../notices/list-notices.ts';
import { type ListedRun, listRuns } from '../runs/list-runs.ts';
import { listPausedJobs, type PausedJob, type SlotSummary, summariseSlots } from '../runs/list-slots.ts';
import { listGivenUpUnits, listWorkers } from '../runs/list-workers.ts';

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
  /** Mails with statements of which nobody knows whether they arrived. */
  readonly unclearMails: readonly StatementMail[];
  /** Claims that the database lost and whose orders no file has contained since. */
  readonly waitingClaims: WaitingClaims;
  readonly lastRuns: readonly ListedRun[];
  readonly heldFiles: readonly HeldFile[];
  /** Rejected rows that no later file has settled, by their cause. */
  readonly rejected: readonly RejectedCause[];
  /** Orders that are held because something about them is not known, by reason. */
  readonly heldOrders: readonly HeldGroup[];
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

/**
 * Reads the current state of all jobs.
 *
 * @param of.queued sources whose new files a queue announces.
 * @param of.limit counts at most this number of open entries of each job, backfill and state; all if omitted.
 */
export async function readStatus(
  db: Database,
  {
    queued = [],
    limit = Number.MAX_SAFE_INTEGER,
    ...of
  }: StatusOf & { readonly queued?: readonly string[]; readonly limit?: number } = {},
): Promise<Status> {
  // In a session of its own, because it takes about as long as all others together.
  const [backlog, rest] = await Promise.all([readBacklog(db, limit), readRest(db, { ...of, queued })]);
  return { ...rest, backlog };
}

async function readRest(
  db: Database,
  { queued, ...of }: StatusOf & { readonly queued: readonly string[] },
): Promise<Omit<Status, 'backlog'>> {
  const account = await db.selectFrom('ops.account').select('account_id').executeTakeFirst();
  return {
    account: account?.account_id ?? null,
    doubleCredits: await listDoubleCredits(db),
    unclearMails: await listStatementMails(db, { state: 'unclear', limit: SHOWN_DOUBTS }),
    waitingClaims: await readWaitingClaims(db),
    heldFiles: await listHeldFiles(db, of),
    rejected: await listRejectedCauses(db, { ...of, isOpen: true }),
    heldOrders: await listHeldGroups(db),
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

/** What is known of the files that the queue of a source announces. */
type QueueState = {
  readonly source: string;
  readonly readFor: ReadFor;
  /** Announced files that no run has dealt with yet. */
  readonly announced: number;
  /** When the oldest of them was announced. Null if there are none. */
  readonly oldest: Date | null;
  /** When all names were last listed, which finds files that were never announced. Null if never. */
  readonly listedAt: Date | null;
};

/** Lists what is known of the queues of these sources. A source that no run has read yet is left out. */
async function listQueues(db: Database, sources: readonly string[]): Promise<readonly QueueState[]> {
  const { rows } = await sql<Omit<QueueState, 'announced'> & { announced: string }>`
    select l.source, l.read_for as "readFor", count(a.uri) as announced, min(a.announced_at) as oldest,
      case when l.names_hash <> '' then l.listed_at end as "listedAt"
    from intake.listings l
    left join intake.announced_files a on a.source = l.source and a.read_for = l.read_for
    where l.source = any(${[...sources]}::text[])
    group by l.source, l.read_for
    order by l.source, l.read_for`.execute(db);
  return rows.map((row) => ({ ...row, announced: Number(row.announced) }));
}

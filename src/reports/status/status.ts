import type { PipelineConfig } from '../../config/schema.ts';
import type { ReadFor } from '../../core/layout.ts';
import { formatMoney } from '../../core/money.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import { type Database, rowsOf } from '../../db/statement.ts';
import { listBankEntries } from '../../money/payments/match-bookings.ts';
import type { NextSlot } from '../../ops/schedule/next-slots.ts';
import {
  type Block,
  column,
  facts,
  item,
  more,
  number,
  say,
  section,
  table,
  whole,
} from '../../render/block.ts';
import { formatCount } from '../../render/text.ts';
import { readBacklog } from '../../rollups/backlog.ts';
import { listFindings } from '../checks/read-checks.ts';
import { describeFindings } from '../checks/render-checks.ts';
import { describeDoubleCredits, describeDoubt, reviewCommand } from '../doubts/doubts.ts';
import { listDoubleCredits, listDoubts } from '../doubts/list-doubts.ts';
import { describeWaitingClaims, readWaitingClaims } from '../doubts/waiting-claims.ts';
import { listHeldFiles } from '../files/list-files.ts';
import { listRejectedCauses } from '../files/list-rejected.ts';
import { describeHeldFiles, describeRejectedCauses } from '../files/read-files.ts';
import { describeHeldOrders } from '../held/describe-held-orders.ts';
import { listHeldGroups } from '../held/held-orders.ts';
import { sumOtherCurrency } from '../money/list-other-currency.ts';
import { describeOtherCurrencySums } from '../money/other-currency.ts';
import { listStatementMails, sayAbout } from '../money/statement-mails.ts';
import { describeNotified, listChannelTroubles, listOpenProblems } from '../notices/list-notices.ts';
import { describeHeld } from '../payments/payments.ts';
import { listRuns } from '../runs/list-runs.ts';
import { listPausedJobs, summariseSlots } from '../runs/list-slots.ts';
import { commandOfUnit, describeUnit, listGivenUpUnits, listWorkers } from '../runs/read-units.ts';
import { type DidOfRun, describeRuns, describeSchedule } from '../runs/runs.ts';

export type LiveLease = {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly secondsLeft: number;
};

/** The current state of all jobs. */
export type Status = Awaited<ReturnType<typeof readStatus>>;

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
) {
  // In a session of its own, because it takes about as long as all others together.
  const [backlog, rest] = await Promise.all([readBacklog(db, limit), readRest(db, { ...of, queued })]);
  return { ...rest, backlog };
}

async function readRest(db: Database, { queued, ...of }: StatusOf & { queued: readonly string[] }) {
  const account = await db.selectFrom('ops.account').select('account_id').executeTakeFirst();
  return {
    account: account?.account_id ?? null,
    /** Orders that the service has accepted more than once, until a person acknowledges them. */
    doubleCredits: await listDoubleCredits(db),
    /** Mails with statements of which it is not known whether they arrived. */
    unclearMails: await listStatementMails(db, { state: 'unclear', limit: SHOWN_DOUBTS }),
    /** Bookings in files of the bank that do not count until somebody decides. */
    heldBookings: await listBankEntries(db, { onlyHeld: true }),
    /** Claims that the database lost and whose orders no file has contained since. */
    waitingClaims: await readWaitingClaims(db),
    heldFiles: await listHeldFiles(db, of),
    /** Rejected rows that no later file has settled, by their cause. */
    rejected: await listRejectedCauses(db, { ...of, isOpen: true }),
    heldOrders: await listHeldGroups(db),
    otherCurrency: await sumOtherCurrency(db, {}),
    customers: await countCustomers(db),
    /** Recent unacknowledged warnings of checks about files that count nevertheless. */
    warnings: (await listFindings(db, of)).filter(({ verdict }) => verdict === 'warn'),
    /** Queues that announce new files. */
    queues: queued.length === 0 ? [] : await listQueues(db, queued),
    doubts: await listDoubts(db, { limit: SHOWN_DOUBTS }),
    lastRuns: await listRuns(db, { perJob: true }),
    leases: await rowsOf<LiveLease>(db)`
      select name, host, pid, round(extract(epoch from expires_at - clock_timestamp()))::float8 as "secondsLeft"
      from ops.leases where expires_at > clock_timestamp() order by name`,
    workers: await listWorkers(db),
    givenUpUnits: await listGivenUpUnits(db),
    slots: await summariseSlots(db),
    pausedJobs: await listPausedJobs(db),
    /** Open problems, as in notices; empty if no channel is configured. */
    problems: await listOpenProblems(db),
    channelTroubles: await listChannelTroubles(db),
  };
}

/**
 * Customers of a brand in the same state. `staged` customers wait to be submitted; their addresses are still stored.
 */
export type CustomerGroup = {
  readonly brandId: string;
  readonly state: 'staged' | 'submitted' | 'refused' | 'unsubscribed';
  readonly customers: number;
  /** When the first of these customers was read. */
  readonly oldest: Date;
};

/** Counts the customers of each brand by state. Customers of files that do not count yet are left out. */
export function countCustomers(db: Database) {
  return rowsOf<CustomerGroup>(db)`
    select c.brand_id as "brandId", c.state, sum(c.customers)::float8 as customers,
      min(c.first_seen_at) as oldest
    from intake.customer_counts c group by 1, 2 order by 1, 2`;
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
function listQueues(db: Database, sources: readonly string[]) {
  return rowsOf<QueueState>(db)`
    select l.source, l.read_for as "readFor", count(a.uri)::float8 as announced,
      min(a.announced_at) as oldest,
      case when l.names_hash <> '' then l.listed_at end as "listedAt"
    from intake.listings l
    left join intake.announced_files a on a.source = l.source and a.read_for = l.read_for
    where l.source = any(${[...sources]}::text[])
    group by l.source, l.read_for
    order by l.source, l.read_for`;
}

export type StatusInput = {
  readonly status: Status;
  readonly config: PipelineConfig;
  readonly did: DidOfRun;
  /** The next slots, according to the schedules in the configuration. */
  readonly next?: readonly NextSlot[];
};

/** Kinds of problems that `status` shows in their own section, in more detail than a notice. */
const SHOWN_ELSEWHERE: readonly string[] = [
  'job_failed',
  'job_stalled',
  'job_late',
  'job_missed',
  'files_held',
  'doubts',
  'credited_twice',
  'orders_restated',
  'bookings_held',
  'ledger_went_back',
];

/** Describes the current state. What needs a person comes last, next to the prompt. */
export function describeStatus({ status, config, did, next = [] }: StatusInput): readonly Block[] {
  const { api, database, notify } = config;
  const place =
    database.url === ''
      ? `embedded, in ${database.dataFolder}`
      : `Postgres at ${URL.parse(database.url)?.host ?? '?'}`;
  const never = Object.keys(config.jobs).filter((job) => !status.lastRuns.some((run) => run.job === job));
  const waitingClaims = describeWaitingClaims(status.waitingClaims);
  return [
    facts([
      ['service', api.url === '' ? 'none: `run` needs INFLUENCER_API_URL' : api.url],
      ['account', status.account ?? 'unknown before the first run'],
      ['database', place],
    ]),
    ...section('Last run of each job', {
      parts: [
        ...describeRuns(status.lastRuns, did),
        ...never.map((job) => item(`${job}: has not run yet. npx influencer-sync run ${job}`)),
      ],
    }),
    ...describeSchedule(next, status),
    ...describeBacklog(status),
    ...section('Customers', {
      parts: table(status.customers, [
        column('brand', ({ brandId }) => brandId),
        whole('state', ({ state }) => (state === 'staged' ? 'to be submitted' : state)),
        number('customers', ({ customers }) => formatCount(customers)),
        whole('oldest (UTC)', ({ oldest }) => formatMinute(oldest)),
      ]),
    }),
    // Which files queues have announced, and when all names were last listed.
    ...section('Queues of S3 events', {
      parts: table(status.queues, [
        column('source', ({ source }) => source),
        number('announced files to read', ({ announced }) => formatCount(announced)),
        whole('oldest (UTC)', ({ oldest }) => formatMinute(oldest)),
        whole('all names listed (UTC)', ({ listedAt }) => formatMinute(listedAt) || 'not yet'),
      ]),
    }),
    ...describeWork(status),
    ...describeNotified(
      notify.channels.length === 0
        ? []
        : status.problems.filter(({ kind }) => !SHOWN_ELSEWHERE.includes(kind)),
      status.channelTroubles.filter(({ channel }) => notify.channels.some(({ name }) => name === channel)),
    ),
    ...describeHeldOrders({ groups: status.heldOrders }),
    ...describeOtherCurrencySums(status.otherCurrency),
    ...describeHeldFiles(status.heldFiles),
    ...describeRejectedCauses(status.rejected),
    ...describeFindings(status.warnings),
    ...(waitingClaims === null ? [] : [say(waitingClaims, { tone: 'yellow' })]),
    ...describeDoubleCredits(status.doubleCredits),
    ...section('Mails that may not have arrived', {
      tone: 'red',
      parts: status.unclearMails.map((mail) => item(`The statement of ${sayAbout(mail)}.`)),
      commands: { about: 'ask the creator, then decide', lines: ['npx influencer-sync statement mails'] },
    }),
    ...describeHeld(status.heldBookings),
    ...describeDoubts(status),
  ];
}

function describeBacklog({ backlog }: Status): readonly Block[] {
  const isPart = backlog.some((group) => group.isPart);
  return section('Ledger', {
    parts: [
      table(backlog, [
        column('job', ({ job }) => job),
        whole(
          'state',
          ({ state, backfillId }) =>
            `${state.replaceAll('_', ' ')}${backfillId === null ? '' : `, by backfill ${backfillId}`}`,
        ),
        number('entries', ({ entries, isPart }) => `${formatCount(entries)}${isPart ? '+' : ''}`),
        // Clicks and deals have no amount, and so no currency.
        number('amount', ({ amount, currency, isPart }) =>
          amount === null ? '' : `${isPart ? 'more than ' : ''}${formatMoney(amount, currency)}`,
        ),
        whole('oldest (UTC)', ({ oldest }) => formatMinute(oldest)),
      ]),
      ...more(isPart, '+ there are more. Count all: npx influencer-sync status --exact'),
    ],
  });
}

/** Describes who works now, and work of the last runs that no worker could complete. */
function describeWork({ leases, workers, givenUpUnits }: Status): readonly Block[] {
  // Units of work are shown with their worker.
  const shown = leases.filter(({ name }) => !name.startsWith('unit:'));
  const holders = shown.map(
    ({ name, host, pid, secondsLeft }) =>
      [
        name.replace(/^serve:.*/, 'serve'),
        `pid ${pid} on ${host}, lease valid for ${secondsLeft} s`,
      ] as const,
  );
  return [
    ...section('At work now', { parts: holders.length === 0 ? [] : facts(holders) }),
    ...section('Workers', {
      parts: table(workers, [
        column('worker', ({ host, pid }) => `pid ${pid} on ${host}`),
        whole('version', ({ version }) => version),
        column('takes', ({ kinds }) => kinds.join(', ')),
        number(
          'doing now',
          ({ units, drainingSince }) => `${formatCount(units)}${drainingSince === null ? '' : ', stopping'}`,
        ),
        whole('since (UTC)', ({ startedAt }) => formatMinute(startedAt)),
      ]),
    }),
    ...section('Work that no worker could do', {
      count: givenUpUnits.length,
      tone: 'yellow',
      parts: givenUpUnits.map((unit) =>
        item(`${unit.job}, run ${unit.runId}: ${describeUnit(unit)} failed because each worker died.`),
      ),
      help: 'The log of the workers says why. Fix the cause and run again; that does the rest:',
      commands: { lines: [...new Set(givenUpUnits.map(commandOfUnit))] },
    }),
  ];
}

function describeDoubts({ doubts, backlog }: Status): readonly Block[] {
  if (doubts.length === 0) return [say('No order is in doubt.', { tone: 'dim' })];
  const inDoubt = backlog.filter(({ state }) => state === 'in_doubt');
  const count = inDoubt.reduce((sum, { entries }) => sum + entries, 0);
  return section(`In doubt (${formatCount(count)}${inDoubt.some(({ isPart }) => isPart) ? '+' : ''})`, {
    tone: 'red',
    parts: doubts.map(describeDoubt),
    commands: reviewCommand('look up each order in the service, then settle it'),
  });
}

import { type RawBuilder, sql } from 'kysely';
import { type Database, rowsOf } from '../../db/statement.ts';
import { isDoubt } from '../../rollups/disposition.ts';
import { sumRefused } from '../doubts/list-doubts.ts';
import { listHeldFiles } from '../files/list-files.ts';
import { listOpenProblems } from '../notices/list-notices.ts';
import { listPausedJobs } from '../runs/list-slots.ts';
import { listWorkers } from '../runs/read-units.ts';

/**
 * The gauges of /metrics that show the state of the database: their labels, and what they say. Labels are names from the
 * configuration, states and currencies, which limits their number. Dashboards depend on the names.
 */
export const GAUGES = {
  serving_processes: [[], 'Processes that run jobs on schedule, according to the database.'],
  entries: [['job', 'state'], 'Unsettled entries of the ledger.'],
  doubt_amount: [['job', 'currency'], 'Money of the entries in doubt, in units of the currency.'],
  refused_entries: [['job'], 'Entries that the service refused and that the job still wants to post.'],
  held_files: [['source'], 'Files that are held; none of their rows count.'],
  backlog_entries: [['job'], 'Entries that wait to be posted.'],
  backlog_oldest_seconds: [['job'], 'Age of the oldest entry that waits to be posted.'],
  beyond_budget: [['job'], 'How much the last run left for later because its budget was spent.'],
  last_success_timestamp_seconds: [['job'], 'When a run of the job last finished (ok or issues).'],
  overdue_seconds: [['job'], 'How long a scheduled run has been due without a run finishing.'],
  overdue_limit_seconds: [['job'], 'How long a run may be due: deadline_minutes of the job, or an hour.'],
  paused: [['job'], 'Always 1: a person has paused the job.'],
  slots: [['job', 'state'], 'Slots of the last 24 hours, and older unsettled ones.'],
  problems_open: [['kind', 'job', 'severity'], 'Open problems, where notices are configured.'],
  notice_deliveries: [
    ['channel', 'state'],
    'Notices that a channel has not accepted: pending, or recently given_up.',
  ],
  notice_oldest_seconds: [
    ['channel'],
    'How long the oldest notice that a channel has not accepted has been due.',
  ],
  workers: [['version'], 'Processes that do units of work for runs.'],
  work_units_open: [['kind'], 'Unfinished units of work.'],
} as const satisfies Readonly<Record<string, readonly [labels: readonly string[], help: string]>>;

export type Sample = readonly [
  gauge: keyof typeof GAUGES,
  labels: Readonly<Record<string, string>>,
  value: number,
];

export type Gauges = {
  readonly samples: readonly Sample[];
  /** The last completed run of each job, with the counts of the job's kind. */
  readonly lastSuccess: readonly {
    readonly job: string;
    readonly startedAt: Date;
    readonly at: Date;
    readonly counts: object | null;
  }[];
  /** Jobs whose slots are skipped until a person resumes them. */
  readonly pausedJobs: readonly string[];
};

/**
 * Reads the gauges of /metrics. No query reads settled entries, so they stay cheap however long the ledger is:
 * indexes find waiting entries, refused ones and held files; runs are read from the newest, and slots of one day.
 */
export async function readGauges(
  db: Database,
  { jobs, sources }: { jobs: readonly string[]; sources: readonly string[] },
): Promise<Gauges> {
  const heldFiles = await listHeldFiles(db, { sources });
  const workers = await listWorkers(db);
  const pausedJobs = (await listPausedJobs(db)).map(({ job }) => job);
  const lastSuccess = await rowsOf<Gauges['lastSuccess'][number]>(db)`
    select j.job, r.started_at as "startedAt", r.finished_at as at, r.counts
    from unnest(${jobs}::text[]) as j (job)
    cross join lateral (
      select started_at, finished_at, counts from ops.runs r
      where r.job = j.job and r.status in ('ok', 'issues') order by r.run_id desc limit 1
    ) r`;
  const samples: readonly Sample[] = [
    ...(await readEntries(db)),
    ...[...Map.groupBy(await sumRefused(db), ({ job }) => job)].map(
      ([job, sums]): Sample => ['refused_entries', { job }, sums.reduce((sum, one) => sum + one.entries, 0)],
    ),
    ...[...Map.groupBy(heldFiles, ({ source }) => source)].map(
      ([source, files]): Sample => ['held_files', { source }, files.length],
    ),
    ...lastSuccess.map(
      ({ job, at }): Sample => ['last_success_timestamp_seconds', { job }, at.getTime() / 1000],
    ),
    ...pausedJobs.map((job): Sample => ['paused', { job }, 1]),
    ...[...Map.groupBy(workers, ({ version }) => version)].map(
      ([version, group]): Sample => ['workers', { version }, group.length],
    ),
    ...(await listOpenProblems(db)).map(
      ({ kind, job, severity }): Sample => ['problems_open', { kind, job: job ?? '', severity }, 1],
    ),
    ...(await samplesOf(db, 'slots', SLOTS)),
    ...(await samplesOf(db, 'serving_processes', SERVING)),
    ...(await samplesOf(db, 'work_units_open', OPEN_UNITS)),
    ...(await readDeliveries(db)),
  ];
  return { samples, lastSuccess, pausedJobs };
}

const SLOTS = sql<{ job: string; state: string; value: number }>`
  select job, state, count(*)::float8 as value from ops.slots
  where not is_settled or slot > clock_timestamp() - interval '1 day' group by 1, 2 order by 1, 2`;
const SERVING = sql<{ value: number }>`
  select count(*)::float8 as value from ops.leases
  where starts_with(name, 'serve:') and expires_at > clock_timestamp()`;
const OPEN_UNITS = sql<{ kind: string; value: number }>`
  select kind, count(*)::float8 as value from ops.work_units
  where state in ('open', 'returned') group by 1 order by 1`;

/** Reads the values of one gauge. @param query rows with its labels and `value`. */
async function samplesOf(
  db: Database,
  gauge: Sample[0],
  query: RawBuilder<{ readonly value: number }>,
): Promise<readonly Sample[]> {
  const { rows } = await query.execute(db);
  return rows.map(({ value, ...labels }) => [gauge, labels, value]);
}

/** Entries of processes that have died count as in doubt. */
async function readEntries(db: Database): Promise<readonly Sample[]> {
  const rows = await rowsOf<{ job: string; state: string; entries: number; oldest: number }>(db)`
    select e.job, case when ${isDoubt} then 'in_doubt' else e.state end as state, count(*)::float8 as entries,
      extract(epoch from clock_timestamp() - min(e.created_at))::float8 as oldest
    from ledger.entries e where not e.is_settled
    group by 1, 2 order by 1, 2`;
  const amounts = sql<{ job: string; currency: string; value: number }>`
    select e.job, e.currency, coalesce(sum(e.amount), 0)::float8 as value
    from ledger.entries e where ${isDoubt} and e.currency is not null group by 1, 2 order by 1, 2`;
  return [
    ...rows.flatMap(({ job, state, entries, oldest }): readonly Sample[] => [
      ['entries', { job, state }, entries],
      ...(state === 'ready'
        ? ([
            ['backlog_entries', { job }, entries],
            ['backlog_oldest_seconds', { job }, oldest],
          ] as const)
        : []),
    ]),
    ...(await samplesOf(db, 'doubt_amount', amounts)),
  ];
}

async function readDeliveries(db: Database): Promise<readonly Sample[]> {
  const rows = await rowsOf<{ channel: string; state: string; deliveries: number; oldest: number }>(db)`
    select channel, state, count(*)::float8 as deliveries,
      greatest(0, extract(epoch from clock_timestamp() - min(due_at)))::float8 as oldest
    from ops.notice_deliveries
    where state = 'pending' or (state = 'given_up' and due_at > clock_timestamp() - interval '2 days')
    group by 1, 2 order by 1, 2`;
  return rows.flatMap(({ channel, state, deliveries, oldest }): readonly Sample[] => [
    ['notice_deliveries', { channel, state }, deliveries],
    ...(state === 'pending' ? ([['notice_oldest_seconds', { channel }, oldest]] as const) : []),
  ]);
}

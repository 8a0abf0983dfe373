import type { RunReport } from '../../src/core/report.ts';
import { countsOf, type Database, rowsOf } from '../../src/db/statement.ts';
import type { Published } from '../../src/mirror/publish.ts';
import { type Coverage, readCoverage } from '../../src/reports/list-deals.ts';

/**
 * The result of a run of `mirror-account`. `sumsAddUp` means that requested deals = new + changed + unchanged
 * + gone + failed, and that the known deals of all discovery ways add up to all known deals.
 */
export type MirrorReport = RunReport<'mirror-account', MirrorCounts, MirrorDetails>;

export type MirrorCounts = Published & {
  /** False if the run stopped early. The next run publishes what it has read. */
  readonly published: boolean;
  /** Requests of this run, including retries. */
  readonly requests: number;
  readonly deals_discovered: number;
  /** Deals that are known after this run. The sum of the five counts below. */
  readonly deals_known: number;
  readonly deals_fresh: number;
  readonly deals_stale: number;
  readonly deals_unread: number;
  readonly deals_failing: number;
  readonly deals_gone: number;
  /** Fields whose values did not match expectations in this run. */
  readonly drift: number;
  /** Records and answers of this run that could not be parsed as expected. */
  readonly unreadable: number;
};

/** A difference between the service's answers and the contract or earlier answers. */
export type Drift = {
  readonly recordKind: string;
  readonly field: string;
  readonly kind: 'type_changed' | 'vanished' | 'missing' | 'unreadable';
  readonly expected: string | null;
  readonly found: string | null;
  readonly records: number;
  readonly sampleId: string | null;
};

/** The number of records or answers that could not be read for the same reason. */
export type Unread = { readonly recordKind: string; readonly reason: string; readonly records: number };

/** What a run would request. */
export type MirrorPlan = {
  readonly budget: number;
  readonly autocompleteBudget: number;
  /** Deals that are due, by the way they were discovered. */
  readonly dueByWay: Readonly<Record<string, number>>;
  readonly handles: number;
  readonly prefixes: number;
};

export type MirrorDetails = {
  readonly plan: MirrorPlan | null;
  /** Coverage of the newest publication, `all` first. Empty before the first publication. */
  readonly coverage: readonly Coverage[];
  /** The first few differences of this run. */
  readonly drift: readonly Drift[];
  /** Unreadable records and answers of this run. */
  readonly unreadable: readonly Unread[];
  /** Why deals could not be read when they were last requested. */
  readonly failing: readonly Unread[];
  /** What was read only in part or not at all, as sentences. */
  readonly problems: readonly string[];
  /** Deals that are due and wait for the next run because of the budget. */
  readonly waiting: number;
  /** Answers that were read and are not published yet, because the run stopped. */
  readonly staged: number;
};

/** Maximum number of rows of each kind in a summary. */
const SHOWN_ROWS = 8;

export type MirrorOutcome = {
  /** Null if nothing was published. */
  readonly published: Published | null;
  readonly requests: number;
  readonly discovered: number;
  readonly problems: readonly string[];
};

export type ReportMirrorOptions = {
  readonly runId: string;
  readonly due: { readonly askedBefore: Date };
  /** Null for a run. */
  readonly plan: MirrorPlan | null;
  /** Null for a plan. */
  readonly outcome: MirrorOutcome | null;
};

const NOTHING = { new: 0, changed: 0, unchanged: 0, gone: 0 };
const NOTHING_PUBLISHED: Published = {
  brands: NOTHING,
  dealflows: NOTHING,
  deals: { ...NOTHING, failed: 0, asked: 0 },
  collaborations: NOTHING,
};

/** Reports what a run of `mirror-account` did and how complete the mirror is after it. */
export async function reportMirror(db: Database, options: ReportMirrorOptions): Promise<MirrorReport> {
  const { runId, plan, outcome } = options;
  const disposition = await readDisposition(db, options.due.askedBefore);
  const drift = await db
    .selectFrom('mirror.drift')
    .select(['record_kind as recordKind', 'field', 'kind', 'expected', 'found', 'records'])
    .select('sample_id as sampleId')
    .where('run_id', '=', runId)
    .orderBy('records', 'desc')
    .orderBy('record_kind')
    .orderBy('field')
    .execute();
  const unreadable = await rowsOf<Unread>(db)`
    select record_kind as "recordKind", reason, count(*)::float8 as records
    from mirror.unreadable where run_id = ${runId}::bigint
    group by record_kind, reason order by count(*) desc, record_kind, reason`;
  const coverage = await readCoverage(db);
  const published = outcome?.published ?? NOTHING_PUBLISHED;
  const counts = {
    ...published,
    published: outcome?.published != null,
    requests: outcome?.requests ?? 0,
    deals_discovered: outcome?.discovered ?? 0,
    deals_known: disposition.known,
    deals_fresh: disposition.fresh,
    deals_stale: disposition.stale,
    deals_unread: disposition.unread,
    deals_failing: disposition.failing,
    deals_gone: disposition.gone,
    drift: drift.length,
    unreadable: unreadable.reduce((sum, { records }) => sum + records, 0),
  };
  const problems = outcome?.problems ?? [];
  const details: MirrorDetails = {
    plan,
    coverage,
    drift: drift.slice(0, SHOWN_ROWS),
    unreadable,
    failing: await rowsOf<Unread>(db)`
      select 'deal' as "recordKind", last_error as reason, count(*)::float8 as records from mirror.known_deals
      where last_error is not null and deleted_at is null
      group by last_error order by count(*) desc, last_error limit ${SHOWN_ROWS}`,
    problems,
    waiting: disposition.stale + disposition.unread,
    staged: disposition.staged,
  };
  return {
    kind: 'mirror-account',
    counts,
    amounts: [],
    details,
    sumsAddUp: addUp(published, coverage),
    doubts: 0,
    needsAttention:
      problems.length > 0 || drift.length > 0 || unreadable.length > 0 || disposition.failing > 0,
  };
}

/** Returns true if every requested deal is counted once, and the ways add up to all known deals. */
function addUp({ deals }: Published, coverage: readonly Coverage[]): boolean {
  const isCounted = deals.asked === deals.new + deals.changed + deals.unchanged + deals.gone + deals.failed;
  const all = coverage.find(({ way }) => way === 'all')?.known ?? 0;
  const ways = coverage.filter(({ way }) => way !== 'all').reduce((sum, { known }) => sum + known, 0);
  return isCounted && all === ways;
}

async function readDisposition(db: Database, staleAt: Date) {
  const at = staleAt.toISOString();
  return countsOf<'known' | 'fresh' | 'stale' | 'unread' | 'failing' | 'gone' | 'staged'>(db)`
    select count(*) as known, count(*) filter (where deleted_at is not null) as gone,
      count(*) filter (where deleted_at is null and last_error is not null) as failing,
      count(*) filter (where deleted_at is null and last_error is null and read_at is null) as unread,
      count(*) filter (where deleted_at is null and last_error is null
        and read_at > ${at}::timestamptz) as fresh,
      count(*) filter (where deleted_at is null and last_error is null
        and read_at <= ${at}::timestamptz) as stale,
      (select count(*) from mirror.staged) as staged
    from mirror.known_deals`;
}

import { sql } from 'kysely';
import type { SourceSettings } from '../../config/source-fields.ts';
import type { CheckFinding, CheckResult } from '../../core/checks/check-result.ts';
import type { ExpectedDate } from '../../core/checks/expectations.ts';
import type { ReadFor } from '../../core/layout.ts';
import { type Database, rowsOf } from '../../db/statement.ts';
import { type FreshnessVerdict, judgeFreshness } from '../../intake/checks/freshness.ts';
import { unreportedRuns } from '../runs/list-runs.ts';
import type { Page } from '../wanted-rows.ts';

/** How long an unacknowledged warning is listed. A finding that holds a file is listed as long as the file is held. */
const LISTED_DAYS = 14;

const finding = sql`
  g.finding_id as "findingId", g.source, f.read_for as "readFor", f.uri, g.check_name as check, g.subject,
  g.verdict, g.seen, g.expected, g.message, g.line_nos::float8[] as lines, g.found_at as "foundAt"`;

/**
 * Lists unacknowledged findings, newest first, with the key `findingId`: those that hold a file, and warnings of the last two weeks.
 *
 * @param options.sources only those of these sources.
 * @param options.reportOf a run: only warnings about its files and about those of earlier runs that could not
 *   report them.
 */
export function listFindings(
  db: Database,
  {
    sources = null,
    reportOf,
    limit = null,
    after = null,
  }: Partial<Page> & { sources?: readonly string[] | null; reportOf?: string } = {},
) {
  const isOfRun =
    reportOf === undefined
      ? sql`(g.verdict = 'held' or g.found_at > clock_timestamp() - ${LISTED_DAYS}::integer * interval '1 day')`
      : sql`g.verdict = 'warn' and g.run_id in ${unreportedRuns(reportOf, 'reported')}`;
  return rowsOf<CheckFinding>(db)`
    select ${finding}
    from intake.check_findings g
    join intake.source_files f on f.source_file_id = g.source_file_id and f.superseded_by is null
      and f.state = case g.verdict when 'held' then 'held' else 'sealed' end
    where g.acknowledged_at is null and (${sources}::text[] is null or g.source = any(${sources}::text[]))
      and ${isOfRun}
      and (${after}::bigint is null or g.finding_id < ${after}::bigint)
    order by g.finding_id desc limit ${limit}::bigint`;
}

export type KnownFinding = CheckFinding & {
  readonly sourceFileId: string;
  readonly runId: string;
  readonly acknowledgedAt: Date | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgeReason: string | null;
};

/**
 * Lists all findings in the file of the given one, including acknowledged ones, by number. Empty if the
 * finding does not exist.
 */
export function listFindingsBeside(db: Database, findingId: string) {
  return rowsOf<KnownFinding>(db)`
    select ${finding}, g.source_file_id as "sourceFileId", g.run_id as "runId",
      g.acknowledged_at as "acknowledgedAt", g.acknowledged_by as "acknowledgedBy",
      g.acknowledge_reason as "acknowledgeReason"
    from intake.check_findings g
    cross join lateral (select * from intake.source_files f where f.source_file_id = g.source_file_id
      limit 1) f
    where g.source_file_id = (select source_file_id from intake.check_findings
      where finding_id = ${findingId}::bigint)
    order by g.finding_id`;
}

/** The latest checked file of a source, and the result of each check. */
export type CheckedFile = {
  readonly source: string;
  readonly readFor: ReadFor;
  readonly uri: string;
  readonly state: string;
  readonly arrivedAt: Date;
  /** Number of files with which later ones are compared. */
  readonly learntFrom: number;
  readonly results: readonly Omit<CheckResult, 'message' | 'sample'>[];
};

/** Lists the latest checked file of each of these sources, for each purpose that it was read for. */
export function listCheckedFiles(db: Database, sources: readonly string[]) {
  return rowsOf<CheckedFile>(db)`
    select distinct
      on (s.source, s.read_for) s.source, s.read_for as "readFor", f.uri, f.state,
      s.arrived_at as "arrivedAt", s.results,
      count(*) filter (where f.state = 'sealed') over (partition by s.source,
        s.read_for)::float8 as "learntFrom"
    from intake.file_statistics s
    join intake.source_files f on f.source_file_id = s.source_file_id and f.superseded_by is null
    where s.source = any(${sources}::text[])
    order by s.source, s.read_for, s.arrived_at desc, s.source_file_id desc`;
}

/** When the latest file of each source arrived, whatever its result. */
async function listArrivals(db: Database): Promise<ReadonlyMap<string, Date>> {
  const rows = await rowsOf<{ source: string; at: Date }>(db)`
    select f.source, max(coalesce(s.arrived_at, f.first_seen_at)) as at
    from intake.source_files f left join intake.file_statistics s on s.source_file_id = f.source_file_id
    group by f.source`;
  return new Map(rows.map(({ source, at }) => [source, at]));
}

/**
 * Lists dates on which unusual amounts are expected, for all sources: future ones and those of the last eight weeks.
 */
export function listExpectedDates(db: Database) {
  return rowsOf<ExpectedDate>(db)`
    select to_char(day, 'YYYY-MM-DD') as day, name, source from intake.expected_dates
    where day > current_date - 56 order by day, source nulls first`;
}

/** Whether a new file of a source has arrived by its deadline. */
export type Arrival = FreshnessVerdict & {
  readonly source: string;
  /** When the latest file arrived. Null if no file has arrived. */
  readonly arrivedAt: Date | null;
};

/** Judges each source that has a deadline for new files. */
export async function judgeArrivals(
  db: Database,
  { sources, now }: { sources: readonly SourceSettings[]; now: Date },
): Promise<readonly Arrival[]> {
  if (sources.every(({ expectations }) => expectations.freshness === null)) return [];
  const arrivals = await listArrivals(db);
  const expectedDates = await listExpectedDates(db);
  return sources.flatMap(({ name, expectations: { freshness, timeZone } }): readonly Arrival[] => {
    if (freshness === null) return [];
    const ofSource = expectedDates.filter(({ source }) => source === null || source === name);
    const arrivedAt = arrivals.get(name) ?? null;
    const judged = judgeFreshness({ freshness, timeZone, expectedDates: ofSource, arrivedAt, now });
    return [{ source: name, arrivedAt, ...judged }];
  });
}

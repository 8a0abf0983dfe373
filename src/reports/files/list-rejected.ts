import { type RawBuilder, sql } from 'kysely';
import type { ReadFor } from '../../core/layout.ts';
import { MOST_UNUSED_ROWS, type RejectedRowInFile, type UnusedRows } from '../../core/report.ts';
import { countOf, type Database, rowsOf } from '../../db/statement.ts';
import { statedId } from '../../intake/orders/order-by-age.ts';
import { unreportedRuns } from '../runs/list-runs.ts';
import { type ColumnKey, type Having, hasAll, type Page } from '../wanted-rows.ts';

/** Selects rejected rows. What is null or omitted selects all. */
export type RejectedFilter = Partial<Page<ColumnKey<'sourceFileId' | 'record'>>> &
  Having<'runId' | 'code'> & {
    /**
     * A run: rejected rows of its report, that is its own, those of earlier runs that could not report them, and those of
     * files of `sources` of which no row could be used, which no run may pass over, until they are settled.
     */
    readonly reportOf?: string | null;
    readonly sources?: readonly string[] | null;
    /** Part of the file's address. */
    readonly file?: string | null;
    /** Id of one file, and number of one record in it. */
    readonly sourceFileId?: string | null;
    readonly record?: number | null;
    /** Ids or names of the order that they state. */
    readonly orders?: readonly string[] | null;
    /** True: without those that a file which was read later has settled. */
    readonly isOpen?: boolean | null;
  };

/** Lists rejected rows by file and line. Includes held files, but not files that are being read. */
export function listRejected(db: Database, { after, ...filter }: RejectedFilter = {}) {
  return rowsOf<RejectedRowInFile>(db)`
    select r.code, r.line_no::float8 as line, r.record_no::float8 as record, r.column_name as column, r.value,
      r.reason, r.help, r.row_count as "rowCount", r.order_id as "orderId", r.order_name as "orderName",
      (${isSettled}) as "isSettled", f.source_file_id as "sourceFileId", f.read_for as "readFor", f.source,
      f.uri, f.version, r.run_id as "runId"
    ${matching(filter)}
      and ${hasAll({}, after != null && sql`(r.source_file_id, r.record_no) > (${after.sourceFileId}::bigint, ${after.record}::bigint)`)}
    order by r.source_file_id, r.record_no
    limit ${filter.limit ?? null}::bigint`;
}

/** Counts the rows of files that match the same filter. With a limit, it counts no more records than that and one. */
export async function countRejected(db: Database, filter: RejectedFilter = {}): Promise<number> {
  return countOf(db)`
    select coalesce(sum(row_count), 0) as rows
    from (select r.row_count ${matching(filter)}
      limit ${filter.limit == null ? null : filter.limit + 1}::bigint) r`;
}

/** When a run first saw the oldest file with a row that matches the filter. Null if there is none. */
export async function rejectedSince(db: Database, filter: RejectedFilter = {}): Promise<Date | null> {
  const [first] = await rowsOf<{ since: Date }>(db)`
    select f.first_seen_at as since
    ${matching(filter)}
    order by r.source_file_id, r.record_no
    limit 1`;
  return first?.since ?? null;
}

/**
 * Counts the rows of files that count, and that the report of a run does not have, because an earlier one had them, by file;
 * no more than `MOST_UNUSED_ROWS` of them. Rows that a later file has settled are left out.
 *
 * @param options.readFor what the files were read for.
 */
export function countUnusedRows(
  db: Database,
  { runId, sources, readFor }: { runId: string; sources: readonly string[]; readFor: ReadFor },
) {
  return rowsOf<UnusedRows>(db)`
    select source, uri, sum(row_count)::float8 as rows
    from (
      select f.source, f.uri, r.row_count ${matching({ sources, isOpen: true })} and f.state = 'sealed'
        and f.read_for = ${readFor}
        and r.run_id not in ${unreportedRuns(runId, 'completed')}
      limit ${MOST_UNUSED_ROWS}) r
    group by source, uri order by 3 desc, source, uri`;
}

export type RejectedCause = {
  readonly code: string;
  /** The problem and its fix, as reported for the first row. */
  readonly reason: string;
  readonly help: string;
  readonly rows: number;
  /** Of those: rows of files of orders, whose amounts are not known. */
  readonly orderRows: number;
  readonly files: number;
  /** When a run first saw one of the files. */
  readonly since: Date;
};

/**
 * Lists rejected rows by cause, the most frequent first. There may be tens of thousands, so they are counted
 * per file before the files are looked up, and texts are only read for the first row of a cause.
 */
export function listRejectedCauses(db: Database, filter: RejectedFilter = {}) {
  return rowsOf<RejectedCause>(db)`
    select c.code, first.reason, first.help, c.rows, c."orderRows", c.files, c.since
    from (
      select r.code, sum(r.rows)::float8 as rows,
        coalesce(sum(r.rows) filter (where f.read_for = 'orders'), 0)::float8 as "orderRows",
        count(*)::float8 as files, min(array[r.source_file_id, r.record_no]) as first_row,
        min(f.first_seen_at) as since
      from (
        select r.source_file_id, r.code, sum(r.row_count) as rows, min(r.record_no) as record_no
        from intake.rejected_rows r where ${isRow(filter)} group by 1, 2) r
      ${withFile} where ${isInFile(filter)}
      group by r.code) c
    cross join lateral (
      select r.reason, r.help from intake.rejected_rows r
      where r.source_file_id = c.first_row[1] and r.record_no = c.first_row[2] limit 1) first
    order by c.rows desc, c.code`;
}

/** Lists the sources of rejected rows. Rows of one source can be corrected in one file. */
export async function listRejectedSources(
  db: Database,
  filter: RejectedFilter = {},
): Promise<readonly string[]> {
  const rows = await rowsOf<{ source: string }>(db)`
    select distinct f.source
    from (select distinct r.source_file_id from intake.rejected_rows r where ${isRow(filter)}) r
    ${withFile} where ${isInFile(filter)} order by 1`;
  return rows.map(({ source }) => source);
}

function matching(filter: RejectedFilter): RawBuilder<unknown> {
  return sql`from intake.rejected_rows r ${withFile} where ${isRow(filter)} and ${isInFile(filter)}`;
}

/** File `f` of row `r`, looked up by key, independent of the planner's statistics (see db/large-statements.ts). */
const withFile = sql`
  cross join lateral (select f.* from intake.source_files f where f.source_file_id = r.source_file_id
    limit 1) f`;

/**
 * SQL that is true if a file that was read later, and is not older, states the order of row `r`: the row was corrected, or
 * exported again. The version that is stated tells its own file, and `restated_orders` the files that state it again: a
 * version that only repeats it, in doubt, settles nothing, and leaves settled what was. Of two files of which only one has
 * an age, nothing says which is older. A version that was in doubt from the start settles only rows of older files.
 */
export const isSettled = sql<boolean>`(r.order_id is not null and exists (
  select from intake.source_files own
  join intake.orders c on c.source = own.source and c.order_id = r.order_id and c.is_current
  cross join lateral (select v.* from intake.orders v where v.order_version_id = ${statedId} limit 1) v
  join intake.source_files f on f.source_file_id = v.source_file_id and f.state = 'sealed'
  where own.source_file_id = r.source_file_id and ((v.source_file_id > r.source_file_id
    and case when v.stated_hash is not null then f.aged_at > own.aged_at else ${isNotOlder('f')} end)
    or exists (
    select from intake.restated_orders s join intake.source_files again on again.source_file_id = s.source_file_id
    where s.source_file_id > r.source_file_id
      and (s.order_version_ids @> v.order_version_id or s.order_version_ids @> c.order_version_id)
      and ${isNotOlder('again')}))))`;

function isNotOlder(file: string): RawBuilder<boolean> {
  const aged = sql.ref(`${file}.aged_at`);
  return sql<boolean>`coalesce(${aged} >= own.aged_at, ${aged} is null and own.aged_at is null)`;
}

function isRow({
  runId,
  reportOf,
  sources,
  code,
  sourceFileId,
  record,
  orders,
  isOpen,
}: RejectedFilter): RawBuilder<unknown> {
  return hasAll(
    { 'r.run_id': runId, 'r.code': code, 'r.source_file_id': sourceFileId },
    record != null && sql`r.record_no = ${record}::bigint`,
    orders != null && sql`(r.order_id = any(${orders}::text[]) or r.order_name = any(${orders}::text[]))`,
    reportOf != null &&
      sql`(r.run_id in ${unreportedRuns(reportOf, 'completed')}
        or (r.source_file_id in (${unusedFiles(sources ?? [])}) and not ${isSettled}))`,
    isOpen === true && sql`not ${isSettled}`,
  );
}

/** SQL for the files of which no row could be used, and of which no newer version was read. */
function unusedFiles(sources: readonly string[]): RawBuilder<unknown> {
  return sql`
    select u.source_file_id from intake.source_files u
    where u.source = any(${[...sources]}::text[]) and u.state = 'sealed' and u.rejected_rows > 0
      and u.rejected_rows = u.rows_read
      and not exists (
        select from intake.source_files newer
        where newer.source = u.source and newer.read_for = u.read_for and newer.uri = u.uri
          and newer.source_file_id > u.source_file_id and newer.state <> 'reading')`;
}

/** Condition: file `f` counts and matches the filter. */
function isInFile({ sources = null, file = null }: RejectedFilter): RawBuilder<unknown> {
  return sql`
    f.state <> 'reading'
    and not exists (select from intake.source_files later
      where later.source_file_id = f.superseded_by and later.state = 'sealed')
    and (${sources}::text[] is null or f.source = any(${sources}::text[]))
    and (${file}::text is null or position(${file}::text in f.uri) > 0)`;
}

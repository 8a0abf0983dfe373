import type { Transaction } from 'kysely';
import type { HoldReason } from '../../src/core/source.ts';
import { fileName } from '../../src/core/text/file-name.ts';
import { plural } from '../../src/core/text/plural.ts';
import { rowOf, rowsOf } from '../../src/db/statement.ts';
import type { DB } from '../../src/db/tables.ts';
import { holdConflicting, type StagedFile } from '../../src/intake/files/replace-rows.ts';
import { shownHeader } from '../../src/intake/layout/lowering-columns.ts';
import { CLICKS } from './decide-clicks.ts';

/** Maximum number of days that a message lists. */
const SHOWN = 3;

/** Returns the reason to hold a file of clicks that would count clicks twice, or whose numbers may be older ones. */
export async function holdDoubled(trx: Transaction<DB>, file: StagedFile): Promise<HoldReason | null> {
  return (
    (await findBreakdowns(trx, file)) ??
    (await findSubtotals(trx, file)) ??
    (await findRenamed(trx, file)) ??
    (await findRepeated(trx, file)) ??
    (await holdConflicting(trx, CLICKS, file))
  );
}

/**
 * Returns the reason to hold a file with two rows that differ in nothing but the number of clicks, or not even in that,
 * as in two exports that were joined. Rows of a single click may repeat: such an export has a row for each click.
 */
async function findRepeated(
  trx: Transaction<DB>,
  { sourceFileId }: { sourceFileId: string },
): Promise<HoldReason | null> {
  const first = await rowOf<{ line: string; again: string; all: number; isEqual: boolean }>(trx)`
    select min(r.line_no) as line, max(r.line_no) as again, (count(*) over ())::float8 as all,
      min(r.clicks) = max(r.clicks) as "isEqual"
    from (
      select s.line_no, s.content ->> 'row' as row, (s.content ->> 'clicks')::bigint as clicks
      from intake.staged_rows s where s.source_file_id = ${sourceFileId}::bigint
    ) r
    group by r.row having r.row is not null and count(*) > 1 and max(r.clicks) > 1
    order by 1 limit 1`;
  if (first === undefined) return null;
  const { line, again, isEqual } = first;
  const more =
    first.all === 1
      ? ''
      : `, and ${plural(first.all - 1, 'more row occurs', 'more rows occur')} several times`;
  return isEqual
    ? {
        code: 'clicks_repeated',
        message: `Line ${again} repeats line ${line}, with the same day, link and number of clicks${more}. If two exports were joined, each click would count twice.`,
        help: 'Export the days once. If both rows are real, add up their clicks in one row.',
      }
    : {
        code: 'conflicting_rows',
        message: `Lines ${line} and ${again} differ only in the number of clicks${more}. If two exports were joined, one of the numbers is older, and both would be added up.`,
        help: 'Export the days once. If both rows are real, add up their clicks in one row.',
      };
}

/**
 * Returns the reason to hold a file that states the clicks of a link both by country and as a whole, or in another
 * way than an earlier file of the source. Both would be added up: the service would count each click twice and
 * cannot take one back.
 */
async function findBreakdowns(
  trx: Transaction<DB>,
  { sourceFileId, source }: { sourceFileId: string; source: string },
): Promise<HoldReason | null> {
  const rows = await rowsOf<DoubledDay>(trx)`
    with stated as materialized (
      select s.subject, s.day, min(s.line_no) as line, bool_or(s.covers = 'country') as by_country,
        bool_or(s.covers = 'named') as named,
        bool_or(s.covers = 'unknown') as unknown, bool_or(s.covers = 'whole') as whole
      from (
        select r.content ->> 'subject' as subject, (r.content ->> 'day')::date as day,
          r.content ->> 'covers' as covers, r.line_no
        from intake.staged_rows r where r.source_file_id = ${sourceFileId}::bigint) s
      group by s.subject, s.day
    ),
    known as (
      select c.subject, c.day, bool_or(c.country <> '') as by_country, bool_or(c.country = '') as whole,
        min(c.source_file_id) as source_file_id
      from intake.clicks c join stated s using (subject, day)
      where c.source = ${source}
      group by c.subject, c.day
    )
    select s.day::text, s.line, f.uri as other, (count(*) over ())::float8 as all
    from stated s
    left join known k using (subject, day)
    left join intake.source_files f on f.source_file_id = k.source_file_id
    where s.whole and (s.by_country or s.named or s.unknown)
      or s.named and s.by_country
      or k.by_country and (s.whole or s.named)
      or k.whole and not k.by_country and s.by_country
    order by s.line limit ${SHOWN}`;
  if (rows.length === 0) return null;
  return {
    code: 'clicks_by_country_and_whole',
    message: `Clicks of the same link and day are stated both by country and without: ${listDays(rows)}. Added up, each click would count twice.`,
    help: `Export the clicks always by country, or never, as the earlier files of ${source} do. To change it, give the other export a source of its own, with start_date on its job after the last day that was posted.`,
  };
}

/**
 * Returns the reason to hold a file in which a column is filled on some rows of a link and day and blank on others: a blank
 * device may mean an unknown one, or all devices. That the numbers add up would prove neither. Rows of a single click add
 * up nothing: an export with a row for each click is read.
 */
async function findSubtotals(
  trx: Transaction<DB>,
  { sourceFileId }: { sourceFileId: string },
): Promise<HoldReason | null> {
  const rows = await rowsOf<DoubledDay & { column: string }>(trx)`
    with stated as materialized (
      select r.content ->> 'subject' as subject, (r.content ->> 'day')::date as day, r.line_no,
        (r.content ->> 'clicks')::bigint as clicks, r.content -> 'blank' as blank
      from intake.staged_rows r where r.source_file_id = ${sourceFileId}::bigint
    ),
    whole as (select subject, day, count(*) as rows from stated group by subject, day),
    blank as (
      select s.subject, s.day, b.name, count(distinct s.line_no) as rows, min(s.line_no) as line
      from stated s cross join lateral jsonb_array_elements_text(s.blank) b(name)
      group by s.subject, s.day, b.name
    )
    select b.day::text, b.line, b.name as column, null as other, (count(*) over ())::float8 as all
    from blank b join whole w using (subject, day)
    where b.rows < w.rows and exists (select from stated where clicks > 1)
    order by b.line limit ${SHOWN}`;
  const [first] = rows;
  if (first === undefined) return null;
  return {
    code: 'clicks_may_be_subtotals',
    message: `Rows of the same link and day have the column ${shownHeader(first.column)} filled and blank: ${listDays(rows)}. A row in which it is blank may add up the others, and each click would count twice.`,
    help: 'If such rows are sums, export the clicks without them. If not, write a word such as unknown into the blank cells, or export the clicks without the column.',
  };
}

type DoubledDay = {
  readonly day: string;
  readonly line: string;
  readonly other: string | null;
  /** How many there are. The first of them are listed. */
  readonly all: number;
};

function listDays(rows: readonly DoubledDay[]): string {
  const listed = rows.map(
    ({ day, line, other }) => `${day} (line ${line}${other === null ? '' : `, and ${fileName(other)}`})`,
  );
  const more = (rows[0]?.all ?? 0) - rows.length;
  return `${listed.join(', ')}${more === 0 ? '' : `, and ${more} more`}`;
}

/**
 * Returns the reason to hold a file that names whose clicks it states otherwise than an earlier file of the source did for
 * that day, for example by a link instead of a code, and does not state those of the earlier file.
 */
async function findRenamed(
  trx: Transaction<DB>,
  { sourceFileId, source }: { sourceFileId: string; source: string },
): Promise<HoldReason | null> {
  const rows = await rowsOf<DoubledDay>(trx)`
    with stated as materialized (
      select s.subject, s.day, min(s.line_no) as line, (array_agg(s.refs))[1]::text[] as refs,
        split_part(s.subject, ':', 1) as kind, substr(s.subject, strpos(s.subject, ':') + 1) as name
      from (
        select r.content ->> 'subject' as subject, (r.content ->> 'day')::date as day, r.line_no,
          (select coalesce(array_agg(t), '{}')::text
            from jsonb_array_elements_text(r.content -> 'references') t) as refs
        from intake.staged_rows r where r.source_file_id = ${sourceFileId}::bigint) s
      group by s.subject, s.day
    ),
    known as materialized (
      select c.day, split_part(c.subject, ':', 1) as kind, c.source_file_id,
        substr(c.subject, strpos(c.subject, ':') + 1) as name, c.references_folded as refs
      from intake.clicks c
      where c.source = ${source} and c.day in (select day from stated)
        and not exists (select from stated s where s.subject = c.subject and s.day = c.day)
    ),
    added as materialized (
      select s.day, s.line, s.kind, s.name, array[s.name] || s.refs as names from stated s
      where not exists (select from intake.clicks c
          where c.source = ${source} and c.subject = s.subject and c.day = s.day)
        and s.day in (select day from known)
    ),
    owned as materialized (
      select a.day, a.line, a.kind, a.name, a.names || coalesce((
        select array_agg(o.name) from intake.codes k
        cross join lateral unnest(array[k.code_folded, k.handle_folded, k.deal_id, k.collab_id]) o(name)
        where o.name is not null and (k.code_folded = any(a.names) or k.handle_folded = any(a.names)
          or k.deal_id = any(a.names) or k.collab_id = any(a.names))), '{}') as names
      from added a
    ),
    doubled as (
      select o.day, o.line, min(k.source_file_id) as source_file_id
      from owned o join known k using (day)
      -- Version 0.3.0 read a host without a path as a path.
      where case when o.kind = k.kind then ltrim(o.name, '/') = ltrim(k.name, '/')
        else o.names && (array[k.name] || k.refs) end
      group by o.day, o.line
    )
    select d.day::text, d.line, f.uri as other, (count(*) over ())::float8 as all
    from doubled d join intake.source_files f using (source_file_id)
    order by d.line limit ${SHOWN}`;
  if (rows.length === 0) return null;
  return {
    code: 'clicks_named_otherwise',
    message: `Clicks of a day are stated under another name of the same influencer than before, for example by a link instead of a code: ${listDays(rows)}. Added up, each click would count twice.`,
    help: `Export the clicks with the columns of the earlier files of ${source}. To change them, give the other export a source of its own, with start_date on its job after the last day that was posted.`,
  };
}

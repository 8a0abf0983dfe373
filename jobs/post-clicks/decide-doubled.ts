import type { Transaction } from 'kysely';
import type { HoldReason } from '../../src/core/source.ts';
import { fileName } from '../../src/core/text/file-name.ts';
import { plural } from '../../src/core/text/plural.ts';
import { rowOf, rowsOf } from '../../src/db/statement.ts';
import type { DB } from '../../src/db/tables.ts';
import { holdConflicting, type StagedFile } from '../../src/intake/files/replace-rows.ts';
import { CLICKS } from './decide-clicks.ts';

/** Maximum number of days that a message lists. */
const SHOWN = 3;

/** Returns the reason to hold a file of clicks that would count clicks twice, or whose numbers may be older ones. */
export async function holdDoubled(trx: Transaction<DB>, file: StagedFile): Promise<HoldReason | null> {
  return (
    (await findBreakdowns(trx, file)) ??
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
  { sourceFileId }: { readonly sourceFileId: string },
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
  { sourceFileId, source }: { readonly sourceFileId: string; readonly source: string },
): Promise<HoldReason | null> {
  const rows = await rowsOf<{ day: string; line: string; other: string | null; all: number }>(trx)`
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
  const [first] = rows;
  if (first === undefined) return null;
  const listed = rows.map(
    ({ day, line, other }) => `${day} (line ${line}${other === null ? '' : `, and ${fileName(other)}`})`,
  );
  const more = first.all - rows.length;
  return {
    code: 'clicks_by_country_and_whole',
    message: `Clicks of the same link and day are stated both by country and without: ${listed.join(', ')}${more === 0 ? '' : `, and ${more} more`}. Added up, each click would count twice.`,
    help: `Export the clicks always by country, or never, as the earlier files of ${source} do. To change it, give the other export a source of its own, with start_date on its job after the last day that was posted.`,
  };
}

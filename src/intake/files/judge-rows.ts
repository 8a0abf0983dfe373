import type { Transaction } from 'kysely';
import type { HoldReason } from '../../core/source.ts';
import { formatCount, plural } from '../../core/text/plural.ts';
import { rowOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';

/** Minimum number of rows for judging shares. A share of a handful of rows is not significant. */
export const MIN_FOR_SHARE = 20;

/**
 * Returns the reason to hold a file, whatever it was read for: its rows do not add up, or too many of them
 * are unusable.
 */
export async function judgeRows(
  trx: Transaction<DB>,
  options: {
    readonly sourceFileId: string;
    readonly rowsRead: number;
    readonly used: number;
    /** What the used rows became, for messages, for example `in orders`. */
    readonly usedAs: string;
    readonly rejected: number;
    readonly maxRejectedShare: number;
    readonly source: string;
  },
): Promise<HoldReason | null> {
  const { sourceFileId, rowsRead, used, usedAs, rejected, maxRejectedShare, source } = options;
  if (used + rejected !== rowsRead) {
    return {
      code: 'rows_do_not_add_up',
      message: `${plural(rowsRead, 'row was', 'rows were')} read, but ${used + rejected} ${used + rejected === 1 ? 'is' : 'are'} accounted for (${used} ${usedAs}, ${rejected} rejected).`,
      help: 'Read the file again with --file. If the error persists, it is a bug: please report it.',
    };
  }
  const tooMany = judgeRejected({ rowsRead, rejected, maxRejectedShare, source });
  return tooMany === null
    ? null
    : { ...tooMany, message: `${tooMany.message} ${await describeCommonest(trx, sourceFileId)}` };
}

/** Returns the reason to hold a file of which too many rows are unusable. */
export function judgeRejected({
  rowsRead,
  rejected,
  maxRejectedShare,
  source,
}: Readonly<Record<'rowsRead' | 'rejected' | 'maxRejectedShare', number>> & {
  readonly source: string;
}): HoldReason | null {
  if (rowsRead < MIN_FOR_SHARE || rejected <= rowsRead * maxRejectedShare) return null;
  return {
    code: 'too_many_rejected',
    message: `${formatCount(rejected)} of ${plural(rowsRead, 'row')} cannot be used, more than the allowed ${percent(maxRejectedShare)}.`,
    help: `Correct the export or its layout. If the rest of the file is correct, raise ${limitOf(source, 'max_rejected_share')}.`,
  };
}

/**
 * Describes the most common rejection. The rejected rows of a held file are cleared, so the reason must say
 * where to look.
 */
async function describeCommonest(trx: Transaction<DB>, sourceFileId: string): Promise<string> {
  const row = await rowOf<{ code: string; column_name: string | null; rows: number; line_no: string }>(trx)`
    select code, column_name, sum(row_count)::float8 as rows, min(line_no) as line_no
    from intake.rejected_rows
    where source_file_id = ${sourceFileId}::bigint
    group by code, column_name
    order by sum(row_count) desc, code
    limit 1`;
  if (row === undefined) return '';
  const column = row.column_name === null ? '' : ` in column ${row.column_name}`;
  return `Most common: ${row.code}${column}, ${plural(row.rows, 'row')}, first on line ${row.line_no}.`;
}

/** Renders a share for a message: 0.055 is `5.5 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}

/** Returns the path of a limit in the configuration. */
export function limitOf(source: string, limit: string): string {
  return `sources.${source}.limits.${limit}`;
}

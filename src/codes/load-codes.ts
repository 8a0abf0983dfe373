import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { configurationError, KnownError, type Problem } from '../core/known-error.ts';
import type { CodeProblem } from '../core/report.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import { describeProblems, type ReadSheet, readSheetFile, type Unreadable } from '../core/text/read-sheet.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { type Database, execute, finds, toJsonParameter } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import { readAssignedCodes } from './assign-code.ts';
import { toOwnerRows } from './code-ownership.ts';
import { type CodeRow, type OwnerRow, parseCodes, toInstantMs } from './parse-codes.ts';
import { readCodeChanges } from './read-code-changes.ts';

export type LoadCodesOptions = {
  readonly job: string;
  /** Absolute path of codes.csv. Null if the job has none and its orders name their influencer themselves. */
  readonly path: string | null;
  /** IANA zone of dates and of times without an offset. Null: UTC. */
  readonly timeZone: string | null;
  readonly brandId: string;
  /** Link parameters by which the layouts of the job's sources name influencers. */
  readonly linkParameters: readonly string[];
};

export type LoadedCodes = {
  /** Digest of the codes. It is part of the rules by which orders are attributed. */
  readonly hash: string;
  /** Number of usable rows. */
  readonly codes: number;
  /** The usable rows of codes.csv. Codes from assignments and events are not included. */
  readonly rows: readonly CodeRow[];
  /**
   * Rows that were skipped, columns that are not used, and codes with more than one owner at the same time,
   * whose orders are held.
   */
  readonly problems: readonly CodeProblem[];
};

/**
 * Reads codes.csv and stores the job's codes if they have changed. These are the rows of the file, and the
 * owners assigned by people and the codes and links reported by events that the file does not name.
 *
 * @throws KnownError `codes_missing`, `codes_unreadable` or `codes_header` (exit 2). The codes loaded before
 * are kept.
 */
export async function loadCodes(db: Database, options: LoadCodesOptions): Promise<LoadedCodes> {
  const { path } = options;
  const parsed = path === null ? { rows: [], problems: [], warnings: [] } : readCodeRows(path);
  const { linkParameters, brandId } = options;
  const assigned = await readAssignedCodes(db, { job: options.job, listed: parsed.rows });
  const named = [...parsed.rows, ...assigned];
  const told = toOwnerRows(await readCodeChanges(db), { listed: named, linkParameters, brandId });
  // What is not in the file has no line there. The numbers must still differ.
  const unlisted = [...assigned, ...told].map((row, index) => ({ ...row, line: -1 - index }));
  const rows = [...parsed.rows, ...unlisted];
  const zone = options.timeZone ?? 'UTC';
  const hash = createHash('sha256')
    .update(JSON.stringify([zone, rows]))
    .digest('base64url');
  await inTransaction(db, (trx) => replace(trx, { job: options.job, zone, hash, rows }));
  const problems = [...parsed.problems, ...parsed.warnings, ...findAmbiguousCodes(rows, options)];
  return { hash, codes: rows.length, rows: parsed.rows, problems };
}

/**
 * Checks codes.csv before anything of it is used. @returns every mistake with its place, column and value.
 *
 * @param options.file name of the file for messages.
 */
export function checkCodes(path: string, { file }: { file: string }): readonly Problem[] {
  try {
    return describeProblems(readCodeRows(path).problems, file);
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    const { where, message, help } = error.details;
    return [{ where: where?.endsWith(':1') === true ? `${file}:1` : file, message, help }];
  }
}

async function replace(
  trx: Transaction<DB>,
  { job, zone, hash, rows }: { job: string; zone: string; hash: string; rows: readonly OwnerRow[] },
): Promise<void> {
  const isChanged = await finds(trx)`
    insert into intake.code_lists as l (job, content_hash) values (${job}, ${hash})
    on conflict (job) do update set content_hash = excluded.content_hash, loaded_at = now()
    where l.content_hash <> excluded.content_hash
    returning job`;
  if (!isChanged) return;
  await trx.deleteFrom('intake.codes').where('job', '=', job).execute();
  await execute(trx)`
    insert into intake.codes (job, line_no, code, code_folded, link, link_folded, brand_id, influencer_handle,
      handle_folded, deal_id, collab_id, target, valid_from, valid_to, valid_from_text,
      valid_to_text)
    select ${job}, g.line, g.code, g.folded, g.link, g."linkFolded", g."brandId", g.handle, g."handleFolded",
      g."dealId", g."collabId", g.target, ${instantOf('from')}, ${instantOf('to')},
      g."from" ->> 'written', g."to" ->> 'written'
    from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb) as g(
      line integer, code text, folded text, link text, "linkFolded" text[], "brandId" text, handle text,
      "handleFolded" text, "dealId" text, "collabId" text,
      target text, "from" jsonb, "to" jsonb)`;

  function instantOf(limit: string) {
    const written = sql.ref(`g.${limit}`);
    return sql`
      case
        when (${written} ->> 'isLocal')::boolean then (${written} ->> 'text')::timestamp at time zone ${zone}
      else (${written} ->> 'text')::timestamptz end`;
  }
}

/** Reads codes.csv without storing it. @throws KnownError like `loadCodes`. */
export function readCodeRows(path: string): ReadSheet<CodeRow> {
  const parsed = parseCodes(readSheetFile(path, unreadable).text);
  if (parsed.missingColumns.length === 0) return parsed;
  throw configurationError({
    code: 'codes_header',
    message: `The file with the discount codes has no column ${parsed.missingColumns.join('; ')}.`,
    where: `${path}:1`,
    help: 'Its first line names the columns: code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to.',
    safe: SAFE,
  });
}

const SAFE = 'Nothing was posted; the codes loaded before are kept.';

function unreadable({ path, isMissing, cause }: Unreadable): KnownError {
  return configurationError({
    code: isMissing ? 'codes_missing' : 'codes_unreadable',
    message: isMissing
      ? 'The file with the discount codes could not be read.'
      : 'The file with the discount codes is not UTF-8.',
    where: path,
    help: isMissing
      ? 'Check `codes` of the job; the file lists code, brand_id, influencer_handle, deal_id, collab_id, valid_from, valid_to.'
      : 'Save it as "CSV UTF-8".',
    safe: SAFE,
    cause,
  });
}

const HELP =
  'Give it to one of them, or let their validity periods follow each other. Until then its orders are held.';

/**
 * Finds codes and custom links that have different owners at the same time, and returns a problem for each of
 * their rows. Rows from events have no line in the file.
 */
export function findAmbiguousCodes(
  rows: readonly OwnerRow[],
  { brandId, timeZone }: Pick<LoadCodesOptions, 'brandId' | 'timeZone'>,
): readonly CodeProblem[] {
  const periodOf = ({ from, to }: OwnerRow) => [
    from === null ? -Infinity : toInstantMs(from, timeZone ?? 'UTC'),
    to === null ? Infinity : toInstantMs(to, timeZone ?? 'UTC'),
  ];
  const same = Map.groupBy(rows, (row) =>
    JSON.stringify(['code' in row ? row.folded : row.linkFolded, row.brandId ?? brandId]),
  );
  const shared = [...same.values()].filter(([first, ...others]) =>
    others.some(({ target }) => target !== first?.target),
  );
  return shared
    .flatMap((owners) => {
      const periods = owners.map((row) => ({ row, period: periodOf(row) }));
      return periods.flatMap(({ row, period: [from = 0, to = 0] }) => {
        const [other] = periods
          .filter(
            ({ row: { target }, period: [otherFrom = 0, otherTo = 0] }) =>
              target !== row.target && from < otherTo && otherFrom < to,
          )
          .toSorted((one, next) => one.row.line - next.row.line);
        return other === undefined ? [] : [ambiguous(row, other.row)];
      });
    })
    .toSorted((one, next) => one.line - next.line);
}

function ambiguous(row: OwnerRow, other: OwnerRow): CodeProblem {
  return {
    line: row.line,
    column: 'code' in row ? 'code' : 'link',
    value: maskAddresses('code' in row ? row.code : row.link),
    reason:
      other.line > 0
        ? `Line ${other.line} gives the code to another owner at the same time.`
        : `An event of the service gave it to ${other.target} for the same time.`,
    help: HELP,
  };
}

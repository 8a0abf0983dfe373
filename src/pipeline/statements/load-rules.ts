import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { readLines } from '../../attribute/read-lines.ts';
import { parseTerms } from '../../earnings/parse-terms.ts';
import type { StatementRules } from '../../earnings/statement.ts';
import type { StatementSettings } from '../../model/config.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';

/** So many problems are told at once; the rest is counted. */
const SHOWN_PROBLEMS = 20;

/**
 * How statements are made, with the rows of terms.csv.
 *
 * @throws KnownError `terms_unreadable` (exit 2), `terms_invalid` (exit 3) with each row's line and column: a file counts as a whole.
 */
export function loadStatementRules({
  terms: path,
  returnWindowDays,
  timeZone,
}: StatementSettings): StatementRules {
  if (path === null) return { terms: [], returnWindowDays, timeZone };
  const { terms, problems } = parseTerms(readLines(readTerms(path)));
  if (problems.length > 0)
    throw new KnownError({
      code: 'terms_invalid',
      message:
        problems.length === 1
          ? 'A row of the terms cannot be used.'
          : `${problems.length} rows of the terms cannot be used.`,
      where: path,
      help: 'Correct them and run the command again.',
      safe: 'Nothing was closed.',
      problems: problems.slice(0, SHOWN_PROBLEMS).map(({ line, column, value, reason, help }) => ({
        where: `${basename(path)}:${line}${column === null ? '' : ` ${column}`}`,
        message: value === null ? reason : `"${value}": ${reason}`,
        help,
      })),
      exitCode: EXIT.rowsRejected,
    });
  return { terms, returnWindowDays, timeZone };
}

function readTerms(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    const isEncoding = cause instanceof TypeError;
    throw new KnownError({
      code: 'terms_unreadable',
      message: isEncoding ? 'The terms are not UTF-8.' : 'The terms cannot be read.',
      where: path,
      help: isEncoding
        ? 'Save the file as "CSV UTF-8".'
        : 'Check the path in statements.terms, and that this user may read the file.',
      safe: 'Nothing was closed.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

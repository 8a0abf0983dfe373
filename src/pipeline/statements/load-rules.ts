import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { readLines } from '../../attribute/read-lines.ts';
import type { Exchange } from '../../earnings/convert-lines.ts';
import { parseRates } from '../../earnings/parse-rates.ts';
import { parseTerms } from '../../earnings/parse-terms.ts';
import type { StatementRules } from '../../earnings/statement.ts';
import type { StatementSettings } from '../../model/config.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import type { CodeProblem } from '../../model/report.ts';

/** So many problems are told at once; the rest is counted. */
const SHOWN_PROBLEMS = 20;

/**
 * How statements are made, with the rows of terms.csv.
 *
 * @throws KnownError `statement_rules_unreadable` (exit 2), `statement_rules_invalid` (exit 3) with each row's line and column: a file counts as a whole.
 */
export function loadStatementRules({
  terms: path,
  returnWindowDays,
  timeZone,
}: StatementSettings): StatementRules {
  if (path === null) return { terms: [], returnWindowDays, timeZone };
  const { terms, problems } = parseTerms(readLines(readText(path)));
  refuse(problems, path);
  return { terms, returnWindowDays, timeZone };
}

/**
 * Into which currency totals are converted, with the rates of fx.csv that lead to it; null where none is configured.
 *
 * @throws KnownError `statement_rules_unreadable` (exit 2), `statement_rules_invalid` (exit 3) with each row's line and column.
 */
export function loadExchange({ reportingCurrency, fx }: StatementSettings): Exchange | null {
  if (reportingCurrency === null) return null;
  if (fx === null) return { reportingCurrency, rates: [] };
  const { rates, problems } = parseRates(readLines(readText(fx)), reportingCurrency);
  refuse(problems, fx);
  return { reportingCurrency, rates };
}

/** A file counts as a whole: money is at stake. */
function refuse(problems: readonly CodeProblem[], path: string): void {
  if (problems.length === 0) return;
  throw new KnownError({
    code: 'statement_rules_invalid',
    message:
      problems.length === 1
        ? 'A row of the terms or exchange rates cannot be used.'
        : `${problems.length} rows of the terms or exchange rates cannot be used.`,
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
}

function readText(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    const isEncoding = cause instanceof TypeError;
    throw new KnownError({
      code: 'statement_rules_unreadable',
      message: isEncoding
        ? 'The terms or exchange rates are not UTF-8.'
        : 'The terms or exchange rates cannot be read.',
      where: path,
      help: isEncoding
        ? 'Save the file as "CSV UTF-8".'
        : 'Check the path in statements.terms or statements.fx, and that this user may read the file.',
      safe: 'Nothing was closed.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

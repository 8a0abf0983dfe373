import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { readLines } from '../codes/read-lines.ts';
import type { StatementSettings } from '../core/config.ts';
import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { CodeProblem } from '../core/report.ts';
import type { Exchange } from './convert-lines.ts';
import { parseRates } from './parse-rates.ts';
import { parseTerms } from './parse-terms.ts';
import type { StatementRules } from './statement.ts';

/** Maximum number of problems that are listed at once. The others are only counted. */
const SHOWN_PROBLEMS = 20;

/**
 * Loads the rules of statements, with the rows of terms.csv.
 *
 * @throws KnownError `statement_rules_unreadable` (exit 2), `statement_rules_invalid` (exit 3) with the line
 * and column of each row. One bad row refuses the whole file.
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
 * Loads the currency to which totals are converted, with the rates of fx.csv that lead to it. Null if no
 * reporting currency is configured.
 *
 * @throws KnownError `statement_rules_unreadable` (exit 2), `statement_rules_invalid` (exit 3) with the line
 * and column of each row.
 */
export function loadExchange({ reportingCurrency, fx }: StatementSettings): Exchange | null {
  if (reportingCurrency === null) return null;
  if (fx === null) return { reportingCurrency, rates: [] };
  const { rates, problems } = parseRates(readLines(readText(fx)), reportingCurrency);
  refuse(problems, fx);
  return { reportingCurrency, rates };
}

/**
 * Finds the files that make open statements impossible, so that a closed one can be shown beside the reason. One
 * error for each of the two files.
 */
export function findBrokenRules(settings: StatementSettings): readonly KnownError[] {
  return [loadStatementRules, loadExchange].flatMap((load) => {
    try {
      load(settings);
      return [];
    } catch (error) {
      if (!(error instanceof KnownError)) throw error;
      return [error];
    }
  });
}

/** Refuses the whole file if it has a problem, because money is at stake. */
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

import { basename } from 'node:path';
import type { StatementSettings } from '../config/schema.ts';
import { EXIT } from '../core/exit-code.ts';
import { KnownError, type RowProblem } from '../core/known-error.ts';
import { describeProblems, readSheetFile, type Unreadable } from '../core/text/read-sheet.ts';
import type { Exchange } from './convert-lines.ts';
import { parseRates } from './parse-rates.ts';
import { parseTerms } from './parse-terms.ts';
import type { StatementRules } from './statement.ts';

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
  const { rows: terms, problems } = parseTerms(readSheetFile(path, unreadable).text);
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
  const { rows: rates, problems } = parseRates(readSheetFile(fx, unreadable).text, reportingCurrency);
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
function refuse(problems: readonly RowProblem[], path: string): void {
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
    problems: describeProblems(problems, basename(path)),
    exitCode: EXIT.rowsRejected,
  });
}

function unreadable({ path, isMissing, cause }: Unreadable): KnownError {
  return new KnownError({
    code: 'statement_rules_unreadable',
    message: isMissing
      ? 'The terms or exchange rates cannot be read.'
      : 'The terms or exchange rates are not UTF-8.',
    where: path,
    help: isMissing
      ? 'Check the path in statements.terms or statements.fx, and that this user may read the file.'
      : 'Save the file as "CSV UTF-8".',
    safe: 'Nothing was closed.',
    exitCode: EXIT.configuration,
    cause,
  });
}

import { basename } from 'node:path';
import type { StatementSettings } from '../config/schema.ts';
import { EXIT } from '../core/exit-code.ts';
import { configurationError, KnownError, type RowProblem } from '../core/known-error.ts';
import { hasFittingDecimals, minorDigits } from '../core/money.ts';
import { foldCode } from '../core/text/fold.ts';
import {
  describeProblems,
  editSheet,
  type ReadSheet,
  readSheet,
  readSheetFile,
  type Sheet,
  type SheetEdit,
  type SheetRow,
  type Unreadable,
} from '../core/text/read-sheet.ts';
import { isDay } from '../core/time/day.ts';
import type { Exchange } from './convert-lines.ts';
import { parseRates } from './parse-rates.ts';
import type { StatementRules, Terms } from './statement.ts';

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
  return configurationError({
    code: 'statement_rules_unreadable',
    message: isMissing
      ? 'The terms or exchange rates cannot be read.'
      : 'The terms or exchange rates are not UTF-8.',
    where: path,
    help: isMissing
      ? 'Check the path in statements.terms or statements.fx, and that this user may read the file.'
      : 'Save the file as "CSV UTF-8".',
    safe: 'Nothing was closed.',
    cause,
  });
}

/** Columns of terms.csv, in any order. */
const TERMS_COLUMNS = [
  'deal_id',
  'code',
  'rate',
  'fixed_fee',
  'currency',
  'excluded_skus',
  'valid_from',
  'valid_to',
  // For readers: why the row is as it is.
  'reason',
] as const;
type TermsColumn = (typeof TERMS_COLUMNS)[number];

/** A code that is none would silently make an amount of its own, which nobody pays. */
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
/** Up to four decimals, like stored amounts. */
const DECIMAL = /^\d{1,14}(\.\d{1,4})?$/;

const TERMS: Sheet<TermsColumn, Terms> = {
  columns: TERMS_COLUMNS,
  required: [
    ['deal_id', 'code'],
    ['rate', 'fixed_fee', 'excluded_skus'],
  ],
  mayHaveOthers: false,
  mayBePadded: false,
  insteadOfAddress: 'Name the deal, the code or the SKUs.',
  readRow,
};

/** The file, and a draft of it, with a row added and cells of others changed. */
export function editTerms(
  text: string,
  edit: SheetEdit<TermsColumn>,
): { readonly text: string; readonly row: string } {
  return editSheet(text, edit, TERMS_COLUMNS);
}

/** The text of terms.csv, with its byte order mark. Blank if none is configured. @throws KnownError `statement_rules_unreadable` (exit 2). */
export function readTerms({ terms }: Pick<StatementSettings, 'terms'>): string {
  return terms === null ? '' : readSheetFile(terms, unreadable).bytes.toString();
}

/**
 * Parses terms.csv: what a deal, or the owner of a code, earns. Because money is at stake, the file is not used
 * at all if one row cannot be used.
 */
export function parseTerms(text: string): Pick<ReadSheet<Terms>, 'rows' | 'problems'> {
  const { rows, problems } = readSheet(text, TERMS);
  return { rows, problems: [...problems, ...overlaps(rows)] };
}

function readRow({ line, cell, refuse }: SheetRow<TermsColumn>): Terms | null {
  const [dealId, codeFolded] = [cell('deal_id'), foldCode(cell('code'))];
  if (dealId !== '' && codeFolded !== '')
    return refuse('deal_id', 'The row names both a deal and a code.', 'Fill in one of deal_id and code.');
  const [rate, fixedFee] = [cell('rate').replace(/ ?%$/, ''), cell('fixed_fee')];
  for (const [column, value] of [
    ['rate', rate],
    ['fixed_fee', fixedFee],
  ] as const)
    if (value !== '' && !DECIMAL.test(value))
      return refuse(
        column,
        'This is not a readable number.',
        'Write it with a point and without separators: 12.5',
      );
  const excludedSkus = skusOf(cell('excluded_skus'));
  // What a star means elsewhere differs between tools.
  if (excludedSkus.some((sku) => sku === '*' || sku.slice(0, -1).includes('*')))
    return refuse(
      'excluded_skus',
      'A star may only be at the end of a SKU, after its beginning.',
      'Write GIFT-* for all SKUs that begin with GIFT-. To pay nothing for any product, set the rate to 0.',
    );
  const isForAll = dealId === '' && codeFolded === '';
  if (isForAll && (excludedSkus.length === 0 || rate !== '' || fixedFee !== ''))
    return refuse(
      'deal_id',
      'The row names no deal and no code.',
      'Fill in one of deal_id and code. A row without them can only exclude products, for everybody: excluded_skus.',
    );
  if (rate === '' && fixedFee === '' && excludedSkus.length === 0)
    return refuse(
      'rate',
      'The row says neither a rate nor a fee, and excludes nothing.',
      'Fill in rate, fixed_fee or excluded_skus.',
    );
  if (Number(rate) > 100)
    return refuse(
      'rate',
      'A rate is in percent, and this is more than the whole revenue.',
      'Write 12.5 for 12.5 percent.',
    );
  if (Number(rate) > 0 && Number(rate) < 1 && !cell('rate').endsWith('%'))
    return refuse(
      'rate',
      'A rate is in percent, and this is less than one.',
      `Write ${Number((Number(rate) * 100).toFixed(4))} for that share of the revenue, or ${rate}% if you mean less than one percent.`,
    );
  const currency = cell('currency').toUpperCase();
  if (fixedFee !== '' && !CURRENCIES.has(currency))
    return refuse(
      'currency',
      currency === '' ? 'A fee needs its currency.' : 'This is not a currency.',
      'Write three letters, for example EUR.',
    );
  if (fixedFee !== '' && !hasFittingDecimals(fixedFee, currency))
    return refuse(
      'fixed_fee',
      `An amount in ${currency} has ${minorDigits(currency) === 0 ? 'no' : minorDigits(currency)} decimals, and this has more.`,
      'Write the amount that is paid out, or correct the currency.',
    );
  const [from, to] = [cell('valid_from'), cell('valid_to')];
  for (const column of ['valid_from', 'valid_to'] as const)
    if (cell(column) !== '' && !isDay(cell(column)))
      return refuse(column, 'This is not a day.', 'Write 2026-04-30.');
  if (fixedFee !== '' && from === '')
    return refuse(
      'valid_from',
      'A fee needs the day from which it is owed.',
      'Write the first day of the agreement: 2026-04-01.',
    );
  if (from !== '' && to !== '' && to < from)
    return refuse(
      'valid_to',
      `It ends before it begins: valid_from is ${from}.`,
      'Swap them, or correct the wrong one. Both days are included.',
    );
  return {
    line,
    dealId: dealId || null,
    codeFolded: codeFolded || null,
    ratePercent: rate || null,
    fixedFee: fixedFee || null,
    currency: currency || null,
    excludedSkus,
    validFrom: from || null,
    validTo: to || null,
  };
}

/** Splits SKUs at semicolons. Each is listed once. */
function skusOf(cell: string): readonly string[] {
  return [...new Set(cell.split(';').map(foldCode))].filter((sku) => sku !== '');
}

/** Finds rows whose validity overlaps: with two rates for one day, either would be a guess. */
function overlaps(terms: readonly Terms[]): readonly RowProblem[] {
  const bySubject = Map.groupBy(terms, (row) =>
    row.dealId !== null
      ? `deal ${row.dealId}`
      : row.codeFolded !== null
        ? `code ${row.codeFolded}`
        : 'row for everybody',
  );
  return [...bySubject].flatMap(([subject, rows]) => {
    const sorted = rows.toSorted((one, other) => (one.validFrom ?? '').localeCompare(other.validFrom ?? ''));
    return sorted.flatMap((row, index) => {
      const before = sorted[index - 1];
      const isApart =
        before === undefined || (before.validTo !== null && before.validTo < (row.validFrom ?? ''));
      if (isApart) return [];
      return {
        ...{ line: row.line, column: 'valid_from', value: row.validFrom },
        reason: `The ${subject} has different terms on line ${before.line} for some of these days.`,
        help: 'End the earlier row the day before the later one begins: both days of a row are included.',
      };
    });
  });
}

import { basename } from 'node:path';
import type { StatementSettings } from '../config/schema.ts';
import { EXIT } from '../core/exit-code.ts';
import { configurationError, KnownError, type RowProblem } from '../core/known-error.ts';
import { hasFittingDecimals, minorDigits } from '../core/money.ts';
import { foldCode } from '../core/text/fold.ts';
import {
  describeProblems,
  type ReadSheet,
  readSheet,
  readSheetFile,
  type Sheet,
  type SheetRow,
  type Unreadable,
} from '../core/text/read-sheet.ts';
import { isDay } from '../core/time/day.ts';
import { lastDayOf } from '../core/time/month.ts';
import { isCurrency } from '../intake/values/parse-currency.ts';
import { includes, isConditional, statesRate } from './conditions.ts';
import type { Exchange, ExchangeRate } from './convert-lines.ts';
import { LAST_DAY } from './schedule-terms.ts';
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
  customersSince,
}: StatementSettings): StatementRules {
  const settings = { returnWindowDays, timeZone, customersSince };
  if (path === null) return { terms: [], ...settings };
  const { rows: terms, problems } = parseTerms(readSheetFile(path, unreadable).text);
  refuse(problems, path);
  return { terms, ...settings };
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
export const TERMS_COLUMNS = [
  'deal_id',
  'code',
  'rate',
  'flat',
  'fixed_fee',
  'currency',
  'excluded_skus',
  'only_skus',
  'customer',
  'first_days',
  'from_orders',
  'from_revenue',
  'tier',
  'cap',
  'min_payout',
  'valid_from',
  'valid_to',
  // For readers: why the row is as it is.
  'reason',
] as const;
type TermsColumn = (typeof TERMS_COLUMNS)[number];

/** Columns with an amount in the currency of the row, and those with a condition; `tier` is only beside one of them. */
const AMOUNTS = [
  'flat',
  'fixed_fee',
  'cap',
  'min_payout',
  'from_revenue',
] as const satisfies readonly TermsColumn[];
const CONDITIONS = [
  'only_skus',
  'customer',
  'first_days',
  'from_orders',
  'from_revenue',
] as const satisfies readonly TermsColumn[];
/** Up to four decimals, like stored amounts. */
const DECIMAL = /^\d{1,14}(\.\d{1,4})?$/;
/** A thousand in one country, and one in another. */
const GROUPED = /^[1-9]\d{0,2}\.\d{3}$/;

const TERMS: Sheet<TermsColumn, Terms> = {
  columns: TERMS_COLUMNS,
  required: [
    ['deal_id', 'code'],
    ['rate', 'flat', 'fixed_fee', 'excluded_skus', 'cap', 'min_payout'],
  ],
  mayHaveOthers: false,
  mayBePadded: false,
  insteadOfAddress: 'Name the deal, the code or the SKUs.',
  readRow,
};

/**
 * The text of terms.csv, with its byte order mark. Blank if none is configured.
 *
 * @throws KnownError `statement_rules_unreadable` (exit 2).
 */
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
  const rate = cell('rate').replace(/ ?%$/, '');
  const amounts = AMOUNTS.filter((column) => cell(column) !== '');
  for (const column of rate === '' ? amounts : (['rate', ...amounts] as const))
    if (!DECIMAL.test(column === 'rate' ? rate : cell(column)))
      return refuse(
        column,
        'This is not a readable number.',
        'Write it with a point and without separators: 12.5',
      );
  const [excludedSkus, onlySkus] = [skusOf(cell('excluded_skus')), skusOf(cell('only_skus'))];
  // What a star means elsewhere differs between tools.
  for (const column of ['excluded_skus', 'only_skus'] as const) {
    // Without its SKUs, the row would be about the whole order.
    if (cell(column) !== '' && skusOf(cell(column)).length === 0)
      return refuse(
        column,
        'This names no SKU.',
        'Write SKUs with a semicolon between them: GIFT-50;GIFT-60',
      );
    if (skusOf(cell(column)).some((sku) => sku === '*' || sku.slice(0, -1).includes('*')))
      return refuse(
        column,
        'A star may only be at the end of a SKU, after its beginning.',
        'Write GIFT-* for all SKUs that begin with GIFT-. To pay nothing for any product, set the rate to 0.',
      );
  }
  const isForAll = dealId === '' && codeFolded === '';
  const hasOnlyMinimum = amounts.every((column) => column === 'min_payout');
  if (isForAll && (excludedSkus.length + amounts.length === 0 || rate !== '' || !hasOnlyMinimum))
    return refuse(
      'deal_id',
      'The row names no deal and no code.',
      'Fill in one of deal_id and code. A row without them can only exclude products or set a minimum, for everybody: excluded_skus, min_payout.',
    );
  if (rate === '' && excludedSkus.length === 0 && amounts.every((column) => column === 'from_revenue'))
    return refuse(
      'rate',
      'The row says neither a rate nor an amount, and excludes nothing.',
      'Fill in rate, flat, fixed_fee, excluded_skus, cap or min_payout.',
    );
  const [limit] = amounts.filter((column) => column === 'cap' || column === 'min_payout');
  if (limit !== undefined && codeFolded !== '')
    return refuse(
      limit,
      'Only a deal can have this, and the row is for a code.',
      'Name the deal in deal_id.',
    );
  if (rate !== '' && amounts.includes('flat'))
    return refuse('flat', 'The row says both a rate and a flat amount.', 'Fill in one of rate and flat.');
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
  const [amount] = amounts;
  // A code that is none would silently make an amount of its own, which nobody pays.
  if (amount !== undefined && !isCurrency(currency))
    return refuse(
      'currency',
      currency !== ''
        ? 'This is not a currency.'
        : amount === 'fixed_fee'
          ? 'A fee needs its currency.'
          : `The amount in ${amount} needs its currency.`,
      'Write three letters, for example EUR.',
    );
  for (const column of amounts)
    if (!hasFittingDecimals(cell(column), currency))
      return refuse(
        column,
        `An amount in ${currency} has ${minorDigits(currency) === 0 ? 'no' : minorDigits(currency)} decimals, and this has more.`,
        'Write the amount that is paid out, or correct the currency.',
      );
  for (const [column, text] of [['rate', rate], ...amounts.map((one) => [one, cell(one)] as const)] as const)
    if (GROUPED.test(text) && (column === 'rate' || minorDigits(currency) !== 3))
      return refuse(
        column,
        'The point may separate thousands, or decimals.',
        `Write ${text.replace('.', '')} or ${text.endsWith('0') ? text.slice(0, -1) : `${text}0`}.`,
      );
  const conditions = readConditions({ cell, refuse });
  if (conditions === null) return null;
  const given = CONDITIONS.filter((column) => cell(column) !== '');
  const [condition] = given;
  if (onlySkus.length > 0 && (rate === '' || given.length > 1))
    return refuse(
      'only_skus',
      'Only a rate without other conditions can be for some products.',
      'Fill in rate, and write what else the row says in rows without only_skus.',
    );
  const hasOthers = amounts.some((column) => column !== 'flat' && column !== 'from_revenue');
  if (condition !== undefined && (excludedSkus.length > 0 || hasOthers))
    return refuse(
      condition,
      'Only a rate or a flat amount can have a condition.',
      'Fill in rate or flat, and write fixed_fee, cap, min_payout and excluded_skus in a row without conditions.',
    );
  const [from, to] = [cell('valid_from'), cell('valid_to')];
  for (const column of ['valid_from', 'valid_to'] as const)
    if (cell(column) !== '' && !isDay(cell(column)))
      return refuse(column, 'This is not a day.', 'Write 2026-04-30.');
  if (amounts.includes('fixed_fee') && from === '')
    return refuse(
      'valid_from',
      'A fee needs the day from which it is owed.',
      'Write the first day of the agreement: 2026-04-01.',
    );
  if (to !== '' && to < from)
    return refuse(
      'valid_to',
      `It ends before it begins: valid_from is ${from}.`,
      'Swap them, or correct the wrong one. Both days are included.',
    );
  if (amounts.includes('cap') && from !== '' && !from.endsWith('-01'))
    return refuse(
      'valid_from',
      'A cap is for whole months, and this is not the first day of one.',
      `Write ${from.slice(0, 7)}-01, and give what else the row says a row of its own.`,
    );
  if (amounts.includes('cap') && to !== '' && to !== lastDayOf(to.slice(0, 7)))
    return refuse(
      'valid_to',
      'A cap is for whole months, and this is not the last day of one.',
      `Write ${lastDayOf(to.slice(0, 7))}, and give what else the row says a row of its own.`,
    );
  return {
    line,
    // Statements show it to creators; the reason is for those who read the file.
    text: TERMS_COLUMNS.flatMap((column) =>
      column === 'reason' || cell(column) === '' ? [] : `${column}=${cell(column)}`,
    ).join(' '),
    dealId: dealId || null,
    codeFolded: codeFolded || null,
    ratePercent: rate || null,
    flat: cell('flat') || null,
    fixedFee: cell('fixed_fee') || null,
    currency: currency || null,
    excludedSkus,
    onlySkus,
    ...conditions,
    cap: cell('cap') || null,
    minPayout: cell('min_payout') || null,
    validFrom: from || null,
    validTo: to || null,
  };
}

function readConditions({
  cell,
  refuse,
}: Pick<SheetRow<TermsColumn>, 'cell' | 'refuse'>): Pick<
  Terms,
  'customer' | 'firstDays' | 'fromOrders' | 'fromRevenue' | 'tier'
> | null {
  const customer = cell('customer').toLowerCase();
  if (customer !== '' && customer !== 'new' && customer !== 'returning')
    return refuse(
      'customer',
      'This is not a kind of customer.',
      'Write new for the first order of a customer, or returning. Leave it blank for any customer.',
    );
  const firstDays = cell('first_days');
  if (firstDays !== '' && !/^[1-9]\d{0,3}$/.test(firstDays))
    return refuse('first_days', 'This is not a number of days.', 'Write a whole number from 1 to 9999: 30');
  const [fromOrders, fromRevenue, tier] = [
    cell('from_orders'),
    cell('from_revenue'),
    cell('tier').toLowerCase(),
  ];
  if (fromOrders !== '' && (!/^[1-9]\d{0,6}$/.test(fromOrders) || fromOrders === '1'))
    return refuse(
      'from_orders',
      'This is not a number of orders from 2 on.',
      'Write 10 for the tenth order and those after it.',
    );
  if (fromRevenue !== '' && !/[1-9]/.test(fromRevenue))
    return refuse(
      'from_revenue',
      'Every order comes after this revenue.',
      'Write the revenue after which the row applies: 1000',
    );
  const hasTier = fromOrders !== '' || fromRevenue !== '';
  if (hasTier ? tier !== 'month' && tier !== 'all' : tier !== '')
    return refuse(
      'tier',
      hasTier
        ? 'It is unclear which orders of the deal are counted.'
        : 'The row has no from_orders and no from_revenue.',
      hasTier ? 'Write month for those of the month, or all.' : 'Fill in one of them, or leave tier blank.',
    );
  return {
    customer: customer || null,
    firstDays: firstDays === '' ? null : Number(firstDays),
    fromOrders: fromOrders === '' ? null : Number(fromOrders),
    fromRevenue: fromRevenue || null,
    tier: tier === 'month' || tier === 'all' ? tier : null,
  };
}

/** Splits SKUs at semicolons. Each is listed once. */
function skusOf(cell: string): readonly string[] {
  return [...new Set(cell.split(';').map(foldCode))].filter((sku) => sku !== '');
}

/**
 * Finds rows that leave it open what an order earns, or are never used: of two rows for the same days, the lower one applies,
 * so it must have a condition that the upper one lacks.
 */
function overlaps(terms: readonly Terms[]): readonly RowProblem[] {
  const bySubject = Map.groupBy(terms, (row) =>
    row.dealId !== null
      ? `deal ${row.dealId}`
      : row.codeFolded !== null
        ? `code ${row.codeFolded}`
        : 'row for everybody',
  );
  return [...bySubject].flatMap(([subject, rows]) => {
    // Rows without a condition that say what orders earn have days of their own, and so have limits in a currency.
    const [plain, conditional] = partition(rows, (row) => !isConditional(row));
    const stating = plain.filter(isAboutOrders);
    const [flats, others] = partition(stating, ({ flat }) => flat !== null);
    const limits = Map.groupBy(plain.filter(hasLimit), ({ currency }) => currency).values();
    const pairs = [
      ...neighbours(others),
      ...flats.flatMap((flat) => [
        ...flats.flatMap((row) => (row.line > flat.line ? [[flat, row] as const] : [])),
        ...others.map((row) => (row.line > flat.line ? ([flat, row] as const) : ([row, flat] as const))),
      ]),
      ...[...limits].flatMap((some) => neighbours(some).filter((pair) => !pair.every(isAboutOrders))),
      ...conditional.flatMap((upper) =>
        rows.flatMap((row) => (row.line > upper.line && statesRate(row) ? [[upper, row] as const] : [])),
      ),
    ];
    // A flat amount is for the whole order, so that a rate for some of its products would never be used.
    const unused = flats.flatMap((flat) =>
      conditional.flatMap((row) =>
        row.onlySkus.length === 0 || row.line < flat.line || !sharesDays(flat, row)
          ? []
          : {
              line: row.line,
              column: 'only_skus',
              value: row.onlySkus.join(';'),
              reason: `The ${subject} has a flat amount on line ${flat.line} for some of these days, and then no product has a rate of its own.`,
              help: 'Remove the row, or end one of the two the day before the other one begins.',
            },
      ),
    );
    const shadowed = pairs.flatMap(([upper, row]) =>
      !sharesDays(upper, row) || !includes(row, upper)
        ? []
        : {
            line: row.line,
            column: 'valid_from',
            value: row.validFrom,
            reason: isConditional(upper)
              ? `The row applies whenever the one on line ${upper.line} does, on some of these days, and the lower row counts.`
              : `The ${subject} has different terms on line ${upper.line} for some of these days.`,
            help: isConditional(upper)
              ? 'Move it above that line, or end the earlier row the day before the later one begins.'
              : 'End the earlier row the day before the later one begins: both days of a row are included.',
          },
    );
    // A statement names a fee by its deal or code, its day and its currency, so that two would be one.
    const fees = Map.groupBy(
      rows.filter(({ fixedFee }) => fixedFee !== null),
      ({ validFrom, currency }) => `${validFrom} ${currency}`,
    );
    const doubled = [...fees.values()].flatMap(([first, ...others]) =>
      others.flatMap((row) =>
        first === undefined || (isAboutOrders(first) && isAboutOrders(row))
          ? []
          : {
              line: row.line,
              column: 'fixed_fee',
              value: row.fixedFee,
              reason: `The ${subject} has a fee in ${row.currency} from ${row.validFrom} on line ${first.line}, too.`,
              help: 'Add them up in one row, or give one of them another day in valid_from.',
            },
      ),
    );
    return [...shadowed, ...unused, ...doubled];
  });
}

/** Rows, each with the one before it by day. */
function neighbours(rows: readonly Terms[]): readonly (readonly [Terms, Terms])[] {
  const sorted = rows.toSorted((one, other) => (one.validFrom ?? '').localeCompare(other.validFrom ?? ''));
  return sorted.flatMap((row, index) => {
    const before = sorted[index - 1];
    return before === undefined ? [] : [[before, row]];
  });
}

function hasLimit({ cap, minPayout }: Terms): boolean {
  return cap !== null || minPayout !== null;
}

/** Whether a row says what orders earn. Otherwise it has only limits or a fee, beside the row that does. */
function isAboutOrders(row: Terms): boolean {
  return statesRate(row) || row.excludedSkus.length > 0;
}

function partition<Row>(rows: readonly Row[], isFirst: (row: Row) => boolean): [Row[], Row[]] {
  const groups = Map.groupBy(rows, isFirst);
  return [groups.get(true) ?? [], groups.get(false) ?? []];
}

function sharesDays(one: Terms, other: Terms): boolean {
  const isBefore = (a: Terms, b: Terms) => (a.validTo ?? LAST_DAY) < (b.validFrom ?? '');
  return !isBefore(one, other) && !isBefore(other, one);
}

/** Columns of fx.csv, in any order. */
const RATE_COLUMNS = ['day', 'from', 'to', 'rate'] as const;
type RateColumn = (typeof RATE_COLUMNS)[number];

/** Maximum number of decimals, as stored. Published rates have fewer. */
const RATE = /^\d{1,11}(\.\d{1,12})?$/;
const CURRENCY = /^[A-Z]{3}$/;

/**
 * Parses fx.csv. Rates are used exactly as given: never inverted, never for another day, and never combined
 * through a third currency. If one row cannot be used, the file is not used at all.
 *
 * @param to the reporting currency. Rows for other target currencies are left out.
 */
export function parseRates(text: string, to: string): ReadSheet<ExchangeRate> {
  return readSheet<RateColumn, ExchangeRate>(text, {
    columns: RATE_COLUMNS,
    required: RATE_COLUMNS.map((column) => [column]),
    mayHaveOthers: true,
    mayBePadded: false,
    insteadOfAddress: null,
    readRow({ cell, refuse, isRepeated }) {
      const [day, currency, target, rate] = [
        cell('day'),
        cell('from').toUpperCase(),
        cell('to').toUpperCase(),
        cell('rate'),
      ];
      if (!isDay(day)) return refuse('day', 'This is not a day.', 'Write 2026-04-30.');
      for (const column of ['from', 'to'] as const)
        if (!CURRENCY.test(cell(column).toUpperCase()))
          return refuse(column, 'This is not a currency.', 'Write three letters, for example EUR.');
      if (currency === target)
        return refuse('to', 'Both currencies are the same.', 'Remove the row: no rate is needed.');
      if (!RATE.test(rate) || !/[1-9]/.test(rate))
        return refuse(
          'rate',
          'This is not a rate.',
          'Write what 1 of the first currency is worth in the second, with a point: 0.9215',
        );
      if (target !== to || isRepeated('day', `${currency} ${day}`, `a rate of ${currency} for this day`))
        return null;
      return { currency, day, rate };
    },
  });
}

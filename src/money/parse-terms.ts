import { hasFittingDecimals, minorDigits } from '../core/money.ts';
import type { CodeProblem } from '../core/report.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { foldCode } from '../core/text/fold.ts';
import { hasAddress } from '../core/text/mask-addresses.ts';
import type { Terms } from './statement.ts';

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
] as const;
type TermsColumn = (typeof TERMS_COLUMNS)[number];

type TermsLines = {
  readonly lines: readonly { readonly record: readonly string[]; readonly line: number }[];
  readonly problems: readonly CodeProblem[];
};

/** A code that is none would silently make an amount of its own, which nobody pays. */
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
/** Up to four decimals, like stored amounts. */
const DECIMAL = /^\d{1,14}(\.\d{1,4})?$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Parses terms.csv: what a deal, or the owner of a code, earns. Because money is at stake, the file is not used
 * at all if one row cannot be used.
 *
 * @param file its rows, header first, and the rows that cannot be read.
 */
export function parseTerms(file: TermsLines): {
  readonly terms: readonly Terms[];
  readonly problems: readonly CodeProblem[];
} {
  const [header, ...lines] = file.lines;
  const names = (header?.record ?? []).map((name) => name.trim().toLowerCase());
  const problems: CodeProblem[] = [...file.problems, ...headerProblems(names)];
  if (problems.some(({ line }) => line === 1)) return { terms: [], problems };
  const terms: Terms[] = [];
  for (const { record, line } of lines) {
    const row = readRow((column) => (record[names.indexOf(column)] ?? '').trim(), line);
    if ('reason' in row) problems.push(row);
    else terms.push(row);
  }
  return { terms, problems: [...problems, ...overlaps(terms)] };
}

function headerProblems(names: readonly string[]): readonly CodeProblem[] {
  const help = `The first line names the columns: ${TERMS_COLUMNS.join(',')}.`;
  const unknown = names.filter((name) => !(TERMS_COLUMNS as readonly string[]).includes(name));
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const lacks = [
    ...(names.includes('deal_id') || names.includes('code') ? [] : ['deal_id or code']),
    ...(['rate', 'fixed_fee', 'excluded_skus'].some((name) => names.includes(name))
      ? []
      : ['rate, fixed_fee or excluded_skus']),
  ];
  return [
    ...lacks.map((name) => problem(1, name, { reason: 'The column is missing.', help })),
    ...unknown.map((name) => {
      const near = didYouMean(name, TERMS_COLUMNS);
      return problem(1, hasAddress(name) ? null : name, {
        reason: 'The column is unknown.',
        help: near === null ? help : `Did you mean "${near}"?`,
      });
    }),
    ...twice.map((name) =>
      problem(1, name, { reason: 'The column appears twice.', help: 'Remove one of them.' }),
    ),
  ];
}

function readRow(cell: (column: TermsColumn) => string, line: number): Terms | CodeProblem {
  const [dealId, code] = [cell('deal_id'), cell('code')];
  if (hasAddress(dealId) || hasAddress(code))
    return problem(line, hasAddress(dealId) ? 'deal_id' : 'code', {
      reason: 'This is an e-mail address, which is personal data.',
      help: 'Name the deal, or the code.',
    });
  const codeFolded = foldCode(code);
  if (dealId !== '' && codeFolded !== '')
    return problem(line, 'deal_id', {
      reason: 'The row names both a deal and a code.',
      help: 'Fill in one of deal_id and code.',
    });
  const rate = cell('rate').replace(/ ?%$/, '');
  const fixedFee = cell('fixed_fee');
  for (const [column, value] of [
    ['rate', rate],
    ['fixed_fee', fixedFee],
  ] as const)
    if (value !== '' && !DECIMAL.test(value))
      return problem(line, column, {
        value: cell(column),
        reason: 'This is not a readable number.',
        help: 'Write it with a point and without separators: 12.5',
      });
  const excluded = readSkus(cell('excluded_skus'), line);
  if ('reason' in excluded) return excluded;
  const isForAll = dealId === '' && codeFolded === '';
  if (isForAll && (excluded.skus.length === 0 || rate !== '' || fixedFee !== ''))
    return problem(line, 'deal_id', {
      reason: 'The row names no deal and no code.',
      help: 'Fill in one of deal_id and code. A row without them can only exclude products, for everybody: excluded_skus.',
    });
  if (rate === '' && fixedFee === '' && excluded.skus.length === 0)
    return problem(line, 'rate', {
      reason: 'The row says neither a rate nor a fee, and excludes nothing.',
      help: 'Fill in rate, fixed_fee or excluded_skus.',
    });
  if (Number(rate) > 100)
    return problem(line, 'rate', {
      value: rate,
      reason: 'A rate is in percent, and this is more than the whole revenue.',
      help: 'Write 12.5 for 12.5 percent.',
    });
  if (Number(rate) > 0 && Number(rate) < 1 && !cell('rate').endsWith('%'))
    return problem(line, 'rate', {
      value: rate,
      reason: 'A rate is in percent, and this is less than one.',
      help: `Write ${Number((Number(rate) * 100).toFixed(4))} for that share of the revenue, or ${rate}% if you mean less than one percent.`,
    });
  const currency = cell('currency').toUpperCase();
  if (currency === '' && fixedFee !== '')
    return problem(line, 'currency', {
      reason: 'A fee needs its currency.',
      help: 'Write three letters, for example EUR.',
    });
  if (fixedFee !== '' && !CURRENCIES.has(currency))
    return problem(line, 'currency', {
      value: currency,
      reason: 'This is not a currency.',
      help: 'Write three letters, for example EUR.',
    });
  if (fixedFee !== '' && !hasFittingDecimals(fixedFee, currency))
    return problem(line, 'fixed_fee', {
      value: fixedFee,
      reason: `An amount in ${currency} has ${minorDigits(currency) === 0 ? 'no' : minorDigits(currency)} decimals, and this has more.`,
      help: 'Write the amount that is paid out, or correct the currency.',
    });
  const [from, to] = [cell('valid_from'), cell('valid_to')];
  for (const [column, day] of [
    ['valid_from', from],
    ['valid_to', to],
  ] as const)
    if (day !== '' && !isDay(day))
      return problem(line, column, { value: day, reason: 'This is not a day.', help: 'Write 2026-04-30.' });
  if (fixedFee !== '' && from === '')
    return problem(line, 'valid_from', {
      reason: 'A fee needs the day from which it is owed.',
      help: 'Write the first day of the agreement: 2026-04-01.',
    });
  if (from !== '' && to !== '' && to < from)
    return problem(line, 'valid_to', {
      value: to,
      reason: `It ends before it begins: valid_from is ${from}.`,
      help: 'Swap them, or correct the wrong one. Both days are included.',
    });
  return {
    line,
    dealId: dealId === '' ? null : dealId,
    codeFolded: codeFolded === '' ? null : codeFolded,
    ratePercent: rate === '' ? null : rate,
    fixedFee: fixedFee === '' ? null : fixedFee,
    currency: currency === '' ? null : currency,
    excludedSkus: excluded.skus,
    validFrom: from === '' ? null : from,
    validTo: to === '' ? null : to,
  };
}

/**
 * Parses SKUs separated by semicolons. A `*` is allowed only at the end of one, because its meaning elsewhere
 * differs between tools.
 */
function readSkus(cell: string, line: number): { readonly skus: readonly string[] } | CodeProblem {
  const skus = cell
    .split(';')
    .map(foldCode)
    .filter((sku) => sku !== '');
  const wrong = skus.find((sku) => sku === '*' || sku.slice(0, -1).includes('*'));
  if (hasAddress(cell))
    return problem(line, 'excluded_skus', {
      reason: 'This is an e-mail address, which is personal data.',
      help: 'Name SKUs.',
    });
  if (wrong !== undefined)
    return problem(line, 'excluded_skus', {
      value: wrong,
      reason: 'A star may only be at the end of a SKU, after its beginning.',
      help: 'Write GIFT-* for all SKUs that begin with GIFT-. To pay nothing for any product, set the rate to 0.',
    });
  return { skus: [...new Set(skus)] };
}

function isDay(text: string): boolean {
  return DAY.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;
}

/** Finds rows whose validity overlaps: with two rates for one day, either would be a guess. */
function overlaps(terms: readonly Terms[]): readonly CodeProblem[] {
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
      return isApart
        ? []
        : [
            problem(row.line, 'valid_from', {
              value: row.validFrom,
              reason: `The ${subject} has different terms on line ${before.line} for some of these days.`,
              help: 'End the earlier row the day before the later one begins: both days of a row are included.',
            }),
          ];
    });
  });
}

function problem(
  line: number,
  column: string | null,
  {
    value = null,
    reason,
    help,
  }: { readonly value?: string | null; readonly reason: string; readonly help: string },
): CodeProblem {
  return { line, column, value, reason, help };
}

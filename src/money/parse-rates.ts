import type { DecimalText } from '../core/order.ts';
import type { CodeProblem } from '../core/report.ts';

/** Columns of fx.csv, in any order. */
const RATE_COLUMNS = ['day', 'from', 'to', 'rate'] as const;
type RateColumn = (typeof RATE_COLUMNS)[number];

/** The value of one unit of a currency on a day, in the reporting currency. */
export type ExchangeRate = {
  readonly currency: string;
  /** `2026-10-01`, in the time zone of the statements. */
  readonly day: string;
  readonly rate: DecimalText;
};

type RateLines = {
  readonly lines: readonly { readonly record: readonly string[]; readonly line: number }[];
  readonly problems: readonly CodeProblem[];
};

/** Maximum number of decimals, as stored. Published rates have fewer. */
const RATE = /^\d{1,11}(\.\d{1,12})?$/;
const CURRENCY = /^[A-Z]{3}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Parses fx.csv. Rates are used exactly as given: never inverted, never for another day, and never combined
 * through a third currency. If one row cannot be used, the file is not used at all.
 *
 * @param file its rows, header first, and the rows that cannot be read.
 * @param to the reporting currency. Rows for other target currencies are left out.
 */
export function parseRates(
  file: RateLines,
  to: string,
): { readonly rates: readonly ExchangeRate[]; readonly problems: readonly CodeProblem[] } {
  const [header, ...lines] = file.lines;
  const names = (header?.record ?? []).map((name) => name.trim().toLowerCase());
  const wrong = RATE_COLUMNS.flatMap((column) => {
    const times = names.filter((name) => name === column).length;
    if (times === 1) return [];
    return [{ column, reason: times === 0 ? 'The column is missing.' : 'The column appears twice.' }];
  });
  if (wrong.length > 0)
    return {
      rates: [],
      problems: wrong.map((one) => ({
        ...{ ...one, line: 1, value: null },
        help: `The first line names the columns: ${RATE_COLUMNS.join(',')}.`,
      })),
    };
  const problems: CodeProblem[] = [...file.problems];
  const rates = new Map<string, ExchangeRate & { readonly line: number }>();
  for (const { record, line } of lines) {
    const row = readRow((column) => (record[names.indexOf(column)] ?? '').trim(), line);
    if ('reason' in row) problems.push(row);
    else if (row.to === to) {
      const { day, from: currency, rate } = row;
      const before = rates.get(`${currency} ${day}`);
      if (before === undefined) rates.set(`${currency} ${day}`, { currency, day, rate, line });
      else
        problems.push({
          ...{ line, column: 'day', value: day },
          reason: `Line ${before.line} already has a rate of ${currency} for this day.`,
          help: 'Remove one of them.',
        });
    }
  }
  return { rates: [...rates.values()].map(({ line: _, ...rate }) => rate), problems };
}

function readRow(
  cell: (column: RateColumn) => string,
  line: number,
): Readonly<Record<RateColumn, string>> | CodeProblem {
  const row = {
    day: cell('day'),
    from: cell('from').toUpperCase(),
    to: cell('to').toUpperCase(),
    rate: cell('rate'),
  };
  const wrong = (column: RateColumn, reason: string, help: string): CodeProblem => ({
    ...{ line, column, value: row[column], reason, help },
  });
  if (!DAY.test(row.day) || new Date(`${row.day}T00:00:00Z`).toJSON()?.startsWith(row.day) !== true)
    return wrong('day', 'This is not a day.', 'Write 2026-04-30.');
  for (const column of ['from', 'to'] as const)
    if (!CURRENCY.test(row[column]))
      return wrong(column, 'This is not a currency.', 'Write three letters, for example EUR.');
  if (row.from === row.to)
    return wrong('to', 'Both currencies are the same.', 'Remove the row: no rate is needed.');
  if (!RATE.test(row.rate) || !/[1-9]/.test(row.rate))
    return wrong(
      'rate',
      'This is not a rate.',
      'Write what 1 of the first currency is worth in the second, with a point: 0.9215',
    );
  return row;
}

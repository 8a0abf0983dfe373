import { FileHeld } from '../../../core/held/file-held.ts';
import type { Layout, MoneyFormat } from '../../../core/layout.ts';
import { itemsOf } from '../../../intake/orders/map/split-codes.ts';
import { type DateOrder, watchDates, withDateOrder } from '../../../intake/values/date-order.ts';
import { watchMarks } from '../../../intake/values/decimal-mark.ts';
import { parseMoney, statedCurrency } from '../../../intake/values/parse-money.ts';
import { timeParser } from '../../../intake/values/parse-time.ts';

/**
 * Formats of amounts in exports, the most common first. The first format wins if several read the cells
 * equally well.
 */
export const MONEY_FORMATS: readonly MoneyFormat[] = [
  { decimal: '.', thousands: ',', symbols: true },
  { decimal: ',', thousands: '.', symbols: true },
  { decimal: ',', thousands: ' ', symbols: true },
  { decimal: '.', thousands: ' ', symbols: true },
  { decimal: '.', thousands: "'", symbols: true },
];

/**
 * Formats of times, in addition to those of a layout. If two formats differ only in the order of day and
 * month, only the cells can decide between them.
 */
const TIME_FORMATS: readonly string[] = [
  'iso',
  ...['D.M.YYYY', 'D.M.YY', 'M/D/YYYY', 'D/M/YYYY', 'M/D/YY', 'D/M/YY', 'D-M-YYYY', 'M-D-YYYY'].flatMap(
    (date) => [
      date,
      ...[`${date} H:mm`, `${date} H:mm:ss`, `${date} h:mm A`, `${date} h:mm:ss A`],
      // As JavaScript writes times for people.
      ...[`${date}, H:mm:ss`, `${date}, h:mm:ss A`],
    ],
  ),
  'MMM D, YYYY',
  'MMM D, YYYY h:mm A',
  'MMM D, YYYY h:mm:ss A',
  'MMM D, YYYY, h:mm:ss A',
  'D MMM YYYY',
  'D MMM YYYY H:mm',
  'D MMM YYYY H:mm:ss',
  'MMM-D-YY',
  'D-MMM-YY',
  'D-MMM-YYYY',
  'YYYY/M/D',
  'YYYY/M/D H:mm',
  'YYYY/M/D H:mm:ss',
  'YYYYMMDD',
];

/** Maximum number of different cells that are examined. More cells of a file rarely add information. */
const MAX_CELLS = 5_000;
/** A format that reads this share of the cells is accepted, because a few cells are always wrong. */
const NEARLY_ALL = 0.9;
/** Another format must be better by this share to replace the layout's own format. */
const BETTER = 0.05;
const ANY_ZONE = 'UTC';

/** The different cells of one column, and how often each occurs. */
export class Cells {
  readonly counts = new Map<string, number>();
  filled = 0;
  rows = 0;

  add(cell: string): void {
    this.rows += 1;
    const text = cell.trim();
    if (text === '') return;
    this.filled += 1;
    const count = this.counts.get(text);
    if (count !== undefined) this.counts.set(text, count + 1);
    else if (this.counts.size < MAX_CELLS) this.counts.set(text, 1);
  }

  /** The share of the different cells that pass a test. 0 if there are no cells. */
  share(passes: (cell: string) => boolean): number {
    let passed = 0;
    for (const cell of this.counts.keys()) if (passes(cell)) passed += 1;
    return this.counts.size === 0 ? 0 : passed / this.counts.size;
  }
}

/** The format of a column's amounts. Null if no format reads nearly all of them. */
export function moneyFormatOf(cells: Cells, own?: MoneyFormat): MoneyFormat | null {
  const formats = own === undefined ? MONEY_FORMATS : [own, ...MONEY_FORMATS];
  const shares = formats.map((format) => ({
    format,
    share: cells.share((cell) => typeof parseMoney(cell, format) === 'string'),
  }));
  const best = shares.reduce((one, other) => (other.share > one.share + BETTER ? other : one));
  return best.share >= NEARLY_ALL ? best.format : null;
}

/** Currencies that appear next to the digits of amounts, the most frequent first. */
export function statedCurrencies(cells: Cells): readonly string[] {
  const counts = new Map<string, number>();
  for (const [cell, count] of cells.counts) {
    const currency = statedCurrency(cell);
    if (currency !== null) counts.set(currency, (counts.get(currency) ?? 0) + count);
  }
  return [...counts].sort(([, one], [, other]) => other - one).map(([currency]) => currency);
}

/** What the times of a column show. */
export type TimesMeasured = {
  /** Formats that read nearly all cells, the layout's own first. Null if none do. */
  readonly formats: readonly string[] | null;
  /** Whether at least one cell has no time zone. */
  readonly needsZone: boolean;
};

/** Determines the formats of the times in a column. */
export function timesOf(cells: Cells, own: readonly string[] = []): TimesMeasured {
  const reads = (formats: readonly string[]): number => {
    const parse = timeParser(formats, ANY_ZONE);
    return cells.share((cell) => typeof parse(cell) === 'string');
  };
  if (cells.counts.size === 0) return { formats: own, needsZone: false };
  const formats = own.length > 0 && reads(own) >= NEARLY_ALL ? own : chooseFormats(reads);
  if (formats === null) return { formats, needsZone: false };
  const zoned = timeParser(formats, null);
  const isZoneless = (cell: string): boolean => {
    const time = zoned(cell);
    return typeof time !== 'string' && time.code === 'time_without_zone';
  };
  return { formats, needsZone: cells.share(isZoneless) > 0 };
}

/**
 * Determines the formats of several columns of a file. Each column is measured by its own cells, because a
 * column that always contains the same day would not matter among thousands of other times. The order of day
 * and month that one column proves also applies to the columns after it.
 */
export function timesOfColumns(columns: readonly Cells[]): TimesMeasured {
  const all: string[] = [];
  let needsZone = false;
  for (const cells of columns) {
    const times = timesOf(cells, all);
    if (times.formats === null) return times;
    const contrary = contraryOrder(all);
    all.push(...times.formats.filter((format) => !all.includes(format) && !contrary?.test(format)));
    needsZone ||= times.needsZone;
  }
  return { formats: all, needsZone };
}

const MONTH_FIRST = /^M\W/;
const DAY_FIRST = /^D\W/;

/** Formats of the order that the chosen ones exclude. Null if they leave it open. */
function contraryOrder(formats: readonly string[]): RegExp | null {
  const [month, day] = [MONTH_FIRST, DAY_FIRST].map((order) => formats.some((format) => order.test(format)));
  if (month === day) return null;
  return month ? DAY_FIRST : MONTH_FIRST;
}

/**
 * The smallest number of formats that together read nearly all cells. If two formats read the same cells,
 * both are returned, so that the file must decide.
 */
function chooseFormats(reads: (formats: readonly string[]) => number): readonly string[] | null {
  const shares = TIME_FORMATS.map((format) => ({ format, share: reads([format]) }))
    .filter(({ share }) => share > 0)
    .sort((one, other) => other.share - one.share);
  const chosen: string[] = [];
  for (const { format, share } of shares) {
    if (reads(chosen) >= NEARLY_ALL && share < NEARLY_ALL) break;
    const isTwin = reads(chosen) >= NEARLY_ALL;
    if (isTwin || chosen.length === 0 || reads([...chosen, format]) > reads(chosen)) chosen.push(format);
  }
  return reads(chosen) >= NEARLY_ALL ? chosen : null;
}

/**
 * Whether day or month comes first: settled by the layout or the cells, left open by both, or contradictory
 * within the file.
 */
export type DateOrderFound =
  | { readonly kind: 'settled'; readonly order: DateOrder | null }
  | 'open'
  | 'mixed';

/** Determines the order of day and month with the same checks for which a run would hold a file. */
export function dateOrderOf(layout: Layout, cells: Cells): DateOrderFound {
  const verdicts = ([null, 'MDY', 'DMY'] as const).map((order) => ({
    order,
    code: holdCode(withDateOrder(layout, order), cells),
  }));
  const fitting = verdicts.find(({ code }) => code === null);
  if (verdicts[0]?.code === 'date_order_unknown') return 'open';
  return fitting === undefined ? 'mixed' : { kind: 'settled', order: fitting.order };
}

/**
 * True if the amounts of one file do not show whether a mark separates decimals or thousands, by the check for which a
 * run would hold the file.
 *
 * @param currencies those of the file. Where amounts can have three decimals, `1,250` may be one of them.
 */
export function isMarkOpen(layout: Layout, amounts: Cells, currencies: readonly string[]): boolean {
  const watch = watchMarks(layout, { name: '', decimalMark: null });
  for (const cell of amounts.counts.keys())
    for (const currency of currencies.length === 0 ? [null] : currencies) watch?.see(cell, 0, currency);
  return codeOf(() => watch?.require()) !== null;
}

function holdCode(layout: Layout, cells: Cells): string | null {
  const watch = watchDates(layout, { name: '', dateOrder: null });
  for (const cell of cells.counts.keys()) watch?.see(cell, 0);
  return codeOf(() => watch?.require());
}

/** The code for which a check would hold a file; null if it would not. */
function codeOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof FileHeld) return error.reason.code;
    throw error;
  }
}

/** Characters that stand between codes and in none. */
const ALWAYS_SEPARATES: readonly string[] = [';', '|', ','];
const LIKE_CODE = /^[\p{L}\p{N}_-]{2,40}$/u;

/**
 * Separators between codes, in addition to those of the layout. `+` and `/` may be part of a code, so at least
 * one of the separated parts must also be alone in a cell. A list as JSON writes it has its items without a separator.
 */
export function codeSeparatorsOf(cells: Cells, own: readonly string[]): readonly string[] {
  const texts = [...cells.counts.keys()].flatMap((cell) => itemsOf(cell.trim()) ?? [cell]);
  const alone = new Set(texts.map((text) => text.toLowerCase()));
  return [...ALWAYS_SEPARATES, '+', '/'].filter((separator) => {
    if (own.includes(separator)) return false;
    return texts.some((text) => {
      const pieces = own.reduce((all, known) => all.flatMap((part) => part.split(known)), [text]);
      const parts = pieces.flatMap((piece) => piece.split(separator)).map((part) => part.trim());
      const codes = parts.filter((part) => part !== '');
      return (
        parts.length > pieces.length &&
        codes.length > 0 &&
        codes.every((part) => LIKE_CODE.test(part)) &&
        (ALWAYS_SEPARATES.includes(separator) || codes.some((part) => alone.has(part.toLowerCase())))
      );
    });
  });
}

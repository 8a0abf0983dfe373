import { DAY_MS } from './day.ts';
import { exportedAtMs, latestTimeMs } from './exported-at.ts';

/*
 * If two exports state an order differently, the newer one is right. What says which one is newer, in this order:
 *
 *   1. the date in their names: `orders-2026-11-22.csv`, `dt=2026-11-22/orders.csv`. One after the time at which the
 *      file was put there is the end of a period, such as `orders-2026-12-31.csv`, and does not say when it was written
 *   2. the number in their names, if they differ in nothing else: `orders-9.csv` is older than `orders-10.csv`. The times
 *      of the store must not say the opposite: after `week-52` comes `week-1`
 *   3. when they were put there, as the store says
 *   4. for two versions of one name: which one was read last
 *
 * If the source goes by a column (`age: column`), each row says itself when its order last changed, and nothing of this
 * counts, except for orders that were read before the source did (orders/order-by-age.ts).
 *
 * The first that tells two exports apart decides. If none does, it is unknown which one is newer, and an order about
 * which they differ is held. Otherwise, the order in which files are read decides nothing: late, held and repeated
 * files and a backfill give the same result as a run each week.
 */

/** What may decide which export is newer, if a source restricts it. */
export const AGE_RULES = ['name', 'modified', 'column'] as const;
export type AgeRule = (typeof AGE_RULES)[number];

/** What says how old an export is. */
export type AgeBasis = 'date_in_name' | 'number_in_name' | 'modified' | 'column';

/**
 * Says to people how the age of an export was found, for example `by the number in its name`.
 *
 * @param column the column by which rows say their age, if it is known.
 */
export function describeBasis(basis: AgeBasis | null, column: string | null = null): string {
  if (basis === 'date_in_name') return 'by the date in its name';
  if (basis === 'number_in_name') return 'by the number in its name';
  if (basis === 'column')
    return column === null ? 'by the column of the last change' : `by the column ${column}`;
  return 'by the time of its store';
}

/** What is known about the age of an export. */
export type FileAge = {
  readonly uri: string;
  /** The period that the date in its name means, in milliseconds since 1970. Null: the name has no full date. */
  readonly dated: { readonly fromMs: number; readonly toMs: number } | null;
  /** Its name, with a placeholder for each date and number. Names are compared by number if this is equal. */
  readonly series: string;
  /**
   * The numbers in its name, without leading zeros. If they can be a date that does not begin with its year, such as
   * `31122025`, `311225` or `31-12-25`, they are there three times: as they stand, and from year to day for each order.
   */
  readonly numbers: readonly (readonly string[])[];
  /** When it was put there. Null: unknown, or it does not count. */
  readonly modifiedMs: number | null;
  /** True if its rows say themselves how old they are. */
  readonly isByRow: boolean;
};

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * `2026-11-22`, `20261122` or `2026/11/22`, perhaps with a time: `2026-11-22T10-30`, `20261122103000`. A second date is
 * none.
 */
const DATE =
  /(?<!\d)(20\d\d)([-_./]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?:(?![ T_-]?20\d\d([-_./]?)(?:0[1-9]|1[0-2])\5(?:0[1-9]|[12]\d|3[01])(?!\d))[ T_-]?([01]\d|2[0-3])[:h._-]?([0-5]\d)(?:[:._-]?([0-5]\d))?)?(?!\d)/g;

/** An id or a digest in hexadecimal digits, whose digits count nothing; or a number. */
const ID_OR_NUMBER = /(?<![0-9a-z])(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,})*(?![0-9a-z])|\d+/gi;

const YEAR = /^(?:19|20)\d\d$/;

/**
 * Reads what is known about the age of an export. A date in which the day or the month comes first is no date here,
 * because it does not show which of the two it is.
 *
 * @param options.name the part of its address in which the files of its source differ.
 * @param options.rule null: everything counts.
 */
export function readFileAge(options: {
  readonly uri: string;
  readonly name: string;
  readonly modifiedAt: Date | null;
  readonly rule: AgeRule | null;
}): FileAge {
  const { uri, rule } = options;
  const modifiedMs = rule === 'name' ? null : (options.modifiedAt?.getTime() ?? null);
  const isByRow = rule === 'column';
  if (rule === 'modified') return { uri, dated: null, series: uri, numbers: [], modifiedMs, isByRow };
  const latestMs = latestTimeMs(exportedAtMs(modifiedMs === null ? null : options.modifiedAt));
  let dated: FileAge['dated'] = null;
  const numbers: string[] = [];
  const series = countCopies(options.name)
    .replaceAll(/(^|\/)(?:year|month|day)=/gi, '$1')
    .replaceAll(DATE, (text, ...parts: string[]) => {
      const period = periodOf(parts);
      if (period === null) return text;
      // A name with two dates is that of the days between them: it was written after the later one.
      if (dated === null || period.toMs > dated.toMs) dated = period;
      return '@';
    })
    .replaceAll(ID_OR_NUMBER, (text) => {
      if (/\D/.test(text)) return text;
      numbers.push(text);
      return '#';
    });
  return { uri, dated: periodBy(latestMs, dated), series, numbers: readings(numbers), modifiedMs, isByRow };
}

/** Leaves out a period that begins after the latest time at which the name can have been given. */
function periodBy(latestMs: number, period: FileAge['dated']): FileAge['dated'] {
  return period === null || period.fromMs > latestMs ? null : period;
}

/** The parts of a date in the orders in which they may stand, from year to day. */
const DATE_ORDERS = [
  [2, 1, 0],
  [2, 0, 1],
];

/** Returns the numbers of a name as they stand, and as they sort if there is a date in them. */
function readings(numbers: readonly string[]): FileAge['numbers'] {
  const bare = (texts: readonly string[]): readonly string[] =>
    texts.map((text) => text.replace(/^0+(?=\d)/, ''));
  const dated = DATE_ORDERS.map((order) => sortDates(numbers, order));
  const hasDate = dated.some((texts) => texts.some((text, at) => text !== numbers[at]));
  return [numbers, ...(hasDate ? dated : [])].map(bare);
}

function sortDates(numbers: readonly string[], order: readonly number[]): readonly string[] {
  const sorted: string[] = [];
  for (let at = 0; at < numbers.length; at += 1) {
    const [text = '', ...next] = numbers.slice(at, at + 3);
    const [, ...joined] = /^(\d\d)(\d\d)((?:20)?\d\d)$/.exec(text) ?? [];
    if (isDate(joined)) sorted.push(order.map((place) => joined[place]).join(''));
    else if (isDate([text, ...next])) {
      sorted.push(...order.flatMap((place) => [text, ...next][place] ?? []));
      at += 2;
    } else sorted.push(text);
  }
  return sorted;
}

/** True for a day and a month in either order, and a year. */
function isDate(parts: readonly string[]): boolean {
  const [low = '', high = ''] = parts.slice(0, 2).sort((one, other) => Number(one) - Number(other));
  return (
    /^0?[1-9]$|^1[0-2]$/.test(low) &&
    /^\d{1,2}$/.test(high) &&
    Number(high) <= 31 &&
    /^(?:20)?[1-4]\d$/.test(parts[2] ?? '')
  );
}

/** Browsers number the copies of a name: `orders (1).csv` follows `orders.csv`. */
function countCopies(name: string): string {
  const [, stem = name, copy = ' (0)', ending = ''] =
    /^(.*?)( \(\d+\))?((?:\.[a-z][a-z0-9]{0,7}){0,2})$/is.exec(name) ?? [];
  return `${stem}${copy}${ending}`;
}

function periodOf([year, , month, day, , hour, minute, second]: readonly (
  | string
  | undefined
)[]): FileAge['dated'] {
  const dayMs = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(dayMs) || new Date(dayMs).getUTCDate() !== Number(day)) return null;
  if (hour === undefined) return { fromMs: dayMs, toMs: dayMs + DAY_MS };
  const fromMs = dayMs + (Number(hour) * 60 + Number(minute)) * MINUTE_MS + Number(second ?? 0) * SECOND_MS;
  return { fromMs, toMs: fromMs + (second === undefined ? MINUTE_MS : SECOND_MS) };
}

/**
 * Compares the ages of two exports.
 *
 * @returns above zero if the first one is newer, below zero if it is older; zero if nothing tells them apart.
 */
export function compareAges(one: FileAge, other: FileAge): number {
  return comparePeriods(one, other) || compareNumbersAndTimes(one, other);
}

/** An export without a date in its name is compared with one that has it by when it was put there. */
function comparePeriods(one: FileAge, other: FileAge): number {
  if (one.dated === null && other.dated === null) return 0;
  const [a, b] = [periodIn(one), periodIn(other)];
  if (a === null || b === null) return 0;
  if (a.fromMs >= b.toMs) return a.toMs > b.fromMs ? 1 : 0;
  return b.fromMs >= a.toMs ? -1 : 0;
}

function periodIn({ dated, modifiedMs }: FileAge): FileAge['dated'] {
  return dated ?? (modifiedMs === null ? null : { fromMs: modifiedMs, toMs: modifiedMs });
}

/** A number that grows while the store's times fall is no counter, or the older export came late: nothing says which. */
function compareNumbersAndTimes(one: FileAge, other: FileAge): number {
  const byNumber = compareNumbers(one, other);
  const byTime = one.modifiedMs === null || other.modifiedMs === null ? 0 : one.modifiedMs - other.modifiedMs;
  if (byNumber === 0) return byTime;
  return Math.sign(byNumber) === -Math.sign(byTime) ? 0 : byNumber;
}

/** Numbers that can be dates tell two names apart only if they do so in whichever order day and month stand in them. */
function compareNumbers(one: FileAge, other: FileAge): number {
  if (one.series !== other.series) return 0;
  const count = Math.min(one.numbers.length, other.numbers.length);
  const orders = one.numbers
    .slice(0, count)
    .map((numbers, reading) => Math.sign(compareLists(numbers, other.numbers[reading] ?? [])));
  return new Set(orders).size === 1 ? (orders[0] ?? 0) : 0;
}

function compareLists(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((number, place) => number !== other[place]);
  const [a, b] = [one[at], other[at]];
  if (a === undefined || b === undefined) return 0;
  // `11-2026` and `02-2027` do not sort by their first number.
  if ([...one.slice(at + 1), ...other.slice(at + 1)].some((number) => YEAR.test(number))) return 0;
  return a.length - b.length || (a < b ? -1 : 1);
}

/**
 * Compares exports for the order in which they are read: the older one first. Names that nothing else tells apart are
 * compared as text.
 */
export function compareForReading(one: FileAge, other: FileAge): number {
  return compareAges(one, other) || (one.uri < other.uri ? -1 : Number(one.uri > other.uri));
}

/** What says how old an export is. */
export function basisOf({ dated, numbers, modifiedMs, isByRow }: FileAge): AgeBasis | null {
  if (isByRow) return 'column';
  if (dated !== null) return 'date_in_name';
  if (numbers[0]?.some((number) => number !== '0')) return 'number_in_name';
  return modifiedMs === null ? null : 'modified';
}

/** The first instant at which the export can have been written, as far as its name or its store says. */
export function agedAt({ dated, modifiedMs, isByRow }: FileAge): Date | null {
  if (isByRow) return null;
  const ms = dated?.fromMs ?? modifiedMs;
  return ms === null ? null : new Date(ms);
}

import { FileHeld } from '../../../core/held/file-held.ts';
import type { LayoutField } from '../../../core/layout.ts';
import { toUnits } from '../../../core/money.ts';
import type { CsvRecord } from '../../../core/record.ts';
import { codeInText } from '../../../core/text/codes-in-text.ts';
import { maskAddresses } from '../../../core/text/mask-addresses.ts';
import { isAnswer, isNo } from '../../../intake/customers/map/consent-words.ts';
import { parseAddress } from '../../../intake/customers/map/parse-address.ts';
import { headerWords, isOfPeople, means } from '../../../intake/layout/column-words.ts';
import type { Layout, MoneyFormat } from '../../../intake/layout/to-layout.ts';
import { itemsOf } from '../../../intake/orders/map/split-codes.ts';
import { cleanText, foldWord } from '../../../intake/values/clean-text.ts';
import { type DateOrder, watchDates, withDateOrder } from '../../../intake/values/date-order.ts';
import { watchMarks } from '../../../intake/values/decimal-mark.ts';
import { isZero, parseMoney, statedCurrency } from '../../../intake/values/parse-money.ts';
import { NO_SUCH_TIME, timeParser } from '../../../intake/values/parse-time.ts';
import {
  amountNameOf,
  isCurrency,
  isMinorUnit,
  isOfAnother,
  isOfNoState,
  type NameScorer,
  type StatusWords,
  type Stop,
} from './column-names.ts';

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
  // The last two are as JavaScript writes times for people.
  ...['D.M.YYYY', 'D.M.YY', 'M/D/YYYY', 'D/M/YYYY', 'M/D/YY', 'D/M/YY', 'D-M-YYYY', 'M-D-YYYY'].flatMap(
    (date) =>
      ['', ' H:mm', ' H:mm:ss', ' h:mm A', ' h:mm:ss A', ', H:mm:ss', ', h:mm:ss A'].map(
        (time) => date + time,
      ),
  ),
  ...['', ' h:mm A', ' h:mm:ss A', ', h:mm:ss A'].map((time) => `MMM D, YYYY${time}`),
  ...['', ' H:mm', ' H:mm:ss'].map((time) => `D MMM YYYY${time}`),
  ...['MMM-D-YY', 'D-MMM-YY', 'D-MMM-YYYY'],
  ...['', ' H:mm', ' H:mm:ss'].map((time) => `YYYY/M/D${time}`),
  ...[' h:mm A', ' h:mm:ss A'].map((time) => `YYYY-M-D${time}`),
  'YYYYMMDD',
];

/** Maximum number of different cells that are examined. More cells of a file rarely add information. */
const MAX_CELLS = 5_000;
/** The share of a column's cells that must fit, because a few are always wrong. */
const NEARLY_ALL = 0.9;
/** The share of a column's cells that may be dates which do not exist. */
const FEW = 0.5;
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

/** The part of a cell that names a code inside text, such as `Code: MIRA10`. Null if none has one. */
export function codeInCells({ counts }: Cells): string | null {
  for (const cell of counts.keys()) {
    const part = codeInText(cell);
    if (part !== null) return part;
  }
  return null;
}

/** The format of a column's amounts. Null if no format reads nearly all of them. */
export function moneyFormatOf(cells: Cells, own?: MoneyFormat): MoneyFormat | null {
  const formats = own === undefined ? MONEY_FORMATS : [own, ...MONEY_FORMATS];
  const shares = formats.map((format) => ({
    format,
    share: cells.share((cell) => typeof parseMoney(cell, format) === 'string'),
  }));
  // Few amounts are thousands. Without a format of the layout, each of them says how thousands are written.
  const margin = (one: MoneyFormat, other: MoneyFormat): number =>
    own === undefined && one.decimal === other.decimal ? 0 : BETTER;
  const best = shares.reduce((one, other) =>
    other.share > one.share + margin(one.format, other.format) ? other : one,
  );
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

/** True if amounts have the sign of pounds, which are sterling unless a person says otherwise. `$`, `kr` and `¥` show nothing. */
export function hasPounds(cells: Cells): boolean {
  return cells.share((cell) => cell.includes('£') && !/\p{L}/u.test(cell)) > 0;
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
  if (cells.counts.size === 0) return { formats: own, needsZone: false };
  // A cell such as 31.04.2026 is a date in every respect but one, so it says nothing against a format.
  const parseAny = timeParser([...own, ...TIME_FORMATS], ANY_ZONE);
  const impossible = cells.share((cell) => parseAny(cell) === NO_SUCH_TIME);
  const possible = impossible < FEW ? 1 - impossible : 1;
  const reads = (formats: readonly string[]): number => {
    const parse = timeParser(formats, ANY_ZONE);
    return cells.share((cell) => typeof parse(cell) === 'string') / possible;
  };
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

/** True if formats of the same cells leave open whether the day or the month is first. */
export function isDateOrderOpen(formats: readonly string[]): boolean {
  return [MONTH_FIRST, DAY_FIRST].every((order) => formats.some((format) => order.test(format)));
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
  const verdicts = ([null, 'MDY', 'DMY'] as const).map((order) => {
    const watch = watchDates(withDateOrder(layout, order), { name: '', dateOrder: null });
    for (const cell of cells.counts.keys()) watch?.see(cell, 0);
    return { order, code: holdCode(watch) };
  });
  const fitting = verdicts.find(({ code }) => code === null);
  if (verdicts[0]?.code === 'date_order_unknown') return 'open';
  return fitting === undefined ? 'mixed' : { kind: 'settled', order: fitting.order };
}

/**
 * True if the amounts of one file do not show whether a mark separates decimals or thousands, by the check for which a
 * run would hold the file.
 *
 * @param amounts by their currency, empty where the file states none.
 * @param currency of the amounts without one; null if it is not known yet.
 */
export function isMarkOpen(
  layout: Layout,
  amounts: ReadonlyMap<string, Cells>,
  currency: string | null,
): boolean {
  const watch = watchMarks(layout, { name: '', decimalMark: null, currency });
  for (const [stated, cells] of amounts)
    for (const cell of cells.counts.keys()) watch?.see(cell, 0, stated === '' ? null : stated);
  return holdCode(watch) !== null;
}

/** The code for which a check would hold a file; null if it would not. */
function holdCode(watch: { require(): void } | null): string | null {
  try {
    watch?.require();
    return null;
  } catch (error) {
    if (error instanceof FileHeld) return error.reason.code;
    throw error;
  }
}

/** Characters that stand between codes and in none. */
const ALWAYS_SEPARATES: readonly string[] = [';', '|', ',', '、', '，', '；', '،', '؛'];
/** A single code. What has other characters may be several codes, joined by one that nothing here knows. */
export const LIKE_CODE = /^[\p{L}\p{N}_-]{2,40}$/u;

/**
 * Separators between codes, in addition to those of the layout. `+` and `/` may be part of a code, so at least
 * one of the separated parts must also be alone in a cell; a blank may be part of a label, so each must look like a code with
 * a number, or be alone. A list as JSON writes it has its items without a separator.
 */
export function codeSeparatorsOf(cells: Cells, own: readonly string[]): readonly string[] {
  const texts = [...cells.counts.keys()].flatMap((cell) => itemsOf(cell.trim()) ?? [cell]);
  const alone = new Set(texts.map((text) => text.toLowerCase()));
  const isAlone = (part: string): boolean => alone.has(part.toLowerCase());
  return [...ALWAYS_SEPARATES, '+', '/', ' '].filter((separator) => {
    if (own.includes(separator)) return false;
    return texts.some((text) => {
      const pieces = own
        .reduce((all, known) => all.flatMap((part) => part.split(known)), [text])
        .map((part) => part.trim());
      const parts = pieces.flatMap((piece) => piece.split(separator)).map((part) => part.trim());
      const codes = parts.filter((part) => part !== '');
      return (
        parts.length > pieces.length &&
        codes.length > 0 &&
        codes.every((part) => LIKE_CODE.test(part)) &&
        (ALWAYS_SEPARATES.includes(separator) ||
          (separator === ' '
            ? codes.length > 1 && codes.every((part) => /\p{L}\p{N}/u.test(part) || isAlone(part))
            : codes.some(isAlone)))
      );
    });
  });
}

/** A column of a file, with its values. */
export type MeasuredColumn = { readonly header: string; readonly index: number; readonly cells: Cells };

/** The cell of a row in a column. */
export function cellIn(
  { index }: Pick<MeasuredColumn, 'index'>,
  { cells }: Pick<CsvRecord, 'cells'>,
): string {
  return cleanText(cells[index] ?? '');
}

/** Groups rows by their cell in a column. */
export function rowsBy(column: MeasuredColumn, records: readonly CsvRecord[]): Map<string, CsvRecord[]> {
  return Map.groupBy(records, (record) => cellIn(column, record));
}

/** The test of a layout's exclusion: the values of a column that mean that an order is never posted. */
export type StopTest =
  | { readonly not_blank: true }
  | { readonly equals: readonly string[]; readonly unless?: readonly string[] }
  | { readonly none_of: readonly string[] }
  | { readonly matches: string };

/** A column of states has few words. */
const MAX_STATES = 30;

/** How well a column fits a field by its name and its values: 0 if either does not fit. */
export function pointsOf(
  { header, cells }: MeasuredColumn,
  field: LayoutField,
  { words, score }: { words: StatusWords; score: NameScorer },
): number {
  if (field === 'total' || field === 'subtotal') {
    const amount = amountNameOf(header);
    return amount?.field === field ? (amount.certain ? 1 : 0.5) * shape(field, cells) : 0;
  }
  const points = score(header, field);
  if (points === 0) return 0;
  return points * (field === 'status' ? statusShape(header, { cells, words, points }) : shape(field, cells));
}

/**
 * Returns 1 if the values of a column can belong to a field, and 0 otherwise. For a column without values,
 * returns 0.5 if the field is often empty and 0 otherwise.
 */
export function shape(field: LayoutField, cells: Cells): number {
  if (cells.filled === 0) return field === 'codes' || field === 'notes' || field === 'cancelled_at' ? 0.5 : 0;
  return (SHAPES[field] ?? ((all) => !isMoney(all)))(cells) ? 1 : 0;
}

const areTimes = (cells: Cells): boolean => timesOf(cells).formats !== null;
const areDigits = (cells: Cells): boolean => cells.share((cell) => /^\d+$/.test(cell)) === 1;

/** What the values of a field's column look like; those of all others are no amounts. */
const SHAPES: Readonly<Partial<Record<LayoutField, (cells: Cells) => boolean>>> = {
  email: (cells) =>
    cells.share((cell) => cell.includes('@') && typeof parseAddress(cell) === 'string') >= 0.8,
  currency: (cells) => cells.share((cell) => /^[A-Za-z]{3}$/.test(cell)) === 1 && cells.counts.size <= 40,
  total: (cells) => isMoney(cells),
  subtotal: (cells) => isMoney(cells),
  placed_at: areTimes,
  paid_at: areTimes,
  cancelled_at: areTimes,
  order_id: (cells) =>
    cells.filled >= cells.rows * 0.95 &&
    // A time is no id, even one that no format reads: two orders may have the same.
    cells.share((cell) => cell.length <= 60 && !/\s{2}|@|\d:\d\d/.test(cell)) >= NEARLY_ALL &&
    !(areTimes(cells) && !areDigits(cells)) &&
    cells.counts.size > Math.min(2, cells.rows - 1) &&
    !isSurelyMoney(cells),
  codes: (cells) =>
    cells.share((cell) => cell.length <= 100 && /[\p{L}]/u.test(cell)) >= NEARLY_ALL && !isMoney(cells),
  // What is another number on every row identifies the row, and no influencer.
  links: (cells) =>
    cells.filled < cells.rows ||
    cells.counts.size < cells.filled ||
    cells.share((cell) => /\d/.test(cell) && !/[/?=&]/.test(cell)) < 1,
};

/** Names that mean the state of an order, or that of an address. */
const STATE = /^(?:state|estado|stato|état)$/i;

/**
 * Like `shape`. A column that is named like a status but contains only unknown words is a status too. No
 * order is then credited until a person says which words count.
 */
function statusShape(
  header: string,
  { cells, words, points }: { cells: Cells; words: StatusWords; points: number },
): number {
  if (cells.filled === 0 || cells.counts.size > MAX_STATES) return 0;
  if (cells.share((cell) => words.all.has(foldWord(cell))) > 0) return 1;
  if (words.asksPaid(header) && areAnswers(cells)) return 1;
  return points >= 0.5 && areWords(cells) && !STATE.test(header.trim()) ? 0.5 : 0;
}

function areWords(cells: Cells): boolean {
  return cells.share((cell) => /^\p{L}[^\d@]*$/u.test(cell)) === 1;
}

/** Words that say of a row that it is no order to be credited, whatever its column is called, besides those of the lists. */
const STOPPED = /^(?:return|restock|reversal|test|draft|declined|rto\b|rucksend|devuel|retour)/;

function saysStopped(word: string): boolean {
  return STOPPED.test(headerWords(word)) || means(word, 'refunded') || means(word, 'cancelled');
}

/** True if a column has the states of something that is not the order, such as its shipment. */
export function isOtherStatus({ header, cells }: MeasuredColumn): boolean {
  return (
    isOfAnother(header, 'status') &&
    !isOfPeople(header) &&
    cells.counts.size <= MAX_STATES &&
    (cells.filled === 0 || areWords(cells))
  );
}

/** True if a word says that an order was returned or cancelled, in any of the languages of the lists. */
export function isStopped(word: string, { meaningOf }: StatusWords): boolean {
  return saysStopped(word) || /^(?:cancell?ed|returned|refunded)$/.test(meaningOf(word));
}

/** Columns of names, in which a test order has a word such as "Test". */
const OF_PERSON = /name|customer|kunde|klant|client/i;

/** True if a column has words, and as few as states are, although no list may know them. */
export function hasStates({ header, cells }: MeasuredColumn): boolean {
  const isFew = cells.filled > 0 && cells.counts.size <= MAX_STATES;
  return isFew && !isOfAnother(header, 'status') && areWords(cells) && !OF_PERSON.test(header);
}

/** True if a column has a few words, and at least one says the state of an order. */
export function mayBeStatus(column: MeasuredColumn, words: StatusWords): boolean {
  return (
    hasStates(column) && column.cells.share((cell) => words.all.has(foldWord(cell)) || saysStopped(cell)) > 0
  );
}

const YES = ['yes', 'true', '1', 'y', 'ja', 'oui', 'si', 'sí', 'sim', 'x'];

function saysYes(cell: string): boolean {
  return isAnswer(cell) || YES.includes(cell.toLowerCase());
}

function saysNo(cell: string): boolean {
  return isNo(cell) || /^0[.,]00$/.test(cell);
}

/** True if a column answers yes or no, and nothing else. */
export function areAnswers(cells: Cells): boolean {
  return cells.share((cell) => saysYes(cell) || saysNo(cell)) === 1;
}

/** True if a column answers yes on some rows and no on others. A blank is a no beside a word, and none beside a number. */
export function areTwoAnswers(cells: Cells): boolean {
  const said = [...cells.counts.keys()];
  const hasBlanks = cells.filled < cells.rows && said.some((cell) => !/\d/.test(cell));
  return areAnswers(cells) && said.some(saysYes) && (hasBlanks || said.some(saysNo));
}

/** An amount that is not zero, or text that is no amount. A list of amounts would let those pass that no file has yet. */
const NOT_ZERO: StopTest = { matches: '[1-9]|^[^0-9]*[^\\s0-9-][^0-9]*$' };

/** The test by which a column stops orders: anything but no. Null if the values do not show what means no. */
export function stopTestOf(cells: Cells, stop: Stop | 'excluded'): StopTest | null {
  if (stop === 'unknown_risk') return riskTestOf(cells);
  if (stop === 'unknown_payment' || isMoney(cells, /[.,]\d\d$/)) return NOT_ZERO;
  const values = [...new Set([...cells.counts.keys()].map((cell) => cell.toLowerCase()))];
  const hasBlanks = cells.filled < cells.rows;
  const no = values.filter(saysNo);
  const others = values.filter((value) => !saysNo(value));
  if (no.length === 0) return hasBlanks ? { not_blank: true } : null;
  if (!hasBlanks) return { none_of: no };
  if (others.length > MAX_STATES) return null;
  // Blanks let orders pass, so a word that is no known yes holds them: `Void`, a date, `Yes (customer)`.
  return { equals: [...new Set([...others, ...YES])], unless: ['', ...no] };
}

/** Words for a risk that lets an order count. */
const LOW = /^(?:low|none|normal|niedrig|gering|laag|faible|bajo|basso|baixo|niskie?|lav|låg|matala)$/i;

/** Every risk that is not low holds an order. Null if the column has numbers: from which one on is not known. */
function riskTestOf(cells: Cells): StopTest | null {
  const values = [...cells.counts.keys()];
  if (values.length > MAX_STATES || (values.length > 0 && !areWords(cells))) return null;
  const isLow = (value: string): boolean => LOW.test(value) || saysNo(value);
  const high = values.filter((value) => !isLow(value));
  return { equals: high.length === 0 ? ['high'] : high, unless: ['', 'low', ...values.filter(isLow)] };
}

/** True if a column has a few words, and one of them is a minor unit, such as cents. */
export function mayBeMinorUnits({ cells }: MeasuredColumn): boolean {
  return cells.counts.size <= MAX_STATES && cells.share(isMinorUnit) > 0;
}

export function areCurrencies(cells: Cells): boolean {
  return cells.filled > 0 && cells.share(isCurrency) === 1;
}

/** True if all cells are in capitals, or none has one: a currency is not written as `Top` is. */
export function areInOneCase(cells: Cells): boolean {
  return [
    cells.share((cell) => cell === cell.toUpperCase()),
    cells.share((cell) => cell === cell.toLowerCase()),
  ].includes(1);
}

/**
 * `MIA10` parses as an amount of 10 with a currency, so the currency must exist.
 *
 * @param written what at least one cell must look like.
 */
export function isMoney(cells: Cells, written = /\d/): boolean {
  return (
    cells.filled > 0 &&
    moneyFormatOf(cells) !== null &&
    cells.share((cell) => isCurrency(statedCurrency(cell) ?? 'EUR')) >= NEARLY_ALL &&
    cells.share((cell) => written.test(cell)) > 0
  );
}

/** True if nearly all cells are amounts with two decimals, or all name their currency. */
export function isSurelyMoney(cells: Cells): boolean {
  const isRead = (cell: string): boolean =>
    MONEY_FORMATS.some((format) => typeof parseMoney(cell, format) === 'string');
  // `R1` and `EUR-10011` may be amounts, and are more often numbers of orders.
  const isStated = (cell: string): boolean =>
    isCurrency(statedCurrency(cell) ?? '') && !/^[A-Za-z]{1,3}-?\d+$/.test(cell);
  const hasCurrency = cells.filled > 0 && cells.share(isStated) === 1;
  return cells.share((cell) => (hasCurrency || /[.,]\d\d(?!\d)/.test(cell)) && isRead(cell)) >= NEARLY_ALL;
}

/** True if a column has a few words that come again, as states have, or answers yes or no, and names no other meaning. */
export function mayBePaid({ header, cells }: MeasuredColumn): boolean {
  if (isOfPeople(header) || isOfAnother(header, 'status') || isOfNoState(header)) return false;
  if (areAnswers(cells)) return amountNameOf(header) === null;
  const isFew =
    cells.counts.size > 1 && cells.counts.size <= MAX_STATES / 3 && cells.counts.size < cells.filled;
  return isFew && cells.filled === cells.rows && areWords(cells);
}

const SAMPLES = 3;
const SAMPLE_CHARS = 40;
/** A column's name with up to three of its values. */
export function describeColumn({ header, cells }: MeasuredColumn): {
  header: string;
  samples: readonly string[];
} {
  if (isOfPeople(header)) return { header, samples: [] };
  const samples = [...cells.counts.keys()].slice(0, SAMPLES);
  return { header, samples: samples.map((cell) => maskAddresses(cell).slice(0, SAMPLE_CHARS)) };
}

/**
 * True if no amount is above the total of its row, and some are below it or blank: amounts that were taken off, or what is
 * left of the total.
 *
 * @param isWritten whether amounts have decimals. Where they have none, any number may look like a smaller amount.
 */
export function mayLower(
  column: MeasuredColumn,
  { index }: MeasuredColumn,
  { records, isWritten }: { records: readonly CsvRecord[]; isWritten: boolean },
): boolean {
  const format = moneyFormatOf(column.cells) ?? MONEY_FORMATS[0];
  if (format === undefined) return true;
  let isPartly = false;
  for (const { cells } of records) {
    const cell = (cells[column.index] ?? '').trim();
    if (cell === '' || isZero(cell)) {
      isPartly = true;
      continue;
    }
    const own = Math.abs(Number(parseMoney(cell, format)));
    const total = Math.abs(Number(parseMoney(cells[index] ?? '', format)));
    if (own > total) return false;
    isPartly ||= isWritten && own < total;
  }
  return isPartly;
}

/** True if the amount of every row is its price times its quantity, and at least one quantity is not 1. */
export function multiplies(
  { price, column, amount }: { price: MeasuredColumn; column: MeasuredColumn; amount: MeasuredColumn },
  records: readonly CsvRecord[],
): boolean {
  const [format, ofAmount] = [price, amount].map(({ cells }) => moneyFormatOf(cells));
  if (!format || !ofAmount) return false;
  let isProven = false;
  for (const { cells } of records) {
    const [one, count, all] = [
      parseMoney(cells[price.index] ?? '', format),
      parseMoney(cells[column.index] ?? '', format),
      parseMoney(cells[amount.index] ?? '', ofAmount),
    ];
    if (typeof one !== 'string' || typeof count !== 'string' || typeof all !== 'string') return false;
    if (toUnits(one) * toUnits(count) !== toUnits(all) * toUnits('1')) return false;
    isProven ||= toUnits(one) !== toUnits(all);
  }
  return isProven;
}

import type { LayoutField } from '../../../core/layout.ts';
import type { CsvRecord } from '../../../core/record.ts';
import { maskAddresses } from '../../../core/text/mask-addresses.ts';
import { parseAddress } from '../../../intake/customers/map/parse-address.ts';
import { foldWord } from '../../../intake/values/clean-text.ts';
import { isZero, parseMoney, statedCurrency } from '../../../intake/values/parse-money.ts';
import { amountNameOf } from './amount-names.ts';
import { isOfAnother, type NameScorer } from './column-synonyms.ts';
import type { StatusWords } from './known-status-words.ts';
import { type Cells, MONEY_FORMATS, moneyFormatOf, timesOf } from './measure-values.ts';

/** A column of a file, with its values. */
export type MeasuredColumn = { readonly header: string; readonly index: number; readonly cells: Cells };

/** The test of a layout's exclusion: the values of a column that mean that an order is never posted. */
export type StopTest =
  | { readonly not_blank: true }
  | { readonly equals: readonly string[] }
  | { readonly none_of: readonly string[] };

/** Share of a column's cells that must have the expected shape, because some are always wrong. */
const MOST = 0.9;
/** A column of states has few words. */
const MAX_STATES = 30;

/**
 * How well a column fits a field by its name and its values: 0 if either does not fit.
 */
export function pointsOf(
  { header, cells }: MeasuredColumn,
  field: LayoutField,
  { words, score }: { readonly words: StatusWords; readonly score: NameScorer },
): number {
  if (field === 'total' || field === 'subtotal') {
    const amount = amountNameOf(header);
    return amount?.field === field ? (amount.certain ? 1 : 0.5) * shape(field, cells) : 0;
  }
  const points = score(header, field);
  if (points === 0) return 0;
  return (
    points * (field === 'status' ? statusShape(cells, words, { text: header, points }) : shape(field, cells))
  );
}

/**
 * Returns 1 if the values of a column can belong to a field, and 0 otherwise. For a column without values,
 * returns 0.5 if the field is often empty and 0 otherwise.
 */
export function shape(field: LayoutField, cells: Cells): number {
  if (cells.filled === 0) return field === 'codes' || field === 'notes' || field === 'cancelled_at' ? 0.5 : 0;
  switch (field) {
    case 'email':
      return yes(cells.share((cell) => cell.includes('@') && typeof parseAddress(cell) === 'string') >= 0.8);
    case 'currency':
      return yes(cells.share((cell) => /^[A-Za-z]{3}$/.test(cell)) === 1 && cells.counts.size <= 40);
    case 'total':
    case 'subtotal':
      return yes(isMoney(cells));
    case 'placed_at':
    case 'paid_at':
    case 'cancelled_at':
      return yes(timesOf(cells).formats !== null);
    case 'order_id':
      return yes(
        cells.filled >= cells.rows * 0.95 &&
          // A time is no id, even one that no format reads: two orders may have the same.
          cells.share((cell) => cell.length <= 60 && !/\s{2}|@|\d:\d\d/.test(cell)) >= MOST &&
          timesOf(cells).formats === null &&
          cells.counts.size > Math.min(2, cells.rows - 1) &&
          !isMoneyWithDecimals(cells),
      );
    case 'codes':
      return yes(
        cells.share((cell) => cell.length <= 100 && /[\p{L}]/u.test(cell)) >= MOST && !isMoney(cells),
      );
    default:
      return yes(!isMoney(cells));
  }
}

/** Names that mean the state of an order, or that of an address. */
const STATE = /^(?:state|estado|stato|état)$/i;

/**
 * Like `shape`. A column that is named like a status but contains only unknown words is a status too. No
 * order is then credited until a person says which words count.
 */
function statusShape(
  cells: Cells,
  words: StatusWords,
  { text, points }: { readonly text: string; readonly points: number },
): number {
  if (cells.filled === 0 || cells.counts.size > MAX_STATES) return 0;
  if (cells.share((cell) => words.all.has(foldWord(cell))) > 0) return 1;
  const isWords = cells.share((cell) => /^\p{L}[^\d@]*$/u.test(cell)) === 1;
  return points >= 0.5 && isWords && !STATE.test(text.trim()) ? 0.5 : 0;
}

/** Words that say of a row that it is no order to be credited, whatever its column is called. */
const STOPPED = /^(?:refund|return|charge_?back|reversal|cancel|void|test|draft|declined|storn|retour)/;

/** True if a column has a few words, and at least one says the state of an order. */
export function mayBeStatus({ header, cells }: MeasuredColumn, words: StatusWords): boolean {
  if (cells.filled === 0 || cells.counts.size > MAX_STATES || isOfAnother(header, 'status')) return false;
  if (cells.share((cell) => /^\p{L}[^\d@]*$/u.test(cell)) < 1) return false;
  return (
    cells.share((cell) => {
      const word = foldWord(cell);
      return words.all.has(word) || STOPPED.test(word);
    }) > 0
  );
}

const NO = ['no', 'false', '0', 'n', 'nein', 'nee', 'non', 'não', 'none', '-', '0.00', '0,00'];
const YES = ['yes', 'true', '1', 'y', 'ja', 'oui', 'si', 'sí', 'sim', 'x'];

/**
 * The test by which a column stops orders: anything but no. Null if the values do not show what means no.
 */
export function stopTestOf(cells: Cells): StopTest | null {
  const values = [...new Set([...cells.counts.keys()].map((cell) => cell.toLowerCase()))];
  const hasBlanks = cells.filled < cells.rows;
  const no = values.filter((value) => NO.includes(value));
  const others = values.filter((value) => !NO.includes(value));
  if (no.length === 0) return hasBlanks ? { not_blank: true } : null;
  if (!hasBlanks) return { none_of: no };
  return others.length > MAX_STATES ? null : { equals: [...new Set([...others, ...YES])] };
}

export function areCurrencies(cells: Cells): boolean {
  const known = new Set(Intl.supportedValuesOf('currency'));
  return cells.filled > 0 && cells.share((cell) => known.has(cell.toUpperCase())) === 1;
}

export function isMoneyOrBlank(cells: Cells): boolean {
  return cells.filled === 0 || isMoney(cells);
}

function yes(is: boolean): number {
  return is ? 1 : 0;
}

/**
 * `MIA10` parses as an amount of 10 with a currency, so the currency must exist.
 *
 * @param written what at least one cell must look like.
 */
export function isMoney(cells: Cells, written = /\d/): boolean {
  const known = new Set(Intl.supportedValuesOf('currency'));
  const isOfCurrency = (cell: string): boolean => known.has(statedCurrency(cell) ?? 'EUR');
  return (
    cells.filled > 0 &&
    moneyFormatOf(cells) !== null &&
    cells.share(isOfCurrency) >= MOST &&
    cells.share((cell) => written.test(cell)) > 0
  );
}

/** True if nearly all cells are amounts with two decimals. */
export function isMoneyWithDecimals(cells: Cells): boolean {
  const readers = MONEY_FORMATS.slice(0, 2);
  return (
    cells.share(
      (cell) =>
        /[.,]\d\d$/.test(cell) && readers.some((format) => typeof parseMoney(cell, format) === 'string'),
    ) >= MOST
  );
}

const SAMPLES = 3;
const SAMPLE_CHARS = 40;
/** Names of columns about people, whose values are not shown. */
export const PERSONAL =
  /name|address|adress|street|stra(?:ß|ss)e|phone|telefon|mobile|zip|post ?code|plz|city|town|ort\b|mail|birth|customer|kunde|klant|client|note|comment|message|ip\b/i;

/** A column's name with up to three of its values. */
export function describeColumn({ header, cells }: MeasuredColumn): {
  header: string;
  samples: readonly string[];
} {
  if (PERSONAL.test(header)) return { header, samples: [] };
  const samples = [...cells.counts.keys()].slice(0, SAMPLES);
  return { header, samples: samples.map((cell) => maskAddresses(cell).slice(0, SAMPLE_CHARS)) };
}

/** True if some cells are blank or zero, and no other is above the total of its row. */
export function mayLower(
  column: MeasuredColumn,
  { index }: MeasuredColumn,
  records: readonly CsvRecord[],
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
    const own = Number(parseMoney(cell, format));
    if (Math.abs(own) > Math.abs(Number(parseMoney(cells[index] ?? '', format)))) return false;
  }
  return isPartly;
}

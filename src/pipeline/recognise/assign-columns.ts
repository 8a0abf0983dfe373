import { parseAddress } from '../../map/customers/parse-address.ts';
import { cleanText, foldWord } from '../../map/values/clean-text.ts';
import { isZero, parseMoney, statedCurrency } from '../../map/values/parse-money.ts';
import type { LayoutField } from '../../model/layout.ts';
import type { CsvRecord } from '../../model/record.ts';
import { foldHeader } from '../../model/text/fold.ts';
import { maskAddresses } from '../../model/text/mask-addresses.ts';
import { amountNameOf, type Stop, stopNameOf } from './amount-names.ts';
import type { ColumnRole, StatedRoles } from './column-roles.ts';
import { isOfAnother, type NameScorer } from './column-synonyms.ts';
import type { StatusWords } from './known-status-words.ts';
import { Cells, MONEY_FORMATS, moneyFormatOf, timesOf } from './measure-values.ts';

/*
 * Which column of an unknown file is which field of an order. Names come first. A field that no name shows is
 * found by its values if exactly one column has them; an amount never is, because values do not show whose money
 * they are. Each column ends as used, as not used with the reason, or as unclear: a person is asked about whatever
 * may lower the money of an order and cannot be read.
 */

/** A column of a file, with its values. */
export type MeasuredColumn = { readonly header: string; readonly index: number; readonly cells: Cells };

/** What was decided about one column, with up to three of its values. */
export type ColumnDecision = {
  readonly header: string;
  /** Null: it is not read. */
  readonly role: Exclude<ColumnRole, 'unused'> | 'time_of_day' | null;
  readonly why: string;
  readonly samples: readonly string[];
};

/** A column that only a person can decide about. */
export type UnclearColumn = {
  readonly header: string;
  readonly why: string;
  readonly samples: readonly string[];
  /** The role that fits best, to be offered first. */
  readonly likely: ColumnRole;
};

/** A column of which some values mean that an order is never posted. */
export type StopColumn = {
  readonly column: MeasuredColumn;
  readonly reason: Stop | 'excluded';
  /** The test of the layout's exclusion. */
  readonly test:
    | { readonly not_blank: true }
    | { readonly equals: readonly string[] }
    | { readonly none_of: readonly string[] };
};

export type Assignment = {
  readonly chosen: ReadonlyMap<LayoutField, MeasuredColumn>;
  readonly stops: readonly StopColumn[];
  /** The column with the time of day if `placed_at` is only a date, and both joined. */
  readonly timeOfDay: { readonly column: MeasuredColumn; readonly joined: Cells } | null;
  readonly unclear: readonly UnclearColumn[];
  readonly decisions: readonly ColumnDecision[];
};

/** Fields of orders in the order in which columns are assigned to them, the most certain first. */
const ORDER_FIELDS: readonly LayoutField[] = [
  ...(['email', 'currency', 'codes', 'subtotal', 'total', 'paid_at', 'cancelled_at', 'placed_at'] as const),
  ...(['order_id', 'status', 'influencer_handle', 'links', 'notes'] as const),
];
/** Share of a column's cells that must have the expected shape, because some are always wrong. */
const MOST = 0.9;
/** A column of states has few words. */
const MAX_STATES = 30;

/** Assigns the columns of a file to the fields of orders. */
export function assignColumns(
  columns: readonly MeasuredColumn[],
  {
    records,
    words,
    score,
    stated,
  }: {
    readonly records: readonly CsvRecord[];
    readonly words: StatusWords;
    readonly score: NameScorer;
    readonly stated: StatedRoles;
  },
): Assignment {
  const chosen = new Map<LayoutField, MeasuredColumn>();
  const stops: StopColumn[] = [];
  const unclear: UnclearColumn[] = [];
  const byValues = new Set<MeasuredColumn>();
  const named = columns.filter(({ header }) => header !== '');
  const roleOf = ({ header }: MeasuredColumn): ColumnRole | undefined => stated.get(foldHeader(header));
  const used = new Set<MeasuredColumn>();
  const free = (): MeasuredColumn[] =>
    named.filter((column) => !used.has(column) && roleOf(column) === undefined);
  const take = (field: LayoutField, column: MeasuredColumn): void => {
    chosen.set(field, column);
    used.add(column);
  };
  const ask = (column: MeasuredColumn, why: string, likely: ColumnRole): void => {
    used.add(column);
    unclear.push({ ...describe(column), why, likely });
  };

  for (const column of named) {
    const role = roleOf(column);
    if (role === undefined || role === 'unused') continue;
    if (role === 'excludes')
      stops.push({
        column,
        reason: stopNameOf(column.header) ?? 'excluded',
        test: stopTestOf(column.cells) ?? { not_blank: true },
      });
    else take(role, column);
  }

  for (const field of ORDER_FIELDS) {
    if (chosen.has(field)) continue;
    const [best] = free()
      .filter(({ header }) => field === 'cancelled_at' || stopNameOf(header) === null)
      .map((column) => ({ column, points: pointsOf(column, field, { words, score }) }))
      .filter(({ points }) => points > 0)
      .sort((one, other) => other.points - one.points);
    if (best !== undefined) take(field, best.column);
  }

  const total = chosen.get('total');
  if (total !== undefined) {
    byItsValues();
    stopsByName();
    rivals(total);
  }
  return { chosen, stops, timeOfDay: findTimeOfDay(), unclear, decisions: named.map(decide) };

  /** Finds fields that no name shows: the only column whose values fit. */
  function byItsValues(): void {
    const findOnly = (
      field: LayoutField,
      fits: (column: MeasuredColumn) => boolean,
      whySeveral: string | null,
    ): void => {
      if (chosen.has(field)) return;
      const found = free().filter((column) => stopNameOf(column.header) === null && fits(column));
      const [only] = found;
      if (only !== undefined && found.length === 1) {
        byValues.add(only);
        take(field, only);
      } else if (whySeveral !== null)
        for (const column of found) ask(column, whySeveral, field as ColumnRole);
    };
    findOnly('currency', ({ cells }) => areCurrencies(cells), 'one of several columns of currencies');
    findOnly(
      'placed_at',
      ({ header, cells }) =>
        !isOfAnother(header, 'placed_at') &&
        cells.share((cell) => /^\d+$/.test(cell)) === 0 &&
        cells.filled > 0 &&
        timesOf(cells).formats !== null,
      'one of several columns of times, and none is named like that of the order',
    );
    findOnly(
      'status',
      (column) => mayBeStatus(column, words),
      'one of several columns with words for states',
    );
    findOnly(
      'order_id',
      ({ header, cells }) =>
        shape('order_id', cells) === 1 &&
        !PERSONAL.test(header) &&
        cells.counts.size === cells.rows &&
        cells.share((cell) => /\d/.test(cell)) === 1 &&
        !isMoney(cells, /[.,]\d\d$/),
      null,
    );
    if (!(['codes', 'influencer_handle', 'links', 'notes'] as const).some((field) => chosen.has(field)))
      findOnly(
        'codes',
        ({ header, cells }) =>
          amountNameOf(header) === null &&
          cells.filled > cells.counts.size &&
          cells.share((cell) => /^(?=.*\p{Lu})[\p{Lu}\p{N}][\p{Lu}\p{N}_-]{3,29}$/u.test(cell)) === 1 &&
          cells.share((cell) => /\d/.test(cell)) > 0,
        null,
      );
  }

  /** Uses every column whose name says that an order was refunded, cancelled, a test, a draft or disputed. */
  function stopsByName(): void {
    for (const column of free()) {
      const stop = stopNameOf(column.header);
      if (stop === null) continue;
      const { cells } = column;
      const isFlag = cells.filled > 0 && cells.share((cell) => /^[01]$/.test(cell)) === 1;
      if (stop === 'refunded' && !chosen.has('refunded') && !isFlag && isMoneyOrBlank(cells)) {
        take('refunded', column);
        continue;
      }
      if (
        stop === 'cancelled' &&
        !chosen.has('cancelled_at') &&
        cells.filled > 0 &&
        shape('cancelled_at', cells) > 0
      ) {
        take('cancelled_at', column);
        continue;
      }
      const test = stop === 'refunded' && !isFlag && isMoney(cells) ? null : stopTestOf(cells);
      if (test === null) {
        ask(
          column,
          `its name says that orders may be ${WHAT[stop]}, and its values do not show which`,
          'excludes',
        );
        continue;
      }
      used.add(column);
      stops.push({ column, reason: stop, test });
    }
  }

  /** Asks about columns that contradict the chosen ones, or that may lower the total. */
  function rivals(total: MeasuredColumn): void {
    const { status, currency } = Object.fromEntries(chosen) as Partial<Record<LayoutField, MeasuredColumn>>;
    const differs = (one: MeasuredColumn, other: MeasuredColumn): boolean =>
      records.some(({ cells }) => {
        const [left, right] = [one, other].map(({ index }) => cleanText(cells[index] ?? ''));
        return left !== '' && right !== '' && left !== right;
      });
    for (const column of free()) {
      const { header, cells } = column;
      if (cells.filled === 0) continue;
      const amount = amountNameOf(header);
      if (status !== undefined && mayBeStatus(column, words))
        ask(column, `it has words for states, as ${JSON.stringify(status.header)} has`, 'unused');
      else if (currency !== undefined && areCurrencies(cells) && differs(column, currency))
        ask(column, `it names other currencies than ${JSON.stringify(currency.header)}`, 'unused');
      else if (amount?.field === 'total' && isMoney(cells) && differs(column, total))
        ask(
          column,
          `it is named like a total, as ${JSON.stringify(total.header)} is, and differs from it`,
          'unused',
        );
      else if (amount === null && isMoney(cells, /[.,]\d\d$/) && mayLower(column, total))
        ask(column, `it has amounts up to the total on some rows only, as refunds have`, 'refunded');
    }
  }

  /** True if some cells are blank or zero, and no other is above the total of its row. */
  function mayLower(column: MeasuredColumn, { index }: MeasuredColumn): boolean {
    const format = moneyFormatOf(column.cells) ?? MONEY_FORMATS[0];
    if (format === undefined) return true;
    let isPartly = false;
    for (const { cells } of records) {
      const cell = (cells[column.index] ?? '').trim();
      if (cell === '' || isZero(cell)) {
        isPartly = true;
        continue;
      }
      const [own, whole] = [cell, cells[index] ?? ''].map((text) => Number(parseMoney(text, format)));
      if (own !== undefined && whole !== undefined && Math.abs(own) > Math.abs(whole)) return false;
    }
    return isPartly;
  }

  function findTimeOfDay(): Assignment['timeOfDay'] {
    const placed = chosen.get('placed_at');
    if (placed === undefined || placed.cells.share((cell) => /\d:\d\d/.test(cell)) > 0) return null;
    const column = free().find(
      ({ cells }) =>
        cells.filled > 0 && cells.share((cell) => /^\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M)?$/i.test(cell)) === 1,
    );
    if (column === undefined) return null;
    const joined = new Cells();
    for (const { cells } of records) joined.add(`${cells[placed.index] ?? ''} ${cells[column.index] ?? ''}`);
    if (timesOf(joined).formats === null) return null;
    used.add(column);
    byValues.add(column);
    return { column, joined };
  }

  function decide(column: MeasuredColumn): ColumnDecision {
    const [field = null] = [...chosen].find(([, other]) => other === column) ?? [];
    const isStop = stops.some((stop) => stop.column === column);
    const role = field ?? (isStop ? 'excludes' : used.has(column) ? 'time_of_day' : null);
    return {
      ...describe(column),
      role: role as ColumnDecision['role'],
      why: reasonOf(column, role !== null),
    };
  }

  function reasonOf(column: MeasuredColumn, isUsed: boolean): string {
    if (roleOf(column) !== undefined) return 'as you said';
    if (isUsed)
      return byValues.has(column) ? 'by its values, because no name says so: check it' : 'by its name';
    const amount = amountNameOf(column.header);
    if (amount?.field === null) return amount.why;
    if (column.cells.filled === 0) return 'it is always blank';
    return amount === null ? 'its name is that of no field of an order' : 'another column has this meaning';
  }
}

const WHAT: Readonly<Record<Stop, string>> = {
  refunded: 'refunded or returned',
  cancelled: 'cancelled',
  test: 'tests',
  draft: 'drafts',
  disputed: 'disputed',
};

const SAMPLES = 3;
const SAMPLE_CHARS = 40;
/** Names of columns about people, whose values are not shown. */
const PERSONAL =
  /name|address|adress|street|stra(?:ß|ss)e|phone|telefon|mobile|zip|post ?code|plz|city|town|ort\b|mail|birth|customer|kunde|klant|client|note|comment|message|ip\b/i;

function describe({ header, cells }: MeasuredColumn): { header: string; samples: readonly string[] } {
  if (PERSONAL.test(header)) return { header, samples: [] };
  const samples = [...cells.counts.keys()].slice(0, SAMPLES);
  return { header, samples: samples.map((cell) => maskAddresses(cell).slice(0, SAMPLE_CHARS)) };
}

function pointsOf(
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
function shape(field: LayoutField, cells: Cells): number {
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
function mayBeStatus({ header, cells }: MeasuredColumn, words: StatusWords): boolean {
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
function stopTestOf(cells: Cells): StopColumn['test'] | null {
  const values = [...new Set([...cells.counts.keys()].map((cell) => cell.toLowerCase()))];
  const hasBlanks = cells.filled < cells.rows;
  const no = values.filter((value) => NO.includes(value));
  const others = values.filter((value) => !NO.includes(value));
  if (no.length === 0) return hasBlanks ? { not_blank: true } : null;
  if (!hasBlanks) return { none_of: no };
  return others.length > MAX_STATES ? null : { equals: [...new Set([...others, ...YES])] };
}

function areCurrencies(cells: Cells): boolean {
  const known = new Set(Intl.supportedValuesOf('currency'));
  return cells.filled > 0 && cells.share((cell) => known.has(cell.toUpperCase())) === 1;
}

function isMoneyOrBlank(cells: Cells): boolean {
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
function isMoney(cells: Cells, written = /\d/): boolean {
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

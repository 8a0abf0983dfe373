import type { ColumnRole, LayoutField, StatedRoles } from '../../../core/layout.ts';
import type { CsvRecord } from '../../../core/record.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { smellOf } from '../../../intake/customers/map/consent-words.ts';
import { isOfQuantity, isPerPiece, means } from '../../../intake/layout/column-words.ts';
import { currenciesOfName } from '../../../intake/values/currency-symbols.ts';
import {
  amountNameOf,
  isCurrencyWord,
  isExchangeRate,
  isOfAnother,
  isOfAnotherOrder,
  isOfDiscount,
  isOfKind,
  isOfPart,
  isShare,
  isWithDecimals,
  mayBeNumber,
  type NameScorer,
  type StatusWords,
  type Stop,
  saysMoreThan,
  saysRenewal,
  saysShipped,
  stopNameOf,
  zoneOfName,
} from './column-names.ts';
import {
  areAnswers,
  areCurrencies,
  areInOneCase,
  areTwoAnswers,
  Cells,
  cellIn,
  codeInCells,
  describeColumn,
  hasStates,
  isMoney,
  isOtherStatus,
  isStopped,
  type MeasuredColumn,
  mayBeMinorUnits,
  mayBePaid,
  mayBeStatus,
  mayLower,
  multiplies,
  pointsOf,
  type StopTest,
  shape,
  stopTestOf,
  timesOf,
} from './column-values.ts';

/*
 * Which column of an unknown file is which field of an order. Names come first. A field that no name shows is
 * found by its values if exactly one column has them; an amount or an id never is, because values do not show whose
 * they are. Each column ends as used, as not used with the reason, or as unclear: a person is asked about whatever
 * may lower the money of an order and cannot be read.
 */

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
  /** The role to be offered first; null if a wrong one would credit what must not be, so that a person names it. */
  readonly likely: ColumnRole | null;
  /** The role that one of several columns has: of those with the same one here, a person need only name it. */
  readonly oneOf?: ColumnRole;
  /** Further roles to be offered first, of which only a person knows which it is. */
  readonly offered?: readonly ColumnRole[];
  /** Whether it belongs to a list of customers, so that only their roles are offered. */
  readonly isOfCustomers?: boolean;
};

/** A column of which some values mean that an order is never posted. */
export type StopColumn = {
  readonly column: MeasuredColumn;
  readonly reason: Stop | 'excluded' | 'returned' | 'other_status' | 'renewal' | 'unknown_rate';
  readonly test: StopTest;
  /** The amount of the refund: on rows that have one, it says how much does not count, and this column stops nothing. */
  readonly unless?: MeasuredColumn;
};

export type Assignment = {
  readonly chosen: ReadonlyMap<LayoutField, MeasuredColumn>;
  /** Further columns of codes, as a person has said. The codes of all of them count. */
  readonly moreCodes: readonly MeasuredColumn[];
  readonly stops: readonly StopColumn[];
  /** The column with the time of day if `placed_at` is only a date, and both joined. */
  readonly timeOfDay: { readonly column: MeasuredColumn; readonly joined: Cells } | null;
  /** The column by which the total, the price of a piece, is multiplied. Null: it is the amount of the row. */
  readonly quantity: MeasuredColumn | null;
  readonly unclear: readonly UnclearColumn[];
  readonly decisions: readonly ColumnDecision[];
};

/** Fields of orders in the order in which columns are assigned to them, the most certain first. */
const ORDER_FIELDS: readonly LayoutField[] = [
  'email',
  'currency',
  'codes',
  'subtotal',
  'total',
  'paid_at',
  'cancelled_at',
  'placed_at',
  'order_id',
  'status',
  'influencer_handle',
  'links',
  'notes',
];
/** Fields of which one must have a column, or no order can be credited. */
export const NAMES_SOMEBODY: readonly LayoutField[] = ['codes', 'links', 'notes', 'influencer_handle'];

/**
 * Fields that are found by their values if no name shows them, and what to ask if several columns have such values. The id of
 * an order is none: each export may number its rows, and the id of a cart, or of a payment, is not that of the order.
 */
const BY_VALUES: readonly {
  readonly field: LayoutField & ColumnRole;
  readonly fits: (column: MeasuredColumn, words: StatusWords) => boolean;
  readonly several?: string;
  /** Why the only column may be another one nevertheless, so that a person is asked. Null: nothing speaks against it. */
  readonly against?: (column: MeasuredColumn) => string | null;
}[] = [
  {
    field: 'currency',
    fits: ({ header, cells }) => areCurrencies(cells) && areInOneCase(cells) && !isOfPart(header),
    several: 'of currencies',
    against: ({ cells }) =>
      cells.share(isCurrencyWord) === 1 ? 'its values are codes of currencies, and words as well' : null,
  },
  {
    field: 'placed_at',
    fits: ({ header, cells }) =>
      !isOfAnother(header, 'placed_at') &&
      cells.share((cell) => /^\d+$/.test(cell)) === 0 &&
      shape('placed_at', cells) === 1,
    several: 'of times, and none is named like that of the order',
    against: ({ cells }) =>
      cells.counts.size === 1 && cells.rows > 2 ? 'it has one time on all rows, as that of an export' : null,
  },
  { field: 'status', fits: mayBeStatus, several: 'with words for states' },
  {
    field: 'codes',
    fits: ({ header, cells }) =>
      !isOfAnother(header, 'codes') &&
      cells.filled > cells.counts.size &&
      cells.share((cell) => CODE.test(cell) && cell.length > 3) === 1 &&
      cells.share((cell) => /\d/.test(cell)) > 0,
    against: ({ cells }) =>
      cells.filled === cells.rows ? 'its values look like codes, and every row has one' : null,
  },
];

/** Fields without which more would be credited, and what a column named like them says. */
const DECIDING: readonly (readonly [LayoutField, string])[] = [
  ['placed_at', 'when an order was placed'],
  ['currency', 'the currency of its amount'],
];
/** A code as shops write it: in capitals, perhaps with digits. */
const CODE = /^(?=.*\p{Lu})[\p{Lu}\p{N}][\p{Lu}\p{N}_-]{1,29}$/u;

/** Score of a name that is one of the field's, and does not only contain one. */
export const SURE_NAME = 0.6;

export type AssignOptions = {
  readonly records: readonly CsvRecord[];
  readonly words: StatusWords;
  readonly score: NameScorer;
  readonly stated: StatedRoles;
};

/** Assigns the columns of a file to the fields of orders. */
export function assignColumns(
  columns: readonly MeasuredColumn[],
  { records, words, score, stated }: AssignOptions,
): Assignment {
  const chosen = new Map<LayoutField, MeasuredColumn>();
  const moreCodes: MeasuredColumn[] = [];
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
  const ask = (
    column: MeasuredColumn,
    why: string,
    likely: ColumnRole | null,
    offered?: readonly ColumnRole[],
  ): void => {
    used.add(column);
    unclear.push({ ...describeColumn(column), why, likely, ...(offered === undefined ? {} : { offered }) });
  };

  asStated();
  minorUnits();
  byName();
  byItsValues();
  codesInText();
  unreadable();
  stopsByName();
  refundTimes();
  stopsByWords();
  unpaid();
  zones();
  wholeNumbers();
  const total = chosen.get('total');
  const quantity = total === undefined ? null : quantityOf(total);
  if (total !== undefined) {
    exchangeRates(total);
    rivals(total);
  }
  return {
    chosen,
    moreCodes,
    stops,
    timeOfDay: findTimeOfDay(),
    quantity,
    unclear,
    decisions: named.map(decide),
  };

  /** Uses columns in the roles that a person has given them. */
  function asStated(): void {
    for (const column of named) {
      const role = roleOf(column);
      if (role === undefined || role === 'unused' || role === 'consent') continue;
      if (role === 'quantity') {
        used.add(column);
      } else if (role === 'renewals') {
        const words = [...column.cells.counts.keys()];
        const unless = words.filter((word) => !saysRenewal(word));
        if (unless.length === words.length)
          ask(column, 'none of its words is known to mean the renewal of a subscription', null);
        else
          stops.push({
            column,
            reason: 'renewal',
            // A blank is no word of the export that says which order it is.
            test: { equals: words.filter(saysRenewal), unless: unless.length === 0 ? ['first'] : unless },
          });
      } else if (role === 'excludes') {
        const stop = stopNameOf(column.header) ?? 'excluded';
        stops.push({ column, reason: stop, test: stopTestOf(column.cells, stop) ?? { not_blank: true } });
      } else {
        const other = role === 'other_status' ? undefined : chosen.get(role);
        if (role === 'other_status' || (role === 'status' && other !== undefined))
          stops.push({ column, reason: 'other_status', test: otherStates(column) });
        else if (other === undefined) take(role, column);
        else if (role === 'codes') {
          used.add(column);
          moreCodes.push(column);
        } else
          ask(
            column,
            `${JSON.stringify(other.header)} has the role ${role} too, and a layout that init writes reads one column for it`,
            'excludes',
          );
      }
    }
  }

  /** Asks about columns that may say that amounts are in cents. */
  function minorUnits(): void {
    for (const column of free())
      if (mayBeMinorUnits(column))
        ask(
          column,
          'it says that amounts are in minor units, such as cents, which no layout can read: each would count many times over. Export the amounts as 12.50, or say "unused" if it is not about the amounts',
          'excludes',
        );
  }

  /** Asks about a total in whole numbers that end as prices in cents do, in a currency whose shops write decimals. */
  function wholeNumbers(): void {
    const [total, currency] = [chosen.get('total'), chosen.get('currency')];
    if (total === undefined || roleOf(total) !== undefined) return;
    const stated =
      currency === undefined ? currenciesOfName(total.header) : [...currency.cells.counts.keys()];
    const { cells } = total;
    if (
      !stated.some(isWithDecimals) ||
      cells.share((cell) => /^\d{3,}$/.test(cell)) < 1 ||
      cells.share((cell) => /(?:[4-9]9|95|\d\d[59]0)$/.test(cell)) <= 0.5
    )
      return;
    ask(
      total,
      'its amounts are whole numbers that end as prices in cents do, and each would count a hundredfold. Say "total" if they are no cents. Else export them as 19.99',
      null,
      ['total', 'unused'],
    );
  }

  /** Gives each field the column whose name and values fit it best. */
  function byName(): void {
    for (const field of ORDER_FIELDS) {
      if (chosen.has(field)) continue;
      const [best] = free()
        .filter(({ header }) => field === 'cancelled_at' || stopNameOf(header) === null)
        .map((column) => ({ column, points: pointsOf(column, field, { words, score }) }))
        .filter(({ points }) => points > 0)
        .sort((one, other) => other.points - one.points);
      if (best !== undefined) take(field, best.column);
    }
  }

  /**
   * Finds the column of the quantity if the total is the price of a piece, and asks if it may be one. What is named like a
   * total is none, and neither is the product of the quantity and another column.
   */
  function quantityOf(total: MeasuredColumn): MeasuredColumn | null {
    const stated = named.find((column) => roleOf(column) === 'quantity');
    if (stated !== undefined) return stated;
    if (amountNameOf(total.header)?.field === 'total') return null;
    const several = (cell: string): boolean =>
      /^\d+(?:[.,]0+)?$/.test(cell) && !/^[01](?:[.,]0+)?$/.test(cell);
    const column = free().find(({ header, cells }) => isOfQuantity(header) && cells.share(several) > 0);
    if (column === undefined) return null;
    const amounts = named.filter((one) => one !== total && isMoney(one.cells));
    if (amounts.some((price) => multiplies({ price, column, amount: total }, records))) return null;
    if (
      isPerPiece(total.header) ||
      amounts.some((amount) => multiplies({ price: total, column, amount }, records))
    ) {
      used.add(column);
      return column;
    }
    ask(
      column,
      `it is above 1 on some rows, and ${JSON.stringify(total.header)} may be the price of one piece or the amount of the row. Say "quantity" if it is the price of one piece, which then counts as often as this column says, or "unused" if it is the amount of the row`,
      null,
      ['quantity', 'unused'],
    );
    return null;
  }

  /** Finds fields that no name shows: the only column whose values fit. */
  function byItsValues(): void {
    for (const { field, fits, several, against } of BY_VALUES) {
      if (chosen.has(field) || (field === 'codes' && NAMES_SOMEBODY.some((one) => chosen.has(one)))) continue;
      const found = free().filter((column) => stopNameOf(column.header) === null && fits(column, words));
      const [only] = found;
      if (only !== undefined && found.length === 1) {
        const doubt = against?.(only) ?? null;
        if (doubt !== null) {
          ask(only, doubt, field);
          continue;
        }
        byValues.add(only);
        take(field, only);
      } else if (several !== undefined)
        for (const column of found) ask(column, `one of several columns ${several}`, field);
    }
  }

  /** Asks about a column of text with codes inside, which nothing reads unless it is the column of codes. */
  function codesInText(): void {
    if (chosen.has('codes')) return;
    const notes = chosen.get('notes');
    const texts = [...free(), ...(notes === undefined || roleOf(notes) !== undefined ? [] : [notes])];
    for (const column of texts) {
      const part = codeInCells(column.cells);
      if (part === null) continue;
      if (column === notes) chosen.delete('notes');
      ask(
        column,
        `it has codes inside text, such as ${JSON.stringify(part)}, which \`codes.pattern\` of the layout reads if it is the column of codes`,
        'codes',
      );
    }
  }

  /**
   * Asks about columns whose name says what decides about an order, and whose values do not fit: a date as the number of a
   * spreadsheet, or with an abbreviated time zone. Without it, an order would count at any time, or in any state.
   */
  function unreadable(): void {
    for (const [field, what] of DECIDING) {
      if (chosen.has(field)) continue;
      const column = free().find(
        ({ header, cells }) =>
          cells.filled > 0 && score(header, field) >= SURE_NAME && !isOfAnother(header, field),
      );
      if (column !== undefined)
        ask(
          column,
          `its name says ${what}, and its values cannot be read as that. If you can, export them otherwise, such as 2026-10-31 10:11 and EUR`,
          null,
        );
    }
  }

  /** Uses every column whose name says that an order was refunded, cancelled, a test, a draft or disputed. */
  function stopsByName(): void {
    for (const column of free()) {
      const stop = stopNameOf(column.header);
      if (stop === null) continue;
      const { cells } = column;
      const isFlag = cells.filled > 0 && cells.share((cell) => /^[01]$/.test(cell)) === 1;
      const isWritten = isMoney(cells, /[.,]\d\d$/);
      const isRefund =
        stop === 'refunded' &&
        !mayBeNumber(column.header, isWritten) &&
        (isWritten || !(isOfQuantity(column.header) || isOfPart(column.header)));
      const isAmount = isRefund && !isFlag && !isShare(column.header) && isMoney(cells);
      const mayBeRefund = isRefund && (isAmount || cells.filled === 0);
      const mayBeTime = stop === 'cancelled' && cells.filled > 0 && shape('cancelled_at', cells) > 0;
      const test = isAmount ? null : stopTestOf(cells, stop);
      if (mayBeRefund && !chosen.has('refunded')) take('refunded', column);
      else if (mayBeTime && !chosen.has('cancelled_at')) take('cancelled_at', column);
      else if (test === null)
        ask(
          column,
          `its name says that orders may be ${WHAT[stop]}, and its values do not show which`,
          'excludes',
        );
      else if (
        (stop === 'refunded' || stop === 'cancelled') &&
        areAnswers(cells) &&
        saysMoreThan(column.header, stop)
      )
        ask(column, `its name may say that orders are ${WHAT[stop]}, or something else`, 'excludes');
      else {
        used.add(column);
        stops.push({ column, reason: stop, test });
      }
    }
  }

  /** The time of a refund, or a column without values, does not say that all was refunded where an amount says how much. */
  function refundTimes(): void {
    const unless = chosen.get('refunded');
    if (unless === undefined) return;
    for (const [at, stop] of stops.entries()) {
      const { cells } = stop.column;
      if (stop.reason === 'refunded' && (cells.filled === 0 || shape('cancelled_at', cells) === 1))
        stops[at] = { ...stop, unless };
    }
  }

  /**
   * Uses columns of states that are not those of the order, such as of its shipment, if a word in them says that it was
   * returned or cancelled, or their name that a word may. A word that the file does not have is not known.
   */
  function stopsByWords(): void {
    for (const column of free()) {
      const said = [...column.cells.counts.keys()];
      if (!isOtherStatus(column)) continue;
      const stopped = said.filter((word) => isStopped(word, words));
      if (stopped.length === 0 && !means(column.header, 'other_status')) continue;
      const isKnown = (word: string): boolean => saysShipped(word) || words.isPaid(word, column.header);
      const unless = said.filter((word) => !stopped.includes(word) && isKnown(word));
      used.add(column);
      byValues.add(column);
      const equals = stopped.length === 0 ? ['returned', 'restocked'] : stopped;
      stops.push({
        column,
        reason: 'returned',
        test: { equals, unless: [...new Set([...unless, ...(stopped.length === 0 ? SENT : []), ''])] },
      });
    }
  }

  /** Holds orders without a time of payment, if the file has one of others: `0000-00-00` is none, nor is the zero of a clock. */
  function unpaid(): void {
    const column = chosen.get('paid_at');
    if (column !== undefined && column.cells.filled > 0)
      stops.push({
        column,
        reason: 'unknown_payment',
        test: { matches: '^[^1-9]*$|\\b(?:0001|1899|1900|1970)\\b' },
      });
  }

  /** Asks about times whose name says a zone: a run reads them in that of the source, unless all are in UTC. */
  function zones(): void {
    const times = (['placed_at', 'paid_at', 'cancelled_at'] as const).flatMap((field) => {
      const column = chosen.get(field);
      return column === undefined ? [] : [{ field, column, zone: zoneOfName(column.header) }];
    });
    if (times.every(({ zone }) => zone === 'UTC')) return;
    for (const { field, column, zone } of times) {
      const areOffset = column.cells.share((cell) => /(?:Z|[+-]\d\d:?\d\d)$/.test(cell)) === 1;
      if (zone === null || areOffset || roleOf(column) !== undefined) continue;
      ask(
        column,
        `its times are in ${zone}, and are read in the time zone of the source: is that the same?`,
        field,
      );
    }
  }

  /** The words of another state that let an order count. Each word that is not known holds it, and so does a blank. */
  function otherStates({ header, cells }: MeasuredColumn): StopTest {
    const found = [...cells.counts.keys()];
    const yes = found.filter((word) => words.isPaid(word, header));
    const no = found.filter((word) => !yes.includes(word) && words.saysNo(word, header));
    return { equals: no.length === 0 ? ['cancelled'] : no, unless: yes.length === 0 ? ['paid'] : yes };
  }

  /**
   * Asks about a rate of exchange: it does not say whether the total was exchanged, and so in which currency it is. If all
   * are 1, nothing was, and an order with another one is held.
   */
  function exchangeRates(total: MeasuredColumn): void {
    if (currenciesOfName(total.header).length > 0) return;
    const name = JSON.stringify(total.header);
    const currency = chosen.get('currency');
    const stated =
      currency === undefined ? 'the currency of the source' : `that of ${JSON.stringify(currency.header)}`;
    for (const column of free().filter(({ header, cells }) => isExchangeRate(header) && cells.filled > 0)) {
      if (column.cells.share((cell) => RATE.test(cell)) > 0)
        ask(
          column,
          `it is a rate of exchange, so ${name} may be in the currency of the shop or in that of the order. Say "unused" if it is in ${stated}. Else export the orders with a total in it`,
          null,
          ['unused', 'excludes'],
        );
      else {
        used.add(column);
        stops.push({ column, reason: 'unknown_rate', test: { matches: RATE.source } });
      }
    }
  }

  /** Asks about columns that contradict the chosen ones, or that may lower the total. */
  function rivals(total: MeasuredColumn): void {
    const { status, currency, codes } = Object.fromEntries(chosen) as Partial<
      Record<LayoutField, MeasuredColumn>
    >;
    const differs = (one: MeasuredColumn, other: MeasuredColumn): boolean =>
      records.some((row) => {
        const [left, right] = [one, other].map((column) => cellIn(column, row));
        return left !== '' && right !== '' && left !== right;
      });
    // Of a currency without decimals, every number may be an amount.
    const written = /[.,]\d\d$/;
    const amounts = total.cells.share((cell) => written.test(cell)) > 0 ? written : /\d/;
    // What has the words of a status may be the state of something else, and another column says what was paid.
    const isGuess = status !== undefined && byValues.has(status);
    const mayBeStates = status === undefined || isGuess ? free().filter(mayBePaid) : [];
    for (const column of mayBeStates)
      ask(
        column,
        isGuess
          ? `it may say which orders were paid, and ${JSON.stringify(status.header)} may not: only its words show that it is a status`
          : 'no column is known to say which orders were paid, and it has a few words that come again',
        null,
      );
    for (const column of free()) {
      const { header, cells } = column;
      if (cells.filled === 0) continue;
      const amount = amountNameOf(header);
      if (
        status !== undefined &&
        (mayBeStatus(column, words) || (score(header, 'status') >= SURE_NAME && hasStates(column)))
      )
        ask(
          column,
          `it has words for states, as ${JSON.stringify(status.header)} has`,
          // A yes may mean paid, or disputed.
          areAnswers(cells) ? null : 'other_status',
        );
      else if (currency !== undefined && areCurrencies(cells) && differs(column, currency))
        ask(column, `it names other currencies than ${JSON.stringify(currency.header)}`, null);
      else if (codes !== undefined && roleOf(codes) === undefined && mayHaveCodes(column, codes))
        ask(
          column,
          `it has codes, as ${JSON.stringify(codes.header)} has. Say "codes" if influencers share them, also of ${JSON.stringify(codes.header)} if both columns have such codes, "influencer_handle" if it names influencers, or "unused" if only ${JSON.stringify(codes.header)} has the codes`,
          null,
          ['codes', 'influencer_handle', 'unused'],
        );
      else if (amount?.field === 'total' && isMoney(cells) && differs(column, total))
        ask(
          column,
          `it is named like a total, as ${JSON.stringify(total.header)} is, and differs from it`,
          null,
        );
      else if (
        (amount === null || (amount.field === null && amount.isPaid)) &&
        isMoney(cells, amounts) &&
        mayLower(column, total, { records, isWritten: amounts === written })
      )
        ask(column, 'it has amounts below the total, as refunds, fees or parts of a payment have', null);
      else if (amount === null && areTwoAnswers(cells) && smellOf(header) !== 'consent')
        ask(column, 'it says yes of some orders and no of others, which may decide whether they count', null);
      else if (
        hasStates(column) &&
        ((isOfKind(header) && cells.counts.size > 1) || cells.share(saysRenewal) > 0)
      )
        askOfKind(column);
      else if (isOfAnotherOrder(header) || namesOrders(column))
        ask(column, 'it names another order, which this one may replace', null);
    }
  }

  /** True if a column is named like one of codes, or has some beside those of another column: `Coupon 2`. Amounts are none. */
  function mayHaveCodes({ header, cells }: MeasuredColumn, codes: MeasuredColumn): boolean {
    const areAmounts =
      isMoney(cells, /[.,]\d\d?$|^0$/) || cells.share((cell) => /^[\d.,]+ ?%$/.test(cell)) === 1;
    if (areAmounts || isOfAnother(header, 'codes')) return false;
    const areAlike =
      isOfDiscount(header) &&
      !areAnswers(cells) &&
      !areCurrencies(cells) &&
      cells.share((cell) => CODE.test(cell)) === 1;
    const isRepeated = (cell: string): boolean => /\p{L}/u.test(cell) && codes.cells.counts.has(cell);
    return score(header, 'codes') >= SURE_NAME || areAlike || cells.share(isRepeated) > 0;
  }

  /** True if most cells of a column are the id of another row. A number of few digits may be anything. */
  function namesOrders(column: MeasuredColumn): boolean {
    const id = chosen.get('order_id');
    if (id === undefined) return false;
    const ids = new Set(records.map((row) => cellIn(id, row)));
    const naming = records.filter((row) => {
      const named = cellIn(column, row);
      return named.length > 3 && named !== cellIn(id, row) && ids.has(named);
    });
    return naming.length * 2 > column.cells.filled;
  }

  function askOfKind(column: MeasuredColumn): void {
    const why = 'it says of which kind or in which state something is, which may not count';
    if (column.cells.share(saysRenewal) === 0) ask(column, why, null);
    else
      ask(
        column,
        `${why}. Say "renewals" if its words mark renewals of subscriptions: --renewals then says whether they count`,
        null,
        ['renewals', 'excludes', 'status', 'other_status'],
      );
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
    const [named = null] = [...chosen].find(([, other]) => other === column) ?? [];
    const field = moreCodes.includes(column) ? 'codes' : named;
    const stop = stops.find((one) => one.column === column);
    const kind =
      stop?.reason === 'renewal'
        ? 'renewals'
        : stop?.reason === 'other_status'
          ? stop.reason
          : stop && 'excludes';
    const other = column === quantity ? 'quantity' : used.has(column) ? 'time_of_day' : null;
    const role = field ?? kind ?? other;
    const why = reasonOf(column, role !== null);
    return { ...describeColumn(column), role: role as ColumnDecision['role'], why };
  }

  function reasonOf(column: MeasuredColumn, isUsed: boolean): string {
    if (roleOf(column) !== undefined) return 'as you said';
    if (isUsed) return byValues.has(column) ? 'by its values: check it' : 'by its name';
    const amount = amountNameOf(column.header);
    if (
      amount?.field === null &&
      !isMoney(column.cells) &&
      column.cells.filled > 0 &&
      isOfPart(column.header)
    )
      return 'it names what was bought';
    if (amount?.field === null) return amount.why;
    if (column.cells.filled === 0) return 'it is always blank';
    const part = codeInCells(column.cells);
    if (part !== null) return `it may have codes inside text, such as ${JSON.stringify(part)}`;
    return amount === null ? 'no field has such a name' : 'another column has this meaning';
  }
}

/** A rate of exchange that is not 1. */
const RATE = /[2-9]|^\s*0|1\d|[.,]\d*1/;

/** Words of a shipment that let an order count, which a file need not have yet. */
const SENT = ['fulfilled', 'unfulfilled', 'shipped', 'delivered'];

const WHAT: Readonly<Record<Stop, string>> = {
  refunded: 'refunded or returned',
  cancelled: 'cancelled',
  test: 'tests',
  draft: 'drafts',
  disputed: 'disputed',
  unknown_payment: 'not wholly paid',
  unknown_risk: 'frauds',
};

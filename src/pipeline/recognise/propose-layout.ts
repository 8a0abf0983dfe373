import { parse } from 'yaml';
import { parseAddress } from '../../map/customers/parse-address.ts';
import { layoutSchema } from '../../map/layout/layout-schema.ts';
import { toLayout } from '../../map/layout/to-layout.ts';
import { foldWord } from '../../map/values/clean-text.ts';
import { parseMoney, statedCurrency } from '../../map/values/parse-money.ts';
import type { Layout, LayoutField } from '../../model/layout.ts';
import type { CsvRecord } from '../../model/record.ts';
import { type NameScorer, nameScorer } from './column-synonyms.ts';
import { type StatusWords, statusWordsOf } from './known-status-words.ts';
import { Cells, MONEY_FORMATS, moneyFormatOf, timesOf } from './measure-values.ts';
import { customersText, type MeasuredColumn, ordersText } from './proposed-text.ts';

/** A layout for a header that no layout knows, as a file that a person must check. */
export type ProposedLayout = {
  readonly layout: Layout;
  /** Content of `layouts/<name>.yaml`, with comments. */
  readonly text: string;
};

/** Why no layout can be proposed for a header. */
export type NoLayout = { readonly why: string };

/** Fields of orders in the order in which columns are assigned to them, the most certain first. */
const ORDER_FIELDS: readonly LayoutField[] = [
  'email',
  'currency',
  'codes',
  'refunded',
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
const NAMES_SOMEBODY: readonly LayoutField[] = ['codes', 'links', 'notes', 'influencer_handle'];
/** Score of a name that says "order". Customers have ids too. */
const SAYS_ORDER = 0.7;
/** Share of a column's cells that must have the expected shape, because some are always wrong. */
const MOST = 0.9;

/**
 * Maps a header by the names of its columns and the shape of their values. If either does not fit, leaves the
 * field without a column instead of guessing.
 */
export function proposeLayout(
  { header, records }: { readonly header: readonly string[]; readonly records: readonly CsvRecord[] },
  {
    name,
    title,
    layouts,
  }: { readonly name: string; readonly title: string; readonly layouts: readonly Layout[] },
): ProposedLayout | NoLayout {
  const columns = header.map((text, index): MeasuredColumn => {
    const cells = new Cells();
    for (const record of records) cells.add(record.cells[index] ?? '');
    return { header: text.trim(), index, cells };
  });
  const words = statusWordsOf(layouts);
  const score = nameScorer(layouts);
  const pointsOf = ({ header: text, cells }: MeasuredColumn, field: LayoutField): number => {
    const name = score(text, field);
    if (name === 0 || (field === 'total' && score(text, 'spent') > name)) return 0;
    return name * (field === 'status' ? statusShape(cells, words, { text, name }) : shape(field, cells));
  };
  const chosen = new Map<LayoutField, MeasuredColumn>();
  for (const field of ORDER_FIELDS) {
    const free = columns.filter((column) => column.header !== '' && ![...chosen.values()].includes(column));
    const ranked = free
      .map((column) => ({ column, score: pointsOf(column, field) }))
      .filter(({ score: points }) => points > 0)
      .sort((one, other) => other.score - one.score);
    const [best] = ranked;
    if (best !== undefined) chosen.set(field, best.column);
  }
  const has = (field: LayoutField): boolean => chosen.has(field);
  const parts = { columns, chosen, words, title, name };
  if (has('order_id') && has('total'))
    return NAMES_SOMEBODY.some(has)
      ? complete(name, ordersText(parts))
      : {
          why: 'It looks like orders or payments, but no column holds discount codes, links or influencers, so no order could be credited.',
        };
  const money = chosen.get('total') ?? findPayments(columns, score);
  if (money !== undefined)
    return {
      why: `It has amounts (column ${JSON.stringify(money.header)}), but no column has the name and the values of ${has('total') ? 'order ids' : 'totals or order ids'}.`,
    };
  const id = chosen.get('order_id');
  if (id !== undefined && score(id.header, 'order_id') >= SAYS_ORDER)
    return { why: `It has order ids (column ${JSON.stringify(id.header)}), but no amounts.` };
  if (has('email')) return complete(name, customersText(parts));
  return {
    why: 'Judging by the names and values of its columns, it has neither order ids with amounts nor e-mail addresses.',
  };
}

/**
 * Finds the amounts of payments in a file whose names are unknown: money beside a column of currencies. A
 * list of customers may have one of them, or the total that each customer has spent.
 */
function findPayments(columns: readonly MeasuredColumn[], score: NameScorer): MeasuredColumn | undefined {
  const known = new Set(Intl.supportedValuesOf('currency'));
  const hasCurrencies = columns.some(
    ({ cells }) => cells.filled > 0 && cells.share((cell) => known.has(cell)) === 1,
  );
  if (!hasCurrencies) return undefined;
  return columns.find(({ header, cells }) => isMoneyWithDecimals(cells) && score(header, 'spent') === 0);
}

function complete(name: string, text: string): ProposedLayout {
  return { layout: toLayout(name, layoutSchema.parse(parse(text))), text };
}

/**
 * Returns 1 if the values of a column can belong to a field, and 0 otherwise. For a column without values,
 * returns 0.5 if the field is often empty and 0 otherwise.
 */
function shape(field: LayoutField, cells: Cells): number {
  if (cells.filled === 0) return field === 'codes' || field === 'notes' || field === 'refunded' ? 0.5 : 0;
  switch (field) {
    case 'email':
      return yes(cells.share((cell) => cell.includes('@') && typeof parseAddress(cell) === 'string') >= 0.8);
    case 'currency':
      return yes(cells.share((cell) => /^[A-Za-z]{3}$/.test(cell)) === 1 && cells.counts.size <= 40);
    case 'total':
    case 'subtotal':
    case 'refunded':
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
        cells.share((cell) => cell.length <= 100 && /[A-Za-z]/.test(cell)) >= MOST && !isMoney(cells),
      );
    default:
      return yes(!isMoney(cells));
  }
}

/** Names that mean the state of an order, or that of an address. */
const STATE = /^(?:state|estado|stato|état)$/i;

/**
 * Like `shape`. A column that is named like a status but contains only unknown words is a status too. No
 * order is then credited until a person says which words count; without a status column, all orders would be
 * credited.
 */
function statusShape(
  cells: Cells,
  words: StatusWords,
  { text, name }: { readonly text: string; readonly name: number },
): number {
  if (cells.filled === 0 || cells.counts.size > 30) return 0;
  if (cells.share((cell) => words.all.has(foldWord(cell))) > 0) return 1;
  const isWords = cells.share((cell) => /^\p{L}[^\d@]*$/u.test(cell)) === 1;
  return name >= 0.5 && isWords && !STATE.test(text.trim()) ? 0.5 : 0;
}

function yes(is: boolean): number {
  return is ? 1 : 0;
}

/** `MIA10` parses as an amount of 10 with a currency, so the currency must exist. */
function isMoney(cells: Cells): boolean {
  const known = new Set(Intl.supportedValuesOf('currency'));
  const isOfCurrency = (cell: string): boolean => known.has(statedCurrency(cell) ?? 'EUR');
  return moneyFormatOf(cells) !== null && cells.share(isOfCurrency) >= MOST;
}

function isMoneyWithDecimals(cells: Cells): boolean {
  const readers = MONEY_FORMATS.slice(0, 2);
  return (
    cells.share(
      (cell) =>
        /[.,]\d\d$/.test(cell) && readers.some((format) => typeof parseMoney(cell, format) === 'string'),
    ) >= MOST
  );
}

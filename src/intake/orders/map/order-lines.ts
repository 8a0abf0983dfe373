import { fromUnits, toUnits } from '../../../core/money.ts';
import type { OrderLine } from '../../../core/order.ts';
import { foldCode } from '../../../core/text/fold.ts';
import { maskAddresses } from '../../../core/text/mask-addresses.ts';
import type { ResolvedHeader } from '../../layout/resolve-header.ts';
import type { Layout, MoneyFormat } from '../../layout/to-layout.ts';
import { cleanText, isBlank } from '../../values/clean-text.ts';
import { readMoney } from '../../values/parse-money.ts';

/**
 * Reads the order lines: amounts by SKU, which earnings need if terms exclude products. They never prevent an
 * order from being credited: if a line cannot be read, the lines of its order are unknown, and the order is not
 * rejected.
 */

/** Indexes of the columns. */
export type LinesPlan = {
  readonly sku: readonly number[];
  readonly plus: readonly number[];
  readonly minus: readonly number[];
  /** Null if amounts are those of the whole line. */
  readonly times: number | null;
};

/** Lines of an order, not all of whose rows may have been read. */
export type OpenLines = {
  /** In ten-thousandths, by SKU. */
  readonly amounts: Map<string, bigint>;
  /** True if a line could not be read, or there are too many. */
  isUnknown: boolean;
  /** The currencies that all amounts so far can mean. Null if none names a currency. */
  currencies: readonly string[] | null;
};

/** More different products are not stored: such an order would need as much space as a thousand others. */
const MAX_SKUS = 500;
const MAX_SKU_CHARS = 200;
/** Amounts are added up in ten-thousandths. */
const UNIT = 10_000n;

/** @returns null if the layout has no order lines, or the file has no column of the SKU or the amount. */
export function planLines({ lines }: Layout, header: ResolvedHeader): LinesPlan | null {
  if (lines === null) return null;
  const places = (names: readonly string[]): readonly number[] =>
    names.flatMap((name) => header.find([name])?.index ?? []);
  const [sku, plus] = [places(lines.sku), places(lines.plus)];
  if (sku.length === 0 || plus.length === 0) return null;
  const times = header.find(lines.times)?.index ?? null;
  if (lines.times.length > 0 && times === null) return null;
  return { sku, plus, minus: places(lines.minus), times };
}

export function openLines(): OpenLines {
  return { amounts: new Map(), isUnknown: false, currencies: null };
}

type Reading = { readonly plan: LinesPlan; readonly money: MoneyFormat };

/** Adds the line of a row. A row with neither SKU nor amount is not a line. */
export function addLine(lines: OpenLines, cells: readonly string[], reading: Reading): void {
  const { plan } = reading;
  const sku = plan.sku.map((place) => cells[place] ?? '').find((cell) => !isBlank(cell)) ?? '';
  if (lines.isUnknown || (sku === '' && filled(cells, plan.plus).length === 0)) return;
  const name = maskAddresses(foldCode(cleanText(sku)));
  const amount = amountOf(lines, cells, reading);
  if (amount !== null) lines.amounts.set(name, (lines.amounts.get(name) ?? 0n) + amount);
  if (amount !== null && name.length <= MAX_SKU_CHARS && lines.amounts.size <= MAX_SKUS) return;
  lines.isUnknown = true;
  lines.amounts.clear();
}

/** @returns Σ plus × times − Σ minus. Null if it cannot be read, is negative, or has more than four decimals. */
function amountOf(
  lines: OpenLines,
  cells: readonly string[],
  { plan, money: format }: Reading,
): bigint | null {
  const read = (cell: string): bigint | null => {
    const money = readMoney(cell, format);
    if (!('amount' in money)) return null;
    const { amount, currencies } = money;
    if (currencies !== null)
      lines.currencies = lines.currencies?.filter((one) => currencies.includes(one)) ?? currencies;
    return toUnits(amount);
  };
  const sum = (places: readonly number[]): bigint | null =>
    filled(cells, places)
      .map(read)
      .reduce((total, one) => (total === null || one === null ? null : total + one), 0n);
  const price = filled(cells, plan.plus).length === 0 ? null : sum(plan.plus);
  const quantity = plan.times === null ? UNIT : read(cells[plan.times] ?? '');
  const off = sum(plan.minus);
  if (price === null || quantity === null || off === null) return null;
  const amount = price * quantity - off * UNIT;
  return amount < 0n || amount % UNIT !== 0n ? null : amount / UNIT;
}

function filled(cells: readonly string[], places: readonly number[]): readonly string[] {
  return places.map((place) => cells[place] ?? '').filter((cell) => !isBlank(cell));
}

/**
 * @param currency of the order. If an amount of a line names another one, its lines are unknown.
 * @returns lines sorted by SKU, so that equal lines compare as equal. Null if they are unknown, or there are none.
 */
export function closeLines(lines: OpenLines | null, currency: string): readonly OrderLine[] | null {
  if (lines === null || lines.isUnknown || lines.amounts.size === 0) return null;
  if (lines.currencies?.includes(currency) === false) return null;
  return [...lines.amounts]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([sku, amount]) => [sku, fromUnits(amount)]);
}

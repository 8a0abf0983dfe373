import type { MoneyFormat } from '../../../core/layout.ts';
import type { StagedOrder } from '../../../core/order.ts';
import type { FooterRow } from '../../../core/record.ts';
import { type Fault, footerRow } from '../../map/fault.ts';
import { toUnits } from '../../values/add-money.ts';
import { isBlank } from '../../values/clean-text.ts';
import { parseMoney } from '../../values/parse-money.ts';
import type { OpenOrder } from './open-order.ts';
import type { ColumnPlan } from './plan-columns.ts';

/** More rows after the last order are not taken for totals. */
export const MAX_TOTALS_ROWS = 5;

/**
 * Recognises rows that add up the rows above, whatever they are called: as an order, such a row would count everything
 * twice. It looks unlike the orders (it has no time, or no digit in its id, though all of them have). If its amount is
 * the sum or the number of what stands above and no order follows, it is a footer. A row that lacks both and is
 * not, may be anything, so it is rejected.
 */
export class TotalsRows {
  readonly #plan: ColumnPlan;
  readonly #money: MoneyFormat;
  /** The sums of the orders so far in ten-thousandths, for each currency. */
  readonly #sums = new Map<string, bigint>();
  #orders = 0;
  #allHaveTimes = true;
  #allHaveDigits = true;

  constructor(plan: ColumnPlan, money: MoneyFormat) {
    this.#plan = plan;
    this.#money = money;
  }

  /** Notes an order of the file. */
  add({ groupKey, placedAt, paidAt, total, subtotal, currency }: StagedOrder): void {
    const amount = total ?? subtotal;
    this.#orders += 1;
    this.#allHaveTimes &&= (placedAt ?? paidAt) !== null;
    this.#allHaveDigits &&= hasDigit(groupKey);
    if (amount !== null) this.#sums.set(currency, (this.#sums.get(currency) ?? 0n) + toUnits(amount));
  }

  /** True if a row looks unlike an order by itself, so that it is to be judged once all rows above are noted. */
  mayBeTotal(row: OpenOrder): boolean {
    return row.rowCount === 1 && row.states === null && (this.#lacksTime(row) || !hasDigit(row.key));
  }

  /**
   * Judges such a row.
   *
   * @param isLast true if no order follows.
   * @returns what it is: a footer, a row to reject, or null for an order.
   */
  judge(row: OpenOrder, isLast: boolean): FooterRow | Fault | null {
    const lacksTime = this.#allHaveTimes && this.#lacksTime(row);
    const lacksDigit = this.#allHaveDigits && !hasDigit(row.key);
    const isUnlike = lacksTime && lacksDigit;
    const amount = this.#amountOf(row);
    // Of two orders, one may have the amount of the other by chance.
    if (amount === null || this.#orders < (isUnlike ? 1 : 2) || !(lacksTime || lacksDigit)) return null;
    const sums = [...this.#sums.values()];
    const isSum = [...sums, sums.reduce((all, one) => all + one, 0n)].includes(amount);
    const isCount = isUnlike && amount === toUnits(String(this.#orders));
    if (isLast && (isSum || isCount))
      return footerRow(row.line, [row.key, ...row.values], isSum ? 'sum' : 'count');
    return isUnlike ? MAY_BE_TOTAL : null;
  }

  #lacksTime({ values }: OpenOrder): boolean {
    const { placed_at: placed, paid_at: paid } = this.#plan.fields;
    const slots = [...placed, ...paid];
    return slots.length > 0 && slots.every((slot) => isBlank(values[slot] ?? ''));
  }

  #amountOf({ sums, values }: OpenOrder): bigint | null {
    if (sums !== null) return sums.total ?? sums.subtotal ?? null;
    const { total, subtotal } = this.#plan.fields;
    const slot = [...total, ...subtotal].find((one) => !isBlank(values[one] ?? ''));
    if (slot === undefined) return null;
    const amount = parseMoney(values[slot] ?? '', this.#money);
    return typeof amount === 'string' ? toUnits(amount) : null;
  }
}

const MAY_BE_TOTAL: Fault = {
  code: 'may_be_total',
  reason: 'The row has no time, and its id has no digit, unlike all orders above: it may be a total of them.',
  help: 'If it is one, remove it, or name its beginning under footer of the layout. If it is an order, fill in its id and its time.',
};

function hasDigit(id: string): boolean {
  return /\d/.test(id);
}

import type { LayoutField } from '../../../core/layout.ts';
import type { DecimalText } from '../../../core/money.ts';
import type { StagedOrder } from '../../../core/order.ts';
import type { FooterRow } from '../../../core/record.ts';
import type { MoneyFormat } from '../../layout/to-layout.ts';
import { type Fault, footerRow } from '../../map/fault.ts';
import { isBlank } from '../../values/clean-text.ts';
import { parseMoney } from '../../values/parse-money.ts';
import type { OpenOrder } from './open-order.ts';
import type { ColumnPlan } from './plan-columns.ts';

/** More rows after the last order are not taken for totals. */
export const MAX_TOTALS_ROWS = 5;

/**
 * Recognises rows that add up the rows above, whatever they are called: as an order, such a row would count everything
 * twice. It has neither a time nor a digit in its id, though all orders have both. If its amount is the sum or the number
 * of what stands above and no order follows, it is a footer; otherwise it may be anything, so it is rejected. A row that
 * lacks only one of them and has the sum may be an order by chance: it is rejected as well, unless it says what only an
 * order says. So is a row that lacks both and says that. A row without a time that says nothing of an order, and adds up
 * the orders since the last such row, is the total of a page: orders may follow it.
 */
export class TotalsRows {
  readonly #plan: ColumnPlan;
  readonly #money: MoneyFormat;
  readonly #times: readonly number[];
  /** The sums of the orders so far in ten-thousandths, for each currency: exact up to nine hundred billion of it. */
  readonly #sums = new Map<string, number>();
  /** The sum of the currency of the last order, which is nearly always that of the next. */
  #sum = 0;
  #currency = '';
  #orders = 0;
  /** The orders since the last total of a page, and their sum, whatever their currencies are. */
  #page = { orders: 0, sum: 0, follows: false };
  #allHaveTimes = true;
  #allHaveDigits = true;

  constructor(plan: ColumnPlan, money: MoneyFormat) {
    this.#plan = plan;
    this.#money = money;
    this.#times = [...plan.fields.placed_at, ...plan.fields.paid_at];
  }

  /** Notes an order of the file. */
  add({ groupKey, placedAt, paidAt, total, subtotal, currency }: StagedOrder): void {
    const amount = total ?? subtotal;
    this.#orders += 1;
    this.#allHaveTimes &&= (placedAt ?? paidAt) !== null;
    this.#allHaveDigits &&= hasDigit(groupKey);
    this.#page.orders += 1;
    if (amount === null) return;
    this.#page.sum += unitsOf(amount);
    if (currency !== this.#currency) {
      this.#sums.set(this.#currency, this.#sum);
      this.#sum = this.#sums.get(currency) ?? 0;
      this.#currency = currency;
    }
    this.#sum += unitsOf(amount);
  }

  /** True if a row looks unlike an order by itself, so that it is to be judged once all rows above are noted. */
  mayBeTotal(row: OpenOrder): boolean {
    return row.rowCount === 1 && (!hasDigit(row.key) || this.#lacksTime(row)) && row.states === null;
  }

  /**
   * Judges such a row, in the order of the file.
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
    const { orders, sum: ofPage, follows } = this.#page;
    if (lacksTime && orders > (follows ? 0 : 1) && amount === ofPage) {
      if (!this.#isStated(row, [...ONLY_ORDERS, 'codes'])) {
        this.#page = { orders: 0, sum: 0, follows: true };
        return footerRow(row.line, [row.key, ...row.values], 'sum');
      }
    }
    const sum = this.#sumFor(row);
    const isSum = sum !== null && sum === amount;
    const isCount = isUnlike && amount === unitsOf(String(this.#orders));
    if (isUnlike)
      return isLast && (isSum || isCount) && !this.#isStated(row, [...ONLY_ORDERS, 'codes'])
        ? footerRow(row.line, [row.key, ...row.values], isSum ? 'sum' : 'count')
        : mayBeTotal('no time, and its id has no digit');
    // Without a time, the label of a total may stand among the codes.
    if (!isLast || !isSum || this.#isStated(row, lacksTime ? ONLY_ORDERS : [...ONLY_ORDERS, 'codes']))
      return null;
    return mayBeTotal(`${lacksTime ? 'no time' : 'no digit in its id'}, and the amount of all of them`);
  }

  /** The sum in the currency of the row, or in that of all orders. Null if the row does not say which of several. */
  #sumFor({ values }: OpenOrder): number | null {
    const sums = new Map([...this.#sums, [this.#currency, this.#sum]]);
    sums.delete('');
    const slot = this.#plan.fields.currency.find((one) => !isBlank(values[one] ?? ''));
    if (slot !== undefined) return sums.get((values[slot] ?? '').trim().toUpperCase()) ?? null;
    return sums.size === 1 ? this.#sum : null;
  }

  #isStated({ values }: OpenOrder, fields: readonly LayoutField[]): boolean {
    return fields.some((field) => this.#plan.fields[field].some((slot) => !isBlank(values[slot] ?? '')));
  }

  #lacksTime({ values }: OpenOrder): boolean {
    for (const slot of this.#times) if (!isBlank(values[slot] ?? '')) return false;
    return this.#times.length > 0;
  }

  #amountOf({ sums, values }: OpenOrder): number | null {
    const sum = sums?.total ?? sums?.subtotal;
    if (sums !== null) return sum === undefined ? null : Number(sum);
    const { total, subtotal } = this.#plan.fields;
    const slot = [...total, ...subtotal].find((one) => !isBlank(values[one] ?? ''));
    if (slot === undefined) return null;
    const amount = parseMoney(values[slot] ?? '', this.#money);
    return typeof amount === 'string' ? unitsOf(amount) : null;
  }
}

/** What an order says of itself, and no total. */
const ONLY_ORDERS = [
  'status',
  'cancelled_at',
  'links',
  'influencer_handle',
  'deal_id',
  'collab_id',
  'email',
] as const;

function mayBeTotal(what: string): Fault {
  return {
    code: 'may_be_total',
    reason: `The row has ${what}, unlike the orders above: it may be a total of them.`,
    help: 'If it is one, remove it, or name its beginning under footer of the layout. If it is an order, fill in its id and its time.',
  };
}

function hasDigit(id: string): boolean {
  for (let at = id.length - 1; at >= 0; at -= 1) {
    const code = id.charCodeAt(at);
    if (code >= 48 && code <= 57) return true;
  }
  return false;
}

/** An amount in ten-thousandths. */
function unitsOf(amount: DecimalText): number {
  return Math.round(Number(amount) * 10_000);
}

import { type DecimalText, fromUnits, isSameAmount, toUnits } from '../../../core/money.ts';
import { type LinearPattern, linearPattern } from '../../layout/linear-pattern.ts';
import type { Layout } from '../../layout/to-layout.ts';
import { type Fault, missingValue } from '../../map/fault.ts';
import { isBlank } from '../../values/clean-text.ts';
import { isZero } from '../../values/parse-money.ts';
import { CONFLICTING_COLUMNS, ValueFault } from './built-order.ts';
import type { OpenOrder } from './open-order.ts';
import type { ColumnPlan } from './plan-columns.ts';

const NO_REFUND_AMOUNT: Fault = {
  code: 'bad_money',
  reason: 'The cell lists refunds, but no amount of one can be found in it.',
  help: 'Export the amounts of the refunds, or change pattern under refund_list of the layout.',
};
const OTHER_UNIT: Fault = {
  code: 'other_currency',
  reason: 'A part of the order was refunded, in another currency than that of its total.',
  help: 'Nothing is credited by this row. Correct the refund to the currency of the total, or settle the order by hand.',
};

/** Parses an amount of an order: the cell of a slot, or a part of it. Throws ValueFault. */
type AmountIn = (open: OpenOrder, slot: number, currency: string, value?: string) => DecimalText;

/** Reads what was refunded of an order, for one layout and the columns of one file. */
export class RefundReader {
  readonly #plan: ColumnPlan;
  readonly #pattern: LinearPattern | null;
  readonly #amountIn: AmountIn;

  constructor(layout: Pick<Layout, 'refundList'>, plan: ColumnPlan, amountIn: AmountIn) {
    this.#plan = plan;
    this.#pattern = layout.refundList === null ? null : linearPattern(layout.refundList.pattern);
    this.#amountIn = amountIn;
  }

  /** Returns the refund of an order that no column of `refunded` has; null if there is none. */
  find(open: OpenOrder, currency: string): DecimalText | null {
    return this.#listed(open, currency) ?? this.#leftOver(open, currency);
  }

  /** Checks that a column of refunded amounts does not contradict the cell that lists them. */
  requireListed(open: OpenOrder, currency: string, refunded: DecimalText): void {
    const listed = this.#listed(open, currency);
    if (listed === null || isSameAmount(listed, refunded)) return;
    throw new ValueFault(CONFLICTING_COLUMNS, this.#plan.slots[this.#listSlot(open)]?.name ?? null, listed);
  }

  /**
   * Converts the amount of a refund to the currency of the total, if it is a part of another total (`refunded_of`). All
   * of one is all of the other. What a part of it is, only an exchange rate could say, so the order is rejected.
   */
  ofTotal(open: OpenOrder, currency: string, refunded: DecimalText): DecimalText {
    const { refundedOf, fields } = this.#plan;
    const total = fields.total.find((slot) => !isBlank(open.values[slot] ?? ''));
    if (refundedOf === null || total === undefined || isZero(refunded)) return refunded;
    if (isBlank(open.values[refundedOf] ?? '')) throw this.#missing(refundedOf);
    const amount = this.#amountIn(open, total, currency);
    const other = this.#amountIn(open, refundedOf, currency);
    if (isSameAmount(amount, other)) return refunded;
    if (isSameAmount(refunded, other)) return amount;
    throw new ValueFault(OTHER_UNIT, this.#plan.slots[refundedOf]?.name ?? null, other);
  }

  /** Returns the slot of the cell that lists refunds; -1 if it is blank. */
  #listSlot({ values }: OpenOrder): number {
    return this.#plan.refundLists.find((slot) => !isBlank(values[slot] ?? '')) ?? -1;
  }

  /** Adds up the refunds that a cell lists; null if it is blank. A cell without an amount rejects the order. */
  #listed(open: OpenOrder, currency: string): DecimalText | null {
    const slot = this.#listSlot(open);
    if (slot === -1 || this.#pattern === null) return null;
    const cell = open.values[slot] ?? '';
    const amounts = [...this.#pattern.matches(cell)];
    if (amounts.length === 0)
      throw new ValueFault(NO_REFUND_AMOUNT, this.#plan.slots[slot]?.name ?? null, cell);
    const units = amounts.map((amount) => toUnits(this.#amountIn(open, slot, currency, amount)));
    return fromUnits(units.reduce((sum, one) => sum + one, 0n));
  }

  /**
   * Computes the refund if the export contains only what is left; null if it says that nothing was changed. If more is
   * left than there was, the result is below zero, which holds the order.
   */
  #leftOver(open: OpenOrder, currency: string): DecimalText | null {
    let refunded: bigint | null = null;
    for (const { before, after } of this.#plan.leftAfterRefund) {
      const left = open.values[after] ?? '';
      if (isBlank(left) || isZero(left)) continue;
      if (isBlank(open.values[before] ?? '')) throw this.#missing(before);
      const [was, is] = [before, after].map((slot) => toUnits(this.#amountIn(open, slot, currency)));
      refunded = (refunded ?? 0n) + (was ?? 0n) - (is ?? 0n);
    }
    return refunded === null ? null : fromUnits(refunded);
  }

  #missing(slot: number): ValueFault {
    const name = this.#plan.slots[slot]?.name ?? '';
    return new ValueFault(
      missingValue(`"${name}" of this order, from which its refund follows,`),
      name,
      null,
    );
  }
}

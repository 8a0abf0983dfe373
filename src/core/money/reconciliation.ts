import { type DecimalText, isMore } from '../money.ts';

/**
 * Our figures and the service's figures for one deal. Counts of orders, and amounts in the currency of the
 * account.
 */
export type ReconciledDeal = {
  readonly dealId: string;
  readonly influencerHandle: string | null;
  /** When the mirror first read totals of the deal. `readAt` is the last time. Null: never. */
  readonly firstReadAt: Date | null;
  readonly readAt: Date | null;
  /** Orders that the service counts, from all channels. Null if it does not report them. */
  readonly theirs: number | null;
  /** Orders that we posted and whose acceptance was recorded before the last reading. */
  readonly ours: number;
  /**
   * Orders that the service counted in addition to ours when its totals were first read, from earlier times
   * or other channels.
   */
  readonly before: number | null;
  /** Orders that were counted since then and that another channel posted, according to events. */
  readonly others: number;
  /** Orders in doubt: they may or may not be counted. */
  readonly doubts: number;
  readonly writtenOff: number;
  /** Orders that were sent or reported while the totals were read: they may or may not be counted. */
  readonly late: number;
  /** Orders for which the service accepted more than one request. */
  readonly creditedTwice: number;
  /** Orders accepted after the totals were read. The totals do not include them yet. */
  readonly afterwards: number;
  /**
   * Difference that nothing above explains. Above 0, the service counts more; below 0, it counts fewer. Null
   * if its total is unknown.
   */
  readonly unexplained: number | null;
  /** ISO 4217 currency of the amounts. Null if it is unknown; the amounts are then null too. */
  readonly accountCurrency: string | null;
  readonly theirsAmount: DecimalText | null;
  readonly oursAmount: DecimalText | null;
  /**
   * Orders in another currency for which no event contains the amount in the account's currency. If there are
   * any, amounts cannot be compared.
   */
  readonly otherCurrency: number;
  readonly unexplainedAmount: DecimalText | null;
  /** Total paid out according to the service, in the currency of the account. */
  readonly paidAmount: DecimalText | null;
  /** Orders counted since the first reading beyond those that were certainly counted. Null if unknown. */
  readonly unproven: number | null;
  /** The same for sales. Null if amounts cannot be compared. */
  readonly unprovenAmount: DecimalText | null;
  /** Revenue of the orders in `doubts`. Null if there are none, or their amounts cannot be compared. */
  readonly doubtsAmount: DecimalText | null;
  /**
   * Entries of `doubts`. Null if there are none, too many to name, or growth says nothing about them: an order was
   * sent again or is being sent, or a doubt is older than the first reading.
   */
  readonly doubtIds: readonly string[] | null;
};

/**
 * What the totals of a deal suggest about its orders in doubt. It is never a proof (docs/money.md), so a person
 * decides.
 */
export type DoubtHint = {
  /**
   * `all`: the service counts exactly as many orders more as are in doubt. `some`: fewer. `none`: none of them.
   */
  readonly counted: 'all' | 'some' | 'none';
  readonly dealId: string;
  readonly doubtIds: readonly string[];
  /** Orders counted beyond those that are proven. */
  readonly unproven: number;
  /** Their amount, if it equals that of the orders in doubt to the cent. Null if amounts cannot be compared. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly readAt: Date;
};

/** What a hint is derived from. */
export type HintedDeal = Pick<
  ReconciledDeal,
  | 'dealId'
  | 'readAt'
  | 'others'
  | 'doubts'
  | 'writtenOff'
  | 'late'
  | 'creditedTwice'
  | 'unexplained'
  | 'accountCurrency'
  | 'unproven'
  | 'unprovenAmount'
  | 'doubtsAmount'
  | 'doubtIds'
>;

/**
 * Derives what the totals of a deal suggest about its doubts.
 *
 * @returns null if anything else may explain the growth: another tool that posts orders of the deal, orders that
 *   were written off, credited twice, or in flight while a total was read; a total that shrank; or an amount that
 *   does not fit.
 */
export function hintAtDoubts(deal: HintedDeal): DoubtHint | null {
  const { dealId, doubts, doubtIds, unproven, unprovenAmount, doubtsAmount, readAt } = deal;
  if (doubtIds === null || unproven === null || readAt === null || deal.unexplained !== 0) return null;
  if (deal.others + deal.writtenOff + deal.creditedTwice + deal.late > 0 || doubtIds.length !== doubts)
    return null;
  const counted = unproven === 0 ? 'none' : unproven === doubts ? 'all' : 'some';
  const isAmountKnown = unprovenAmount !== null && doubtsAmount !== null;
  if (isAmountKnown && counted !== 'some') {
    const expected = counted === 'all' ? doubtsAmount : '0';
    if (isMore(unprovenAmount, expected) || isMore(expected, unprovenAmount)) return null;
  }
  const amount = isAmountKnown && counted === 'all' ? doubtsAmount : null;
  return { counted, dealId, doubtIds, unproven, amount, currency: deal.accountCurrency, readAt };
}

/**
 * The amount that a deal earned according to closed statements, and the amount paid out according to the
 * service, in one currency.
 */
export type DealPayout = {
  readonly dealId: string;
  readonly influencerHandle: string | null;
  /** Null: the total of the service, while the currency of the account is unknown. */
  readonly currency: string | null;
  /** Sum of all closed statements. */
  readonly earnedAmount: DecimalText;
  /**
   * Sum of the payout requests that events of the service report. Null if there is no such event, for example
   * because no webhook is registered for them.
   */
  readonly requestedAmount: DecimalText | null;
  /** Total paid out. Null if the service does not report it, or if `currency` is not that of the account. */
  readonly paidAmount: DecimalText | null;
  /** Part of `paidAmount` that was already paid when the mirror first read it. */
  readonly paidBeforeAmount: DecimalText | null;
  /**
   * Earned less paid. Null if the total is unknown, or if the deal also earned in other currencies, because the
   * total includes payouts in all of them.
   */
  readonly differenceAmount: DecimalText | null;
};

/** An order about which our data and the service disagree. */
export type DisputedOrder = {
  readonly kind: 'not_ours' | 'other_amount' | 'other_deal' | 'no_event';
  /** The deal that the service names; for `no_event`, our deal. */
  readonly dealId: string | null;
  readonly orderPlatform: string | null;
  readonly orderId: string;
  readonly currency: string | null;
  readonly oursAmount: DecimalText | null;
  readonly theirsAmount: DecimalText | null;
  /** When the service reported or accepted the order. */
  readonly at: Date;
};

/** True if more of a deal is unexplained than the settings allow, in either direction. */
export function isUnexplained(
  { unexplained, unexplainedAmount }: Pick<ReconciledDeal, 'unexplained' | 'unexplainedAmount'>,
  { ordersAbove, amountAbove }: { ordersAbove: number; amountAbove: DecimalText },
): boolean {
  return (
    Math.abs(unexplained ?? 0) > ordersAbove ||
    (unexplainedAmount !== null && isMore(unexplainedAmount.replace('-', ''), amountAbove))
  );
}

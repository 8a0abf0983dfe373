import { isMore } from '../money.ts';
import type { DecimalText } from '../order.ts';

/** When totals of ours and of the service differ by more, somebody should look. */
export type ReconcileSettings = {
  /** Orders of a deal that may stay unexplained. */
  readonly ordersAbove: number;
  /** Of a deal, in the currency of the account. */
  readonly amountAbove: DecimalText;
  /** ISO 4217, of the service's sums; null: as its events say. */
  readonly accountCurrency: string | null;
};

/** What we and the service say of one deal. Counts of orders, and amounts in the currency of the account. */
export type ReconciledDeal = {
  readonly dealId: string;
  readonly influencerHandle: string | null;
  /** When the mirror first and last read totals of the deal; null: never. */
  readonly firstReadAt: Date | null;
  readonly readAt: Date | null;
  /** Orders that the service counts, of all channels; null where it does not say. */
  readonly theirs: number | null;
  /** Orders that we posted, and whose acceptance was recorded by the last reading. */
  readonly ours: number;
  /** What the service counted beyond ours when its totals were first read: of before we began, or of others. */
  readonly before: number | null;
  /** Counted since, and posted by somebody else, as events say. */
  readonly others: number;
  /** May be counted or not: in doubt. */
  readonly doubts: number;
  readonly writtenOff: number;
  /** May be counted or not: sent or told about while the totals were read. */
  readonly late: number;
  /** Orders for which the service accepted more than one request. */
  readonly creditedTwice: number;
  /** Accepted after the totals were read: they are not in them yet. */
  readonly afterwards: number;
  /** What nothing above explains: more than 0, the service counts more; less, it counts fewer. Null where its total is unknown. */
  readonly unexplained: number | null;
  /** ISO 4217, of the amounts; null where it is unknown, and so are they. */
  readonly accountCurrency: string | null;
  readonly theirsAmount: DecimalText | null;
  readonly oursAmount: DecimalText | null;
  /** Of orders in another currency, without an event that says their amount in that of the account: then no amount can be compared. */
  readonly otherCurrency: number;
  readonly unexplainedAmount: DecimalText | null;
  /** Paid out in all, as the service says, in the currency of the account. */
  readonly paidAmount: DecimalText | null;
};

/** An order about which the service and we do not agree. */
export type DisputedOrder = {
  readonly kind: 'not_ours' | 'other_amount' | 'other_deal' | 'no_event';
  /** The deal that the service names; of no_event, ours. */
  readonly dealId: string | null;
  readonly orderPlatform: string | null;
  readonly orderId: string;
  readonly currency: string | null;
  readonly oursAmount: DecimalText | null;
  readonly theirsAmount: DecimalText | null;
  /** When the service said so, or accepted it. */
  readonly at: Date;
};

/** Whether more of a deal is unexplained than the settings allow, in either direction. */
export function isUnexplained(
  { unexplained, unexplainedAmount }: Pick<ReconciledDeal, 'unexplained' | 'unexplainedAmount'>,
  { ordersAbove, amountAbove }: ReconcileSettings,
): boolean {
  return (
    Math.abs(unexplained ?? 0) > ordersAbove ||
    (unexplainedAmount !== null && isMore(unexplainedAmount.replace('-', ''), amountAbove))
  );
}

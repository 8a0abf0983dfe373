import type { DecimalText } from '../core/order.ts';
import type { Exchange } from './convert-lines.ts';

/**
 * What a deal or the owner of a code earns: one row of terms.csv. Days are in the time zone of the statements,
 * and both are included.
 */
export type Terms = {
  readonly line: number;
  /**
   * A row has at most one of the two. A row with neither only excludes products, for everybody. Terms of a code
   * take precedence over those of its deal.
   */
  readonly dealId: string | null;
  readonly codeFolded: string | null;
  /** Commission in percent of the net revenue. Null if the row has only a fee. */
  readonly ratePercent: DecimalText | null;
  /** Paid once, in the month of `validFrom`. */
  readonly fixedFee: DecimalText | null;
  /** Currency of the fee. */
  readonly currency: string | null;
  /** Products that earn nothing: SKUs, folded by `foldCode`. A final `*` stands for every SKU that begins so. */
  readonly excludedSkus: readonly string[];
  readonly validFrom: string | null;
  readonly validTo: string | null;
};

/** The rules of statements. */
export type StatementRules = {
  readonly terms: readonly Terms[];
  /** Number of days after its placement from which an order counts. */
  readonly returnWindowDays: number;
  /** IANA time zone of days and months. */
  readonly timeZone: string;
};

/** One amount in a statement. The lines of an order in all statements add up to what it has earned. */
export type StatementLine = {
  readonly kind: 'order' | 'correction' | 'fixed_fee';
  readonly subject: string;
  readonly entryId: string | null;
  readonly source: string | null;
  readonly orderPlatform: string | null;
  readonly orderId: string | null;
  /** Days as `2026-10-01`. */
  readonly orderedOn: string | null;
  readonly dueOn: string;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly brandId: string | null;
  readonly influencerHandle: string | null;
  readonly currency: string;
  readonly sentAmount: DecimalText | null;
  readonly netAmount: DecimalText | null;
  /** The part of the net amount that earns nothing, because the terms exclude the product. Null: none. */
  readonly excludedAmount: DecimalText | null;
  readonly ratePercent: DecimalText | null;
  readonly rateFrom: string | null;
  readonly earnedAmount: DecimalText;
  readonly closedBefore: DecimalText;
  readonly amount: DecimalText;
};

/** Accepted orders of one deal and currency that are in no line. */
export type UncountedOrders = {
  /**
   * `pending`: the return window is still open. `unknown_rate`: neither the terms nor the service state a rate.
   * `unknown_lines`: the terms exclude products, but the lines of the orders are unknown. `unknown_net`: a refund is
   * negative or larger than the order, so what is left is unknown.
   */
  readonly why: 'pending' | 'unknown_rate' | 'unknown_lines' | 'unknown_net';
  readonly dealId: string | null;
  readonly influencerHandle: string | null;
  readonly currency: string;
  readonly orders: number;
  /** Null if it is unknown (`unknown_net`). */
  readonly netAmount: DecimalText | null;
  /** At the rates known now. Null if any of them is unknown. */
  readonly earnedAmount: DecimalText | null;
};

/**
 * Accepted orders of one deal and currency whose newest state is unknown: they are held, or an export states another
 * currency than was sent. They earn what they earned before.
 */
export type HeldOrders = {
  readonly dealId: string | null;
  readonly currency: string;
  readonly orders: number;
  readonly sentAmount: DecimalText;
};

/**
 * A fee in the terms whose deal or code is unknown (see `isKnown`), so it may be a typing error. It is not paid.
 * A fee that was closed stays paid.
 */
export type UnknownFee = {
  /** One of the two is null. */
  readonly dealId: string | null;
  readonly code: string | null;
  /** Day from which the fee would be owed, as `2026-10-01`. */
  readonly dueOn: string;
  readonly currency: string;
  readonly amount: DecimalText;
};

export type Statement = {
  /** `2026-10`. */
  readonly month: string;
  /** Null if the month is open. The lines are then those that closing would write now. */
  readonly closed: {
    readonly statementId: string;
    readonly by: string;
    readonly at: Date;
    readonly hash: string;
  } | null;
  /** Of a closed statement: the reporting currency and the rates with which it was closed. Null: it has none. */
  readonly exchange: Exchange | null;
  readonly timeZone: string;
  readonly returnWindowDays: number;
  readonly lines: readonly StatementLine[];
  /** Empty for a closed statement, which has only what it counted. */
  readonly uncounted: readonly UncountedOrders[];
  /** Empty for a closed statement. */
  readonly held: readonly HeldOrders[];
  /** Empty for a closed statement. */
  readonly unknownFees: readonly UnknownFee[];
};

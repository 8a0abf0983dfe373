import type { DecimalText } from '../core/money.ts';
import type { Exchange } from './convert-lines.ts';

/**
 * What a deal or the owner of a code earns: one row of terms.csv. Days are in the time zone of the statements,
 * and both are included.
 */
export type Terms = {
  readonly line: number;
  /** The filled cells of the row with their columns, for people: `deal_id=D1 rate=10`. */
  readonly text: string;
  /**
   * A row has at most one of the two. A row with neither only excludes products, for everybody. Terms of a code
   * take precedence over those of its deal.
   */
  readonly dealId: string | null;
  readonly codeFolded: string | null;
  /** Commission in percent of the net revenue. Null if the row does not state one. */
  readonly ratePercent: DecimalText | null;
  /** Commission on each order, instead of a rate. */
  readonly flat: DecimalText | null;
  /** Paid once, in the month of `validFrom`. */
  readonly fixedFee: DecimalText | null;
  /** Currency of every amount of the row. */
  readonly currency: string | null;
  /** Products that earn nothing: SKUs, folded by `foldCode`. A final `*` stands for every SKU that begins so. */
  readonly excludedSkus: readonly string[];
  /** Conditions of the rate or of the flat amount (conditions.ts). Null: none. */
  readonly customer: 'new' | 'returning' | null;
  /** Products whose part of the order has the rate, as `excludedSkus`. Empty: the rate is for the whole order. */
  readonly onlySkus: readonly string[];
  /** The first days of the deal, as many as this. */
  readonly firstDays: number | null;
  /** From this order of the deal on, counted from 1, in its month or in all (`tier`). */
  readonly fromOrders: number | null;
  /** Once the orders before have this net revenue in the currency of the row. */
  readonly fromRevenue: DecimalText | null;
  readonly tier: 'month' | 'all' | null;
  /** Most that the orders of a deal earn in a month. */
  readonly cap: DecimalText | null;
  /** A smaller amount is carried forward to the next statement. */
  readonly minPayout: DecimalText | null;
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
  /** By source: the day since when its exports have every order, such as `2021-03-01` (customers.ts). */
  readonly customersSince: Readonly<Record<string, string>>;
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
  /** Lines of terms.csv that the order earns by, and what they say. Null: none, or closed before they were kept. */
  readonly termsLines: readonly number[] | null;
  readonly termsText: string | null;
  readonly earnedAmount: DecimalText;
  readonly closedBefore: DecimalText;
  readonly amount: DecimalText;
};

/**
 * Why it is unknown what an order earns. `unknown_rate`: neither the terms nor the service state a rate.
 * `unknown_lines`: the terms depend on products, but the lines of the order are unknown. `unknown_net`: a refund is
 * negative or larger than the order, so what is left is unknown. `unknown_customer`, `unknown_start`: the terms depend
 * on whether the customer is new, or on when the deal began. `unknown_tier`: they depend on the orders before it, and
 * these are not all known. `unknown_currency`: they state an amount in another currency. `unknown_change`: the rate is
 * that of the service, and an event that it changed disagrees with what the mirror read.
 */
export const UNKNOWN_STANDINGS = [
  'unknown_rate',
  'unknown_lines',
  'unknown_net',
  'unknown_customer',
  'unknown_start',
  'unknown_tier',
  'unknown_currency',
  'unknown_change',
] as const;
type UnknownStanding = (typeof UNKNOWN_STANDINGS)[number];

/** Accepted orders of one deal and currency that are in no line. */
export type UncountedOrders = {
  /** `pending`: the return window is still open. The others are the unknown standings of an order. */
  readonly why: 'pending' | UnknownStanding;
  readonly dealId: string | null;
  readonly influencerHandle: string | null;
  readonly currency: string;
  readonly orders: number;
  /** Of those: orders whose return window is over, so that the amount of the month lacks what they earn. */
  readonly dueOrders: number;
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

/** What a deal earned, and did not reach the minimum payout. Its lines are in no statement until it does. */
export type Carried = {
  readonly dealId: string;
  /** Null: unknown, or closed before it was kept. */
  readonly influencerHandle: string | null;
  readonly currency: string;
  readonly amount: DecimalText;
  readonly minimum: DecimalText;
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
  readonly carried: readonly Carried[];
  /** Empty for a closed statement, which has only what it counted. */
  readonly uncounted: readonly UncountedOrders[];
  /** Empty for a closed statement. */
  readonly held: readonly HeldOrders[];
  /** Empty for a closed statement. */
  readonly unknownFees: readonly UnknownFee[];
};

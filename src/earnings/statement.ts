import type { DecimalText } from '../model/order.ts';

/** What a deal or the holder of a code earns, as a row of terms.csv says it. Days are whole days in the zone of the statements, both included. */
export type Terms = {
  readonly line: number;
  /** At most one of the two; neither: the row only excludes products, for everybody. A code goes before a deal. */
  readonly dealId: string | null;
  readonly codeFolded: string | null;
  /** Commission in percent of the net revenue; null where the row has only a fee. */
  readonly ratePercent: DecimalText | null;
  /** Once, in the month of `validFrom`. */
  readonly fixedFee: DecimalText | null;
  /** Of the fee. */
  readonly currency: string | null;
  /** Products that earn nothing: SKUs as `foldCode` has them; with `*` at the end, all that begin so. */
  readonly excludedSkus: readonly string[];
  readonly validFrom: string | null;
  readonly validTo: string | null;
};

/** How statements are made. */
export type StatementRules = {
  readonly terms: readonly Terms[];
  /** An order counts so many days after it was placed. */
  readonly returnWindowDays: number;
  /** IANA zone of days and months. */
  readonly timeZone: string;
};

/** One amount that a statement adds. All lines of an order add up to what it has earned. */
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
  /** What of the net amount earns nothing, because the terms exclude the product; null: nothing of it. */
  readonly excludedAmount: DecimalText | null;
  readonly ratePercent: DecimalText | null;
  readonly rateFrom: string | null;
  readonly earnedAmount: DecimalText;
  readonly closedBefore: DecimalText;
  readonly amount: DecimalText;
};

/** Accepted orders that are in no line, of one deal and currency. */
export type UncountedOrders = {
  /**
   * pending: the return window is not over; unknown_rate: neither terms nor the service say what it earns; unknown_lines: its terms exclude
   * products, and nobody says what was bought.
   */
  readonly why: 'pending' | 'unknown_rate' | 'unknown_lines';
  readonly dealId: string | null;
  readonly influencerHandle: string | null;
  readonly currency: string;
  readonly orders: number;
  readonly netAmount: DecimalText;
  /** By the rates known now; null where one is unknown. */
  readonly earnedAmount: DecimalText | null;
};

export type Statement = {
  /** `2026-10`. */
  readonly month: string;
  /** Null while it is open: then it is what closing would write now. */
  readonly closed: {
    readonly statementId: string;
    readonly by: string;
    readonly at: Date;
    readonly hash: string;
  } | null;
  readonly timeZone: string;
  readonly returnWindowDays: number;
  readonly lines: readonly StatementLine[];
  /** Of an open statement; a closed one says only what it counted. */
  readonly uncounted: readonly UncountedOrders[];
};

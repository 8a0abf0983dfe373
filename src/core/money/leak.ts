/** The use of a code on one day. */
export type CodeDay = {
  /** Days since 1970-01-01, in UTC. */
  readonly day: number;
  readonly orders: number;
  /** Orders without a link. Only the code connects them with the creator. */
  readonly withoutLink: number;
};

/** Unusual use of a code on its last days. */
export type LeakFlag = {
  /** The last of these days. */
  readonly day: number;
  readonly days: number;
  readonly orders: number;
  readonly withoutLink: number;
  /** The means of as many days before. `usualShare` is the share of all orders of that time. */
  readonly usualOrders: number;
  readonly usualWithoutLink: number;
  readonly usualShare: number;
};

/** When a leak began, as days in UTC: from `from` to `to` with a probability of 90 %. */
export type LeakDates<Day = string> = { readonly from: Day; readonly likeliest: Day; readonly to: Day };

/** A code that may have leaked: its last unusual days, and what was usual before the first ones. */
export type LeakedCode = LeakFlag & {
  readonly code: string;
  readonly dealId: string | null;
  readonly influencerHandle: string | null;
  /** First of the consecutive days on which it was flagged: `2026-10-01`. */
  readonly since: string;
  /** Null: it cannot be known. */
  readonly began: LeakDates | null;
  /**
   * Orders of these days whose customers are known. `returning` counts those of customers who had ordered
   * before.
   */
  readonly known: number;
  readonly returning: number;
  /**
   * Set if a person has acknowledged it in the last 30 days, and it has neither doubled since nor another owner. `reason` says why it is no leak, or what was
   * done.
   */
  readonly acknowledged: { readonly by: string; readonly at: Date; readonly reason: string } | null;
};

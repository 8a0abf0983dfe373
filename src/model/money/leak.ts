/** What a code was used for on a day. */
export type CodeDay = {
  /** Days since 1970-01-01, in UTC. */
  readonly day: number;
  readonly orders: number;
  /** Of them: carry no link, so that only the code leads to the creator. */
  readonly withoutLink: number;
};

/** The last days of a code are unusual. */
export type LeakFlag = {
  /** The last of them. */
  readonly day: number;
  /** How many. */
  readonly days: number;
  readonly orders: number;
  readonly withoutLink: number;
  /** The most orders without a link that are usual for the code in so many days, and the largest share. */
  readonly usualWithoutLink: number;
  readonly usualShare: number;
};

/** A code that may have leaked, with all that is known. */
export type LeakedCode = LeakFlag & {
  readonly code: string;
  readonly dealId: string | null;
  readonly influencerHandle: string | null;
  /** `2026-10-01`: the first of the days in a row on which it was flagged. */
  readonly since: string;
  /** Orders of those days whose customers are known, and of them those who had ordered before. */
  readonly known: number;
  readonly returning: number;
  /** Somebody has looked at it in the last 30 days, and why it is no leak, or what was done. */
  readonly acknowledged: { readonly by: string; readonly at: Date; readonly reason: string } | null;
};

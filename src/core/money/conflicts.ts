import type { DecimalText, KnownSum } from '../money.ts';

/** Kinds of conflicts between the evidence of an order; see `bi.conflicts`. */
export const CONFLICT_KINDS = ['named', 'link_and_code', 'codes', 'links'] as const;
export type ConflictKind = (typeof CONFLICT_KINDS)[number];

/** The decision of the job, and the rules that could have decided instead. */
export const RULES = ['credited', 'first', 'last', 'explicit'] as const;
type Rule = (typeof RULES)[number];

/** The owner that a rule credits: `deal:D1`, `handle:mia`. Null: no owner. */
export type RuleWinner = { readonly target: string | null; readonly influencerHandle: string | null };

/** An order whose evidence names more than one owner. */
export type ConflictingOrder = {
  readonly job: string;
  readonly source: string;
  readonly orderId: string;
  /** Day in UTC. */
  readonly day: string;
  readonly conflict: ConflictKind;
  readonly evidence: string;
  /** Null if the creator of one of the owners is unknown. */
  readonly isSameCreator: boolean | null;
  readonly currency: string;
  /** Null: unknown. */
  readonly amount: DecimalText | null;
  readonly disposition: string;
  readonly credited: RuleWinner;
  readonly first: RuleWinner;
  readonly last: RuleWinner;
  readonly explicit: RuleWinner;
};

/**
 * Totals of all such orders for one owner under each rule, in one currency. A null owner stands for orders
 * that would not be credited.
 */
export type RuleSum = RuleWinner &
  /** Null: the rule credits orders, and the amount of none is known. */
  Readonly<Record<Rule, DecimalText | null>> & {
    readonly currency: string;
    /** Number of the orders of each rule whose amount is not known. */
    readonly withoutAmount: Readonly<Record<Rule, number>>;
  };

/** Orders that a rule decides otherwise than the job has decided, by both decisions and currency. */
export type RuleChange = KnownSum & {
  /** The owner, such as `deal:D1`, or why nobody is credited: `held: ambiguous codes`. */
  readonly before: string;
  readonly after: string;
  readonly currency: string;
  readonly orders: number;
  /** Whether they were sent, so that the service keeps what it credited. */
  readonly isSent: boolean;
};

/**
 * Who is credited if the codes and links of an order have several owners: the setting `attribution` of a job, and what
 * `conflicts preview` takes.
 */
export const ATTRIBUTIONS = ['code', 'link', 'first', 'last', 'hold'] as const;
export type Attribution = (typeof ATTRIBUTIONS)[number];

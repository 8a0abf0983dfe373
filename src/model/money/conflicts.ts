import type { DecimalText } from '../order.ts';

/** What disagrees about an order: see `bi.conflicts`. */
export const CONFLICT_KINDS = ['named', 'link_and_code', 'codes', 'links'] as const;
export type ConflictKind = (typeof CONFLICT_KINDS)[number];

/** Whom a rule credits: `deal:D1`, `handle:mia`; null: nobody. */
export type RuleWinner = { readonly target: string | null; readonly influencerHandle: string | null };

/** An order whose evidence names more than one owner. */
export type ConflictingOrder = {
  readonly job: string;
  readonly source: string;
  readonly orderId: string;
  /** In UTC. */
  readonly day: string;
  readonly conflict: ConflictKind;
  readonly evidence: string;
  /** Null: the creator of one is unknown. */
  readonly isSameCreator: boolean | null;
  readonly currency: string;
  readonly amount: DecimalText;
  readonly disposition: string;
  readonly credited: RuleWinner;
  readonly first: RuleWinner;
  readonly last: RuleWinner;
  readonly explicit: RuleWinner;
};

/** What all such orders come to for one owner under each rule, in one currency. Null owner: nobody would be credited. */
export type RuleSum = RuleWinner & {
  readonly currency: string;
  readonly credited: DecimalText;
  readonly first: DecimalText;
  readonly last: DecimalText;
  readonly explicit: DecimalText;
};

import type { DecimalText, InstantText } from './order.ts';

/** An order that may have been credited without an answer that says so. */
export type Doubt = {
  readonly entryId: string;
  readonly job: string;
  readonly orderPlatform: string | null;
  readonly orderId: string | null;
  readonly currency: string | null;
  readonly amount: DecimalText | null;
  /** What the frozen request names, else what the order was attributed to. */
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly influencerHandle: string | null;
  readonly reason: string;
  /** Attempts that may have reached the service. */
  readonly attempts: number;
  /** When the first of them was claimed. */
  readonly since: InstantText;
  readonly ageSeconds: number;
  readonly evidence: readonly Evidence[];
};

/** What somebody else says about an order. */
export type Evidence = {
  readonly kind: string;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly receivedAt: InstantText;
};

/** An order for which the service has accepted more than one request. */
export type DoubleCredit = {
  readonly entryId: string;
  readonly job: string;
  readonly orderPlatform: string | null;
  readonly orderId: string | null;
  /** Of each request, in `currency`. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Requests that were accepted: 2 or more. */
  readonly credits: number;
};

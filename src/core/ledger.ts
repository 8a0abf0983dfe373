import type { DecimalText } from './money.ts';
import type { InstantText } from './order.ts';

/** Effects at the service that must not be repeated. Each has entries in the ledger. */
export type Effect = 'referral' | 'click' | 'create_deal' | 'note' | 'task' | 'outreach';

/**
 * An entry that is `ready` may be claimed, and one that is `sending` has been claimed. One that is `in_doubt`
 * may have been processed and is never sent again automatically.
 */
export type EntryState = (typeof ENTRY_STATES)[number];
export const ENTRY_STATES = [
  'held',
  'ready',
  'sending',
  'accepted',
  'rejected',
  'in_doubt',
  'written_off',
] as const;

/**
 * An entry that this process has claimed. The claim's commit was acknowledged, so the request may be written.
 * Only `ledger/claim.ts` creates this type, so code that posts without a claim does not compile.
 */
export type ClaimedEntry = {
  readonly [claimed]: true;
  readonly entryId: string;
  /** 1 for the first attempt. Results are fenced by this number. */
  readonly attempt: number;
  readonly effect: Effect;
  /**
   * The request body, exact JSON text: the frozen body of the entry with the reference of the attempt.
   * `claim.bodyHash` is its digest.
   */
  readonly body: string;
  readonly claim: Claim;
};
declare const claimed: unique symbol;

/**
 * One claim, as identified outside the database: in the journal, in a spooled answer, in a mark. Only
 * `claimId` is never reused, not even by a restored database that assigns the same numbers again.
 */
export type Claim = {
  /** The ledger in which the claim was made. */
  readonly ledgerId: string;
  /** Ascending number within the ledger, with gaps: the digits of a bigint, which a number may round. */
  readonly claimNo: string;
  /** Identifies the commit that made the claim. Concurrent claims share one. */
  readonly claimId: string;
  readonly accountId: string;
  readonly effect: Effect;
  /** `ledger.key_hash` of the entry. It is the same in every ledger. */
  readonly keyHash: string;
  /** SHA-256 of the request body. For claims made before version 0.2, of the body without its reference. */
  readonly bodyHash: string;
  /** The amount as sent, in `currency`. Null for effects without money. */
  readonly amount: string | null;
  readonly currency: string | null;
};

/** What is known after an attempt. Functions return it and never throw it. */
export type Outcome =
  /** A 2xx answer with JSON that names the deal or the collaboration. */
  | {
      readonly kind: 'accepted';
      readonly httpStatus: number;
      readonly dealId: string | null;
      readonly collabId: string | null;
      /** The service's message, for effects that name no deal. */
      readonly message?: string;
    }
  /**
   * The service refused the request and said why. `stopsGate` is true if it refused the key, which would fail
   * for every other request as well.
   */
  | {
      readonly kind: 'rejected';
      readonly httpStatus: number;
      readonly message: string;
      readonly stopsGate: boolean;
    }
  /** It is proven that no byte of the request was written. */
  | { readonly kind: 'not_written'; readonly reason: string }
  /** The service asks to slow down and did not process the request. */
  | { readonly kind: 'throttled'; readonly httpStatus: number; readonly retryAfterMs: number | null }
  /** The request may have been processed. Only evidence or a person can settle this. */
  | { readonly kind: 'in_doubt'; readonly httpStatus: number | null; readonly reason: string };

/** An exact sum of money in one currency. */
export type ClaimSum = { readonly currency: string | null; readonly amount: string };

/** An entry of the ledger, usually about an order, as people are told of it. */
type ToldEntry = {
  readonly entryId: string;
  readonly job: string;
  /** Short description of the effect: `shopify order 1001`. */
  readonly subject: string;
  readonly orderPlatform: string | null;
  readonly orderId: string | null;
  readonly currency: string | null;
  /** Of each request, in `currency`. */
  readonly amount: DecimalText | null;
  /** The deal in the frozen request, or else the deal to which the order was attributed. */
  readonly dealId: string | null;
  readonly collabId: string | null;
};

/** An effect, usually an order, that may have happened although no answer confirms it. */
export type Doubt = ToldEntry & {
  readonly effect: Effect;
  readonly influencerHandle: string | null;
  readonly reason: string;
  /** Number of attempts that may have reached the service. */
  readonly attempts: number;
  /** When the first of these attempts was claimed. */
  readonly since: InstantText;
  readonly ageSeconds: number;
  readonly evidence: readonly Evidence[];
};

/** What the service or a seed file says about an order. */
export type Evidence = {
  readonly kind: string;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  /** False if it states something that cannot be read. */
  readonly isLegible: boolean;
  readonly receivedAt: InstantText;
};

/** An order for which the service has accepted more than one request. */
export type DoubleCredit = ToldEntry & {
  /** Number of requests that were accepted: 2 or more. */
  readonly credits: number;
};

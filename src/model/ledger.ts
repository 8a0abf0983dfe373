import type { DecimalText, InstantText } from './order.ts';

/** Effects of the service that must not be repeated. Each has entries in the ledger. */
export type Effect = 'referral' | 'click' | 'create_deal' | 'note' | 'task' | 'outreach';

/** `ready` may be claimed; `sending` is claimed; `in_doubt` may have been processed and is never sent again by itself. */
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
 * An entry that this process has claimed: the claim's commit was acknowledged, so a byte may be written.
 * Only `ledger/claim.ts` makes one, which is why posting without claiming does not compile.
 */
export type ClaimedEntry = {
  readonly [claimed]: true;
  readonly entryId: string;
  /** 1 for the first attempt. Results are fenced by it. */
  readonly attempt: number;
  readonly effect: Effect;
  /** The bytes of the request, exact JSON text: the frozen body of the entry and the reference of the attempt. `claim.bodyHash` is their digest. */
  readonly body: string;
  readonly claim: Claim;
};
declare const claimed: unique symbol;

/**
 * One claim, as it is named wherever it leaves the database: in the journal, in a spooled answer, in a mark. `claimId` alone is never
 * reused, also not by a database that was restored and counts the same numbers again.
 */
export type Claim = {
  /** The ledger in which it was made. */
  readonly ledgerId: string;
  /** Counts up over the whole ledger, with gaps. */
  readonly claimNo: number;
  /** The commit that made it; concurrent claims share one. */
  readonly claimId: string;
  readonly accountId: string;
  readonly effect: Effect;
  /** `ledger.key_hash` of the entry: the same in every ledger. */
  readonly keyHash: string;
  /** SHA-256 of the bytes of the request; of claims before version 0.2, of the body without its reference. */
  readonly bodyHash: string;
  /** As sent, in `currency`; null for effects without money. */
  readonly amount: string | null;
  readonly currency: string | null;
};

/** What is known after an attempt. Returned, never thrown. */
export type Outcome =
  /** 2xx, JSON, names the deal or collaboration. */
  | {
      readonly kind: 'accepted';
      readonly httpStatus: number;
      readonly dealId: string | null;
      readonly collabId: string | null;
      /** What the service says, where the effect names no deal. */
      readonly message?: string;
    }
  /** The service refused it and said why. `stopsGate`: 401 and 403, the key is no good for any other order either. */
  | {
      readonly kind: 'rejected';
      readonly httpStatus: number;
      readonly message: string;
      readonly stopsGate: boolean;
    }
  /** Proven: no byte of the request was written. */
  | { readonly kind: 'not_written'; readonly reason: string }
  /** 429: the service did not process it. */
  | { readonly kind: 'throttled'; readonly httpStatus: 429; readonly retryAfterMs: number | null }
  /** It may have been processed. Only evidence or a person resolves it. */
  | { readonly kind: 'in_doubt'; readonly httpStatus: number | null; readonly reason: string };

/** Why an entry left `sending`, as stored with the answer. */
export type AnswerKind = Outcome['kind'] | 'lease_over';

/** Sums of money, one for each currency, exact. */
export type ClaimSum = { readonly currency: string | null; readonly amount: string };

/** An order, or another effect, that may have been brought about without an answer that says so. */
export type Doubt = {
  readonly entryId: string;
  readonly job: string;
  readonly effect: Effect;
  /** What it is about, in a few words: `shopify order 1001`. */
  readonly subject: string;
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

/** What the service, or a seed file, says about an order. */
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
  /** What it is about, in a few words. */
  readonly subject: string;
  /** Of each request, in `currency`. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Requests that were accepted: 2 or more. */
  readonly credits: number;
};

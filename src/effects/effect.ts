import { type RawBuilder, sql } from 'kysely';
import type { OperationName } from '../api/contract.ts';
import type { Effect } from '../model/ledger.ts';

/** What a 2xx answer says was brought about. */
export type Acceptance = {
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** What the service says of it, where it names no deal: kept as the entry's reason. */
  readonly message?: string;
};

/**
 * One effect of the service that must not be repeated. The ledger keeps its entries, delivery sends them; what is special about it is
 * said here and nowhere else.
 */
export type EffectKind = {
  /** As `ledger.entries.effect` has it. */
  readonly effect: Effect;
  /** The operation that brings it about. */
  readonly operation: OperationName;
  /**
   * Member of the body that carries the reference of the attempt (ledger/claim.ts), so that what stands at the service leads back to the ledger; null: the
   * operation has none.
   */
  readonly referenceMember: string | null;
  /** What entry `e` is about, in a few words for people, as SQL: `shopify order 1001`. */
  readonly subject: RawBuilder<string>;
  /** Whether a person who accepts a doubt must name the deal or the collaboration. */
  readonly namesDeal: boolean;
  /** What the body of a 2xx answer, a JSON object, proves; null: nothing, and the entry comes into doubt. */
  readAcceptance(answer: Readonly<Record<string, unknown>>): Acceptance | null;
};

/** Reads an answer that proves an effect by the deal or the collaboration that it names. */
export function namesItsDeal(answer: Readonly<Record<string, unknown>>): Acceptance | null {
  const dealId = readId(answer.deal_id);
  const collabId = readId(answer.collab_id);
  return dealId === null && collabId === null ? null : { dealId, collabId };
}

/** Ids are opaque text; a number is tolerated and kept as its digits. */
function readId(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' ? String(value) : null;
}

/** A text of the entry's details, as SQL. */
export function detail(name: string): RawBuilder<string> {
  return sql<string>`e.details ->> ${sql.lit(name)}`;
}

import { type RawBuilder, sql } from 'kysely';
import type { Effect } from '../../core/ledger.ts';
import type { OperationName } from '../../service/contract.ts';

/** What a 2xx answer confirms. */
export type Acceptance = {
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** The service's message, if the answer names no deal. Stored as the entry's state reason. */
  readonly message?: string;
};

/**
 * One kind of effect at the service that must not be repeated. The ledger keeps its entries and delivery
 * sends them. Everything that is specific to the effect is defined here.
 */
export type EffectKind = {
  /** As in `ledger.entries.effect`. */
  readonly effect: Effect;
  /** The operation that causes the effect. */
  readonly operation: OperationName;
  /**
   * Member of the body that contains the reference of the attempt (ledger/claim.ts), so that a record at the
   * service can be traced to the ledger. Null if the operation has none.
   */
  readonly referenceMember: string | null;
  /** SQL for a short description of entry `e`: `shopify order 1001`. */
  readonly subject: RawBuilder<string>;
  /** True if a person who accepts a doubt must name the deal or the collaboration. */
  readonly namesDeal: boolean;
  /** What a second request causes, if the first was processed: a clause, followed by `which cannot be undone`. */
  readonly ifRepeated: string;
  /**
   * Reads the body of a 2xx answer, a JSON object. Returns null if it confirms nothing; the entry is then in
   * doubt.
   */
  readAcceptance(answer: Readonly<Record<string, unknown>>): Acceptance | null;
  /** Finds figures or names in an answer that its request cannot have led to, to follow the status. */
  findContradiction?(
    answer: Readonly<Record<string, unknown>>,
    request: Readonly<Record<string, unknown>>,
  ): string | undefined;
};

/**
 * SQL for the reference of an attempt: `influencer-sync 3f9a2c1b.e17.a1`. It shows which attempt created a
 * record that is found at the service or in an event.
 *
 * @param of.ledger SQL for the short id of the ledger.
 */
export function attemptReference(of: {
  readonly ledger: RawBuilder<unknown>;
  readonly entryId: RawBuilder<unknown>;
  readonly attempt: RawBuilder<unknown>;
}): RawBuilder<string> {
  return sql<string>`('influencer-sync ' || ${of.ledger} || '.e' || ${of.entryId} || '.a' || ${of.attempt})`;
}

/** SQL for an idempotency key: the parts as a JSON list without spaces. A part that is null is left out. */
export function keyOf(parts: readonly RawBuilder<unknown>[]): RawBuilder<string> {
  const written = parts.map((part) => sql`to_json(${part})::text`);
  return sql<string>`'[' || concat_ws(',', ${sql.join(written)}) || ']'`;
}

/** SQL that is true if the entry's details do not let its requests contain the reference. */
export function lacksReference(row: string): RawBuilder<boolean> {
  return sql<boolean>`coalesce((${sql.ref(`${row}.details`)} ->> 'is_note_alone')::boolean, false)`;
}

/** Reads an answer that confirms an effect by naming the deal or the collaboration. */
export function namesItsDeal(answer: Readonly<Record<string, unknown>>): Acceptance | null {
  const dealId = readId(answer.deal_id);
  const collabId = readId(answer.collab_id);
  return dealId === null && collabId === null ? null : { dealId, collabId };
}

const LONGEST_ID = 200;

/**
 * Reads an id. Ids are opaque text; a number is accepted and kept as its digits. Text that no database can store, or
 * that is far longer than any id, names nothing.
 */
function readId(value: unknown): string | null {
  if (Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string' || value.length > LONGEST_ID || value.includes('\0') || !value.isWellFormed())
    return null;
  return value === '' ? null : value;
}

/** SQL for a text in the entry's details. */
export function detail(name: string): RawBuilder<string> {
  return sql<string>`e.details ->> ${sql.lit(name)}`;
}

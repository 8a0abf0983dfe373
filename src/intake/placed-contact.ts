import { type RawBuilder, sql } from 'kysely';
import { toArrayParameter } from '../db/to-array-parameter.ts';
import { toUuidArrayParameter } from '../db/to-uuid-array-parameter.ts';
import type { StatedContact } from '../model/contact.ts';

/** A customer, and the batch in which it would be sent. */
export type PlacedContact = { readonly contact: StatedContact; readonly batchId: string };

/** Customers, each once, as they go into a statement. */
export type ContactRows = {
  readonly placed: readonly PlacedContact[];
  /** `g (hash, batch_id, is_out, orders_count, spent, currency, with_code, place)`, a row each, in the same order. */
  readonly from: RawBuilder<unknown>;
};

/** Whole columns are written and read several times faster than rows. */
export function toContactRows(placed: readonly PlacedContact[]): ContactRows {
  const column = (read: (contact: StatedContact) => string | number | boolean | null) =>
    toArrayParameter(placed.map(({ contact }) => read(contact)));
  const from = sql`rows from (
    unnest(${toUuidArrayParameter(placed.map(({ contact }) => contact.hash))}::uuid[]), unnest(${toArrayParameter(placed.map(({ batchId }) => batchId))}::bigint[]),
    unnest(${column(({ isUnsubscribed }) => isUnsubscribed || null)}::boolean[]),
    unnest(${column(({ ordersCount }) => ordersCount)}::integer[]), unnest(${column(({ spent }) => spent)}::numeric(18,4)[]),
    unnest(${column(({ currency }) => currency)}::text[]), unnest(${column(({ boughtWithCode }) => boughtWithCode)}::boolean[])
  ) with ordinality as g(hash, batch_id, is_out, orders_count, spent, currency, with_code, place)`;
  return { placed, from };
}

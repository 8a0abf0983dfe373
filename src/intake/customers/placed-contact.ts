import { type RawBuilder, sql } from 'kysely';
import { toArrayParameter, toUuidArrayParameter } from '../../db/array-parameters.ts';
import type { StatedContact } from '../../model/contact.ts';

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

/** Puts customers into batches, before it is known who of them will be sent: those who won't leave their places empty. */
export type ContactPlacer = {
  /** How many batches so many more customers begin. */
  toBegin(customers: number): number;
  /** Customers, each with its batch: the open one until it is full, then those that begin with these. */
  place(contacts: readonly StatedContact[], batchIds: readonly string[]): readonly PlacedContact[];
};

export function createContactPlacer(batchSize: number): ContactPlacer {
  let open = '';
  let room = 0;

  function begin(batchId: string | undefined): void {
    if (batchId === undefined) throw new Error('fewer batches were begun than it takes');
    open = batchId;
    room = batchSize;
  }

  return {
    toBegin: (customers) => Math.max(0, Math.ceil((customers - room) / batchSize)),
    place(contacts, batchIds) {
      const next = batchIds[Symbol.iterator]();
      return contacts.map((contact) => {
        if (room === 0) begin(next.next().value);
        room -= 1;
        return { contact, batchId: open };
      });
    },
  };
}

import { type RawBuilder, sql } from 'kysely';
import { consentOf, type StatedCustomer } from '../../core/customer.ts';
import { toArrayParameter, toUuidArrayParameter } from '../../db/array-parameters.ts';

/** A customer, and the batch in which their address would be sent. */
export type BatchedCustomer = { readonly customer: StatedCustomer; readonly batchId: string };

/**
 * Builds SQL for a record set `g (hash, batch_id, is_out, said_yes, consented_at, refused_at, orders_count, spent,
 * currency, with_code, place)` with one row for each customer, in the same order. `is_out`: consent is no. The
 * parameters are columns, because whole columns are written and read several times faster than rows.
 */
export function toCustomerRows(placed: readonly BatchedCustomer[]): RawBuilder<unknown> {
  const column = (read: (customer: StatedCustomer) => string | number | boolean | null) =>
    toArrayParameter(placed.map(({ customer }) => read(customer)));
  return sql`rows from (
    unnest(${toUuidArrayParameter(placed.map(({ customer }) => customer.hash))}::uuid[]),
    unnest(${toArrayParameter(placed.map(({ batchId }) => batchId))}::bigint[]),
    unnest(${column((customer) => consentOf(customer) === 'no' || null)}::boolean[]),
    unnest(${column(({ saidYes }) => saidYes)}::boolean[]),
    unnest(${column(({ consentedAt }) => toInstant(consentedAt))}::timestamptz[]),
    unnest(${column(({ refusedAt }) => toInstant(refusedAt))}::timestamptz[]),
    unnest(${column(({ ordersCount }) => ordersCount)}::integer[]),
    unnest(${column(({ spent }) => spent)}::numeric(18,4)[]),
    unnest(${column(({ currency }) => currency)}::text[]),
    unnest(${column(({ boughtWithCode }) => boughtWithCode)}::boolean[])
  ) with ordinality as g(hash, batch_id, is_out, said_yes, consented_at, refused_at, orders_count, spent,
    currency, with_code, place)`;
}

function toInstant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/**
 * Assigns customers to batches before it is known which of them will be sent. Customers who are not sent
 * leave gaps.
 */
export type CustomerBatcher = {
  /** Returns the number of new batches that this many more customers need. */
  toBegin(customers: number): number;
  /** Assigns a batch to each customer: the open batch until it is full, then the new ones in `batchIds`. */
  place(customers: readonly StatedCustomer[], batchIds: readonly string[]): readonly BatchedCustomer[];
};

export function createCustomerBatcher(batchSize: number): CustomerBatcher {
  let open = '';
  let room = 0;

  function begin(batchId: string | undefined): void {
    if (batchId === undefined) throw new Error('fewer batches were begun than it takes');
    open = batchId;
    room = batchSize;
  }

  return {
    toBegin: (customers) => Math.max(0, Math.ceil((customers - room) / batchSize)),
    place(customers, batchIds) {
      const next = batchIds[Symbol.iterator]();
      return customers.map((customer) => {
        if (room === 0) begin(next.next().value);
        room -= 1;
        return { customer, batchId: open };
      });
    },
  };
}

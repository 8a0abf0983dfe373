import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/** Customers of a brand that stand alike. `staged` ones wait to be submitted, their addresses with them. */
export type CustomerGroup = {
  readonly brandId: string;
  readonly state: 'staged' | 'submitted' | 'refused' | 'unsubscribed';
  readonly customers: number;
  /** When the first of them was read. */
  readonly oldest: Date;
};

/** How many customers of each brand stand how; those of a file that does not count yet are left out. */
export async function countCustomers(db: Database): Promise<readonly CustomerGroup[]> {
  const { rows } = await sql<Omit<CustomerGroup, 'customers'> & { customers: string }>`
    select c.brand_id as "brandId", c.state, sum(c.customers) as customers, min(c.first_seen_at) as oldest
    from ledger.customer_counts c group by 1, 2 order by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, customers: Number(row.customers) }));
}

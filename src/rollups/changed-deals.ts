import type { RawBuilder } from 'kysely';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { execute } from '../db/statement.ts';

/**
 * Moves deals and months whose sums must be recalculated into the temporary table `changed_deals`. Call it in a step
 * (`beginStep`).
 *
 * @returns how many there are.
 */
export async function takeChangedDeals(trx: DatabaseTransaction, limit: number): Promise<number> {
  await execute(trx)`
    create temporary table if not exists changed_deals (deal_id text, month_utc date) on commit drop`;
  await execute(trx)`truncate pg_temp.changed_deals`;
  return execute(trx)`
    with taken as (
      delete from reporting.changed_deals
      where (deal_id, month_utc) in (select deal_id, month_utc from reporting.changed_deals
        limit ${limit}::integer)
      returning deal_id, month_utc
    )
    insert into pg_temp.changed_deals select deal_id, month_utc from taken`;
}

/**
 * Marks deals and months to be recalculated, in a step (`beginStep`).
 *
 * @param deals a query with `deal_id` and the first day of the month.
 */
export async function noteDeals(trx: DatabaseTransaction, deals: RawBuilder<unknown>): Promise<void> {
  await execute(
    trx,
  )`insert into reporting.changed_deals (deal_id, month_utc) ${deals} on conflict do nothing`;
}

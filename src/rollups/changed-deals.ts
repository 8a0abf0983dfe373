import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { execute } from '../db/statement.ts';
import { beginStep } from './refresh-reporting.ts';

/**
 * Moves deals and months whose sums must be recalculated into the temporary table `changed_deals`. Another
 * refresh waits until this transaction ends.
 *
 * @returns how many there are.
 */
export async function takeChangedDeals(trx: DatabaseTransaction, limit: number): Promise<number> {
  await beginStep(trx);
  await execute(trx)`
    create temporary table if not exists changed_deals (deal_id text, month_utc date) on commit drop`;
  await execute(trx)`truncate pg_temp.changed_deals`;
  return execute(trx)`
    with taken as (
      delete from reporting.changed_deals
      where (deal_id, month_utc) in (select deal_id, month_utc from reporting.changed_deals limit ${limit}::integer)
      returning deal_id, month_utc
    )
    insert into pg_temp.changed_deals select deal_id, month_utc from taken`;
}

/** Marks all deals and months to be recalculated, because the basis of their sums has changed. */
export async function noteAllDeals(trx: DatabaseTransaction): Promise<void> {
  await execute(trx)`
    insert into reporting.changed_deals (deal_id, month_utc)
    select distinct deal_id, date_trunc('month', day_utc)::date from reporting.order_dispositions
    where deal_id is not null and disposition = 'accepted'
    on conflict do nothing`;
}

/** Marks the deals of some months, such as `2026-10-01`, to be recalculated. */
export async function noteDealsOf(trx: DatabaseTransaction, months: readonly string[]): Promise<void> {
  if (months.length === 0) return;
  await execute(trx)`
    insert into reporting.changed_deals (deal_id, month_utc)
    select distinct deal_id, month_utc from reporting.return_months where month_utc = any (${[...months]}::date[])
    on conflict do nothing`;
}

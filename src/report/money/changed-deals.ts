import { sql } from 'kysely';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { suitLargeStatements } from '../../db/large-statements.ts';

/**
 * Takes deals and months whose sums are to be made anew, as the temporary table `changed_deals`. Another refresh waits until the end of the
 * transaction.
 *
 * @returns how many there are.
 */
export async function takeChangedDeals(trx: DatabaseTransaction, limit: number): Promise<number> {
  await suitLargeStatements(trx);
  await sql`update reporting.refresh set refreshed_at = clock_timestamp()`.execute(trx);
  await sql`create temporary table if not exists changed_deals (deal_id text, month_utc date) on commit drop`.execute(
    trx,
  );
  await sql`truncate pg_temp.changed_deals`.execute(trx);
  const { numAffectedRows } = await sql`
    with taken as (
      delete from reporting.changed_deals
      where (deal_id, month_utc) in (select deal_id, month_utc from reporting.changed_deals limit ${limit}::integer)
      returning deal_id, month_utc
    )
    insert into pg_temp.changed_deals select deal_id, month_utc from taken`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** All deals and months are to be made anew: what they are added up by has changed. */
export async function noteAllDeals(trx: DatabaseTransaction): Promise<void> {
  await sql`
    insert into reporting.changed_deals (deal_id, month_utc)
    select distinct deal_id, date_trunc('month', day_utc)::date from reporting.order_dispositions
    where deal_id is not null and disposition = 'accepted'
    on conflict do nothing`.execute(trx);
}

/** Deals of some months, as `2026-10-01`, are to be made anew. */
export async function noteDealsOf(trx: DatabaseTransaction, months: readonly string[]): Promise<void> {
  if (months.length === 0) return;
  await sql`
    insert into reporting.changed_deals (deal_id, month_utc)
    select distinct deal_id, month_utc from reporting.return_months where month_utc = any (${[...months]}::date[])
    on conflict do nothing`.execute(trx);
}

import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';

/** Net revenue of a creator in a month, without the orders for which it is unknown. */
export type CreatorMonth = {
  /** The handle in lower case. */
  readonly creator: string;
  readonly month: string;
  readonly currency: string;
  readonly net: string;
};

/** Sums the net revenue of creators by month, as of the last refresh of the reports. */
export async function listCreatorMonths(
  db: Database,
  options: { readonly creators: readonly string[]; readonly from: string | null },
): Promise<readonly CreatorMonth[]> {
  const { rows } = await sql<CreatorMonth>`
    select lower(influencer_handle) as creator, to_char(month_utc, 'YYYY-MM') as month, currency,
      coalesce(sum(net_at_least_amount), 0)::text as net
    from bi.returns_monthly
    where lower(influencer_handle) = any(${[...options.creators]}::text[])
      and (${options.from}::text is null or month_utc >= (${options.from}::text || '-01')::date)
    group by 1, 2, 3 order by 1, 2, 3`.execute(db);
  return rows;
}

/** What a creator has earned that no closed statement contains, by the month in which it counts. */
export type Unpaid = {
  /** Month of the statement that will contain it. */
  readonly month: string;
  readonly currency: string;
  readonly orders: number;
  readonly amount: string;
};

/**
 * Lists what is neither in a closed statement nor settled, as of the last refresh of the reports.
 * @param spellings the spellings of the creator's handle.
 */
export async function listUnpaid(db: Database, spellings: readonly string[]): Promise<readonly Unpaid[]> {
  const { rows } = await sql<Omit<Unpaid, 'orders'> & { orders: string }>`
    select to_char(due_month, 'YYYY-MM') as month, currency, sum(orders) as orders, sum(earned_amount - closed_amount)::text as amount
    from reporting.deal_earnings
    where influencer_handle = any(${[...spellings]}::text[]) and standing in ('new', 'correction')
    group by 1, 2 order by 1 desc, 2`.execute(db);
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
}

/** A code of a creator, with the time in which it is theirs. */
export type CreatorCode = {
  readonly code: string;
  readonly job: string;
  readonly validFrom: Date | null;
  readonly validTo: Date | null;
};

/** Lists the codes that name a creator or one of their deals, as the last run of each job loaded them. */
export async function listCreatorCodes(
  db: Database,
  {
    creator,
    deals,
    limit,
  }: { readonly creator: string; readonly deals: readonly string[]; readonly limit: number },
): Promise<readonly CreatorCode[]> {
  const { rows } = await sql<CreatorCode>`
    select code, job, valid_from as "validFrom", valid_to as "validTo" from intake.codes
    where code is not null and (handle_folded = ${creator} or deal_id = any(${[...deals]}::text[]))
    order by code, job, valid_from limit ${limit}`.execute(db);
  return rows;
}

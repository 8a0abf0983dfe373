import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import type { DecimalText } from '../../src/model/order.ts';
import { acceptedInRun, type DispositionsOptions, STORED } from './read-dispositions.ts';

/** What one influencer was credited with in one currency. */
export type Credit = {
  /** The handle. If it is not known, the deal or collaboration. */
  readonly influencer: string;
  readonly dealId: string | null;
  readonly currency: string;
  /** Orders accepted in this run. */
  readonly orders: number;
  readonly amount: DecimalText;
  /** Orders accepted so far, by runs of all jobs and by backfills. */
  readonly ordersSoFar: number;
  readonly amountSoFar: DecimalText;
  /**
   * Commission of the deal so far, net of refunds, in this currency. It is in the first row of the deal only.
   * `unknown` if a rate is unknown, or what was bought. Null in its other rows, and if the deal is unknown.
   */
  readonly earnedSoFar: DecimalText | 'unknown' | null;
  /** `amountSoFar` as a share (0 to 1) of the highest amount of any influencer in this currency. */
  readonly share: number;
};

type Row = Omit<Credit, 'orders' | 'ordersSoFar' | 'share'> & {
  readonly orders: string;
  readonly ordersSoFar: string;
  readonly share: string;
};

/**
 * Lists what influencers were credited with, as of the last refresh. Ranks them by their total within each
 * currency, and lists the top influencer of each currency first.
 */
export async function readCredits(
  db: Database,
  options: DispositionsOptions & { readonly limit: number },
): Promise<{ readonly credits: readonly Credit[]; readonly total: number }> {
  const { rows } = await sql<Row & { total: string }>`
    with of_run as (
      select s.target, s.currency, count(*) as orders, sum(s.amount) as amount
      from ${STORED.orders} s where ${acceptedInRun(options)} and s.target is not null
      group by s.target, s.currency
    ),
    so_far as (
      select d.target, d.currency, max(d.influencer_handle) as handle, max(d.deal_id) as deal_id,
        sum(d.accepted_orders) as orders, sum(d.accepted_amount) as amount
      from reporting.deal_days d where d.accepted_orders > 0
      group by d.target, d.currency
    )
    select coalesce(a.handle, a.deal_id, regexp_replace(a.target, '^[a-z]+:', '')) as influencer, a.deal_id as "dealId", a.currency,
      coalesce(r.orders, 0) as orders, coalesce(r.amount, 0)::text as amount, a.orders as "ordersSoFar", a.amount::text as "amountSoFar",
      case when row_number() over (partition by a.deal_id, a.currency order by a.amount desc, a.target) = 1 then (
        select case when sum(m.unrated_orders + m.unlined_orders) = 0 then sum(m.commission_amount)::text else 'unknown' end
        from reporting.return_months m where m.deal_id = a.deal_id and m.currency = a.currency having count(*) > 0) end as "earnedSoFar",
      case when max(a.amount) over (partition by a.currency) > 0
        then greatest(a.amount, 0) / max(a.amount) over (partition by a.currency) else 0 end as share,
      count(*) over () as total
    from so_far a left join of_run r on r.target = a.target and r.currency = a.currency
    order by row_number() over (partition by a.currency order by a.amount desc, a.target), a.currency
    limit ${options.limit}`.execute(db);
  return {
    credits: rows.map(({ total: _total, ...row }) => ({
      ...row,
      orders: Number(row.orders),
      ordersSoFar: Number(row.ordersSoFar),
      share: Number(row.share),
    })),
    total: Number(rows[0]?.total ?? 0),
  };
}

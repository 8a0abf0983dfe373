import { sql } from 'kysely';
import type { DecimalText } from '../../src/core/order.ts';
import type { Database } from '../../src/db/connect.ts';
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
  /** If it is unknown: the commission of the other orders, and how many orders are unknown. */
  readonly earnedAtLeast?: { readonly amount: DecimalText; readonly unknownOrders: number } | null;
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
    with of_run as materialized (
      select s.target, s.currency, count(*) as orders, sum(s.amount) as amount
      from ${STORED.orders} s where ${acceptedInRun(options)} and s.target is not null
      group by s.target, s.currency
    ),
    -- From an index, in each currency only as many as are shown.
    ranked as (
      select t.*, k.total, row_number() over (partition by t.currency order by t.amount desc, t.target) as place,
        max(t.amount) over (partition by t.currency) as highest
      from (
        select currency, sum(count(*)) over () as total from reporting.deal_totals where orders > 0 group by currency) k
      cross join lateral (
        select t.* from reporting.deal_totals t where t.currency = k.currency and t.orders > 0
        order by t.amount desc, t.target limit ${options.limit}) t
      order by place, t.currency limit ${options.limit}
    )
    select coalesce(a.influencer_handle, a.deal_id, regexp_replace(a.target, '^[a-z]+:', '')) as influencer, a.deal_id as "dealId", a.currency,
      coalesce(r.orders, 0) as orders, coalesce(r.amount, 0)::text as amount, a.orders as "ordersSoFar", a.amount::text as "amountSoFar",
      case when row_number() over (partition by a.deal_id, a.currency order by a.place) = 1 then (
        select case when sum(m.unrated_orders + m.unlined_orders + m.unvalued_orders) = 0 then sum(m.commission_amount)::text else 'unknown' end
        from reporting.return_months m where m.deal_id = a.deal_id and m.currency = a.currency having count(*) > 0) end as "earnedSoFar",
      case when row_number() over (partition by a.deal_id, a.currency order by a.place) = 1 then (
        select jsonb_build_object('amount', sum(m.commission_amount)::text, 'unknownOrders', sum(m.unrated_orders + m.unlined_orders + m.unvalued_orders))
        from reporting.return_months m where m.deal_id = a.deal_id and m.currency = a.currency
        having sum(m.unrated_orders + m.unlined_orders + m.unvalued_orders) > 0 and sum(m.commission_amount) > 0) end as "earnedAtLeast",
      case when a.highest > 0 then greatest(a.amount, 0) / a.highest else 0 end as share, a.total
    from ranked a left join of_run r on r.target = a.target and r.currency = a.currency
    order by a.place, a.currency`.execute(db);
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

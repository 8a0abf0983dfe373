import { type RawBuilder, sql } from 'kysely';
import { changedOrders, type Kept } from './kept-earnings.ts';
import { feesOf, lastDay } from './read-statement.ts';
import type { StatementRules } from './statement.ts';

/** Conditions about rows of `order_earnings` or its sums. `due` and `ordered` are days, or months compared with months. */
const isLine = (due: RawBuilder<unknown>) => sql`(standing = 'correction' or standing = 'new' and ${due})`;
const isUncounted = (due: RawBuilder<unknown>, ordered: RawBuilder<unknown>) =>
  sql`(${ordered} and (standing in ('unknown_rate', 'unknown_lines', 'unknown_net') or standing in ('new', 'nothing') and not ${due}))`;

const WHY = sql`case when standing in ('new', 'nothing') then 'pending' else standing end`;

/**
 * SQL: the statement of an open month, added up from `reporting.deal_earnings` and `reporting.earning_days`: common
 * table expressions `totals`, `deals`, `days`, `uncounted` and `uncounted_sums`, as `sumStatement` returns them.
 *
 * What changed since the sums were made is in `moved`: with the sign -1 as it is in the sums, with 1 as it is now.
 * Deals are found in the order of an index, and only those of the page are read. Some of those that the sums
 * contain may be gone since, so as many more are read as there are changed deals.
 *
 * @param options.after id of the last deal of the previous page; null: the first page.
 */
export function sumsOfKept(
  { rules, month, kept }: { readonly rules: StatementRules; readonly month: string; readonly kept: Kept },
  {
    limit,
    after,
    currency,
  }: { readonly limit: number; readonly after: string | null; readonly currency: string | null },
): RawBuilder<unknown> {
  const first = sql`${`${month}-01`}::date`;
  const isWanted = sql`(${currency}::text is null or currency = ${currency})`;
  const isDueDay = sql`due_on <= ${lastDay(month)}`;
  const isDueMonth = sql`due_month <= ${first}`;
  const isLineOfMonth = isLine(isDueMonth);
  const pendingSince = sql`date_trunc('month', ${first} - ${rules.returnWindowDays}::integer)::date`;
  const stored = sql`deal_id, currency, standing, influencer_handle, orders, net_amount, earned_amount, closed_amount`;
  const limitOfStored = sql`limit ${limit}::bigint + (select count(distinct deal_id) from moved where sign = -1)`;
  return sql`
    with ${kept.hasChanges ? sql`${changedOrders(rules)},` : sql``}
    ${movedOrders(kept)},
    ${feesOf(rules, { month })},
    open_fees as materialized (
      select kind, coalesce(deal_id, '') as deal_id, currency, due_on, earned_amount - closed_before as amount
      from fee_lines where earned_amount <> closed_before and ${isWanted}
    ),
    all_days as materialized (
      select currency, standing, ordered_on, due_on, sum(orders) as orders, sum(net_amount) as net_amount,
        sum(earned_amount - closed_amount) as amount
      from (
        select currency, standing, ordered_on, due_on, orders, net_amount, earned_amount, closed_amount from reporting.earning_days
        union all select currency, standing, ordered_on, due_on, orders, net_amount, earned_amount, closed_amount from moved) d
      group by 1, 2, 3, 4 having sum(orders) > 0
    ),
    line_days as (
      select currency, due_on, orders as lines, amount from all_days where ${isLine(isDueDay)} and ${isWanted}
      union all select currency, due_on, 1, amount from open_fees
    ),
    totals as materialized (select currency, sum(lines) as lines, sum(amount) as amount from line_days group by 1),
    days as (select currency, due_on, sum(amount) as amount from line_days group by 1, 2),
    chosen as materialized (
      select distinct t.currency, d.deal_id
      from totals t
      cross join lateral (
        (select s.deal_id from reporting.deal_earnings s
          where s.currency = t.currency and s.standing in ('new', 'correction') and ${isLineOfMonth} and s.deal_id > ${after ?? ''}
          group by s.deal_id order by s.deal_id ${limitOfStored})
        union all select m.deal_id from moved m where m.sign = 1 and m.currency = t.currency and m.deal_id > ${after ?? ''}
        union all select f.deal_id from open_fees f where f.currency = t.currency and f.deal_id > ${after ?? ''}
        union all select '' where ${after === null}
      ) d
    ),
    deals as (
      select currency, nullif(deal_id, '') as deal_id, min(nullif(influencer_handle, '')) as handle,
        coalesce(sum(orders) filter (where kind = 'order'), 0) as orders, sum(net) filter (where kind = 'order') as net,
        sum(amount) filter (where kind = 'order') as commission, sum(amount) filter (where kind = 'correction') as corrections,
        sum(amount) filter (where kind = 'fixed_fee') as fees, sum(amount) as amount,
        row_number() over (partition by currency, deal_id = '' order by deal_id) as place
      from (
        select currency, deal_id, influencer_handle, kind, sum(orders) as orders, sum(net) as net, sum(amount) as amount
        from (
          select currency, deal_id, influencer_handle, case standing when 'new' then 'order' else 'correction' end as kind, orders,
            net_amount as net, earned_amount - closed_amount as amount
          from (
            select s.* from chosen c
            cross join lateral (
              select ${stored} from reporting.deal_earnings s
              where s.deal_id = c.deal_id and s.currency = c.currency and s.standing in ('new', 'correction') and ${isLineOfMonth} offset 0) s
            union all
            select ${stored} from moved join chosen using (currency, deal_id) where ${isLineOfMonth}) s
          union all
          select f.currency, f.deal_id, '', f.kind, 1, 0, f.amount from chosen c join open_fees f using (currency, deal_id)
        ) p
        group by 1, 2, 3, 4 having sum(orders) > 0
      ) n
      group by n.currency, n.deal_id
    ),
    uncounted_sums as (
      select ${WHY} as why, currency, sum(orders) as orders, case when ${WHY} <> 'unknown_net' then sum(net_amount) end as net
      from all_days where ${isUncounted(isDueDay, sql`ordered_on <= ${lastDay(month)}`)} group by 1, 2
    ),
    unknown as materialized (
      select distinct w.why, d.deal_id
      from (values ('unknown_rate'), ('unknown_lines'), ('unknown_net')) as w(why)
      cross join lateral (
        (select s.deal_id from reporting.deal_earnings s
          where s.standing = w.why and s.standing in ('unknown_rate', 'unknown_lines', 'unknown_net') and s.ordered_month <= ${first} and s.deal_id > ''
          group by s.deal_id order by s.deal_id ${limitOfStored})
        union all select m.deal_id from moved m where m.sign = 1 and m.standing = w.why
        union all select ''
      ) d
    ),
    uncounted as (
      select why, nullif(deal_id, '') as deal_id, min(nullif(influencer_handle, '')) as handle, currency, sum(orders) as orders,
        case when why <> 'unknown_net' then sum(net) end as net, case when why = 'pending' then sum(earned) end as earned,
        row_number() over (partition by why order by deal_id = '', deal_id, currency) as place
      from (
        select why, deal_id, currency, influencer_handle, sum(orders) as orders, sum(net_amount) as net, sum(earned_amount) as earned
        from (
          select u.why, s.* from unknown u
          cross join lateral (
            select ${stored} from reporting.deal_earnings s
            where s.deal_id = u.deal_id and s.standing = u.why and s.ordered_month <= ${first} offset 0) s
          union all
          select 'pending', ${stored} from reporting.deal_earnings
          where standing in ('new', 'nothing') and ordered_month between ${pendingSince} and ${first} and due_month > ${first}
          union all
          select ${WHY}, ${stored} from moved m where ${isUncounted(isDueMonth, sql`ordered_month <= ${first}`)}
            and (standing in ('new', 'nothing') or exists (select from unknown u where u.why = m.standing and u.deal_id = m.deal_id))
        ) p
        group by 1, 2, 3, 4 having sum(orders) > 0
      ) n
      group by n.why, n.deal_id, n.currency
    )`;
}

/** SQL: `moved`, the changed orders in the columns of the sums. */
function movedOrders({ hasChanges }: Kept): RawBuilder<unknown> {
  const columns = (of: RawBuilder<unknown>, sign: RawBuilder<unknown>) => sql`
    ${sign}::integer as sign, ${of}.currency, coalesce(${of}.deal_id, '') as deal_id, ${of}.standing, ${of}.ordered_on, ${of}.due_on,
    date_trunc('month', ${of}.ordered_on)::date as ordered_month, date_trunc('month', ${of}.due_on)::date as due_month,
    coalesce(${of}.influencer_handle, '') as influencer_handle, ${sign} as orders, ${sign} * coalesce(${of}.net_amount, 0) as net_amount,
    ${sign} * coalesce(${of}.earned_amount, 0) as earned_amount, ${sign} * coalesce(${of}.closed_amount, 0) as closed_amount`;
  if (!hasChanges)
    return sql`moved as materialized (select ${columns(sql`k`, sql`1`)} from reporting.order_earnings k where false)`;
  return sql`
    moved as materialized (
      select ${columns(sql`k`, sql`-1`)} from changed c
      cross join lateral (select k.* from reporting.order_earnings k where k.entry_id = c.entry_id limit 1) k
      where k.standing <> 'settled'
      union all
      select ${columns(sql`l`, sql`1`)} from live l where l.standing <> 'settled'
    )`;
}

import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import { dispositionOfOrders } from './disposition.ts';
import { keepConflicts, type OrderKey, ordersWithClaims } from './keep-conflicts.ts';
import type { Orders } from './orders-to-refresh.ts';

export type Page = {
  /** Number of orders that were compared, or left to the step of a later file. */
  readonly seen: number;
  /** Number of orders whose disposition changed. */
  readonly changed: number;
  /** True if no order comes after this page. */
  readonly isLast: boolean;
  readonly lastSource: string;
  readonly lastId: string;
};

/** A deal, and the first day of a month. */
type DealMonth = { readonly dealId: string; readonly month: string };

/**
 * Compares some orders (up to `limit` if given) with `order_dispositions`, updates those that differ, and
 * marks their days before and after the change. No other refresh writes there at the same time, so a plain
 * insert suffices, which takes half the time of an upsert. Then it updates the conflicts of these orders.
 *
 * An order is looked up only if `order_dispositions` has one between the least and the greatest id of the page, which
 * is not so for the newest part of a sorted export.
 *
 * Call it in a step (begin-step.ts), and nothing after it that another step could wait for.
 */
export async function refreshPage(
  trx: Transaction<DB>,
  { job, orders, limit }: { readonly job: string; readonly orders: Orders; readonly limit: number | null },
): Promise<Page> {
  const { rows } = await sql<{
    read: string;
    seen: string;
    changed: string;
    days: readonly string[] | null;
    deals: readonly DealMonth[] | null;
    disputed: readonly OrderKey[] | null;
    last_source: string | null;
    last_id: string | null;
  }>`
    with page as materialized (${orders.inOrder} limit ${limit}::bigint),
    own as not materialized (select * from page where is_current and is_own),
    known as (
      select exists (
        select from (select source, min(order_id) as least, max(order_id) as greatest from own group by source) p
        cross join lateral (
          select true from reporting.order_dispositions s
          where s.job = ${job} and s.source = p.source and s.order_id between p.least and p.greatest and ${orders.isOwn(sql`s.order_id`)} limit 1) s) as is_any
    ),
    compared as materialized (
      select n.*, s.day_before is null as is_new, s.day_before, case when (s.before).disposition = 'accepted' then (s.before).deal_id end as deal_before
      from (${dispositionOfOrders({ job, orders: sql`own` })}) n
      left join lateral (
        select s as before, s.day_utc as day_before from reporting.order_dispositions s
        where (select is_any from known) and s.job = ${job} and s.source = n.source and s.order_id = n.order_id limit 1) s on true
      where s.day_before is null or row(n.*) is distinct from row((s.before).*)
    ),
    changed_deals as (
      select distinct deal_id, date_trunc('month', day)::date as month_utc from (
        select deal_id, day_utc as day from compared where disposition = 'accepted'
        union select deal_before, day_before from compared
        -- What is a first order depends on the customer's others.
        union select s.deal_id, s.day_utc
        from (
          select distinct p.customer_key from own p join compared c using (order_version_id)
          where p.customer_key is not null) k
        cross join lateral (
          select o.source, o.order_id from intake.orders o where o.customer_key = k.customer_key and o.is_current offset 0) o
        cross join lateral (
          select s.deal_id, s.day_utc, s.disposition from reporting.order_dispositions s
          where s.job = any (array(select distinct job from reporting.counted_files)) and s.source = o.source and s.order_id = o.order_id offset 0) s
        where s.disposition = 'accepted'
      ) d where deal_id is not null
    ),
    updated as (
      update reporting.order_dispositions s
      set order_version_id = n.order_version_id, entry_id = n.entry_id, ordered_at = n.ordered_at, day_utc = n.day_utc,
          disposition = n.disposition, disposition_reason = n.disposition_reason, disposition_at = n.disposition_at, is_open = n.is_open,
          matched_by = n.matched_by, matched_value = n.matched_value, target = n.target, brand_id = n.brand_id, deal_id = n.deal_id,
          collab_id = n.collab_id, influencer_handle = n.influencer_handle, currency = n.currency, amount = n.amount
      from compared n
      where not n.is_new and s.job = ${job} and s.source = n.source and s.order_id = n.order_id
        and s.source = any (array(select distinct source from compared where not is_new))
        and s.order_id = any (array(select order_id from compared where not is_new))
    ),
    inserted as (
      insert into reporting.order_dispositions (job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, disposition,
        disposition_reason, disposition_at, is_open, matched_by, matched_value, target, brand_id, deal_id, collab_id, influencer_handle,
        currency, amount)
      select job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, disposition, disposition_reason, disposition_at, is_open,
        matched_by, matched_value, target, brand_id, deal_id, collab_id, influencer_handle, currency, amount
      from compared where is_new order by day_utc, order_version_id
    )
    select (select count(*) from page) as read, (select count(*) from page where is_own) as seen,
      (select count(*) from compared) as changed,
      (select json_agg(day) from (
        select day_utc as day from compared union select day_before from compared where not is_new) d) as days,
      (select json_agg(json_build_object('dealId', deal_id, 'month', month_utc)) from changed_deals) as deals,
      (select json_agg(json_build_object('source', source, 'orderId', order_id)) from (${ordersWithClaims(job, sql`own`)}) d) as disputed,
      last.source as last_source, last.order_id as last_id
    from (select 1) one
    left join lateral (select source, order_id from page order by ${orders.lastFirst} limit 1) last on true`.execute(
    trx,
  );
  const [row] = rows;
  await keepConflicts(trx, { job, orders: row?.disputed ?? [] });
  await markDays(trx, row?.days ?? []);
  await markDeals(trx, row?.deals ?? []);
  return {
    seen: Number(row?.seen ?? 0),
    changed: Number(row?.changed ?? 0),
    isLast: limit === null || Number(row?.read ?? 0) < limit,
    lastSource: row?.last_source ?? '',
    lastId: row?.last_id ?? '',
  };
}

/**
 * Marks days whose sums must be recalculated. The mark of a day stays locked until this transaction ends, even if it
 * existed before. Otherwise a step that adds up the day could remove the mark without seeing these orders.
 */
async function markDays(trx: Transaction<DB>, days: readonly string[]): Promise<void> {
  if (days.length === 0) return;
  await sql`
    insert into reporting.changed_days (day_utc)
    select day from jsonb_array_elements_text(${toJsonParameter(days)}::jsonb) as d(text), cast(text as date) as day order by day
    on conflict (day_utc) do update set day_utc = excluded.day_utc`.execute(trx);
}

/** Marks deals whose returns of a month must be recalculated. Locks marks as `markDays` does. */
async function markDeals(trx: Transaction<DB>, deals: readonly DealMonth[]): Promise<void> {
  if (deals.length === 0) return;
  await sql`
    insert into reporting.changed_deals (deal_id, month_utc)
    select "dealId", month from jsonb_to_recordset(${toJsonParameter(deals)}::jsonb) as d ("dealId" text, month date) order by 1, 2
    on conflict (deal_id, month_utc) do update set month_utc = excluded.month_utc`.execute(trx);
}

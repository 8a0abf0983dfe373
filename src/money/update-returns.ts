import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { type DatabaseTransaction, inTransaction } from '../db/in-transaction.ts';
import { type Database, execute, rowOf, rowsOf, toJsonParameter } from '../db/statement.ts';
import { noteDeals, takeChangedDeals } from '../rollups/changed-deals.ts';
import { beginStep } from '../rollups/refresh-reporting.ts';
import { isOfDeal } from './conditions.ts';
import type { Exchange } from './convert-lines.ts';
import {
  customerHistory,
  customerOf,
  ESTIMATED_HISTORY_DAYS,
  isNoOrder,
  isSealed,
  orderedAt,
} from './customers.ts';
import { areAdopted, earnedOrders, onlyHandle } from './kept-earnings.ts';
import type { StatementRules } from './statement.ts';

/** The settings by which returns are computed. */
export type ReturnRules = StatementRules & {
  /** Share of the net revenue, in percent, that is left after the cost of goods. Null: unknown. */
  readonly marginPercent: string | null;
  /** The reporting currency and its rates. Null: amounts are not converted. */
  readonly exchange: Exchange | null;
};

/** Number of changed deals per step, so that a step takes a second or less. */
const STEP_DEALS = 2_000;

/**
 * Updates the revenue and cost of deals whose orders have changed, or of all deals if the rules have changed, from the
 * kept earnings (`keepEarnings`). Works in steps of one commit each.
 *
 * @param options.onStep called after each step. If it throws, the work ends between two steps.
 */
export async function updateReturns(
  db: Database,
  { rules, onStep = () => {} }: { rules: ReturnRules; onStep?: () => void },
): Promise<void> {
  await inTransaction(db, async (trx) => {
    // Another refresh marks deals, too, in another order.
    await beginStep(trx);
    const months = await adoptRates(trx, rules.exchange);
    if (months.length > 0)
      await noteDeals(
        trx,
        sql`
          select distinct deal_id, month_utc
          from reporting.return_months
          where month_utc = any (${[...months]}::date[])`,
      );
    if (await adoptReturnRules(trx, rules))
      await noteDeals(
        trx,
        sql`
        select distinct deal_id, date_trunc('month', day_utc)::date from reporting.order_dispositions
        where deal_id is not null and disposition = 'accepted'`,
      );
  });
  for (let taken = STEP_DEALS; taken === STEP_DEALS; onStep())
    taken = await inTransaction(db, async (trx) => {
      await beginStep(trx);
      // A plan keeps no earnings. Another process that keeps them by other rules computes the returns by those.
      const areKept = !db.isTransaction;
      if (areKept && !(await areAdopted(trx, rules))) return 0;
      const deals = await takeChangedDeals(trx, STEP_DEALS);
      if (deals > 0) await addUpReturns(trx, { rules, areKept });
      return deals;
    });
}

/**
 * Stores the exchange rates for the conversion of returns.
 *
 * @returns the months whose amounts may change, as `2026-10-01`. If the file only gains a day, that is one or
 *   two months.
 */
export async function adoptRates(
  trx: DatabaseTransaction,
  exchange: Exchange | null,
): Promise<readonly string[]> {
  const rows = await rowsOf<{ month: string }>(trx)`
    with given as materialized (
      select currency, day::date as day_local, rate
      from jsonb_to_recordset(${toJsonParameter(exchange?.rates ?? [])}::jsonb) as r (currency text, day text,
        rate numeric)
    ),
    removed as (
      delete from reporting.exchange_rates x
      where not exists (select from given g where g.currency = x.currency and g.day_local = x.day_local)
      returning x.day_local
    ),
    written as (
      insert into reporting.exchange_rates as x (currency, day_local, rate) select currency, day_local, rate
      from given
      on conflict (currency, day_local) do update set rate = excluded.rate where x.rate <> excluded.rate
      returning x.day_local
    )
    -- Months are in UTC, days are not.
    select distinct date_trunc('month', day_local + shift)::date::text as month
    from (select day_local from removed union select day_local from written) d
      cross join (values (-1), (1)) as s(shift)`;
  return rows.map(({ month }) => month);
}

/**
 * Stores the settings by which returns are computed from now on, and the fees of the terms.
 *
 * @returns true if they differ from the stored ones. Then all returns must be computed again.
 */
export async function adoptReturnRules(trx: DatabaseTransaction, rules: ReturnRules): Promise<boolean> {
  const { terms, timeZone, marginPercent, exchange } = rules;
  const reportingCurrency = exchange?.reportingCurrency ?? null;
  const fees = terms.flatMap(({ dealId, fixedFee, currency, validFrom }) =>
    fixedFee === null || validFrom === null ? [] : [{ dealId: dealId ?? '', fixedFee, currency, validFrom }],
  );
  const feeDays = new Set(fees.map(({ currency, validFrom }) => `${currency} ${validFrom}`));
  const feeRates = (exchange?.rates ?? []).filter(({ currency, day }) => feeDays.has(`${currency} ${day}`));
  const facts = await rowOf<{ known: unknown }>(trx)`
    select jsonb_agg(jsonb_build_array(source, since, until) order by source) as known
    from (${customerHistory(rules, { isEstimated: true })}) h`;
  const rulesHash = createHash('sha256')
    .update(
      JSON.stringify([terms, timeZone, facts?.known, ESTIMATED_HISTORY_DAYS, reportingCurrency, feeRates]),
    )
    .digest('hex');
  const changed = await rowOf<{ is_other: boolean }>(trx)`
    update reporting.return_rules r
    set rules_hash = ${rulesHash}, margin_percent = ${marginPercent}::numeric,
      reporting_currency = ${reportingCurrency}
    from (select rules_hash from reporting.return_rules for update) before
    where r.rules_hash <> ${rulesHash} or r.margin_percent is distinct from ${marginPercent}::numeric
    returning before.rules_hash <> ${rulesHash} as is_other`;
  if (changed?.is_other !== true) return false;
  await trx.deleteFrom('reporting.return_fees').execute();
  await execute(trx)`
    insert into reporting.return_fees (month_utc, deal_id, currency, fee_amount, fee_converted)
    select date_trunc('month', f."validFrom"::date)::date, f."dealId", f.currency, sum(f."fixedFee"),
      case when bool_and(${converted(sql`f."fixedFee"`, sql`f.currency`, reportingCurrency)} is not null)
        then ${exactSum(converted(sql`f."fixedFee"`, sql`f.currency`, reportingCurrency))} end
    from jsonb_to_recordset(${toJsonParameter(fees)}::jsonb) as f ("dealId" text, "fixedFee" numeric,
      currency text, "validFrom" text)
    left join reporting.exchange_rates x on x.currency = f.currency and x.day_local = f."validFrom"::date
    group by 1, 2, 3`;
  return true;
}

/**
 * Computes the returns of the deals and months in the temporary table `changed_deals`, and replaces the stored
 * ones.
 *
 * An order wins its customer if no earlier order of that customer is known, in any channel, that was neither
 * cancelled nor a test. All later orders of a customer count as revenue from winning that customer.
 *
 * @param trx a transaction in which a refresh of the reports has begun a step.
 * @param options.areKept false in a plan, which must compute what orders have earned.
 */
async function addUpReturns(
  trx: DatabaseTransaction,
  { rules, areKept }: { rules: ReturnRules; areKept: boolean },
): Promise<void> {
  const reportingCurrency = rules.exchange?.reportingCurrency ?? null;
  // Kept earnings that move are noted, whichever change of their deal moves them.
  if (!areKept) await addWholeDeals(trx, rules);
  await execute(trx)`
    delete from reporting.return_months r using pg_temp.changed_deals c
    where r.deal_id = c.deal_id and r.month_utc = c.month_utc
      and r.deal_id = any (array(select deal_id from pg_temp.changed_deals))`;
  await execute(trx)`
    with chosen as materialized (
      select c.deal_id, c.month_utc, s.entry_id, s.order_version_id
      from pg_temp.changed_deals c
      cross join lateral (
        select s.entry_id, s.order_version_id from reporting.order_dispositions s
        where s.deal_id = c.deal_id and s.day_utc >= c.month_utc
          and s.day_utc < (c.month_utc + interval '1 month')::date
          and s.disposition = 'accepted' and s.entry_id is not null offset 0) s
    ),
    ${earnedOrders(rules, { areKept, entries: sql`select entry_id from chosen` })},
    history as materialized (${customerHistory(rules, { isEstimated: true })}),
    orders as materialized (
      select c.deal_id, c.month_utc, coalesce(e.brand_id, '') as brand_id, e.currency, e.influencer_handle,
        e.sent_amount, e.net_amount,
        e.earned_amount, e.net_amount is null as is_unvalued, e.net_amount is not null
          and e.earned_amount is null and e.rate_percent is null as is_unrated,
        e.net_amount is not null and e.earned_amount is null and e.rate_percent is not null as is_unlined,
        ${converted(sql`e.net_amount`, sql`e.currency`, reportingCurrency)} as net_converted,
        ${converted(sql`e.earned_amount`, sql`e.currency`, reportingCurrency)} as earned_converted,
        v.ordered_at, v.customer_key,
        case when v.is_excluded then 'none' else coalesce(v.customer, 'unknown') end as customer
      from chosen c
      join earned e using (entry_id)
      cross join lateral (
        select o.customer_key, ${orderedAt('o')} as ordered_at, ${isNoOrder('o')} as is_excluded,
          ${customerOf('o', 'h')} as customer
        from intake.orders o left join history h using (source)
        where o.order_version_id = c.order_version_id
        limit 1) v
      left join reporting.exchange_rates x on x.currency = e.currency and x.day_local = e.ordered_on
    ),
    won as (
      select n.*, k.*
      from orders n
      cross join lateral (
        select count(*) > 1 as has_repeated,
          ${knownSum(sql`p.net`, sql`p.ordered_at < n.ordered_at + interval '30 days'`)} as net_30,
          ${knownSum(sql`p.net`, sql`p.ordered_at < n.ordered_at + interval '90 days'`)} as net_90,
          ${knownSum(sql`p.net`, sql`p.ordered_at < n.ordered_at + interval '365 days'`)} as net_365
        from (
          select ${orderedAt('p')} as ordered_at,
            case
              when p.currency <> n.currency then 0
              when coalesce(p.total, p.subtotal) is not null
                then greatest(coalesce(p.total, p.subtotal) - coalesce(p.refunded, 0), 0) end as net
          from intake.orders p
          where p.customer_key = n.customer_key and p.is_current and ${isSealed('p')}
            and not ${isNoOrder('p')}) p) k
      where n.customer = 'new'
    ),
    won_sums as (
      select deal_id, month_utc, brand_id, currency, count(*) as new_customers,
        count(*) filter (where has_repeated) as repeat_customers,
        ${knownSum(sql`net_30`)} as net_30, ${knownSum(sql`net_90`)} as net_90,
        ${knownSum(sql`net_365`)} as net_365, max(ordered_at) as last_won_at
      from won group by 1, 2, 3, 4
    )
    insert into reporting.return_months (month_utc, deal_id, brand_id, currency, influencer_handle, orders,
      sent_amount, net_amount,
      commission_amount, unrated_orders, unlined_orders, unvalued_orders, new_customers, returning_orders,
      unknown_orders, repeat_customers, net_30_amount, net_90_amount,
      net_365_amount, last_won_at, fee_amount, net_converted, commission_converted, unconverted_orders,
      fee_converted)
    select o.month_utc, o.deal_id, o.brand_id, o.currency,
      reporting.without_addresses(${onlyHandle(sql`o.influencer_handle`)}), count(*), sum(o.sent_amount),
      coalesce(sum(o.net_amount), 0), coalesce(sum(o.earned_amount), 0), count(*) filter (where o.is_unrated),
      count(*) filter (where o.is_unlined),
      count(*) filter (where o.is_unvalued), coalesce(max(w.new_customers), 0),
      count(*) filter (where o.customer = 'returning'), count(*) filter (where o.customer = 'unknown'),
      coalesce(max(w.repeat_customers), 0),
      max(w.net_30), max(w.net_90), max(w.net_365), max(w.last_won_at),
      case
        when o.brand_id = min(min(o.brand_id)) over (partition by o.deal_id, o.month_utc, o.currency)
          then coalesce(max(f.fee_amount), 0)
        else 0 end,
      ${exactSum(sql`o.net_converted`)}, ${exactSum(sql`o.earned_converted`)},
      count(*) filter (where o.net_converted is null and not o.is_unvalued),
      case
        when o.brand_id = min(min(o.brand_id)) over (partition by o.deal_id, o.month_utc, o.currency)
          and max(f.fee_amount) is not null
        then max(f.fee_converted) else 0 end
    from orders o left join won_sums w using (deal_id, month_utc, brand_id, currency)
    left join reporting.return_fees f using (deal_id, month_utc, currency)
    group by 1, 2, 3, 4`;
}

/** SQL for the sum of amounts; null if one of them is not known. */
function knownSum(amount: RawBuilder<unknown>, isOf = sql`true`): RawBuilder<unknown> {
  return sql`case when bool_and(${amount} is not null) filter (where ${isOf}) then sum(${amount}) filter (where ${isOf}) end`;
}

/** Adds the other months of deals with tiers or a cap: what changed in one month may change what was earned in another. */
async function addWholeDeals(trx: DatabaseTransaction, { terms }: StatementRules): Promise<void> {
  const rows = terms.filter(isOfDeal);
  if (rows.length === 0) return;
  const deals = rows.flatMap(({ dealId }) => dealId ?? []);
  await execute(trx)`
    insert into pg_temp.changed_deals (deal_id, month_utc)
    select distinct s.deal_id, date_trunc('month', s.day_utc)::date from reporting.order_dispositions s
    where s.deal_id in (select deal_id from pg_temp.changed_deals) and s.disposition = 'accepted'
      and (${rows.length > deals.length} or s.deal_id = any (${deals}::text[]))
    except select deal_id, month_utc from pg_temp.changed_deals`;
}

/**
 * An amount in the reporting currency at the rate of row `x`. Null without a rate, except for zero, which is
 * zero in any currency.
 */
function converted(amount: RawBuilder<unknown>, currency: RawBuilder<unknown>, to: string | null) {
  return sql`
    case when ${amount} = 0 then 0 when ${currency} = ${to}::text then ${amount} else ${amount} * x.rate end`;
}

/** The sum of converted amounts, with all its decimals, of which there are at least four: who adds up sums rounds once. */
function exactSum(amount: RawBuilder<unknown>): RawBuilder<unknown> {
  const sum = sql`coalesce(sum(${amount}), 0)`;
  return sql`round(${sum}, greatest(4, min_scale(${sum})))`;
}

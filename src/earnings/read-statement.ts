import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import { minorDigits } from '../model/money.ts';
import type { Statement, StatementLine, StatementRules, UncountedOrders } from './statement.ts';

/**
 * What is earned, and how statements say it.
 *
 * An order earns when the service has accepted it. Its revenue is the one that was sent, or the one that the last adjustment says since: nothing
 * where it was cancelled. Its rate is that of the terms of the code that it carries, else of its deal, on the day of the order; else the
 * service's own for the collaboration, as it was then. It counts from the day on which its return window is over.
 *
 * A statement never looks at what happened within its month. It has one line for each order that has earned something else than all closed statements
 * together say. So whatever comes late (a refund, a file, a doubt that was settled, terms that were corrected) is in the next statement by
 * itself, and nothing can be counted twice.
 */
export function linesOf(rules: StatementRules, month: string): RawBuilder<unknown> {
  return sql`
    ${withEarnings(rules, month)},
    lines as (
      select case when c.subject is null then 'order' else 'correction' end as kind, e.subject, e.entry_id, e.source, e.order_platform,
        e.order_id, e.ordered_on, e.due_on, e.deal_id, e.collab_id, e.brand_id, e.influencer_handle, e.currency, e.sent_amount, e.net_amount,
        e.rate_percent, e.rate_from, e.earned_amount, coalesce(c.amount, 0) as closed_before
      from earnings e left join closed c using (subject)
      where e.earned_amount is not null and (e.due_on <= ${lastDay(month)} or c.subject is not null)
      union all
      select case when c.subject is null then 'fixed_fee' else 'correction' end, f.subject, null, null, null, null, null, f.due_on, f.deal_id,
        null, null, null, f.currency, null, null, null, null, f.earned_amount, coalesce(c.amount, 0)
      from fees f left join closed c using (subject)
      where f.due_on <= ${lastDay(month)} or c.subject is not null
      union all
      -- A fee that the terms no longer have.
      select 'correction', c.subject, null, null, null, null, null, c.due_on, c.deal_id, null, c.brand_id, null, c.currency, null, null, null,
        null, 0, c.amount
      from closed c where starts_with(c.subject, 'fee:') and not exists (select from fees f where f.subject = c.subject)
    )`;
}

/** The last day of a month, `2026-10`. */
function lastDay(month: string): RawBuilder<Date> {
  return sql`(${`${month}-01`}::date + interval '1 month' - interval '1 day')::date`;
}

function withEarnings(
  { terms, returnWindowDays, timeZone }: StatementRules,
  month: string,
): RawBuilder<unknown> {
  return sql`
    with terms as materialized (
      select line, "dealId" as deal_id, "codeFolded" as code, "ratePercent" as rate, "fixedFee" as fee, currency,
        coalesce("validFrom", '-infinity')::date as valid_from, coalesce("validTo", 'infinity')::date as valid_to
      from jsonb_to_recordset(${toJsonParameter(terms)}::jsonb) as t (line integer, "dealId" text, "codeFolded" text, "ratePercent" numeric,
        "fixedFee" numeric, currency text, "validFrom" text, "validTo" text)
    ),
    accepted as materialized (
      select e.entry_id, e.source, e.order_platform, e.order_id, o.ordered_at, (o.ordered_at at time zone ${timeZone})::date as ordered_on,
        e.deal_id, e.collab_id, e.brand_id, o.influencer_handle, e.currency, e.amount as sent_amount,
        case when a.entry_id is null then e.amount when a.kind = 'reattributed' then coalesce(a.new_amount, a.old_amount)
          else coalesce(a.new_amount, 0) end as net_amount,
        o.codes
      from ledger.entries e
      join (
        select t.entry_id, t.job, t.influencer_handle, coalesce(v.placed_at, v.paid_at, v.first_seen_at) as ordered_at,
          case when t.matched_by = 'code' then v.codes_folded end as codes
        from intake.attributions t join intake.orders v using (order_version_id)
        where t.entry_id is not null
      ) o on o.entry_id = e.entry_id and o.job = e.job
      left join (
        select distinct on (entry_id) entry_id, kind, old_amount, new_amount from ledger.adjustments order by entry_id, adjustment_id desc
      ) a on a.entry_id = e.entry_id
      -- Without an attempt it was credited by somebody else, whose statement it is in.
      where e.effect = 'referral' and e.state = 'accepted' and e.attempt > 0
    ),
    rated as (
      select a.*, a.ordered_on + ${returnWindowDays}::integer as due_on,
        coalesce(by_code.rate, by_deal.rate, by_service.commission_perc) as rate_percent,
        case when by_code.rate is not null then 'code' when by_deal.rate is not null then 'deal'
          when by_service.commission_perc is not null then 'service' end as rate_from
      from accepted a
      left join lateral (
        select t.rate from terms t
        where t.code = any (a.codes) and t.rate is not null and a.ordered_on between t.valid_from and t.valid_to
        order by t.line limit 1) by_code on true
      left join lateral (
        select t.rate from terms t
        where t.deal_id = a.deal_id and t.rate is not null and a.ordered_on between t.valid_from and t.valid_to
        order by t.line limit 1) by_deal on true
      left join lateral (
        select v.commission_perc from mirror.collaboration_versions v
        where v.collab_id = a.collab_id and v.commission_perc is not null
        -- The version of that day; of a day before the first one was read, the first.
        order by v.valid_from > a.ordered_at, case when v.valid_from > a.ordered_at then v.valid_from end,
          v.valid_from desc limit 1) by_service on by_code.rate is null and by_deal.rate is null
    ),
    earnings as (
      select 'order:' || r.entry_id as subject, r.*,
        round(r.net_amount * r.rate_percent / 100, coalesce((${toJsonParameter(DIGITS)}::jsonb ->> r.currency)::integer, 2)) as earned_amount
      from rated r
    ),
    fees as (
      select concat('fee:', coalesce('deal ' || t.deal_id, 'code ' || t.code), ':', t.valid_from) as subject, t.valid_from as due_on, t.deal_id, t.currency,
        t.fee as earned_amount
      from terms t where t.fee is not null
    ),
    closed as (
      select l.subject, sum(l.amount) as amount, min(l.due_on) as due_on, min(l.deal_id) as deal_id, min(l.brand_id) as brand_id,
        min(l.currency) as currency
      from ops.statement_lines l
      join ops.statements s using (statement_id) where s.month < ${`${month}-01`}::date
      group by l.subject
    )`;
}

/** Currencies whose amounts do not have two decimals. */
const DIGITS = Object.fromEntries(
  Intl.supportedValuesOf('currency')
    .map((currency) => [currency, minorDigits(currency)] as const)
    .filter(([, digits]) => digits !== 2),
);

/** A statement as it was closed, or as closing would write it now. */
export async function readStatement(
  db: Database,
  { month, rules }: { readonly month: string; readonly rules: StatementRules },
): Promise<Statement> {
  const closed = await findClosed(db, month);
  if (closed !== null) {
    const { rows: lines } = await sql<StatementLine>`
      select ${columns} from ops.statement_lines l where statement_id = ${closed.statementId}::bigint order by line_no`.execute(
      db,
    );
    const { timeZone, returnWindowDays, ...closing } = closed;
    return { month, closed: closing, timeZone, returnWindowDays, lines, uncounted: [] };
  }
  const { rows: lines } = await sql<StatementLine>`
    ${linesOf(rules, month)}
    select ${columns} from (select *, earned_amount - closed_before as amount from lines) l where amount <> 0 ${inOrder}`.execute(
    db,
  );
  const { rows: uncounted } = await sql<UncountedOrders>`
    ${withEarnings(rules, month)}
    select case when rate_percent is null then 'unknown_rate' else 'pending' end as why, deal_id as "dealId",
      min(influencer_handle) as "influencerHandle", currency, count(*)::integer as orders, sum(net_amount)::text as "netAmount",
      case when bool_and(earned_amount is not null) then sum(earned_amount)::text end as "earnedAmount"
    from earnings e
    where e.ordered_on <= ${lastDay(month)}
      and (e.rate_percent is null or (e.due_on > ${lastDay(month)} and not exists (select from closed c where c.subject = e.subject)))
    group by 1, 2, 4 order by 1, 2 nulls last, 4`.execute(db);
  const { timeZone, returnWindowDays } = rules;
  return { month, closed: null, timeZone, returnWindowDays, lines, uncounted };
}

/** Lines by deal, then day: as a person reads them. */
export const inOrder = sql`order by deal_id nulls last, currency, due_on, kind, subject`;

const day = (column: string) => sql`to_char(${sql.ref(column)}, 'YYYY-MM-DD')`;

const columns = sql`
  l.kind, l.subject, l.entry_id as "entryId", l.source, l.order_platform as "orderPlatform", l.order_id as "orderId",
  ${day('l.ordered_on')} as "orderedOn", ${day('l.due_on')} as "dueOn", l.deal_id as "dealId", l.collab_id as "collabId",
  l.brand_id as "brandId", l.influencer_handle as "influencerHandle", l.currency, l.sent_amount::numeric(18,4)::text as "sentAmount",
  l.net_amount::numeric(18,4)::text as "netAmount", trim_scale(l.rate_percent)::text as "ratePercent", l.rate_from as "rateFrom",
  l.earned_amount::numeric(18,4)::text as "earnedAmount", l.closed_before::numeric(18,4)::text as "closedBefore", l.amount::numeric(18,4)::text as amount`;

type Closed = NonNullable<Statement['closed']> & Pick<Statement, 'timeZone' | 'returnWindowDays'>;

async function findClosed(db: Database, month: string): Promise<Closed | null> {
  const { rows } = await sql<Closed>`
    select statement_id as "statementId", closed_by as by, closed_at as at, hash, time_zone as "timeZone",
      return_window_days as "returnWindowDays"
    from ops.statements where month = ${`${month}-01`}::date`.execute(db);
  return rows[0] ?? null;
}

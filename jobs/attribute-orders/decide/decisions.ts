import { type RawBuilder, sql } from 'kysely';
import { ownersOf } from '../../../src/codes/owners-of.ts';
import type { Period } from '../../../src/core/backfill.ts';
import type { OrderReading, StatusRules } from '../../../src/core/layout.ts';
import type { Attribution } from '../../../src/core/money/conflicts.ts';
import { toJsonParameter } from '../../../src/db/statement.ts';
import { EXPORTED_AT } from '../../../src/intake/files/exported-at.ts';
import { neverSent } from '../../../src/ledger/propose.ts';
import { isByExport } from './conditions.ts';
import { gateOf, isConfirmed, ORDERED_AT, REVENUE, rulingsOfOrder } from './gate.ts';

export type AttributionRules = {
  readonly job: string;
  readonly sources: readonly CreditedSource[];
  /** What other jobs read of the platforms of this one. They may be exports of the same shops. */
  readonly elsewhere: readonly {
    readonly job: string;
    readonly source: string;
    readonly orderPlatform: string;
  }[];
  readonly brandId: string;
  readonly revenue: OrderReading['revenue'];
  /** If true, orders that their layout marks as drafts are treated like others. */
  readonly creditsDrafts: boolean;
  /** The same for renewals of subscriptions. */
  readonly creditsRenewals: boolean;
  readonly attribution: Attribution;
  /**
   * First day of the job's own period. Older orders are left to backfills. Null: orders of any age belong to
   * the job.
   */
  readonly start: Day | null;
  /** True if what an order earns depends on its time, because deals have terms. */
  readonly hasTerms: boolean;
  /** True if sources with other platforms may state orders of the brand too. */
  readonly isBrandShared: boolean;
  /**
   * If set, only orders of these days are decided, except those in the job's own period. Null: all orders.
   */
  readonly period: Period | null;
  readonly rulesHash: string;
};

/**
 * The job, and those that read the same platforms. They decide one after the other: of two that decided at the same time,
 * neither would see that the other one's source states an order as cancelled.
 */
export function jobsTogether({ job, elsewhere }: Pick<AttributionRules, 'job' | 'elsewhere'>): string[] {
  return [job, ...elsewhere.map((other) => other.job)];
}

/** A calendar day, YYYY-MM-DD, in the local time of an IANA zone. */
export type Day = { readonly day: string; readonly timeZone: string };

/** SQL for the first instant of a day. */
export function startOf({ day, timeZone }: Day): RawBuilder<Date> {
  return sql<Date>`(${day}::date::timestamp at time zone ${timeZone}::text)`;
}

/** SQL for the time at which order `o` was placed, as far as its export contains it. */
export const orderedAt = ORDERED_AT.sql;

/** SQL that is true if order `o` was placed within the period. */
export function isWithin({ fromDay, toDay, timeZone }: Period): RawBuilder<boolean> {
  return sql<boolean>`(${orderedAt} >= ${startOf({ day: fromDay, timeZone })}
    and ${orderedAt} < ((${toDay}::date + 1)::timestamp at time zone ${timeZone}::text))`;
}

export type CreditedSource = StatusRules & {
  readonly source: string;
  readonly orderPlatform: string;
  /** True if no other platform of the brand states its orders. */
  readonly ownOrders: boolean;
};

/** SQL for the sources of the job, in its order, with their platforms. Within one platform, ids tell orders apart. */
export function placesOf(sources: AttributionRules['sources'], alias = 'p'): RawBuilder<unknown> {
  const rows = sources.map(
    ({ source, orderPlatform }, place) => sql`(${source}, ${orderPlatform}, ${place}::integer)`,
  );
  return sql`(values ${sql.join(rows)}) ${sql.ref(alias)}(source, platform, place)`;
}

/**
 * SQL for the files that the job has not yet decided under these rules, with the statuses that their source
 * credits, and those that a person has decided about.
 */
export function filesToAttribute({ job, sources, rulesHash }: AttributionRules): RawBuilder<unknown> {
  const given = sources.map(({ source, orderPlatform, credited, notCredited, mayLackColumn }) => ({
    source,
    order_platform: orderPlatform,
    any_status: credited === 'any',
    no_status: mayLackColumn,
    credited: credited === 'any' ? [] : credited,
    not_credited: notCredited,
  }));
  return sql`
    select f.source_file_id, ${EXPORTED_AT} as exported_at, s.any_status, s.no_status, s.credited,
      s.not_credited, s.order_platform
    from intake.source_files f
    join (
      select g.source, g.order_platform, g.any_status, g.no_status,
        g.credited || ${ruledStatuses('credit')} as credited,
        g.not_credited || ${ruledStatuses('exclude')} as not_credited
      from jsonb_to_recordset(${toJsonParameter(given)}::jsonb)
        as g(source text, order_platform text, any_status boolean, no_status boolean, credited text[],
          not_credited text[])
      offset 0) s on s.source = f.source
    where f.state = 'sealed' and not exists (
      select from intake.attributed_files d
      where d.job = ${job} and d.source_file_id = f.source_file_id and d.rules_hash = ${rulesHash})`;
}

/** SQL for the statuses of source `g` that a person has decided to credit, or not to. */
function ruledStatuses(decision: 'credit' | 'exclude'): RawBuilder<unknown> {
  return sql`array(
          select r.status from intake.rulings r
          where r.source = g.source and r.status is not null and r.decision = ${decision}
            and r.withdrawn_at is null)`;
}

/**
 * SQL that decides about the current orders of `files_to_attribute` (a table with the columns of
 * `filesToAttribute`), one row for each order. The first rule that applies decides: excluded, named by the
 * export itself, owner of a code, owner of a link, no owner.
 *
 * @param only another table of files, and SQL that is true for those orders `o` that are to be decided.
 */
export function decisionsOf(
  rules: AttributionRules,
  only = { files: 'files_to_attribute', isWanted: sql`true` },
): RawBuilder<unknown> {
  return sql`
    with ${eligibleOf(rules, only)}, ${hitsOf(rules)}, ${matchedOf(rules)}, ${decidedOf(rules)} select *
    from decisions`;
}

/**
 * SQL that is true if a seed file says that order `o` was credited elsewhere. Most deployments have no seed
 * file, and then only one look-up is needed.
 */
const isSeeded = sql`(select exists (select from ledger.seeds)) and (
            select true from ledger.seeded_orders v
            where ledger.fold_order_id(v.order_id) = ledger.fold_order_id(o.order_id)
              and ledger.is_platform(v.order_platform, f.order_platform) limit 1) is not null`;

/**
 * SQL for orders with their revenue, the reason, if any, why they cannot be credited to any influencer, and the
 * reason why they must be held if they name one. The gate says what is allowed. Orders that are not the job's to decide
 * are excluded, too, if the gate does not exclude them: those credited elsewhere, and those from before its own period. What
 * it says of a cancelled one concerns other sources, whoever credited the order.
 */
function eligibleOf(
  rules: AttributionRules,
  { files, isWanted }: { files: string; isWanted: RawBuilder<unknown> },
): RawBuilder<unknown> {
  const { brandId, revenue, creditsDrafts, creditsRenewals, start, period, hasTerms } = rules;
  const isBeforeStart = start === null ? sql`true` : sql`${orderedAt} < ${startOf(start)}`;
  const gate = gateOf({
    brandId,
    revenue,
    creditsDrafts,
    creditsRenewals,
    needsTime: start !== null || hasTerms,
  });
  return sql`
    eligible as materialized (
      select o.*, coalesce(o.deal_id, o.collab_id, o.influencer_handle) as named,
        coalesce(${gate.exclusion}, case
          when ${isSeeded} and not ${isAnswered(rules)} then 'credited_elsewhere'
          ${start === null || period !== null ? sql`` : sql`when ${isBeforeStart} and not ${isAnswered(rules)} then 'before_start'`}
        end) as exclusion_reason,
        ${gate.hold} as hold_reason, ${KNOWN_TIME} as known_at
      from ${sql.table(files)} f
      cross join lateral (
        select o.order_version_id, o.source, o.order_id, o.currency, o.content_hash, o.status, o.exclusion,
          o.doubt, o.total, o.refunded,
          o.influencer_handle, o.deal_id, o.collab_id, o.brand_id, o.placed_at, o.paid_at, o.cancelled_at,
          o.codes, o.codes_folded,
          o.links, o.links_folded, o.is_current, ${amountOf(rules)}::numeric(18,4) as amount,
          ${rulingsOfOrder} as rulings
        from intake.orders o where o.source_file_id = f.source_file_id and ${isWanted} offset 0) o
      where o.is_current and ${period === null ? sql`true` : sql`${isWithin(period)} and ${isBeforeStart}`}
    )`;
}

/** SQL that is true if the service may have processed entry `e`, and has not refused it. */
export const isSent = sql`(not ${neverSent} and e.state <> 'rejected')`;

/** SQL for the revenue of order `o`. What was sent keeps the rule by which it was: no rule has changed in most deployments. */
function amountOf({ job, revenue }: AttributionRules): RawBuilder<unknown> {
  const cases = Object.entries(REVENUE).map(([rule, amount]) => sql`when ${rule} then ${amount.sql}`);
  return sql`(
            case case when (select exists (select from intake.sent_revenue)) then (
              select s.revenue
              from intake.attributions a
              join intake.sent_revenue s on s.entry_id = a.entry_id
              join ledger.entries e on e.entry_id = a.entry_id
              where a.job = ${job} and a.source = o.source and a.order_id = o.order_id and ${isSent}) end
            ${sql.join(cases, sql` `)} else ${REVENUE[revenue].sql} end)`;
}

/**
 * SQL for the time of order `o` of file `f`. One after the export is wrong: it says nothing about the validity of a code,
 * also if a person has confirmed the order.
 */
export const KNOWN_TIME = sql`case when ${isByExport(ORDERED_AT).sql} then ${orderedAt} end`;

/**
 * Common table expressions that match the codes and links of orders in `eligible`. Orders that name an
 * influencer themselves are left out. The last one, `hits`, has one row for each owner of a code or link,
 * with the fault of those that do not count.
 */
export function hitsOf({ job, brandId }: Pick<AttributionRules, 'job' | 'brandId'>): RawBuilder<unknown> {
  return sql`
    carried as (
      select w.order_version_id, w.known_at as ordered_at,
        ${isConfirmed(sql`'unknown_time'`, 'w')} is true as is_time_confirmed, w.links_folded, 'code' as kind,
        'code' as owner_of, k.place, k.folded, w.codes[k.place] as written
      from eligible w cross join lateral unnest(w.codes_folded) with ordinality as k(folded, place)
      where w.exclusion_reason is null and w.named is null and cardinality(w.codes_folded) > 0
      union all
      select w.order_version_id, w.known_at, ${isConfirmed(sql`'unknown_time'`, 'w')} is true, w.links_folded,
        'link', l.owner_of, k.place,
        case l.owner_of when 'handle' then ltrim(k.folded, '@') else k.folded end, w.links[k.place]
      from eligible w cross join lateral unnest(w.links_folded) with ordinality as k(folded, place)
      cross join (values ('code'), ('handle'), ('link')) as l(owner_of)
      where w.exclusion_reason is null and w.named is null and cardinality(w.links_folded) > 0
    ),
    ${ownersOf(job)},
    hits as (
      select v.order_version_id, v.kind, v.place, v.written, c.line_no, c.target,
        case
          when coalesce(c.brand_id, ${brandId}) <> ${brandId} then 'code_of_other_brand'
          when v.ordered_at >= c.valid_to
            then case c.owner_of when 'link' then 'link_expired' else 'code_expired' end
          when v.ordered_at < c.valid_from
            then case c.owner_of when 'link' then 'link_not_yet_valid' else 'code_not_yet_valid' end
          when v.ordered_at is null and not v.is_time_confirmed
            and coalesce(c.valid_from, c.valid_to) is not null then 'unknown_time'
        end as fault
      from carried v join owners c on c.owner_of = v.owner_of and c.folded = v.folded
        and (c.link_folded is null or c.link_folded <@ v.links_folded)
    )`;
}

/**
 * Which codes and links decide if they have several owners; the lowest value decides, and the others do not count. Links
 * come before codes, because a visit comes before the checkout, and several of them count in the order of the export.
 */
const TURNS: Readonly<Record<Attribution, RawBuilder<unknown>>> = {
  code: sql`(h.kind <> 'code')::integer`,
  link: sql`(h.kind <> 'link')::integer`,
  first: sql`row((h.kind = 'code')::integer, h.place)`,
  last: sql`row((h.kind = 'link')::integer, -h.place)`,
  hold: sql`0`,
};

/** SQL for the owner of each order that names no influencer, and for a second one if what decides has two. */
function matchedOf({ attribution }: AttributionRules): RawBuilder<unknown> {
  return sql`
    matched as materialized (
      select order_version_id,
        min(target) filter (where is_decisive) as target,
        max(target) filter (where is_decisive) as other_target,
        bool_or(kind = 'code') filter (where is_decisive) as has_code,
        bool_or(kind = 'link') filter (where is_decisive) as has_link,
        (array_agg(line_no order by kind, place, line_no) filter (where is_decisive))[1] as line_no,
        (array_agg(written order by kind, place, line_no) filter (where is_decisive))[1] as written,
        case
          when bool_or(fault = 'code_expired') then 'code_expired'
          when bool_or(fault = 'code_not_yet_valid') then 'code_not_yet_valid'
          when bool_or(fault = 'code_of_other_brand') then 'code_of_other_brand'
          when bool_or(fault = 'link_expired') then 'link_expired'
          when bool_or(fault = 'link_not_yet_valid') then 'link_not_yet_valid'
        end as fault,
        bool_or(fault = 'unknown_time') as is_time_missing
      from (
        select h.*, h.fault is null
          and rank() over (partition by h.order_version_id, h.fault is null
            order by ${TURNS[attribution]}) = 1 as is_decisive
        from hits h
      ) h
      group by order_version_id
    )`;
}

/**
 * SQL for the decisions. Only an order that names an owner is held: of the others, nothing would be credited.
 * `offset 0` keeps the kind of a decision a column of `judged`. Otherwise the planner would compute it again for each
 * column that depends on it.
 */
function decidedOf({ job, brandId }: AttributionRules): RawBuilder<unknown> {
  return sql`
    matches as (
      select w.*, m.line_no, m.written, m.fault,
        case
          when w.exclusion_reason is not null then 'excluded'
          when w.named is not null then 'explicit'
          when m.target is distinct from m.other_target then
            case when not m.has_link then 'ambiguous_codes'
              when not m.has_code then 'ambiguous_links' else 'link_and_code' end
          when m.has_code then 'code'
          when m.has_link then 'link'
          when m.is_time_missing then 'unknown_time'
          when cardinality(w.codes) + cardinality(w.links) > 0 then 'unattributed'
          else 'organic'
        end as match,
        coalesce(w.hold_reason, case when m.is_time_missing then 'unknown_time' end) as held_for
      from eligible w left join matched m on m.order_version_id = w.order_version_id offset 0
    ),
    judged as (
      select m.*,
        case when m.match in ('explicit', 'code', 'link') and m.held_for is not null then 'held'
          else m.match end as decision
      from matches m offset 0
    ),
    decisions as (
      select j.source, j.order_id, j.order_version_id,
        -- A subtotal above the total is no amount.
        case when j.decision = 'held' and j.held_for = 'unknown_amount' then null else j.amount end as amount,
        j.currency,
        case when j.decision in ('explicit', 'code', 'link') then 'attributed'
             when j.decision in ('ambiguous_codes', 'ambiguous_links', 'link_and_code', 'unknown_time')
               then 'held'
             else j.decision end as outcome,
        case j.decision
          when 'excluded' then j.exclusion_reason
          when 'held' then j.held_for
          when 'unattributed' then
            coalesce(j.fault, case when cardinality(j.codes) > 0 then 'unknown_code' else 'unknown_link' end)
          when 'ambiguous_codes' then j.decision
          when 'ambiguous_links' then j.decision
          when 'link_and_code' then j.decision
          when 'unknown_time'
            then case j.hold_reason when 'after_export' then j.hold_reason else j.decision end
        end as reason,
        case when j.decision in ('explicit', 'code', 'link') then j.decision end as matched_by,
        case j.decision
          when 'explicit' then j.named
          when 'code' then j.written
          when 'link' then j.written
          when 'excluded' then null
          else coalesce(nullif(array_to_string(j.codes || j.links, ', '), ''),
            case j.decision when 'held' then j.named end)
        end as matched_value,
        case
          when j.decision = 'explicit' then
            coalesce('deal:' || j.deal_id, 'collab:' || j.collab_id,
              'handle:' || ledger.fold_handle(j.influencer_handle))
          else c.target
        end as target,
        case when j.decision in ('explicit', 'code', 'link') then ${brandId}::text end as brand_id,
        case when j.decision = 'explicit' then j.influencer_handle
          else c.influencer_handle end as influencer_handle,
        case when j.decision = 'explicit' then j.deal_id else c.deal_id end as deal_id,
        case when j.decision = 'explicit' then j.collab_id else c.collab_id end as collab_id,
        -- How many things may name an owner: see keepClaims.
        cardinality(j.codes) + cardinality(j.links) + (j.named is not null)::integer as evidence
      from judged j
      left join intake.codes c on c.job = ${job} and c.line_no = j.line_no and j.decision in ('code', 'link')
    )`;
}

/**
 * SQL that is true if the job has an entry for order `o` that a backfill will post or that may have been
 * processed, also under a source that it no longer reads. The job then stays responsible for the order.
 */
function isAnswered({ job, sources }: AttributionRules): RawBuilder<boolean> {
  const isRemoved = sql`coalesce(e.source <> all(${sources.map(({ source }) => source)}::text[]), false)`;
  return sql<boolean>`(
    select true from ledger.entries e
    where ledger.fold_order_id(e.order_id) = ledger.fold_order_id(o.order_id) and e.job = ${job}
      and e.effect is not distinct from 'referral'
      and (e.source = o.source or (${isRemoved} and ledger.is_platform(e.order_platform, f.order_platform)))
      and ((e.backfill_id is not null and e.state <> 'held') or not ${neverSent}) limit 1) is not null`;
}

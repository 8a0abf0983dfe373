import { type RawBuilder, sql } from 'kysely';
import { BACKFILL_RULES } from '../core/backfill.ts';

/**
 * SQL for the dispositions of some orders in a job: rows like those of `reporting.order_dispositions`, one
 * per order.
 *
 * The ledger takes precedence over the current attribution, because money that has moved stays moved: an
 * accepted order that was cancelled later stays `accepted` (and has an adjustment). Only if an entry was held
 * or refused, so that no money moved, does an attribution that no longer wants it take precedence.
 *
 * An entry that is being sent counts as `ready` while its owner is alive, because it will be settled soon. It
 * counts as `in_doubt` once the owner's lease has expired, because that is the state it gets when a process
 * reaps it.
 *
 * Each order is looked up by keys, independent of the planner's statistics (see db/large-statements.ts).
 *
 * @param options.orders rows with the columns of `STATED_BY_ORDER`: current versions in sealed files.
 */
export function dispositionOfOrders(options: {
  readonly job: string;
  readonly orders: RawBuilder<unknown>;
}): RawBuilder<unknown> {
  return sql`
    select ${options.job}::text as job, s.source, s.order_id, s.order_version_id, s.entry_id, s.ordered_at,
      (s.ordered_at at time zone 'UTC')::date as day_utc, s.disposition, s.disposition_reason,
      s.disposition_at, s.is_pending or s.disposition = 'unaccounted'
        or (s.entry_id is not null and s.disposition <> 'accepted') as is_open,
      s.matched_by, s.matched_value,
      case when s.is_owned then
        coalesce('deal:' || s.deal_id, 'collab:' || s.collab_id,
          'handle:' || ledger.fold_handle(s.influencer_handle))
      end as target,
      s.brand_id, s.deal_id, s.collab_id, s.influencer_handle, s.currency, s.amount
    from (
      -- What was sent for a source that the job no longer reads has the version that another source states.
      select o.source, o.order_id,
        case when e.entry_id is null then o.order_version_id
          else coalesce(a.order_version_id, o.order_version_id) end
          as order_version_id, e.entry_id,
        coalesce(o.placed_at, o.paid_at, o.first_seen_at) as ordered_at,
        case
          when e.entry_id is null
            then case when a.outcome is null or a.outcome = 'attributed' then 'unaccounted' else a.outcome end
          when e.state = 'sending' then case when ${hasLiveOwner} then 'ready' else 'in_doubt' end
          when e.state = 'written_off' then 'held'
          else e.state
        end as disposition,
        case
          when e.entry_id is null then a.reason
          when e.state in ('held', 'rejected', 'in_doubt') then e.state_reason
          when e.state = 'written_off' then 'written_off'
        end as disposition_reason,
        coalesce(e.state_changed_at, a.decided_at, o.first_seen_at) as disposition_at,
        coalesce(a.is_pending, true) as is_pending,
        e.entry_id is not null or coalesce(a.outcome = 'attributed', false) as is_owned,
        a.matched_by, reporting.without_addresses(a.matched_value) as matched_value,
        coalesce(e.brand_id, a.brand_id) as brand_id,
        reporting.deal_id_of(coalesce(e.deal_id, a.deal_id, e.body::json ->> 'deal_id')) as deal_id,
        coalesce(e.collab_id, a.collab_id, e.body::json ->> 'collab_id') as collab_id,
        reporting.without_addresses(
          case when e.entry_id is null then a.influencer_handle
            else coalesce(${postedTo('a')},
              (select w.influencer_handle from reporting.deal_owners w where w.deal_id = e.deal_id),
              -- Before the mirror has read the deal that the answer named.
              e.body::json ->> 'influencer_handle')
            end) as influencer_handle,
        coalesce(e.currency, a.currency, o.currency) as currency,
        coalesce(e.amount, a.amount) as amount
      from ${options.orders} o
      left join lateral (
        select a.* from intake.attributions a
        where a.job = ${options.job} and a.source = o.source and a.order_id = o.order_id limit 1) a on true
      left join lateral (select e.* from ledger.entries e where e.entry_id = a.entry_id limit 1) e
        on e.state not in ('held', 'rejected') or a.outcome = 'attributed'
      -- A backfill decides about the orders of its plan, and the job has not looked at the others of their file yet.
      where a.order_id is not null or not exists (
        select from intake.attributed_files f
        where f.job = ${options.job} and f.source_file_id = o.source_file_id
          and f.rules_hash = ${BACKFILL_RULES})
    ) s`;
}

/**
 * SQL: the creator to whom entry `e` was posted, as far as the order says: of one without a deal, the handle that was
 * sent, and of others, the handle that its decision names, if that is still about the deal or collaboration that was
 * posted. Null: unknown; `reporting.deal_owners` says who has a deal.
 *
 * @param decision alias of a row with `target` and `influencer_handle`: what was decided last about the order.
 */
export function postedTo(decision: 'a' | 'o'): RawBuilder<string | null> {
  const of = sql.ref(decision);
  return sql`
    coalesce(case when e.deal_id is null then e.body::json ->> 'influencer_handle' end,
      case when ${of}.target = coalesce('deal:' || e.deal_id, 'collab:' || e.collab_id, ${of}.target)
        then ${of}.influencer_handle end)`;
}

/** Columns of order `o` that its disposition needs from the export. */
export const STATED_BY_ORDER = sql`
  o.source, o.order_id, o.order_version_id, o.source_file_id, o.placed_at, o.paid_at, o.first_seen_at,
  o.currency`;

/** Condition: the lease of the process that claimed entry `e` has not expired, by the database's clock. */
const hasLiveOwner = sql`exists (select 1 from ops.leases l where l.owner = e.owner and l.expires_at > clock_timestamp())`;

/** Condition: the process that claimed entry `e` is gone, and no process has reaped the entry yet. */
export const isAbandoned = sql`(not e.is_settled and e.state = 'sending' and not ${hasLiveOwner})`;

/**
 * Condition: entry `e` may have been processed without an answer that proves it. It is in doubt, or its
 * process is gone.
 */
export const isDoubt = sql`(not e.is_settled and (e.state = 'in_doubt' or (e.state = 'sending' and not ${hasLiveOwner})))`;

/**
 * Condition: entry `e` is for refused clicks that now belong to another influencer or to none, or whose source the
 * job no longer reads (they then have a reason), so nothing is left to do.
 */
export const isRefusedAndGone = sql`(e.state = 'rejected' and not exists (
  select from intake.clicks c
  where c.job = e.job and c.source = e.source and c.outcome = 'attributed' and c.reason is null
    and c.target = e.details ->> 'target'
    and c.day = (e.details ->> 'day')::date and c.country = e.details ->> 'country'))`;

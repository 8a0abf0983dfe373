import { type RawBuilder, sql, type Transaction } from 'kysely';
import { execute } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import { neverSent } from '../../../src/ledger/propose.ts';
import type { AttributionRules } from './decisions.ts';

/**
 * Holds orders of `decided_orders` that may be another order under another name: in the same source under an id that
 * looks alike, or in another source of the brand. Of two such orders, the one that was sent stays, or that an earlier
 * run has decided to credit; else the one whose id is plain, or whose source the job names first. A person decides
 * about the other one.
 *
 * It looks at orders that would be credited only, and at no order that may have been sent already.
 */
export async function holdSimilar(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  await holdSimilarIds(trx, rules);
  await holdSameIds(trx, rules);
  if (!rules.isBrandShared) return;
  await holdNamed(trx, rules);
  await holdAlike(trx, rules);
}

/** SQL that makes decision `d` one that holds the order. */
const held = (reason: string) => sql`
  outcome = 'held', reason = ${reason}, matched_by = null, target = null, brand_id = null,
  influencer_handle = null, deal_id = null,
  collab_id = null, likeness = null`;

/** SQL that is true if decision `d` would credit an order that nobody has confirmed to be another one. */
const isOpen = (job: string, reason: string) => sql`
  d.outcome = 'attributed'
  and not exists (
    select from intake.rulings r
    where r.source = d.source and r.order_id = d.order_id and r.reason = ${reason} and r.decision = 'credit'
      and r.withdrawn_at is null)
  and not exists (
    select from intake.attributions a join ledger.entries e on e.entry_id = a.entry_id
    where a.job = ${job} and a.source = d.source and a.order_id = d.order_id and not ${neverSent})`;

/** Ids that differ only in how they are written. `similar_to` is null for plain ids, which nearly all are. */
async function holdSimilarIds(trx: Transaction<DB>, { job }: AttributionRules): Promise<void> {
  const isSealed = sql`(select f.state from intake.source_files f where f.source_file_id = x.source_file_id) = 'sealed'`;
  const isCreditedBefore = sql`exists (
            select from intake.attributions a
            where a.job = ${job} and a.source = x.source and a.order_id = x.order_id
              and a.outcome = 'attributed'
              and not exists (select from decided_orders n
                where n.source = x.source and n.order_id = x.order_id))`;
  await execute(trx)`
    update decided_orders d set ${held('similar_id')}
    from (
      select d.ctid as place, d.source, d.order_id, o.similar_to
      from decided_orders d
      cross join lateral (select o.similar_to from intake.orders o
        where o.order_version_id = d.order_version_id limit 1) o
      where ${isOpen(job, 'similar_id')}
    ) o
    -- By its place: the table has no index, and is joined with itself.
    where d.ctid = o.place and (
      exists (
        select from intake.orders x
        where x.source = o.source and x.order_id = o.similar_to and x.is_current and ${isSealed})
      or exists (
        select from intake.orders x
        where x.source = o.source and x.similar_to = coalesce(o.similar_to, o.order_id) and x.is_current
          and x.order_id <> o.order_id
          and ${isSealed}
          and ((o.similar_to is not null and x.order_id < o.order_id) or ${isCreditedBefore} or exists (
            select from ledger.entries e
            where ledger.fold_order_id(e.order_id) = ledger.fold_order_id(x.order_id) and e.source = x.source
              and e.effect is not distinct from 'referral' and not ${neverSent}))))`;
}

/**
 * The same id, amount and minute under another platform, for example because source and platform were renamed together.
 * So is an order whose minute is not known: it has no time, or the rows of the other one were deleted.
 */
async function holdSameIds(trx: Transaction<DB>, { job, brandId, sources }: AttributionRules): Promise<void> {
  await execute(trx)`
    update decided_orders d set ${held('similar_order')}
    from ${placesOf(sources)}
    where p.source = d.source and ${isOpen(job, 'similar_order')} and exists (
      select from ledger.entries e
      left join lateral (
        select x.placed_at
        from intake.orders x
        where x.source = e.source and x.order_id = e.order_id and x.is_current
        limit 1) x
          on true
      cross join lateral (select o.placed_at from intake.orders o
        where o.order_version_id = d.order_version_id limit 1) o
      where ledger.fold_order_id(e.order_id) = ledger.fold_order_id(d.order_id)
        and e.effect is not distinct from 'referral' and e.state <> 'held' and e.source <> d.source
        and not ledger.is_platform(e.order_platform, p.platform) and e.brand_id = ${brandId}
        and e.amount = d.amount and e.currency = d.currency
        and (date_trunc('minute', x.placed_at) = date_trunc('minute', o.placed_at)) is not false)`;
}

/**
 * An order whose tags or notes name the id of another one of the brand, on another platform: a shop names the ids under
 * which its orders stand in the export of a channel. Amount and time may differ, for example by fees and time zones.
 */
async function holdNamed(trx: Transaction<DB>, { job, brandId, sources }: AttributionRules): Promise<void> {
  const isCredited = sql`
    e.effect is not distinct from 'referral' and e.state <> 'held' and e.brand_id = ${brandId}
      and not ledger.is_platform(e.order_platform, p.platform)
    and (not ${neverSent}
      or not exists (select from decided_orders n where n.source = e.source and n.order_id = e.order_id))`;
  const isBefore = sql`x.outcome = 'attributed' and q.place < p.place and not ledger.is_platform(q.platform, p.platform)`;
  await execute(trx)`
    with named as materialized (
      select d.source, d.order_id, n.id
      from decided_orders d
      cross join lateral (select o.other_ids from intake.orders o
        where o.order_version_id = d.order_version_id limit 1) o
      cross join lateral unnest(o.other_ids) n(id)
      where d.outcome = 'attributed'
    ),
    repeated as materialized (
      select d.source, d.order_id from decided_orders d join ${placesOf(sources)} on p.source = d.source
      where ${isOpen(job, 'similar_order')} and (
        exists (
          select from named n join ledger.entries e on ledger.fold_order_id(e.order_id) = n.id
          where n.source = d.source and n.order_id = d.order_id and ${isCredited})
        or exists (
          select from intake.orders x join ledger.entries e on ledger.fold_order_id(e.order_id) = ledger.fold_order_id(x.order_id)
          where x.other_ids @> array[ledger.fold_order_id(d.order_id)] and x.other_ids <> '{}'
            and x.is_current
            and e.source = x.source and e.order_id = x.order_id and ${isCredited})
        or exists (
          select from named n join decided_orders x on ledger.fold_order_id(x.order_id) = n.id join ${placesOf(sources, 'q')} on q.source = x.source
          where n.source = d.source and n.order_id = d.order_id and ${isBefore})
        or exists (
          select from named n join decided_orders x on x.source = n.source and x.order_id = n.order_id join ${placesOf(sources, 'q')} on q.source = x.source
          where n.id = ledger.fold_order_id(d.order_id) and ${isBefore}))
    )
    update decided_orders d
    set ${held('similar_order')}
    from repeated r
    where r.source = d.source and r.order_id = d.order_id`;
}

/**
 * The same code, amount, currency and minute in a source of the brand with another platform: an order of a channel that
 * stands in the channel's export and in that of the shop.
 */
async function holdAlike(trx: Transaction<DB>, { job, brandId, sources }: AttributionRules): Promise<void> {
  await execute(trx)`
    update decided_orders d
    set likeness = md5(json_build_array(${brandId}::text,
        lower(regexp_replace(d.matched_value, '\\s', '', 'g')), trim_scale(d.amount), d.currency,
      date_trunc('minute', o.placed_at at time zone 'UTC'))::text)
    from intake.orders o
    where o.order_version_id = d.order_version_id and d.outcome = 'attributed' and o.placed_at is not null`;
  await execute(trx)`create index on decided_orders (likeness)`;
  await execute(trx)`
    update decided_orders d set ${held('similar_order')}
    from ${placesOf(sources)}
    where p.source = d.source and d.likeness is not null and ${isOpen(job, 'similar_order')} and (
      exists (
        select from intake.attributions x join ledger.entries e on e.entry_id = x.entry_id
        where x.likeness = d.likeness and x.outcome = 'attributed'
          and not ledger.is_platform(e.order_platform, p.platform)
          and (x.job <> ${job} or not ${neverSent}
            or not exists (select from decided_orders n
              where n.source = x.source and n.order_id = x.order_id)))
      or exists (
        select from decided_orders x join ${placesOf(sources, 'q')} on q.source = x.source
        where x.likeness = d.likeness and x.outcome = 'attributed' and q.place < p.place
          and not ledger.is_platform(q.platform, p.platform)))`;
}

/** SQL for the sources of the job, in its order, with their platforms. Within one platform, ids tell orders apart. */
function placesOf(sources: AttributionRules['sources'], alias = 'p'): RawBuilder<unknown> {
  const rows = sources.map(
    ({ source, orderPlatform }, place) => sql`(${source}, ${orderPlatform}, ${place}::integer)`,
  );
  return sql`(values ${sql.join(rows)}) ${sql.ref(alias)}(source, platform, place)`;
}

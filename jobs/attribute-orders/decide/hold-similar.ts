import { type RawBuilder, sql, type Transaction } from 'kysely';
import { ZONE_HOURS, ZONE_MINUTES } from '../../../src/core/order.ts';
import { execute, rowOf } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import {
  isOtherPurchase,
  isSameCustomer,
  minutesBetween,
  statedAmount,
  statesTimes,
  zoneStepsOf,
} from '../../../src/intake/orders/order-columns.ts';
import { neverSent } from '../../../src/ledger/propose.ts';
import { spellSeeds } from '../../../src/ledger/seed.ts';
import { type AttributionRules, placesOf } from './decisions.ts';
import { findZoneSteps } from './find-zone-steps.ts';
import { REVENUE } from './gate.ts';
import { held, isUnconfirmed } from './hold-contradicted.ts';

/*
 * Holds orders of `decided_orders` that may be another order under another name. Of two such orders, the one that was sent
 * stays, or that an earlier run has decided to credit; else the one whose id is plain, or whose source the job names first.
 * A person decides about the other one. An order that may have been sent already is not looked at.
 */

/** Holds orders whose id looks like another one, of their source or of another source of the brand. */
export async function holdSimilarIds(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  await holdSpelled(trx, rules);
  await holdSameIds(trx, rules);
}

/** Holds orders that another file states under another id: one of their platform, or of another platform of the brand. */
export async function holdSimilarOrders(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  await holdRenumbered(trx, rules);
  await holdSubOrders(trx, rules);
  await holdLateParts(trx, rules);
  if (!rules.isBrandShared) return;
  await holdNamed(trx, rules);
  const sources = rules.sources.filter(({ ownOrders }) => !ownOrders);
  if (sources.length === 0) return;
  await holdAlike(trx, { ...rules, sources });
  await holdInOtherZone(trx, { ...rules, sources });
}

/** SQL that is true if decision `d` would credit an order that was never sent, and that no person has confirmed. */
const isOpen = (job: string, reason: string | RawBuilder<unknown>) => sql`
  ${isUnconfirmed(reason)}
  and not exists (
    select from intake.attributions a join ledger.entries e on e.entry_id = a.entry_id
    where a.job = ${job} and a.source = d.source and a.order_id = d.order_id and not ${neverSent})`;

/** SQL that is true if entry `e` credits its order, unless it waits and this run decides about the order. */
const isCredited = sql`(
  e.effect is not distinct from 'referral' and e.state <> 'held'
  and (not ${neverSent}
    or not exists (select from decided_orders n where n.source = e.source and n.order_id = e.order_id)))`;

/** SQL for the code, or what else names the owner, of a decision as it is compared. */
const codeOf = (decision: string) =>
  sql`lower(regexp_replace(${sql.ref(`${decision}.matched_value`)}, '\\s', '', 'g'))`;

/**
 * SQL for the sources of `orders` whose orders have several times: one that all of them have tells none apart. It is asked
 * once for each source, because such a source is read to its end.
 */
const toldApart = (orders: string) => sql`(
        select s.source
        from (select source, min(placed_at) as placed_at from ${sql.table(orders)} group by source) s
        where exists (
          select from intake.orders other
          where other.source = s.source and other.is_current and other.placed_at <> s.placed_at))`;

/** Ids of a source or a seed that differ only in how they are written. `similar_to` is null for plain ids, which nearly all are. */
async function holdSpelled(trx: Transaction<DB>, { job, sources }: AttributionRules): Promise<void> {
  const isSeeded = await findSeeded(trx);
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
      select d.ctid as place, d.source, d.order_id, o.similar_to, o.name, p.platform
      from decided_orders d
      join ${placesOf(sources)} on p.source = d.source
      cross join lateral (select o.similar_to, ${foldedName} as name from intake.orders o
        where o.order_version_id = d.order_version_id limit 1) o
      where ${isOpen(job, 'similar_id')}
    ) o
    -- By its place: the table has no index, and is joined with itself.
    where d.ctid = o.place and (
      ${isSeeded}
      or exists (
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

/** SQL for the name of order `o`, as a seed may have it: `#1001` of an order whose id is 5512340987. */
export const foldedName = sql`ltrim(lower(ledger.fold_order_id(o.order_name)), '#')`;

/**
 * SQL that is true if a seed names order `o` in another spelling, or by its name. An id that an order of the source has is
 * not the name of another one. Most deployments have no seed.
 */
async function findSeeded(trx: Transaction<DB>): Promise<RawBuilder<unknown>> {
  const seed = await trx.selectFrom('ledger.seeds').select('seed_id').limit(1).executeTakeFirst();
  if (seed === undefined) return sql`false`;
  await spellSeeds(trx, null);
  return sql`
    exists (
      select from ledger.seeded_orders v
      where ledger.fold_order_id(v.order_id) = o.similar_to
        and ledger.is_platform(v.order_platform, o.platform))
    or exists (
      select from seeded_spellings s
      where s.loose = coalesce(o.similar_to, ledger.fold_order_id(o.order_id))
        and s.id <> ledger.fold_order_id(o.order_id)
        and ledger.is_platform(s.order_platform, o.platform))
    or exists (
      select from (
        select ledger.fold_order_id(v.order_id) as id, v.order_platform from ledger.seeded_orders v
        where ledger.fold_order_id(v.order_id) = o.name
        union all
        select s.id, s.order_platform from seeded_spellings s where s.loose = o.name
      ) n
      where ledger.is_platform(n.order_platform, o.platform) and not exists (
        select from intake.orders x where x.source = o.source and x.order_id = n.id and x.is_current))`;
}

/**
 * The same id, perhaps written otherwise, in another source. Under one platform, whose ids tell orders apart, another
 * spelling is enough. Under another platform of the brand, which may have the same ids by chance, the amount must agree by
 * some rule of revenue, and also the day and the code or its owner; or the minute of just the same id. An order may be dated
 * a day off by an export without times or by a wrong time zone. What is not known, because an order has no time or the rows
 * of the other one were deleted, may agree.
 */
async function holdSameIds(trx: Transaction<DB>, { job, brandId, sources }: AttributionRules): Promise<void> {
  const amounts = sql`array[${sql.join(Object.values(REVENUE).map((amount) => amount.sql))}]::numeric[]`;
  const own = sources.flatMap(({ source, ownOrders }) => (ownOrders ? [source] : []));
  // Sources with such ids, from one to the next in their index.
  const next = (after: RawBuilder<unknown>) => sql`
        select min(x.source) as source
        from intake.orders x
        where x.similar_to is not null and x.is_current and ${after}`;
  await execute(trx)`
    with recursive spelled(source) as (
      (${next(sql`true`)})
      union all
      select (${next(sql`x.source > s.source`)}) from spelled s where s.source is not null
    ),
    credited as materialized (
      select d.source, d.order_id, ledger.fold_order_id(d.order_id) as id, p.platform, p.place,
        coalesce(o.similar_to, ledger.fold_order_id(d.order_id)) as loose, o.placed_at,
        d.amount, o.total, o.amounts, d.currency, ${codeOf('d')} as code, d.target
      from decided_orders d
      join ${placesOf(sources)} on p.source = d.source
      cross join lateral (select o.similar_to, o.placed_at, o.total, ${amounts} as amounts
        from intake.orders o
        where o.order_version_id = d.order_version_id limit 1) o
      where d.outcome = 'attributed'
    ),
    entered as (
      select c.source, c.order_id, e.entry_id
      from credited c
      join ledger.entries e on ledger.fold_order_id(e.order_id) = any(array[c.id, c.loose])
      union
      select c.source, c.order_id, e.entry_id
      from credited c
      cross join spelled s
      join intake.orders x on x.source = s.source and x.similar_to = c.loose and x.is_current
      join ledger.entries e on ledger.fold_order_id(e.order_id) = ledger.fold_order_id(x.order_id)
        and e.source = x.source
    ),
    others as (
      select n.source, n.order_id, e.source as other, ledger.fold_order_id(e.order_id) as id,
        e.order_platform as platform, e.brand_id, e.amount, o.total, o.amounts, e.currency, o.placed_at, ${codeOf('a')} as code, a.target
      from entered n
      join ledger.entries e on e.entry_id = n.entry_id
      left join intake.attributions a on a.entry_id = e.entry_id
      left join lateral (
        select o.placed_at, o.total, ${amounts} as amounts
        from intake.orders o
        where o.source = e.source and o.order_id = e.order_id and o.is_current
        limit 1) o
          on true
      where e.source <> n.source and ${isCredited}
      union all
      select c.source, c.order_id, x.source, x.id, x.platform, ${brandId}, x.amount, x.total, x.amounts, x.currency,
        x.placed_at, x.code, x.target
      from credited c join credited x on x.loose = c.loose and x.place < c.place
    ),
    similar_orders as (
      select c.source, c.order_id,
        case when ledger.is_platform(x.platform, c.platform) then 'similar_id'
          else 'similar_order' end as reason
      from credited c
      join others x on x.source = c.source and x.order_id = c.order_id
      where case
        when ledger.is_platform(x.platform, c.platform) then x.id <> c.id
        else not (array[c.source, x.other] && ${own}::text[])
          and x.brand_id = ${brandId} and x.currency = c.currency
          and (x.amount = any(c.amounts) or c.amount = any(x.amounts) or x.total = c.total) and (
          ((x.code = c.code or x.target = c.target) is not false
            and (x.placed_at - c.placed_at between '-2 days' and '2 days') is not false)
          or (x.id = c.id
            and (date_trunc('minute', x.placed_at) = date_trunc('minute', c.placed_at)) is not false))
      end
    )
    update decided_orders d
    set ${held(sql`r.reason`)}
    from similar_orders r
    where r.source = d.source and r.order_id = d.order_id and ${isOpen(job, sql`r.reason`)}`;
}

/**
 * An order that another file of the platform states under another id: a shop that moves numbers its orders anew. The time is
 * the same, and what was bought, and by whom, as far as both say it. Two orders have the same second by chance hardly ever.
 * Times without seconds agree more often: then the customer is the same, or two orders and half of the file are known. Two
 * ids that one file has stated, even in an earlier state, are of two orders: one of them was paid later, for example.
 */
async function holdRenumbered(trx: Transaction<DB>, { job, sources }: AttributionRules): Promise<void> {
  await execute(trx)`
    with own as materialized (
      select d.source, d.order_id, d.order_version_id, p.platform, o.source_file_id, o.placed_at,
        ${statedAmount('o')} as amount
      from decided_orders d
      join ${placesOf(sources)} on p.source = d.source
      join intake.orders o on o.order_version_id = d.order_version_id
      -- Who confirmed that an order with a similar id is another one has compared the two.
      where o.placed_at is not null and ${isOpen(job, 'similar_order')} and ${isUnconfirmed('similar_id')}
    ),
    twins as materialized (
      select w.source, w.order_id, w.source_file_id, w.placed_at,
        bool_or(extract(second from w.placed_at) <> 0 or ${isSameCustomer('o', 'x')} is true) as is_certain
      from own w
      join intake.orders x on x.placed_at = w.placed_at and ${statedAmount('x')} = w.amount
      join ${placesOf(sources, 'q')} on q.source = x.source and ledger.is_platform(q.platform, w.platform)
      join intake.orders o on o.order_version_id = w.order_version_id
      left join decided_orders n on n.source = x.source and n.order_id = x.order_id
      where coalesce(x.placed_at, x.paid_at, x.first_seen_at)
          between (select min(placed_at) from own) and (select max(placed_at) from own)
        and x.is_current and x.source_file_id <> w.source_file_id
        and not exists (
          select from intake.orders a join intake.orders b on b.source_file_id = a.source_file_id
          where a.source = w.source and a.order_id = w.order_id and b.source = x.source and b.order_id = x.order_id)
        and ledger.fold_order_id(x.order_id) <> ledger.fold_order_id(w.order_id)
        and not ${isOtherPurchase('o', 'x')}
        and ((n.outcome = 'attributed' and x.order_version_id < w.order_version_id) or exists (
          select from intake.attributions a left join ledger.entries e on e.entry_id = a.entry_id
          where a.job = ${job} and a.source = x.source and a.order_id = x.order_id
            and ((n.order_id is null and a.outcome = 'attributed') or not ${neverSent})))
      group by w.source, w.order_id, w.source_file_id, w.placed_at
    )
    update decided_orders d set ${held('similar_order')}
    from twins w
    where w.source = d.source and w.order_id = d.order_id and w.source in ${toldApart('twins')} and (w.is_certain or (
      ${statesTimes(sql`w.source_file_id`)}
      and 2 * (select count(*) from twins x where x.source_file_id = w.source_file_id)
        >= greatest(4, (select count(*) from own o where o.source_file_id = w.source_file_id))))`;
}

/** Seconds before and after an order in which others show how many share one by chance: a batch of renewals is short. */
const BESIDE_SECONDS = 5;

/** What orders of one second have in common that may be parts of one, besides their file or source. */
const OF_PARTS = ['currency', 'codes_folded', 'customer_key_no', 'customer_key'];

const columnsOf = (order: string, columns: readonly string[]) =>
  sql.join(columns.map((column) => sql.ref(`${order}.${column}`)));

/** SQL for columns about the second of order `o`, whose orders are the window `whole`: their parts and those `alike` beside them. */
const aboutSecond = (alike: RawBuilder<unknown>) => sql`
        count(*) over whole as orders, sum(${statedAmount('o')}) over whole as all_parts,
        max(${statedAmount('o')}) over whole as largest,
        row_number() over (whole order by ${statedAmount('o')} desc, o.order_version_id) as place,
        (count(*) over (partition by ${alike} order by o.placed_at
          range between ${sql.lit(`${BESIDE_SECONDS} s`)}::interval preceding
            and ${sql.lit(`${BESIDE_SECONDS} s`)}::interval following) - count(*) over whole)
          / ${sql.lit(2 * BESIDE_SECONDS)}.0 as rate`;

/**
 * SQL that is true if more orders of an hour add up to another one of their second than chance makes groups of three: if
 * `rate` others are placed in each second beside an order, two of them have its own second `rate² / 2` times, and each group
 * is counted from all three.
 */
const exceedsChance = sql`
        count(*) filter (where orders > 2 and place = 1 and all_parts = 2 * largest) > sum(power(rate, 2)) / 6`;

/**
 * Orders of one second that add up to another one of that second: a marketplace splits an order by seller, and exports the
 * whole one beside its parts. An order of one seller has one part, so a file may have each order twice. The largest one stays.
 * In a sale or a batch of renewals, several orders have one second by chance, and some of these add up. So they are held if
 * some hour of the file has more of them than chance makes.
 */
async function holdSubOrders(trx: Transaction<DB>, { job }: AttributionRules): Promise<void> {
  const alike = columnsOf('o', ['source_file_id', ...OF_PARTS]);
  await execute(trx)`
    with timed as materialized (
      select d.source, d.order_id, ${alike}, o.placed_at, ${aboutSecond(alike)},
        count(*) over (partition by ${alike}, o.placed_at, ${statedAmount('o')}) as alike
      from decided_orders d join intake.orders o on o.order_version_id = d.order_version_id
      where d.outcome = 'attributed' and extract(second from o.placed_at) <> 0
      window whole as (partition by ${alike}, o.placed_at)
    ),
    doubled as (
      select source_file_id from timed group by source_file_id having bool_and(alike = 2) and count(*) >= 4
    ),
    split as (
      select o.source_file_id from timed o group by ${alike}, date_trunc('hour', o.placed_at) having ${exceedsChance}
    )
    update decided_orders d set ${held('may_be_part')}
    from timed t
    where t.source = d.source and t.order_id = d.order_id and ${isOpen(job, 'may_be_part')} and t.source in ${toldApart('timed')} and (
      (t.orders > 2 and t.place > 1 and t.all_parts = 2 * t.largest
        and t.source_file_id in (select source_file_id from split))
      or (t.place % 2 = 0 and t.source_file_id in (select source_file_id from doubled)))`;
}

/**
 * The same of orders that several files state: the parts are paid, or change, one by one. The whole one is held if a part
 * counts already, and a part if the whole one does, unless chance explains their hour. What is held as a part, and stated by
 * another file since, stays held.
 */
async function holdLateParts(trx: Transaction<DB>, { job }: AttributionRules): Promise<void> {
  await execute(trx)`
    update decided_orders d set ${held('may_be_part')}
    from intake.attributions k, intake.orders o
    where k.job = ${job} and k.source = d.source and k.order_id = d.order_id
      and k.outcome = 'held' and k.reason = 'may_be_part' and o.order_version_id = d.order_version_id
      and exists (
        select from intake.orders v
        where v.source = d.source and v.order_id = d.order_id and v.source_file_id <> o.source_file_id)
      and ${isOpen(job, 'may_be_part')}`;
  const alike = ['source', ...OF_PARTS];
  await execute(trx)`
    with late as materialized (
      select ${columnsOf('o', alike)}, o.order_id, o.source_file_id, o.placed_at, ${statedAmount('o')} as amount
      from decided_orders d join intake.orders o on o.order_version_id = d.order_version_id
      where extract(second from o.placed_at) <> 0 and ${isOpen(job, 'may_be_part')}
    ),
    beside as (
      select w.*, x.source_file_id <> w.source_file_id as is_elsewhere, ${statedAmount('x')} as other,
        max(${statedAmount('x')}) over (partition by w.source, w.order_id) as largest,
        (n.outcome = 'attributed' and ${statedAmount('x')} > w.amount) is true or exists (
          select from intake.attributions a left join ledger.entries e on e.entry_id = a.entry_id
          where a.job = ${job} and a.source = x.source and a.order_id = x.order_id
            and a.outcome = 'attributed' and (n.order_id is null or not ${neverSent})) as is_credited
      from late w
      join intake.orders x on x.source = w.source and x.placed_at = w.placed_at and x.order_id <> w.order_id
        and row(${columnsOf('x', OF_PARTS)}) is not distinct from row(${columnsOf('w', OF_PARTS)})
      left join decided_orders n on n.source = x.source and n.order_id = x.order_id
      where coalesce(x.placed_at, x.paid_at, x.first_seen_at)
          between (select min(placed_at) from late) and (select max(placed_at) from late)
        and x.is_current
    ),
    found as materialized (
      select w.order_id, w.placed_at, ${columnsOf('w', alike)}
      from beside w
      group by w.order_id, w.placed_at, w.amount, ${columnsOf('w', alike)}
      having count(*) > 1 and bool_or(is_elsewhere) and amount + sum(other) = 2 * greatest(amount, max(other))
        -- Parts beside parts are no whole order.
        and bool_or(is_credited and greatest(other, amount) = greatest(largest, amount))
    ),
    timed as (
      select ${columnsOf('o', alike)}, h.hour, ${aboutSecond(columnsOf('o', alike))}
      from (select distinct source, date_trunc('hour', placed_at) as hour from found) h
      join intake.orders o on o.source = h.source and date_trunc('hour', o.placed_at) = h.hour
        and coalesce(o.placed_at, o.paid_at, o.first_seen_at) between h.hour and h.hour + interval '1 hour'
      where o.is_current and extract(second from o.placed_at) <> 0
      window whole as (partition by ${columnsOf('o', alike)}, o.placed_at)
    ),
    split as (
      select ${columnsOf('o', alike)}, hour from timed o group by ${columnsOf('o', alike)}, hour having ${exceedsChance}
    )
    update decided_orders d set ${held('may_be_part')}
    from found t join split p on p.hour = date_trunc('hour', t.placed_at)
      and row(${columnsOf('p', alike)}) is not distinct from row(${columnsOf('t', alike)})
    where t.source = d.source and t.order_id = d.order_id and t.source in ${toldApart('found')}`;
}

/**
 * An order whose tags or notes name the id of another one of the brand, on another platform: a shop names the ids under
 * which its orders stand in the export of a channel. Amount and time may differ, for example by fees and time zones.
 */
async function holdNamed(trx: Transaction<DB>, { job, brandId, sources }: AttributionRules): Promise<void> {
  const isOfBrand = sql`
        ${isCredited} and e.brand_id = ${brandId} and not ledger.is_platform(e.order_platform, c.platform)`;
  const isBefore = (one: string, other: string) => sql`
        ${sql.ref(`${one}.place`)} < ${sql.ref(`${other}.place`)}
          and not ledger.is_platform(${sql.ref(`${one}.platform`)}, ${sql.ref(`${other}.platform`)})`;
  await execute(trx)`
    with credited as materialized (
      select d.source, d.order_id, ledger.fold_order_id(d.order_id) as id, p.platform, p.place, o.other_ids
      from decided_orders d
      join ${placesOf(sources)} on p.source = d.source
      cross join lateral (select o.other_ids from intake.orders o
        where o.order_version_id = d.order_version_id limit 1) o
      where d.outcome = 'attributed'
    ),
    named as materialized (
      select c.source, c.order_id, c.platform, c.place, n.id as named_id
      from credited c cross join lateral unnest(c.other_ids) n(id)
      where c.other_ids <> '{}'
    ),
    repeated as materialized (
      select c.source, c.order_id
      from named c join ledger.entries e on ledger.fold_order_id(e.order_id) = c.named_id
      where ${isOfBrand}
      union
      -- Each order is looked up among the ids that others name, hence the offset.
      select c.source, c.order_id
      from credited c
      cross join lateral (
        select x.source, ledger.fold_order_id(x.order_id) as id
        from intake.orders x
        where x.other_ids @> array[c.id] and x.other_ids <> '{}' and x.is_current offset 0) x
      join ledger.entries e on ledger.fold_order_id(e.order_id) = x.id and e.source = x.source
      where ${isOfBrand}
      union
      select c.source, c.order_id
      from named c join credited x on x.id = c.named_id
      where ${isBefore('x', 'c')}
      union
      select c.source, c.order_id
      from credited c join named x on x.named_id = c.id
      where ${isBefore('x', 'c')}
    )
    update decided_orders d
    set ${held('similar_order')}
    from repeated r
    where r.source = d.source and r.order_id = d.order_id and ${isOpen(job, 'similar_order')}`;
}

/**
 * SQL for what the order of decision `d` has in common with the same order of another platform, which was placed at `at`.
 * Orders less than a minute apart have it at one of the minutes -1, 0 and 1.
 */
const likenessOf = (
  brandId: string,
  at: RawBuilder<unknown>,
  minutes: RawBuilder<unknown> = sql.lit(0),
) => sql`
  md5(json_build_array(${brandId}::text, ${codeOf('d')}, trim_scale(d.amount), d.currency,
    date_trunc('minute', ${at} at time zone 'UTC') + make_interval(mins => ${minutes}))::text)`;

/**
 * The same code, amount and currency, less than a minute apart, in a source of the brand with another platform: an order of a
 * channel that is in the channel's export and in that of the shop. If the rows of the other one were deleted, it may be. Of two
 * sources whose orders are a step of time zones apart (`findZoneSteps`), orders are compared across it, too.
 */
async function holdAlike(trx: Transaction<DB>, { job, brandId, sources }: AttributionRules): Promise<void> {
  const credited = await rowOf<{ since: Date | null }>(trx)`
    with credited as (
      update decided_orders d set likeness = ${likenessOf(brandId, sql`o.placed_at`)}
      from intake.orders o cross join ${placesOf(sources)}
      where p.source = d.source and o.order_version_id = d.order_version_id and d.outcome = 'attributed' and o.placed_at is not null
      returning o.placed_at
    )
    select min(placed_at) as since from credited`;
  const since = credited?.since ?? null;
  if (since === null) return;
  const steps = (await findZoneSteps(trx, { sources, since })).map(
    ({ source, other, step }) => sql`, (${source}, ${other}, ${step}::integer)`,
  );
  await execute(trx)`create index on decided_orders (likeness)`;
  await execute(trx)`analyze decided_orders`;
  const isAlike = sql`(abs(extract(epoch from v.placed_at - n.placed_at)) < 60) is not false
        and x.outcome = 'attributed' and (n.other is null or x.source = n.other)`;
  await execute(trx)`
    with near as materialized (
      select d.source, d.order_id, p.platform, p.place, z.other, t.placed_at,
        ${likenessOf(brandId, sql`t.placed_at`, sql`m.minutes`)} as likeness
      from decided_orders d
      join ${placesOf(sources)} on p.source = d.source
      join (values (null, null, 0)${sql.join(steps, sql``)}) z(source, other, step)
        on z.source is null or z.source = d.source
      cross join lateral (
        select o.placed_at - make_interval(mins => z.step * ${sql.lit(ZONE_MINUTES)}) as placed_at
        from intake.orders o
        where o.order_version_id = d.order_version_id limit 1) t
      cross join (values (-1), (0), (1)) m(minutes)
      where d.likeness is not null
    ),
    alike as materialized (
      select n.source, n.order_id
      from near n
      join intake.attributions x on x.likeness = n.likeness
      join ledger.entries e on e.entry_id = x.entry_id
      left join intake.orders v on v.order_version_id = x.order_version_id
      where ${isAlike} and not ledger.is_platform(e.order_platform, n.platform)
        and (x.job <> ${job} or not ${neverSent}
          or not exists (select from decided_orders k where k.source = x.source and k.order_id = x.order_id))
      union
      select n.source, n.order_id
      from near n
      join decided_orders x on x.likeness = n.likeness
      join ${placesOf(sources, 'q')} on q.source = x.source and q.place < n.place
        and not ledger.is_platform(q.platform, n.platform)
      left join intake.orders v on v.order_version_id = x.order_version_id
      where ${isAlike}
    )
    update decided_orders d set ${held('similar_order')}
    from alike a
    where a.source = d.source and a.order_id = d.order_id and ${isOpen(job, 'similar_order')}`;
}

/**
 * The same code, amount, currency and customer, as far apart as two time zones are, in a source of the brand with another
 * platform: one of the two sources was read with a wrong time zone. Customers are known where sources have `customer_key`.
 */
async function holdInOtherZone(trx: Transaction<DB>, { job, sources }: AttributionRules): Promise<void> {
  const isAlike = sql`
            a.outcome = 'attributed' and a.amount = d.amount and a.currency = d.currency and a.likeness is not null
            and ${codeOf('a')} = ${codeOf('d')} and a.source = x.source and a.order_id = x.order_id`;
  const orderedAt = sql`coalesce(x.placed_at, x.paid_at, x.first_seen_at)`;
  const reach = sql`make_interval(hours => ${sql.lit(ZONE_HOURS + 1)})`;
  await execute(trx)`
    update decided_orders d set ${held('similar_order')}
    from ${placesOf(sources)}
    where p.source = d.source and ${isOpen(job, 'similar_order')} and exists (
      select from intake.orders o
      -- By the index of customers, whose time keeps it quick for one with many orders, such as that of a till.
      join intake.orders x on x.customer_key = o.customer_key and x.is_current and x.source <> o.source
        and ${orderedAt} between o.placed_at - ${reach} and o.placed_at + ${reach}
      where o.order_version_id = d.order_version_id and ${isSameCustomer('o', 'x')}
        and ${zoneStepsOf(minutesBetween('o', 'x'))} is not null
        and (exists (
            select from intake.attributions a join ledger.entries e on e.entry_id = a.entry_id
            where ${isAlike} and not ledger.is_platform(e.order_platform, p.platform)
              and (a.job <> ${job} or not ${neverSent}
                or not exists (select from decided_orders n
                  where n.source = a.source and n.order_id = a.order_id)))
          or exists (
            select from decided_orders a join ${placesOf(sources, 'q')} on q.source = a.source
            where ${isAlike} and q.place < p.place and not ledger.is_platform(q.platform, p.platform))))`;
}

import { type RawBuilder, sql } from 'kysely';

/*
 * The commission that the service states for a collaboration, over time. The mirror knows which one was in force whenever
 * it read a deal, and without events, a rate is in force until the mirror has read another one. An `update_commission`
 * event knows when the commission changed, and both rates. Between two readings of the mirror, the events count if they
 * lead from the rate of the first one to that of the second one, one after the other. Otherwise, the rate between them
 * is unknown.
 */

/** An event may be made after the mirror has read the change that it tells. The change then counts from that reading. */
const LATE_EVENT = sql`interval '1 hour'`;

/** The clock of the service may be ahead of that of the database by so much. An event of a later time has none. */
const CLOCK_DIFFERENCE = sql`interval '5 minutes'`;

/** A rate in an event. Null: it states none. */
const told = (member: 'old_commission_perc' | 'new_commission_perc') => sql`
  case when jsonb_typeof(w.body -> 'commission_information' -> ${member}::text) = 'number'
    then (w.body -> 'commission_information' ->> ${member}::text)::numeric end`;

/** SQL: the events of commissions, their time, and when the mirror last read their deal. */
const commissionEvents = sql`
  select w.event_id, w.collab_id, coalesce(v.deal_id, w.deal_id) as deal_id,
    least(s.stamp, w.received_at) as at, s.stamp is not null as is_timed,
    ${told('old_commission_perc')} as old, ${told('new_commission_perc')} as rate,
    coalesce(k.read_at > least(s.stamp, w.received_at), false) as is_read
  from ops.webhook_events w
  left join lateral (
    select to_timestamp(b.seconds::bigint) as stamp from (select w.body ->> 'webhook_timestamp' as seconds) b
    where case
      when b.seconds ~ '^[0-9]{9,10}$'
        then to_timestamp(b.seconds::bigint) <= w.received_at + ${CLOCK_DIFFERENCE} end) s
      on true
  left join mirror.collaboration_versions v on v.collab_id = w.collab_id and v.is_latest
  left join mirror.known_deals k on k.deal_id = coalesce(v.deal_id, w.deal_id)
  where w.kind = 'update_commission'`;

/**
 * SQL: a common table expression, `served`, that has for each collaboration from `since[i]` on the rate `rates[i]`,
 * in percent, whether it is unknown (`unsure[i]`), and whether an event gave the time (`told[i]`). The first `since` is
 * `-infinity`: an older order has the first rate that is known. Needs `accepted`.
 *
 * The time of an event is the one in its signed body. An event without one, and one that names no collaboration and may
 * be about another one of the deal, only says that the rate is unknown from then on, until the mirror has read the
 * deal.
 *
 * @param areAll false: only the collaborations of `accepted`.
 */
export function servedRates({ areAll }: { areAll: boolean }): RawBuilder<unknown> {
  const ofAccepted = areAll
    ? sql``
    : sql`and collab_id = any (array(select distinct collab_id from accepted))`;
  return sql`
    served as (
    with readings as materialized (
      select collab_id, array_agg(at order by at) as ats, array_agg(rate order by at) as rates
      from (
        select collab_id, valid_from as at, commission_perc as rate,
          lag(commission_perc) over (partition by collab_id order by valid_from) as before
        from mirror.collaboration_versions where commission_perc is not null ${ofAccepted}) v
      where before is distinct from rate group by collab_id
    ),
    events as materialized (${commissionEvents}),
    -- Part 0 is before the first reading, and the last one after the last.
    parts as (
      select r.*, e.event_id, e.at, e.old, e.rate, e.is_read, e.is_timed
        and e.is_named as is_certain, width_bucket(e.at, r.ats) as part
      from (
        select event_id, collab_id, at, is_timed, old, rate, is_read, true as is_named
        from events
        where collab_id is not null
        union all
        select distinct e.event_id, a.collab_id, e.at, e.is_timed, e.old, e.rate, e.is_read, false
        from events e join accepted a on a.deal_id = e.deal_id where e.collab_id is null) e
      join readings r using (collab_id)
    ),
    counted as (
      select p.*, row_number() over in_turn as place
      from parts p
      where is_certain or part = cardinality(ats) and not is_read
      window in_turn as (partition by collab_id, part order by at, event_id)
    ),
    steps as (
      select c.*, lag(at) over in_turn as before, lead(at) over in_turn is null as is_last,
        coalesce(case when lag(at) over in_turn is not null then old = lag(rate) over in_turn
          when part = 0 then old between 0 and 100 else old = rates[part] end, false) as follows
      from counted c
      -- The change that the mirror has read just before.
      where not coalesce(place = 1 and part > 0 and (part = 1 or old = rates[part - 1]) and rate = rates[part]
        and at <= ats[part] + ${LATE_EVENT}, false)
      window in_turn as (partition by collab_id, part order by at, event_id)
    ),
    chains as (
      select collab_id, part,
        bool_and(is_certain and follows and coalesce(at > before, true)
          and coalesce(rate between 0 and 100, false)
          and (not is_last or (part < cardinality(ats) or is_read)
            and rate = rates[least(part + 1, cardinality(ats))])) as is_whole,
        case when bool_and(follows or not is_certain or before is not null) then min(at)
          else coalesce(min(ats[part]), '-infinity') end as unsure_from,
        (array_agg(old order by at, event_id))[1] as first_rate
      from steps group by collab_id, part
    ),
    stated as (
      select r.collab_id, case when p.part = 0 then '-infinity' else r.ats[p.part] end as at,
        r.rates[greatest(1, p.part)] as rate, false as unsure, false as told, 0 as place
      from readings r cross join lateral generate_series(0, cardinality(r.ats)) as p (part)
      union all
      select collab_id, '-infinity', first_rate, false, false, 1 from chains where is_whole and part = 0
      union all
      select s.collab_id, s.at, s.rate, false, true, 2
      from steps s join chains c using (collab_id, part)
      where c.is_whole
      union all
      select collab_id, unsure_from, null, true, false, 2 from chains where not is_whole
    )
    -- What is no percentage is an unknown rate, and the one before it is no longer in force.
    select collab_id, array_agg(at order by at, place) as since,
      array_agg(case when rate between 0 and 100 then rate end order by at, place) as rates,
      array_agg(unsure order by at, place) as unsure, array_agg(told order by at, place) as told
    from stated group by collab_id)`;
}

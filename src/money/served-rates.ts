import { type RawBuilder, sql } from 'kysely';

/*
 * The commission that the service states for a collaboration, over time. The mirror knows what was in force whenever it read a
 * deal. An `update_commission` event knows when the commission changed, and both rates. Both make one sequence, in which each
 * says what was in force before or after it. If two neighbours disagree, the rate between them is unknown. Without events,
 * a rate is in force until the mirror has read another one.
 */

/** An event may be made after the mirror has read the change that it tells. It then counts from that reading. */
const LATE_EVENT = sql`interval '1 hour'`;

/** The clock of the service may be ahead of that of the database by so much. An event of a later time has none. */
const CLOCK_DIFFERENCE = sql`interval '5 minutes'`;

/** A rate in an event. What is neither a number nor null is -1, which no rate is. */
const told = (member: 'old_commission_perc' | 'new_commission_perc') => sql`
  case jsonb_typeof(w.body -> 'commission_information' -> ${member}::text)
    when 'number' then (w.body -> 'commission_information' ->> ${member}::text)::numeric when 'null' then null else -1 end`;

/**
 * SQL: a common table expression, `served`, that has for each collaboration from `since[i]` on the rate `rates[i]`,
 * in percent, and whether it is unknown because event and mirror disagree (`unsure[i]`). The first `since` is `-infinity`: an
 * older order has the first rate that is known. Needs `accepted`.
 *
 * The time of an event is the one in its signed body. Without it, the change came before the event was received, and the rate is
 * unknown from what is known before until then. An event that names no collaboration is about all of its deal.
 *
 * @param areAll false: only the collaborations of `accepted`.
 */
export function servedRates({ areAll }: { readonly areAll: boolean }): RawBuilder<unknown> {
  const ofAccepted = areAll
    ? sql``
    : sql`and collab_id = any (array(select distinct collab_id from accepted))`;
  return sql`
    served as (
    with readings as materialized (
      select collab_id, valid_from as at, commission_perc as rate,
        lag(commission_perc) over (partition by collab_id order by valid_from) as before
      from mirror.collaboration_versions where commission_perc is not null ${ofAccepted}
    ),
    events as materialized (
      select w.event_id, w.collab_id, w.deal_id, coalesce(s.stamp, w.received_at) as at, s.stamp is not null as is_timed,
        ${told('old_commission_perc')} as old, ${told('new_commission_perc')} as rate
      from ops.webhook_events w
      left join lateral (
        select least(to_timestamp(v.seconds::bigint), w.received_at) as stamp from (select w.body ->> 'webhook_timestamp' as seconds) v
        where v.seconds ~ '^[0-9]{9,10}$' and to_timestamp(v.seconds::bigint) <= w.received_at + ${CLOCK_DIFFERENCE}) s on true
      where w.kind = 'update_commission'
    ),
    changes as (
      select e.event_id, e.collab_id, coalesce(r.at, e.at) as at, e.is_timed, e.old, e.rate
      from (
        select event_id, collab_id, at, is_timed, old, rate from events where collab_id is not null
        union
        select e.event_id, a.collab_id, e.at, e.is_timed, e.old, e.rate
        from events e join accepted a on a.deal_id = e.deal_id and a.collab_id is not null where e.collab_id is null) e
      left join lateral (
        select max(r.at) as at from readings r
        where r.collab_id = e.collab_id and r.at < e.at and r.at >= e.at - ${LATE_EVENT} and r.rate = e.rate and r.before is distinct from r.rate) r on true
    ),
    points as (
      select collab_id, at, null::bigint as event_id, null::numeric as old, rate, true as is_timed from readings
      union all select collab_id, at, event_id, old, rate, is_timed from changes
    ),
    neighbours as (
      select p.*, row_number() over in_turn as place, lag(event_id) over in_turn is not null as is_after_event, lag(rate) over in_turn as rate_before, lag(old) over in_turn as old_before,
        lead(at) over in_turn is null as is_last, lead(event_id) over in_turn is not null as is_before_event,
        lead(old) over in_turn as next_old, lead(rate) over in_turn as next_rate, lead(is_timed) over in_turn as next_is_timed
      from points p window in_turn as (partition by collab_id order by at, event_id nulls last)
    ),
    stated as (
      select n.collab_id, n.place, n.at, case when n.rate between 0 and 100 then n.rate end as rate,
        case when n.is_before_event then not n.next_is_timed or n.next_old is distinct from n.rate
          when n.event_id is not null and not n.is_last then n.next_rate is distinct from n.rate
          when n.event_id is not null then exists (
            select from mirror.collaboration_versions v join mirror.known_deals k using (deal_id)
            where v.collab_id = n.collab_id and v.is_latest and k.read_at > n.at and v.commission_perc is distinct from n.rate)
          else false end
        -- The mirror does not see the change of the event before it.
        or n.event_id is null and n.is_after_event and n.rate = n.old_before and n.rate is distinct from n.rate_before as unsure
      from neighbours n
      union all
      select collab_id, 0, '-infinity', case when coalesce(old, rate) between 0 and 100 and (event_id is null or old is not null) then coalesce(old, rate) end,
        event_id is not null and not is_timed
      from neighbours where place = 1
    )
    select collab_id, array_agg(at order by place) as since, array_agg(rate order by place) as rates, array_agg(unsure order by place) as unsure
    from stated group by collab_id)`;
}

/** SQL: text that is another one whenever an event of a commission came, or the mirror has checked one. */
export const stateOfServed = sql`(
  select concat_ws(' ', count(*), count(*) filter (where k.read_at > w.received_at), max(w.event_id))
  from ops.webhook_events w
  left join mirror.collaboration_versions v on v.collab_id = w.collab_id and v.is_latest
  left join mirror.known_deals k on k.deal_id = coalesce(v.deal_id, w.deal_id)
  where w.kind = 'update_commission')`;

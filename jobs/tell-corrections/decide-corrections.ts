import { type RawBuilder, sql, type Transaction } from 'kysely';
import { moneyText } from '../../src/db/money-text.ts';
import { execute } from '../../src/db/statement.ts';
import type { DB } from '../../src/db/tables.ts';
import { noteBody, taskBody } from '../../src/ledger/effects/note.ts';
import { amountAfter, createDesiredEntries, isOwnAdjustment, propose } from '../../src/ledger/propose.ts';
import { isOfRun } from '../../src/reports/runs/run-report.ts';
import type { TellCorrectionsSettings } from './settings.ts';

/** A note has so many corrections at most. The others follow on the next day. */
const MOST_OF_A_NOTE = 50;

/** SQL: what an order comes to by adjustment `row`, which its deal stays with. Null: unknown. */
function newAmountOf(row: string): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  return sql`
    case when ${column('kind')} = 'refunded' and ${column('new_body_hash')} is null then 0
      when ${column('kind')} in ('changed', 'refunded', 'held') then ${column('new_amount')}
      else ${amountAfter(row)} end`;
}

/**
 * SQL for the orders that were accepted by the service and have changed since, one row for each: `entry_id`,
 * `adjustment_id`, `order_id`, `deal_id`, `kind`, `old_amount`, `new_amount` (of this deal), `currency`, and `standing`:
 *
 *   told, told_before      a note about this change was accepted, in this run or before it
 *   ready, in_doubt, …     the state of the note that contains it
 *   held                   what the order comes to now is not known, so there is nothing to tell yet
 *   no_deal                the service did not say which deal it credited
 *   waiting                no note contains it yet
 *
 * An order comes to what statements pay for: its last adjustment, less the refunds that this amount does not include.
 * With `revenue: total`, a partial refund is no adjustment, so what is kept of earnings says what is left; what an order
 * comes to is not known while that may be outdated.
 *
 * An order that comes to what was sent is left out, unless a note said otherwise: also one that would be credited to
 * another influencer by now, because statements go on paying the deal that the service credited. What another source
 * states about an order is no correction: its own source is responsible.
 */
export function correctionsOf(
  { jobs, fromDay, timeZone }: TellCorrectionsSettings,
  runId: string,
): RawBuilder<unknown> {
  const from = sql`(${fromDay}::date::timestamp at time zone ${timeZone}::text)`;
  return sql`(
    with told as materialized (
      select e.entry_id as note_id, c.entry_id, c.adjustment_id, coalesce(c.kind, d.kind) as kind,
        coalesce(c.new_amount, ${newAmountOf('d')}) as new_amount,
        case when e.state = 'sending' then 'in_doubt' when e.state <> 'accepted' then e.state
          when ${isOfRun(runId)} then 'told' else 'told_before' end as standing
      from ledger.entries e
        cross join lateral jsonb_to_recordset(e.details -> 'corrections') as c (entry_id bigint,
          adjustment_id bigint, kind text, new_amount numeric)
        left join ledger.adjustments d on d.adjustment_id = c.adjustment_id
      where e.effect in ('note', 'task') and e.details ? 'corrections'
    ),
    adjusted as materialized (
      select distinct
        on (d.entry_id) d.entry_id, d.adjustment_id, d.kind, d.old_amount, ${newAmountOf('d')} as new_amount,
        d.noted_at
      from ledger.adjustments d
      where ${isOwnAdjustment('d')}
      order by d.entry_id, d.adjustment_id desc
    ),
    kept as materialized (
      select k.entry_id, k.net_amount, v.first_seen_at
      from reporting.order_earnings k
      join ledger.entries e using (entry_id)
      join intake.attributions t on t.entry_id = k.entry_id and t.job = e.job
      join intake.orders v on v.order_version_id = t.order_version_id
      where (k.net_amount < k.sent_amount or k.entry_id in (select entry_id from told))
        -- What was refunded when the order was posted is no correction.
        and v.first_seen_at > e.created_at
    ),
    latest as (
      select e.entry_id, a.adjustment_id, e.order_id, nullif(e.deal_id, '') as deal_id,
        case when a.kind = 'held' or s.is_outdated then 'held'
          when k.net_amount < coalesce(a.new_amount, e.amount) then 'refunded'
          else coalesce(a.kind, 'changed') end as kind,
        coalesce(a.old_amount, e.amount) as old_amount,
        case when s.is_outdated then null
          when a.entry_id is null then k.net_amount
          when a.new_amount is not null then least(a.new_amount, k.net_amount) end as new_amount,
        e.currency
      from ledger.entries e left join adjusted a using (entry_id) left join kept k using (entry_id)
      cross join lateral (
        select exists (
          select from reporting.changed_earnings c where c.entry_id = e.entry_id) as is_outdated) s
      where e.entry_id in (
          select entry_id from adjusted union select entry_id from kept union select entry_id from told)
        and e.job = any(${[...jobs]}::text[]) and e.effect = 'referral' and e.state = 'accepted'
        and e.attempt > 0
        and (a.noted_at >= ${from}
          or k.first_seen_at >= ${from} and k.net_amount < coalesce(a.new_amount, e.amount)
          or e.entry_id in (select entry_id from told))
    )
    select l.*, coalesce(t.standing, case
        when l.kind = 'held' or l.new_amount is null or l.old_amount is null then 'held'
        when l.deal_id is null then 'no_deal'
        else 'waiting' end) as standing
    from latest l
    left join told t on t.entry_id = l.entry_id and t.adjustment_id is not distinct from l.adjustment_id
      and t.new_amount = l.new_amount
    left join lateral (
      select o.kind, o.new_amount, o.standing from told o
      where o.entry_id = l.entry_id and o.standing <> 'rejected'
      order by o.note_id desc
      limit 1) o
        on true
    where t.standing is not null or (l.kind not in ('changed', 'reattributed') or l.new_amount is null
        or l.new_amount is distinct from l.old_amount or o.standing is not null)
      -- A person may decide what was told before.
      and not coalesce(o.standing like 'told%'
        and row(o.kind, o.new_amount) = row(l.kind, l.new_amount), false))`;
}

/** Proposes a note or a task for each deal with corrections that wait, unless it has one of today. */
export async function proposeNotes(
  trx: Transaction<DB>,
  { job, accountId, runId }: { job: TellCorrectionsSettings; accountId: string; runId: string },
): Promise<void> {
  const { told, dueInDays, assignedTo, timeZone } = job;
  const today = sql`(now() at time zone ${timeZone}::text)::date`;
  const body = told === 'note' ? noteBody('n') : taskBody('n');
  await createDesiredEntries(trx);
  await execute(trx)`
    insert into desired_entries (key, body, body_hash, details)
    select n.key, ${body}, encode(sha256(convert_to(${body}, 'UTF8')), 'hex'),
      jsonb_build_object('deal', n.deal_id, 'corrections', n.corrections)
    from (
      select deal_id, ${noteKeyOfDay('deal_id', today)} as key,
        jsonb_agg(jsonb_build_object('entry_id', entry_id, 'adjustment_id', adjustment_id, 'kind', kind,
            'new_amount', new_amount)) as corrections,
        to_char(${today} + ${dueInDays}::integer, 'DD-MM-YYYY') as deadline,
        ${assignedTo}::text as assigned_to, 'Orders changed after they were credited: ' || count(*) as title,
        'Orders changed after they were credited. Their amounts in this service stay as they are; commissions are paid of the new ones.'
          || string_agg(${LINE}, '' order by place) || ${TOTALS} as note
      from (
        select c.*, row_number() over (partition by deal_id order by entry_id) as place
        from ${correctionsOf(job, runId)} c where standing = 'waiting') c
      where place <= ${MOST_OF_A_NOTE}
      group by deal_id
    ) n
    where not exists (
      select from ledger.entries e
      where e.account_id = ${accountId} and e.effect in ('note', 'task') and e.key = n.key)`;
  await propose(trx, { effect: told, job: job.name, runId, accountId });
}

/** SQL for one correction: `- order 1001: refunded, 50.00 EUR to 30.00 EUR`. */
const LINE = sql`
  E'\n- order ' || order_id || ': ' || case kind
    when 'cancelled' then 'cancelled'
    when 'refunded' then 'refunded'
    when 'excluded' then 'does not count any more'
    else case when new_amount = old_amount then 'counts as it was credited, again' else 'changed' end end
  || ', ' || ${moneyText(sql`old_amount`, sql`currency`)} || ' to '
    || ${moneyText(sql`new_amount`, sql`currency`)}`;

/**
 * SQL for the sum of the differences, one for each currency; of orders whose earlier correction was told, it is the new
 * one.
 */
const TOTALS = sql`(
  select string_agg(E'\nIn all: ' || ${moneyText(sql`s.old`, sql`s.currency`)} || ' to '
    || ${moneyText(sql`s.new`, sql`s.currency`)},
    ''
    order by s.currency)
  from (
    select x ->> 'currency' as currency, sum((x ->> 'old')::numeric) as old,
      sum((x ->> 'new')::numeric) as new
    from jsonb_array_elements(jsonb_agg(jsonb_build_object('currency', currency, 'old', old_amount, 'new',
          new_amount))) x
    group by 1) s)`;

/** SQL for the idempotency key: a deal has one note about corrections a day. */
function noteKeyOfDay(dealId: string, day: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`'["corrections",' || to_json(${sql.ref(dealId)})::text || ',"' || ${day}::text || '"]'`;
}

import { type RawBuilder, sql, type Transaction } from 'kysely';
import { inTransaction } from '../db/in-transaction.ts';
import { type Database, finds, rowOf } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';

/** Number of entries per step, so that a step takes a second or less. */
const STEP_ENTRIES = 100_000;

/**
 * Adds new accepted entries to `reporting.accepted_sums`, so that `status` need not read all entries.
 *
 * An accepted entry never changes its state, job, currency or amount (docs/ledger.md), so its part of a sum
 * stays right. Entries that were not accepted when they were looked at are kept in
 * `reporting.uncounted_entries`. A reader adds those that are accepted by now, and the entries with a higher id
 * (`acceptedEntries`). So its sums are exact at any moment, however long ago this function ran.
 */
export async function countAccepted(db: Database): Promise<void> {
  const last = await lastCommittedId(db);
  for (let isOver = false; !isOver; )
    isOver = await inTransaction(db, async (trx) => {
      await trx.selectFrom('reporting.refresh').forUpdate().execute();
      return countStep(trx, last);
    });
}

/**
 * Returns an id below which no transaction can still add an entry; null if one may be doing so. A transaction
 * that takes an id holds its lock on the table until it commits. So if no other session holds it after the
 * highest id was read, all entries up to that id are visible from then on.
 */
async function lastCommittedId(db: Database): Promise<string | null> {
  const newest = await rowOf<{ last: string | null }>(db)`select max(entry_id) as last from ledger.entries`;
  const isWritten = await finds(db)`
    select from pg_locks l
    where l.locktype = 'relation' and l.relation = 'ledger.entries'::regclass and l.mode like '%Exclusive%'
      and l.mode <> 'ShareUpdateExclusiveLock'
      and l.database = (select oid from pg_database where datname = current_database())
      and l.pid is distinct from pg_backend_pid()
    limit 1`;
  return isWritten ? null : (newest?.last ?? null);
}

/** @returns true if no entry is left to look at. */
async function countStep(trx: Transaction<DB>, last: string | null): Promise<boolean> {
  const step = await rowOf<{ is_over: boolean }>(trx)`
    with reach as materialized (
      -- By the entries there are: their ids may leave any gap.
      select r.counted_entry_id as above, case when ${last}::bigint > r.counted_entry_id
          then coalesce((
            select e.entry_id
            from ledger.entries e
            where e.entry_id > r.counted_entry_id and e.entry_id <= ${last}::bigint
            order by e.entry_id offset ${STEP_ENTRIES - 1}::integer limit 1), ${last}::bigint)
          else r.counted_entry_id end as upto
      from reporting.refresh r
    ),
    looked_at as materialized (
      select e.entry_id, e.job, e.currency, e.amount, e.state_changed_at, e.state = 'accepted' as is_accepted,
        false as was_uncounted
      from ledger.entries e
      where e.entry_id > (select above from reach) and e.entry_id <= (select upto from reach)
      union all
      select e.entry_id, e.job, e.currency, e.amount, e.state_changed_at, true, true
      from reporting.uncounted_entries u
      cross join lateral (select e.* from ledger.entries e where e.entry_id = u.entry_id limit 1) e
      where e.state = 'accepted'
    ),
    kept as (insert into reporting.uncounted_entries select entry_id from looked_at where not is_accepted),
    counted as (
      delete from reporting.uncounted_entries
      where entry_id = any (array(select entry_id from looked_at where was_uncounted))
    ),
    summed as (
      insert into reporting.accepted_sums as s (job, currency, entries, amount, oldest)
      select job, coalesce(currency, ''), count(*), coalesce(sum(amount), 0), min(state_changed_at)
      from looked_at where is_accepted group by 1, 2
      on conflict (job, currency) do update set entries = s.entries + excluded.entries,
      amount = s.amount + excluded.amount,
        oldest = least(s.oldest, excluded.oldest)
    )
    update reporting.refresh r set counted_entry_id = reach.upto from reach
    returning ${last}::bigint is null or reach.upto >= ${last}::bigint as is_over`;
  return step?.is_over ?? true;
}

/**
 * All accepted entries, added up in groups: rows with job, currency, entries, amount and oldest. The upper bound is the
 * greatest id: with it, the planner expects a few new entries and not a third of all, for which it would start workers.
 */
export const acceptedEntries: RawBuilder<unknown> = sql`
  select job, nullif(currency, '') as currency, entries, amount, oldest from reporting.accepted_sums
  union all
  select e.job, e.currency, count(*), coalesce(sum(e.amount), 0), min(e.state_changed_at)
  from ledger.entries e
  where e.entry_id > (select counted_entry_id from reporting.refresh) and e.entry_id <= 9223372036854775807
    and e.state = 'accepted'
  group by 1, 2
  union all
  select e.job, e.currency, count(*), coalesce(sum(e.amount), 0), min(e.state_changed_at)
  from reporting.uncounted_entries u
  cross join lateral (select e.* from ledger.entries e where e.entry_id = u.entry_id limit 1) e
  where e.state = 'accepted' group by 1, 2`;

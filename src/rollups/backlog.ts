import { type RawBuilder, sql } from 'kysely';
import { type Database, rowsOf } from '../db/statement.ts';
import { acceptedEntries } from './count-accepted.ts';
import { isDoubt } from './disposition.ts';

/** Entries of a job in one state. Entries in state `sending` whose process is gone count as in_doubt. */
export type Backlog = {
  readonly job: string;
  readonly state: string;
  /** The unfinished backfill that alone may post these ready or sending entries; null for all others. */
  readonly backfillId: string | null;
  readonly currency: string | null;
  readonly entries: number;
  /** Null, as the currency, for entries without an amount, such as those of clicks. */
  readonly amount: string | null;
  readonly oldest: Date;
  /** Whether there are more entries than `entries` counts, and more money than `amount`. */
  readonly isPart: boolean;
};

/** Sums all entries. @param limit as of `readOpenBacklog`; settled entries are always all counted. */
export function readBacklog(db: Database, limit: number): Promise<readonly Backlog[]> {
  // Each settled state is read through its own index. Accepted entries come from totals that are already summed up.
  return readGroups(
    db,
    sql`
      select * from (${openGroups({ limit })}) o
      union all
      select job, state, null, currency, sum(entries), sum(amount), min(oldest), false
      from (
        ${settledGroups('rejected')}
        union all ${settledGroups('written_off')}
        union all select a.job, 'accepted', a.currency, a.entries, a.amount, a.oldest
        from (${acceptedEntries}) a
      ) s
      group by 1, 2, 4`,
  );
}

/**
 * Sums the entries that are not settled. A backfill may leave a million of them for days, so of each job,
 * backfill and state only the first `limit` are counted. Reads the index `entries_open` alone.
 * `oldest` is that of the entries that are counted.
 */
export function readOpenBacklog(db: Database, options: OpenOptions): Promise<readonly Backlog[]> {
  return readGroups(db, openGroups(options));
}

type OpenOptions = {
  readonly limit: number;
  /** Names of jobs whose entries are neither read nor counted. */
  readonly otherThan?: readonly string[];
};

async function readGroups(db: Database, groups: RawBuilder<unknown>): Promise<readonly Backlog[]> {
  return rowsOf<Backlog>(db)`
    select job, state, backfill_id as "backfillId", currency, entries::float8 as entries,
      case when currency is not null then amount end as amount, oldest, is_part as "isPart"
    from (${groups}) g order by 1, 2, 3 nulls first, 4`;
}

/** SQL for the entries in a settled state, by job and currency. */
function settledGroups(state: 'rejected' | 'written_off'): RawBuilder<unknown> {
  return sql`
    select e.job, e.state, e.currency, count(*) as entries, coalesce(sum(e.amount), 0) as amount,
      min(e.state_changed_at) as oldest
    from ledger.entries e where e.state = ${sql.lit(state)} group by 1, 2, 3`;
}

/** SQL for the open entries, by job, state, backfill and currency. */
function openGroups({ limit, otherThan = [] }: OpenOptions): RawBuilder<unknown> {
  return sql`
    with recursive all_jobs as (
      select (${firstOf(sql`job`)}) as job
      union all
      select (${firstOf(sql`job`, sql`e.job > j.job`)}) from all_jobs j where j.job is not null
    ), jobs as (
      select j.job from all_jobs j where j.job is not null and j.job <> all(${[...otherThan]}::text[])
    ), backfills as (
      select j.job,
        (${firstOf(sql`backfill_id`, sql`e.job = j.job and e.backfill_id is not null`)}) as backfill_id
      from jobs j
      union all
      select b.job, (${firstOf(sql`backfill_id`, sql`e.job = b.job and e.backfill_id > b.backfill_id`)})
      from backfills b where b.backfill_id is not null
    ), counted as (
      select e.* from jobs j cross join ${STATES} cross join lateral (
        ${firstEntries(sql`e.job = j.job and e.backfill_id is null and e.state = s.state`, limit)}) e
      union all
      select e.* from backfills b cross join ${STATES} cross join lateral (
        ${firstEntries(sql`e.job = b.job and e.backfill_id = b.backfill_id and e.state = s.state`, limit)}) e
    )
    select job, state, backfill_id, currency, sum(entries) as entries, sum(amount) as amount,
      min(oldest) as oldest, bool_or(is_part) as is_part
    from (
      select e.job, case when ${isDoubt} then 'in_doubt' else e.state end as state,
        case
          when e.state = 'ready'
            or (e.state = 'sending' and not ${isDoubt}) then e.backfill_id end as backfill_id,
        e.currency, e.entries, e.amount, e.oldest,
        max(e.place) over (partition by e.job, e.backfill_id, e.state) > ${limit}::bigint as is_part
      from counted e
    ) e
    where entries > 0
    group by 1, 2, 3, 4`;
}

/** The order of the index, written out so that no other index serves a query that ends after a few rows. */
const inIndex = sql`e.job, e.backfill_id, e.state, e.entry_id`;

const STATES = sql`(values ('held'), ('ready'), ('sending'), ('in_doubt')) s(state)`;

/** SQL for the first value of a column of the index among open entries `e`. */
function firstOf(column: RawBuilder<unknown>, matches = sql`true`): RawBuilder<unknown> {
  return sql`
    select e.${column} from ledger.entries e where not e.is_settled and ${matches} order by ${inIndex} limit 1`;
}

/**
 * SQL for the first matching open entries in groups, by currency and process, so that what is asked about a process is
 * asked once. One more is read than counted: `place` is the greatest place that was read.
 */
function firstEntries(matches: RawBuilder<unknown>, limit: number): RawBuilder<unknown> {
  const isCounted = sql`e.place <= ${limit}::bigint`;
  return sql`
    select e.job, e.backfill_id, e.state, e.owner, e.currency, false as is_settled,
      count(*) filter (where ${isCounted}) as entries,
      coalesce(sum(e.amount) filter (where ${isCounted}), 0) as amount,
      min(e.state_changed_at) filter (where ${isCounted}) as oldest, max(e.place) as place
    from (
      select e.*, row_number() over () as place
      from (
        select e.job, e.backfill_id, e.state, e.owner, e.currency, e.amount, e.state_changed_at
        from ledger.entries e
        where not e.is_settled and ${matches}
        order by ${inIndex}
        limit ${limit}::bigint + 1) e) e
    group by 1, 2, 3, 4, 5`;
}

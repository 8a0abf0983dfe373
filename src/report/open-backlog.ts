import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { isDoubt } from './disposition.ts';
import type { Backlog } from './read-status.ts';

/** Entries that are not settled, of one job, backfill, state and currency. */
export type OpenBacklog = Backlog & {
  /** Whether there are more entries than `entries` counts, and more money than `amount`. */
  readonly isPart: boolean;
};

/**
 * Sums the entries that are not settled. A backfill may leave a million of them for days, so of each job,
 * backfill and state only the first `limit` are counted. Reads the index `entries_open` alone.
 * `oldest` is that of the entries that are counted.
 */
export async function readOpenBacklog(db: Database, limit: number): Promise<readonly OpenBacklog[]> {
  const { rows } = await sql<Omit<OpenBacklog, 'entries'> & { entries: string }>`
    with recursive jobs as (
      select (${firstOf(sql`job`)}) as job
      union all
      select (${firstOf(sql`job`, sql`e.job > j.job`)}) from jobs j where j.job is not null
    ), backfills as (
      select j.job, (${firstOf(sql`backfill_id`, sql`e.job = j.job and e.backfill_id is not null`)}) as backfill_id
      from jobs j where j.job is not null
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
    select job, state, backfill_id as "backfillId", currency, count(*) filter (where place <= ${limit}::bigint) as entries,
      coalesce(sum(amount) filter (where place <= ${limit}::bigint), 0) as amount, min(state_changed_at) as oldest,
      bool_or(is_part) as "isPart"
    from (
      select e.job, case when ${isDoubt} then 'in_doubt' else e.state end as state,
        case when e.state = 'ready' or (e.state = 'sending' and not ${isDoubt}) then e.backfill_id end as backfill_id,
        e.currency, e.amount, e.state_changed_at, e.place,
        max(e.place) over (partition by e.job, e.backfill_id, e.state) > ${limit}::bigint as is_part
      from counted e
    ) e
    group by 1, 2, 3, 4 having count(*) filter (where place <= ${limit}::bigint) > 0
    order by 1, 2, 3 nulls first, 4`.execute(db);
  return rows.map((row) => ({ ...row, entries: Number(row.entries) }));
}

/** The order of the index, written out so that no other index serves a query that ends after a few rows. */
const inIndex = sql`e.job, e.backfill_id, e.state, e.entry_id`;

const STATES = sql`(values ('held'), ('ready'), ('sending'), ('in_doubt')) s(state)`;

/** SQL for the first value of a column of the index among open entries `e`. */
function firstOf(column: RawBuilder<unknown>, matches = sql`true`): RawBuilder<unknown> {
  return sql`select e.${column} from ledger.entries e where not e.is_settled and ${matches} order by ${inIndex} limit 1`;
}

/** SQL for the first matching open entries, and one more, with their `place` among them. */
function firstEntries(matches: RawBuilder<unknown>, limit: number): RawBuilder<unknown> {
  return sql`
    select e.*, false as is_settled, row_number() over () as place
    from (
      select e.job, e.backfill_id, e.state, e.owner, e.currency, e.amount, e.state_changed_at
      from ledger.entries e where not e.is_settled and ${matches} order by ${inIndex} limit ${limit}::bigint + 1) e`;
}

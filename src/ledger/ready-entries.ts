import { type RawBuilder, sql } from 'kysely';
import { countOf, type Database, rowOf, rowsOf } from '../db/statement.ts';

/**
 * A page may be large: ids are small, and a stale id does no harm because claiming decides. The limit bounds
 * memory when the backlog has millions of entries.
 */
const PAGE_SIZE = 2_000;

/** The largest bigint. */
const LAST_ID = '9223372036854775807';

/** Selects entries: those of a job's normal runs (`backfillId` null), or those of one backfill of the job. */
export type Backlog = { readonly job: string; readonly backfillId: string | null };

/** A range of entry ids; both ends are included. */
export type EntryRange = { readonly from: string; readonly to: string };

/**
 * Yields the ids of entries that can be claimed now, oldest first, each once. This only lists them: the claim
 * decides.
 *
 * @param options.limit maximum number of entries; null for all.
 * @param options.range restricts the ids; all entries if omitted.
 */
export async function* readyEntries(
  db: Database,
  options: Backlog & { readonly limit: number | null; readonly range?: EntryRange | undefined },
): AsyncGenerator<readonly string[]> {
  const { from, to } = options.range ?? { from: '0', to: LAST_ID };
  let after = String(BigInt(from) - 1n);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  while (left > 0) {
    const rows = await rowsOf<{ entry_id: string }>(db)`
      select entry_id from ledger.entries
      where ${isIn(options, 'ready')} and entry_id > ${after}::bigint and entry_id <= ${to}::bigint
        and (not_before is null or not_before <= clock_timestamp())
      order by entry_id limit ${Math.min(PAGE_SIZE, left)}`;
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => row.entry_id);
    left -= rows.length;
    after = last.entry_id;
  }
}

/**
 * Divides the entries that can be claimed now into ranges of at most `size` entries.
 *
 * @param options.limit maximum number of entries in all ranges together; null for all.
 */
export async function readyRanges(
  db: Database,
  options: Backlog & { readonly limit: number | null; readonly size: number },
): Promise<readonly (EntryRange & { readonly entries: number })[]> {
  return rowsOf<EntryRange & { readonly entries: number }>(db)`
    select min(entry_id) as "from", max(entry_id) as "to", count(*)::float8 as entries
    from (
      select entry_id, (row_number() over (order by entry_id) - 1) / ${options.size}::bigint as share
      from ledger.entries
      where ${isIn(options, 'ready')} and (not_before is null or not_before <= clock_timestamp())
      order by entry_id limit ${options.limit}
    ) numbered
    group by share order by share`;
}

/** Counts the entries that a process has claimed and not yet recorded an answer for. */
export async function countSending(db: Database, backlog: Backlog): Promise<number> {
  return countOf(db)`
    select count(*) as sending from ledger.entries where ${isIn(backlog, 'sending')}`;
}

/**
 * Counts the entries that can be claimed now, and those that are backing off (`resting`), because their last request
 * was not processed: `why` says the reason of one, null if the service asked to slow down. `nextInMs` is the time until
 * the next of those becomes ready, in milliseconds; null if there is none.
 */
export async function countReady(db: Database, backlog: Backlog): Promise<Waiting> {
  const waiting = await rowOf<Waiting>(db)`
    select (count(*) filter (where not_before is null or not_before <= clock_timestamp()))::float8 as ready,
      (count(*) filter (where not_before > clock_timestamp()))::float8 as resting,
      min(state_reason) filter (where not_before > clock_timestamp()) as why,
      ceil(extract(epoch from min(not_before) filter (where not_before > clock_timestamp())
          - clock_timestamp()) * 1000)::float8 as "nextInMs"
    from ledger.entries where ${isIn(backlog, 'ready')}`;
  const { ready = 0, resting = 0, why = null, nextInMs = null } = waiting ?? {};
  return { ready, resting, why, nextInMs: nextInMs === null ? null : Math.max(0, nextInMs) };
}

export type Waiting = {
  readonly ready: number;
  readonly resting: number;
  readonly why: string | null;
  readonly nextInMs: number | null;
};

/** Written for the partial index of unsettled entries, which `is not distinct from` cannot use. */
function isIn({ job, backfillId }: Backlog, state: 'ready' | 'sending'): RawBuilder<boolean> {
  const mine = backfillId === null ? sql`backfill_id is null` : sql`backfill_id = ${backfillId}::bigint`;
  return sql<boolean>`not is_settled and state = ${sql.lit(state)} and job = ${job} and ${mine}`;
}

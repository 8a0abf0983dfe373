import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/** Ids are small and claims decide anyway, so a page may be large; it bounds memory when the backlog is millions. */
const PAGE_SIZE = 2_000;

/** The largest bigint. */
const LAST_ID = '9223372036854775807';

/** Whose entries: those of a job's runs, or those that one backfill of the job has taken. */
export type Backlog = { readonly job: string; readonly backfillId: string | null };

/** Ids of entries from the first to the last, both included. */
export type EntryRange = { readonly from: string; readonly to: string };

/**
 * Ids of entries that may be claimed now, oldest first, each once. A listing only: claiming decides.
 *
 * @param limit entries at most; null for all.
 * @param range left out for all.
 */
export async function* readyEntries(
  db: Database,
  options: Backlog & { readonly limit: number | null; readonly range?: EntryRange | undefined },
): AsyncGenerator<readonly string[]> {
  const { from, to } = options.range ?? { from: '0', to: LAST_ID };
  let after = String(BigInt(from) - 1n);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  while (left > 0) {
    const { rows } = await sql<{ entry_id: string }>`
      select entry_id from ledger.entries
      where ${isReady(options)} and entry_id > ${after}::bigint and entry_id <= ${to}::bigint
        and (not_before is null or not_before <= clock_timestamp())
      order by entry_id limit ${Math.min(PAGE_SIZE, left)}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => row.entry_id);
    left -= rows.length;
    after = last.entry_id;
  }
}

/**
 * What may be claimed now, cut into ranges of at most `size` entries.
 *
 * @param limit entries at most in all of them; null for all.
 */
export async function readyRanges(
  db: Database,
  options: Backlog & { readonly limit: number | null; readonly size: number },
): Promise<readonly (EntryRange & { readonly entries: number })[]> {
  const { rows } = await sql<{ from: string; to: string; entries: string }>`
    select min(entry_id) as "from", max(entry_id) as "to", count(*) as entries
    from (
      select entry_id, (row_number() over (order by entry_id) - 1) / ${options.size}::bigint as share from ledger.entries
      where ${isReady(options)} and (not_before is null or not_before <= clock_timestamp())
      order by entry_id limit ${options.limit}
    ) numbered
    group by share order by share`.execute(db);
  return rows.map(({ from, to, entries }) => ({ from, to, entries: Number(entries) }));
}

/** How many entries of a job are claimed by a process that has not said yet what came of it. */
export async function countSending(db: Database, job: string): Promise<number> {
  const { rows } = await sql<{ sending: string }>`
    select count(*) as sending from ledger.entries where not is_settled and state = 'sending' and job = ${job}`.execute(
    db,
  );
  return Number(rows[0]?.sending ?? 0);
}

/** How many entries may be claimed now, and how long until the next of those that rest may be, in milliseconds; null when none rests. */
export async function countReady(
  db: Database,
  backlog: Backlog,
): Promise<{ readonly ready: number; readonly nextInMs: number | null }> {
  const { rows } = await sql<{ ready: string; next_in_ms: string | null }>`
    select count(*) filter (where not_before is null or not_before <= clock_timestamp()) as ready,
      ceil(extract(epoch from min(not_before) filter (where not_before > clock_timestamp()) - clock_timestamp()) * 1000) as next_in_ms
    from ledger.entries where ${isReady(backlog)}`.execute(db);
  const [row] = rows;
  return {
    ready: Number(row?.ready ?? 0),
    nextInMs: row === undefined || row.next_in_ms === null ? null : Math.max(0, Number(row.next_in_ms)),
  };
}

/** By the index of unsettled entries, which knows no `is not distinct from`. */
function isReady({ job, backfillId }: Backlog): RawBuilder<boolean> {
  const mine = backfillId === null ? sql`backfill_id is null` : sql`backfill_id = ${backfillId}::bigint`;
  return sql<boolean>`not is_settled and state = 'ready' and job = ${job} and ${mine}`;
}

import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/** Ids are small and claims decide anyway, so a page may be large; it bounds memory when the backlog is millions. */
const PAGE_SIZE = 2_000;

/**
 * Ids of a job's entries that may be claimed now, oldest first, each once. A listing only: claiming decides.
 *
 * @param limit entries at most; null for all.
 */
export async function* readyEntries(
  db: Database,
  options: { readonly job: string; readonly limit: number | null },
): AsyncGenerator<readonly string[]> {
  let after = '0';
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  while (left > 0) {
    const { rows } = await sql<{ entry_id: string }>`
      select entry_id from ledger.entries
      where not is_settled and state = 'ready' and job = ${options.job} and entry_id > ${after}::bigint
        and (not_before is null or not_before <= clock_timestamp())
      order by entry_id limit ${Math.min(PAGE_SIZE, left)}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => row.entry_id);
    left -= rows.length;
    after = last.entry_id;
  }
}

/** How many of a job's entries may be claimed now. */
export async function countReady(db: Database, job: string): Promise<number> {
  const { rows } = await sql<{ ready: string }>`
    select count(*) as ready from ledger.entries
    where not is_settled and state = 'ready' and job = ${job} and (not_before is null or not_before <= clock_timestamp())`.execute(
    db,
  );
  return Number(rows[0]?.ready ?? 0);
}

import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';

/**
 * Measures how many rows a piece of work fetches from each table, whatever the plan. The work runs in one
 * transaction, whose rows the server counts separately. A table that is read completely counts with all of
 * its rows, and one that is answered from an index alone counts with none.
 */
export async function rowsRead<Result>(
  db: Database,
  work: (db: Database) => Promise<Result>,
): Promise<{ readonly result: Result; readonly of: (table: string) => number }> {
  return db.transaction().execute(async (trx) => {
    const before = await countRows(trx);
    const result = await work(trx);
    const after = await countRows(trx);
    return { result, of: (table) => (after.get(table) ?? 0) - (before.get(table) ?? 0) };
  });
}

async function countRows(db: Database): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ table: string; rows: string }>`
    select schemaname || '.' || relname as table, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as rows
    from pg_stat_xact_user_tables`.execute(db);
  return new Map(rows.map(({ table, rows: count }) => [table, Number(count)]));
}

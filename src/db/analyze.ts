import { sql } from 'kysely';
import type { Database } from './connect.ts';
import { isConnectionLost } from './server/connection-lost.ts';

/** Growth that is worth new statistics, as autovacuum counts it; and pages that are too few to be worth any. */
const GROWTH = 1.1;
const FEW_PAGES = 8;

/**
 * Tells the server what a phase has just filled, before the next one reads it: autovacuum may come minutes later, and the embedded
 * database has none. Tables that have hardly grown since they were last looked at are passed over, so a small run asks the catalogue
 * and nothing else.
 *
 * Statistics make statements quicker and never right, so what goes wrong here is no reason to stop: another process that is at it, or a
 * time limit. Within a plan's transaction nothing is done: what ANALYZE notes of a table would stay when the rows that it saw are gone.
 *
 * @param tables with their schemas.
 * @throws where the connection is lost.
 */
export async function analyzeGrown(db: Database, tables: readonly string[]): Promise<void> {
  if (db.isTransaction) return;
  try {
    for (const table of await listGrown(db, tables))
      await sql`select ops.analyze_table(to_regclass(${table}))`.execute(db);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
  }
}

/** Those that were never analysed, or whose size is another than it was then; also where a load was rolled back and a vacuum came by. */
async function listGrown(db: Database, tables: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select t.name
    from unnest(string_to_array(${tables.join(',')}::text, ',')) as t(name)
    join pg_class c on c.oid = to_regclass(t.name)
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (select pg_relation_size(c.oid) / current_setting('block_size')::integer as pages) s
    where s.pages > 0 and (c.reltuples <= 0
      or s.pages > c.relpages * ${GROWTH}::double precision + ${FEW_PAGES}::integer
      or c.relpages > s.pages * ${GROWTH}::double precision + ${FEW_PAGES}::integer
      or not exists (select from pg_stats p where p.schemaname = n.nspname and p.tablename = c.relname))`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

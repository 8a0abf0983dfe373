import { isConnectionLost } from './server/connection-lost.ts';
import { type Database, execute, rowsOf } from './statement.ts';

/**
 * A table is analysed again if its size has changed by this factor plus this number of pages. This resembles
 * the rule of autovacuum, and skips small changes.
 */
const GROWTH = 1.1;
const FEW_PAGES = 8;

/**
 * Updates the planner statistics of tables that a phase has just filled, before the next phase reads them.
 * Autovacuum may run minutes later, and the embedded database has none. Skips tables that have hardly grown
 * since they were last analysed, so a small run only queries the catalogue.
 *
 * Statistics affect only the speed of statements, so errors are ignored, for example if another process is
 * analysing the table or a time limit ends it. Does nothing within the transaction of a plan, because the
 * results of ANALYZE would remain after the rows are rolled back.
 *
 * @param tables names with their schemas.
 * @throws if the connection is lost.
 */
export async function analyzeGrown(db: Database, tables: readonly string[]): Promise<void> {
  if (db.isTransaction) return;
  try {
    for (const table of await listGrown(db, tables))
      await execute(db)`select ops.analyze_table(to_regclass(${table}))`;
  } catch (error) {
    if (isConnectionLost(error)) throw error;
  }
}

/**
 * Lists tables that were never analysed or whose size has changed since. This includes tables that shrank
 * because a load was rolled back and vacuumed.
 */
async function listGrown(db: Database, tables: readonly string[]): Promise<readonly string[]> {
  const rows = await rowsOf<{ name: string }>(db)`
    select t.name
    from unnest(string_to_array(${tables.join(',')}::text, ',')) as t(name)
    join pg_class c on c.oid = to_regclass(t.name)
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (select pg_relation_size(c.oid) / current_setting('block_size')::integer as pages) s
    where s.pages > 0 and (c.reltuples <= 0
      or s.pages > c.relpages * ${GROWTH}::double precision + ${FEW_PAGES}::integer
      or c.relpages > s.pages * ${GROWTH}::double precision + ${FEW_PAGES}::integer
      or not exists (select from pg_stats p where p.schemaname = n.nspname and p.tablename = c.relname))`;
  return rows.map(({ name }) => name);
}

import { sql, type Transaction } from 'kysely';
import type { DB } from './tables.ts';

/*
 * A statement over many rows must not depend on what the server believes about its tables. Right after a load, after a load that was rolled
 * back, or on a server without autovacuum, it believes that a table of a million rows has one. Then every join is a nested loop, every
 * index that matches looks equally cheap, and a second becomes an hour. ANALYZE between the phases (analyze.ts) makes good plans likely; four
 * rules make bad ones impossible:
 *
 * 1. Sets are joined in a transaction that has called `suitLargeStatements`: they are hashed or merged, each is read once.
 * 2. A set looks rows of a large table up by their key in `lateral (… limit 1)`, or `offset 0` for several rows: a nested loop over an index
 *    by its shape, which costs the same for ten rows of a large table as for ten of a small one.
 * 3. An UPDATE or DELETE names the rows that it touches as `key = any (array(select …))`, so that it reads those rows and no others.
 * 4. Only one index can answer a look-up. Conditions that would let another one match are written so that they do not
 *    (`is not distinct from`, an index whose column has another collation).
 */

/** Settings for the rest of a transaction of statements over many rows. */
export async function suitLargeStatements(trx: Transaction<DB>): Promise<void> {
  // Compiling takes longer than a run with few new orders; sorting a million in memory is worth 64 MB.
  await sql`
    select set_config('jit', 'off', true), set_config('work_mem', '64MB', true), set_config('enable_nestloop', 'off', true)`.execute(
    trx,
  );
}

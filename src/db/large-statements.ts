import { type RawBuilder, sql, type Transaction } from 'kysely';
import { execute } from './statement.ts';
import type { DB } from './tables.ts';

/*
 * A statement over many rows must not depend on the planner's statistics. Right after a load, after a load
 * that was rolled back, or on a server without autovacuum, the planner assumes that a table of a million rows
 * has one row. Then it plans every join as a nested loop, considers every matching index equally cheap, and a
 * statement of one second takes an hour. ANALYZE between the phases (analyze.ts) makes good plans likely.
 * Four rules make bad plans impossible:
 *
 * 1. Sets are joined in a transaction that has called `suitLargeStatements`. They are hashed or merged, and
 * each is read once.
 *
 * 2. A set looks up rows of a large table by key in `lateral (… limit 1)`, or with `offset 0` for several
 * rows. This forces a nested loop over an index, which costs the same for ten rows of a large table as for
 * ten rows of a small one.
 *
 * 3. An UPDATE or DELETE selects its rows with `key = any (array(select …))`, so that it reads only those
 * rows.
 *
 * 4. Only one index can serve a look-up. Conditions that another index would match are written so that it
 * does not (`is not distinct from`, an index whose column has another collation).
 */

/** What is known about the statements of a transaction. */
export type LargeStatements = {
  /**
   * True if the commit must be on disk before it is reported, whatever the default of the server. Default: false,
   * which keeps that default.
   */
  readonly isDurable?: boolean;
  /**
   * Number of rows that they read. From `PARALLEL_FROM` on, several processes of the server share them. Default:
   * unknown, so the planner decides.
   */
  readonly rows?: number;
};

/**
 * Sets up the rest of a transaction for statements over many rows.
 *
 * @param options see `LargeStatements`.
 */
export async function suitLargeStatements(
  trx: Transaction<DB>,
  options: LargeStatements = {},
): Promise<void> {
  await execute(trx)`select ${settingsForLargeStatements(options)}`;
}

/**
 * The same as a part of a select list, for a transaction whose first statement returns one row.
 *
 * @param options see `LargeStatements`.
 */
export function settingsForLargeStatements({
  isDurable = false,
  rows = 0,
}: LargeStatements = {}): RawBuilder<unknown> {
  const durable = isDurable ? sql`, set_config('synchronous_commit', 'on', true)` : sql``;
  const parallel = rows < PARALLEL_FROM ? sql`` : sql`, ${PARALLEL}`;
  // JIT compilation takes longer than a run with few new orders. Sorting a million rows in memory is worth 64
  // MB.
  return sql`set_config('jit', 'off', true), set_config('work_mem', '64MB', true), set_config('enable_nestloop', 'off', true)${durable}${parallel}`;
}

/** Starting a process takes some milliseconds, in which one process reads some thousand rows. */
const PARALLEL_FROM = 100_000;

/**
 * Without these settings, the planner uses one process as long as its statistics show a small table. The rows were
 * just written, so their pages are in memory, where only the CPU counts.
 */
const PARALLEL = sql.join(
  [
    ['min_parallel_table_scan_size', '0'],
    ['parallel_setup_cost', '5'],
    ['parallel_tuple_cost', '0.01'],
    ['seq_page_cost', '0.1'],
    ['random_page_cost', '0.1'],
  ].map(([name, value]) => sql`set_config(${sql.lit(name)}, ${sql.lit(value)}, true)`),
);

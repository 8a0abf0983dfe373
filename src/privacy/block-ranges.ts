import { type RawBuilder, sql } from 'kysely';
import { countOf, type Database } from '../db/statement.ts';

/** Number of blocks for each statement: 64 MiB, which takes a second or two. */
const BLOCKS = 8_192;

/**
 * Yields conditions that together cover the current content of a table, some blocks each. No statement takes
 * long, whatever the size of the table, and each is its own transaction. Rows that change in the meantime may
 * move to the end of the table and be visited twice.
 *
 * @param options.alias alias of the table in the statement.
 */
export async function* blockRanges(
  db: Database,
  { table, alias }: { table: string; alias: string },
): AsyncGenerator<RawBuilder<boolean>> {
  const blocks = await countOf(db)`
    select pg_relation_size(to_regclass(${table})) / current_setting('block_size')::integer as blocks`;
  const ctid = sql.ref(`${alias}.ctid`);
  for (let from = 0; from < blocks; from += BLOCKS)
    yield sql<boolean>`(${ctid} >= ${`(${from},0)`}::tid and ${ctid} < ${`(${from + BLOCKS},0)`}::tid)`;
}

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/** 64 MiB at a time: a second or two of one statement. */
const BLOCKS = 8_192;

/**
 * Conditions that together cover a table as it is now, some blocks each: no statement takes long, whatever the size of the table, and each is a
 * commit of its own. Rows that change meanwhile may move to its end and be seen twice.
 *
 * @param alias of the table in the statement.
 */
export async function* blockRanges(
  db: Database,
  { table, alias }: { readonly table: string; readonly alias: string },
): AsyncGenerator<RawBuilder<boolean>> {
  const { rows } = await sql<{ blocks: string }>`
    select pg_relation_size(to_regclass(${table})) / current_setting('block_size')::integer as blocks`.execute(
    db,
  );
  const blocks = Number(rows[0]?.blocks ?? 0);
  const ctid = sql.ref(`${alias}.ctid`);
  for (let from = 0; from < blocks; from += BLOCKS)
    yield sql<boolean>`(${ctid} >= ${`(${from},0)`}::tid and ${ctid} < ${`(${from + BLOCKS},0)`}::tid)`;
}

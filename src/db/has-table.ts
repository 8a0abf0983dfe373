import { sql } from 'kysely';
import type { Database } from './connect.ts';

/** Whether a table is there. @param table schema and name, as `ops.leases`. */
export async function hasTable(db: Database, table: string): Promise<boolean> {
  const { rows } = await sql`select where to_regclass(${table}) is not null`.execute(db);
  return rows.length > 0;
}

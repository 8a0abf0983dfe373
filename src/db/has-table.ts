import { sql } from 'kysely';
import type { Database } from './connect.ts';

/** Returns true if a table exists. @param table schema and name, for example `ops.leases`. */
export async function hasTable(db: Database, table: string): Promise<boolean> {
  const { rows } = await sql`select where to_regclass(${table}) is not null`.execute(db);
  return rows.length > 0;
}

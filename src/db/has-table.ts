import { type Database, finds } from './statement.ts';

/** Returns true if a table exists. @param table schema and name, for example `ops.leases`. */
export async function hasTable(db: Database, table: string): Promise<boolean> {
  return finds(db)`select where to_regclass(${table}) is not null`;
}

import { type RawBuilder, sql } from 'kysely';
import type { Database } from './connect.ts';

/** SQL: the clock of the database, which goes on during a transaction. */
export const databaseClock = sql<Date>`clock_timestamp()`;

/** SQL: the clock of the database, that many milliseconds later; earlier if negative. */
export function clockAfter(ms: number): RawBuilder<Date> {
  return sql`clock_timestamp() + ${ms} * interval '1 millisecond'`;
}

/** Reads the clock of the database. The clock of a machine never decides when a slot has come. */
export async function readDatabaseClock(db: Database): Promise<Date> {
  return (await db.selectNoFrom(databaseClock.as('now')).executeTakeFirstOrThrow()).now;
}

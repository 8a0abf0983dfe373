import { sql } from 'kysely';
import type { Database } from '../connect.ts';

/** Asks the database whether it is there. @throws what the driver throws when it is not. */
export async function ping(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}

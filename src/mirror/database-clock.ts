import type { Database } from '../db/connect.ts';
import { rowOf } from '../db/statement.ts';

/**
 * Returns a clock that follows the clock of the database, so that instants of different machines can be
 * compared. It is never ahead of the database clock, so an instant taken before a request is always before
 * the answer.
 */
export async function openDatabaseClock(db: Database): Promise<() => Date> {
  const read = await rowOf<{ at: Date }>(db)`select clock_timestamp() as at`;
  const readAt = performance.now();
  const at = read?.at.getTime() ?? 0;
  return () => new Date(at + performance.now() - readAt);
}

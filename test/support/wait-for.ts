import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';

/**
 * How often the condition is checked. A check may be a request or a connection, which competes with the
 * processes that the test waits for.
 */
const LOOK_EVERY_MS = 20;
/** Long enough for a busy machine. If the condition becomes true, the wait ends at once. */
const GIVE_UP_MS = 120_000;

/**
 * Waits until a condition holds.
 *
 * @throws if it does not hold in time.
 */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  options: { timeoutMs?: number } = {},
): Promise<void> {
  const until = performance.now() + (options.timeoutMs ?? GIVE_UP_MS);
  while (!(await condition())) {
    if (performance.now() > until)
      throw new Error(`waited in vain for: ${condition.toString().slice(0, 200)}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Counts the sessions of a database that wait for a lock. */
export async function countBlocked(db: Database): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length;
}

import { setTimeout as sleep } from 'node:timers/promises';

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

/**
 * A value stays valid for at least this time, and for at least this multiple of the time it took to compute.
 * So frequent readers cost the database little.
 */
const GOOD_FOR_MS = 5_000;
const COST_FACTOR = 20;
/** Time limit of a read, because a probe gives up after some seconds. */
const GIVE_UP_AFTER_MS = 3_000;

/**
 * Caches the result of a costly function for a while. Concurrent callers share one call.
 *
 * @returns null if the function failed or did not answer in time. The next caller then tries again.
 */
export function cached<Value>(read: () => Promise<Value>): () => Promise<Value | null> {
  let value: Value | null = null;
  let goodUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function refresh(): Promise<void> {
    const begunAt = performance.now();
    try {
      value = await read();
      const tookMs = performance.now() - begunAt;
      goodUntil = performance.now() + Math.max(GOOD_FOR_MS, COST_FACTOR * tookMs);
    } catch {
      value = null;
    }
  }

  return async () => {
    if (performance.now() < goodUntil) return value;
    reading ??= refresh().finally(() => {
      reading = null;
    });
    const isInTime = await inTime(reading);
    return isInTime ? value : null;
  };
}

async function inTime(work: Promise<void>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), GIVE_UP_AFTER_MS);
  try {
    return await Promise.race([work.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}

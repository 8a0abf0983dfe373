import type { Database } from '../db/connect.ts';
import { runBulks } from '../pipeline/decisions/run-bulks.ts';

/** How often it looks for what another process, or this one before a restart, has left. */
const POLL_MS = 5_000;

export type BulkWorker = {
  /** Looks for work now: somebody has just confirmed something. */
  wake(): void;
  /** Finishes the entry that is being settled. The rest waits for the next process. */
  stop(): Promise<void>;
};

/** Carries out bulk actions behind the pages, one at a time, until it is stopped. */
export function startBulkWorker({
  db,
  leaseMs,
  onError,
}: {
  readonly db: Database;
  readonly leaseMs: number;
  readonly onError: (error: unknown) => void;
}): BulkWorker {
  const stopping = new AbortController();
  let atWork: Promise<void> | null = null;
  let isWoken = false;
  let isTroubled = false;

  async function look(): Promise<void> {
    while (isWoken && !stopping.signal.aborted) {
      isWoken = false;
      try {
        await runBulks(db, { leaseMs, stopping: stopping.signal, onError });
        isTroubled = false;
      } catch (error) {
        // A database that is away is said once, not at each look.
        if (!isTroubled && !stopping.signal.aborted) onError(error);
        isTroubled = true;
      }
    }
    atWork = null;
  }

  function wake(): void {
    isWoken = true;
    atWork ??= look();
  }

  const timer = setInterval(wake, POLL_MS);
  timer.unref();
  wake();
  return {
    wake,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await atWork;
    },
  };
}

import type { PipelineConfig } from '../config/schema.ts';
import type { Database } from '../db/connect.ts';
import { hasTable } from '../db/has-table.ts';
import { runBulks } from '../decisions/run-bulks.ts';
import { sendStatementMails } from '../decisions/send-statement.ts';

/** How often to look for actions that another process, or this one before a restart, left unfinished. */
const POLL_MS = 5_000;

export type BulkWorker = {
  /** Looks for work now, after a confirmation. */
  wake(): void;
  /** Finishes the entry that is being settled. The next process continues with the rest. */
  stop(): Promise<void>;
};

/**
 * Starts a worker that carries out bulk actions and sends statements in the background, one at a time, until it is
 * stopped.
 */
export function startBulkWorker({
  db,
  config,
  leaseMs,
  mayDecide,
  onError,
}: {
  readonly db: Database;
  readonly config: Pick<PipelineConfig, 'statements' | 'notify'>;
  readonly leaseMs: number;
  /** Called before anything is carried out or sent; throws what forbids every decision. */
  readonly mayDecide: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}): BulkWorker {
  const stopping = new AbortController();
  let atWork: Promise<void> | null = null;
  let isWoken = false;
  let isTroubled = false;
  let isMigrated = false;

  async function look(): Promise<void> {
    while (isWoken && !stopping.signal.aborted) {
      isWoken = false;
      try {
        // `serve` migrates a new database while the console already answers.
        isMigrated ||= await hasTable(db, 'ops.statement_mails');
        if (isMigrated) await sendStatementMails(db, { config, mayDecide, signal: stopping.signal });
        if (isMigrated) await runBulks(db, { leaseMs, mayDecide, stopping: stopping.signal, onError });
        isTroubled = false;
      } catch (error) {
        // An unreachable database is reported once, not at each poll.
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

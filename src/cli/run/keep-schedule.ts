import { errorCode } from '../../core/error-code.ts';
import { KnownError } from '../../core/known-error.ts';
import type { Database } from '../../db/connect.ts';
import { migrate, pendingMigrations } from '../../db/migrate.ts';
import type { Readiness } from '../../monitoring/observe/start-observer.ts';
import type { Scheduler } from '../../ops/schedule/scheduler.ts';
import { LEDGER_EVERY_MS } from '../open/watch-ledger.ts';

export type KeepScheduleOptions = {
  readonly db: Database;
  readonly scheduler: Scheduler;
  readonly draining: AbortSignal;
  /** Returns the code of the problem that stops the ledger from posting. Null if there is none. */
  readonly findLedgerProblem: () => Promise<string | null>;
  /** Called once when polling starts to fail and once when it works again. */
  readonly onTrouble: (error: unknown) => void;
  readonly onRecovered: () => void;
};

export type KeptSchedule = {
  /** Polls once. Never throws. */
  poll(): Promise<void>;
  /** When the last successful poll ended. Null if there was none yet. */
  lastPoll(): Date | null;
  /** The readiness according to the polls so far. */
  readiness(): Readiness;
};

/** Six ticks. A poll that takes longer, or does not happen, means that something is wrong. */
const LAST_LOOK_AT_MOST_MS = 30_000;

/**
 * Polls the schedule repeatedly, whatever happens. If the database is unreachable, at the start or later, the
 * process is not ready and polls again on the next tick. Applies migrations first, and again after a failure,
 * because the database may then be a different one.
 */
export function keepSchedule({
  db,
  scheduler,
  draining,
  findLedgerProblem,
  onTrouble,
  onRecovered,
}: KeepScheduleOptions): KeptSchedule {
  let pending: readonly string[] | null = null;
  let lookedAt: number | null = null;
  let trouble: unknown = null;
  let beating = false;
  let ledgerProblem: string | null = null;
  let ledgerAskedAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    if (pending === null || pending.length > 0) {
      await migrate(db);
      pending = await pendingMigrations(db);
    }
    await scheduler.look();
    if (performance.now() - ledgerAskedAt < LEDGER_EVERY_MS) return;
    ledgerProblem = await findLedgerProblem();
    ledgerAskedAt = performance.now();
  }

  return {
    async poll() {
      if (beating) return;
      beating = true;
      try {
        await look();
        lookedAt = performance.now();
        if (trouble !== null) onRecovered();
        trouble = null;
      } catch (error) {
        if (trouble === null) onTrouble(error);
        trouble = error;
        pending = null;
      } finally {
        beating = false;
      }
    },
    lastPoll() {
      return lookedAt === null ? null : new Date(Date.now() - (performance.now() - lookedAt));
    },
    readiness() {
      const agoMs = lookedAt === null ? null : performance.now() - lookedAt;
      const checks = {
        database: { ok: trouble === null && lookedAt !== null, ...codeOf(trouble) },
        migrations: { ok: pending !== null && pending.length === 0 },
        last_look: {
          ok: agoMs !== null && agoMs <= LAST_LOOK_AT_MOST_MS,
          seconds_ago: agoMs === null ? null : Math.round(agoMs / 100) / 10,
        },
        ledger: { ok: ledgerProblem === null, ...(ledgerProblem === null ? {} : { code: ledgerProblem }) },
        not_stopping: { ok: !draining.aborted },
      };
      return { ready: Object.values(checks).every(({ ok }) => ok), checks };
    },
  };
}

/** Reports only a code, because a message may contain details that not every reader of the endpoint may see. */
function codeOf(trouble: unknown): { readonly code?: string } {
  if (trouble === null) return {};
  if (trouble instanceof KnownError) return { code: trouble.details.code };
  return { code: errorCode(trouble) ?? 'unknown' };
}

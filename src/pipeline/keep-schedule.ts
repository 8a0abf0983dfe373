import type { Database } from '../db/connect.ts';
import { migrate, pendingMigrations } from '../db/migrate.ts';
import { KnownError } from '../model/known-error.ts';
import type { Readiness } from '../observe/start-observer.ts';
import type { Scheduler } from '../schedule/scheduler.ts';

export type KeepScheduleOptions = {
  readonly db: Database;
  readonly scheduler: Scheduler;
  readonly draining: AbortSignal;
  /** Says why the ledger lets nothing be posted, as a code; null where it does. */
  readonly findLedgerProblem: () => Promise<string | null>;
  /** Told once when looking begins to fail, and once when it works again. */
  readonly onTrouble: (error: unknown) => void;
  readonly onRecovered: () => void;
};

export type KeptSchedule = {
  /** Looks once; never throws. */
  poll(): Promise<void>;
  /** When it last looked with success; null: not yet. */
  lastPoll(): Date | null;
  /** What the looks so far have found. */
  readiness(): Readiness;
};

/** Six ticks: a poll that took so long, or did not come, means that something is wrong. */
const LAST_LOOK_AT_MOST_MS = 30_000;

/** A database is not restored every minute, and every run looks by itself. */
const LEDGER_EVERY_MS = 30_000;

/**
 * Looks at the schedule again and again, whatever happens: a database that is away, at the start or in between, makes the process not
 * ready, and is asked again with the next tick. Migrates first, and looks for migrations again after trouble, because the database may
 * be another one then.
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

/** A code tells what is wrong; a message may tell more than is meant for all who read it. */
function codeOf(trouble: unknown): { readonly code?: string } {
  if (trouble === null) return {};
  if (trouble instanceof KnownError) return { code: trouble.details.code };
  return { code: trouble instanceof Error && 'code' in trouble ? String(trouble.code) : 'unknown' };
}

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Bulk, isAboutFiles } from '../core/bulk.ts';
import { KnownError } from '../core/known-error.ts';
import type { EntryState } from '../core/ledger.ts';
import type { Database } from '../db/connect.ts';
import { type DatabaseTransaction, inTransaction } from '../db/in-transaction.ts';
import { inPhase } from '../db/phase.ts';
import { isConnectionLost } from '../db/server/connection-lost.ts';
import { acquireLease, releaseLeases, startHeartbeat } from '../ops/lease.ts';
import { recordAudit, type WriteAudit } from '../ops/record-audit.ts';
import { findBulk } from '../reports/bulk/read-bulk.ts';
import { refreshReporting } from '../rollups/refresh-reporting.ts';
import {
  type BulkItem,
  endBulk,
  expirePreviews,
  listOpenBulks,
  listOpenItems,
  listTouchedJobs,
  lockOpenItem,
  recordOutcome,
} from './carry-out-bulk.ts';
import { decideFile } from './release-files.ts';
import { settleDoubt } from './settle-doubt.ts';

export type BulkRunOptions = {
  /**
   * How long a lease lasts after its process has died. Another process then continues with the bulk action.
   */
  readonly leaseMs: number;
  /** Aborts when the process has to end. The entry that is being settled is finished first. */
  readonly stopping: AbortSignal;
  /** Called with the error of each entry, file or bulk action that failed. */
  readonly onError: (error: unknown) => void;
  /** Called after each entry or file. */
  readonly onItem?: () => void;
};

/** Number of entries that are read at a time. */
const BATCH_ENTRIES = 500;

/**
 * Carries out confirmed bulk actions, and expires old previews. Each entry is settled in its own transaction,
 * which also records the outcome. So a process may be killed at any point, and the next one continues with
 * the entries that have no outcome. A lease keeps two processes from working on the same bulk action. If a
 * process loses its lease without noticing, the lock on each entry and its frozen state still ensure that the
 * entry is settled only once.
 *
 * @param options.mayDecide called before the first one; throws what forbids every decision.
 * @throws its error, or the one that prevents it from reading open bulk actions, for example a lost database connection.
 */
export async function runBulks(
  db: Database,
  { mayDecide = async () => {}, ...options }: BulkRunOptions & { readonly mayDecide?: () => Promise<void> },
): Promise<void> {
  const { stopping, onError } = options;
  await expirePreviews(db);
  const open = await listOpenBulks(db);
  if (open.length > 0) await mayDecide();
  for (const bulkId of open) {
    if (stopping.aborted) return;
    const phase = { name: `Carrying out bulk action ${bulkId}`, draining: stopping };
    await inPhase(phase, () => runBulk(db, { ...options, bulkId })).catch((error: unknown) => {
      if (isConnectionLost(error)) throw error;
      // The next poll continues with it.
      if (!stopping.aborted) onError(error);
    });
  }
}

/** Carries out one bulk action. Returns at once if another process is working on it. */
export async function runBulk(
  db: Database,
  { bulkId, leaseMs, stopping, onError, onItem = () => {} }: BulkRunOptions & { readonly bulkId: string },
): Promise<void> {
  const holder = { owner: randomUUID(), host: hostname(), pid: process.pid };
  const takenAt = performance.now();
  const lease = await acquireLease(db, { ...holder, name: `bulk:${bulkId}`, ttlMs: leaseMs });
  if (lease.kind === 'busy') return;
  const heartbeat = startHeartbeat(db, { owner: holder.owner, ttlMs: leaseMs, leases: 1, takenAt });
  const mayGoOn = (): boolean => heartbeat.isHeld() && !stopping.aborted;
  try {
    // Another process may have just finished it.
    const bulk = await findBulk(db, bulkId);
    if (bulk === null || bulk.endedAt !== null) return;
    if (bulk.state === 'running') await settleItems(db, { bulk, mayGoOn, onError, onItem });
    if (!mayGoOn()) return;
    await updateReports(db, { bulkId, mayGoOn, onError });
    await endBulk(db, bulkId);
  } finally {
    heartbeat.stop();
    // If the database is unreachable, the lease expires by itself.
    await releaseLeases(db, holder.owner).catch(() => {});
  }
}

type Work = { readonly mayGoOn: () => boolean; readonly onError: (error: unknown) => void };

/**
 * Settles entry after entry, until none is open, a person aborts the bulk action, or this process must stop.
 */
async function settleItems(
  db: Database,
  { bulk, mayGoOn, onError, onItem }: Work & { readonly bulk: Bulk; readonly onItem: () => void },
): Promise<void> {
  const { bulkId } = bulk;
  let after = '0';
  for (;;) {
    const items = await listOpenItems(db, { bulkId, after, limit: BATCH_ENTRIES });
    for (const item of items) {
      if (!mayGoOn()) return;
      const isRunning = await settleItem(db, bulk, item).catch((error: unknown) => {
        if (!mayGoOn() || isPassing(error)) throw error;
        onError(error);
        return noteFailure(db, { bulkId, subjectId: item.subjectId });
      });
      if (!isRunning) return;
      onItem();
      after = item.subjectId;
    }
    if (items.length < BATCH_ENTRIES) return;
  }
}

/** @returns false once the bulk action is no longer running. */
function settleItem(db: Database, bulk: Bulk, item: BulkItem): Promise<boolean> {
  const { bulkId } = bulk;
  const { subjectId } = item;
  return inTransaction(db, async (trx) => {
    if (!(await lockOpenItem(trx, { bulkId, subjectId }))) return false;
    const isSettled = await decide(trx, bulk, item);
    await recordOutcome(trx, { bulkId, subjectId, outcome: isSettled ? 'settled' : 'changed' });
    return true;
  });
}

/**
 * Applies the decision as if the entry was settled alone. @returns false if the entry differs from its frozen
 * state.
 */
async function decide(trx: DatabaseTransaction, bulk: Bulk, item: BulkItem): Promise<boolean> {
  const { bulkId, decision, reason, via } = bulk;
  const { subjectId, state, attempt, credits, dealId, collabId } = item;
  const decidedBy = bulk.confirmedBy ?? bulk.createdBy;
  const audit: WriteAudit = (record) => recordAudit(trx, { ...record, actor: decidedBy, via, bulkId });
  if (isAboutFiles(decision)) {
    const shown = { sourceFileId: subjectId, state };
    return (await decideFile(trx, { decision, shown, reason, decidedBy, audit })) !== null;
  }
  const settled = await settleDoubt(trx, {
    ...{ entryId: subjectId, decision, reason, decidedBy, dealId, collabId, bulkId, audit },
    shown: { state: state as EntryState, attempt: attempt ?? 0 },
    shownCredits: credits ?? undefined,
  });
  return settled.kind === 'settled';
}

function noteFailure(
  db: Database,
  item: { readonly bulkId: string; readonly subjectId: string },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    if (!(await lockOpenItem(trx, item))) return false;
    await recordOutcome(trx, { ...item, outcome: 'failed' });
    return true;
  });
}

/** Updates the reports. The decisions are valid even if this fails; the next run then updates the reports. */
async function updateReports(
  db: Database,
  { bulkId, mayGoOn, onError }: Work & { readonly bulkId: string },
): Promise<void> {
  const onStep = (): void => {
    if (!mayGoOn()) throw new Error(`the process ends while bulk action ${bulkId} updates the reports`);
  };
  for (const job of await listTouchedJobs(db, bulkId))
    await refreshReporting(db, { job, onStep }).catch((error: unknown) => {
      if (!mayGoOn() || isConnectionLost(error)) throw error;
      onError(error);
    });
}

/**
 * SQLSTATE classes 40 (deadlock), 55 (lock not available) and 57 (cancelled). The same statement may succeed
 * on the next attempt.
 */
const PASSING_STATES = /^(40|55|57)/;

function isPassing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return isConnectionLost(error) || error instanceof KnownError || PASSING_STATES.test(code);
}

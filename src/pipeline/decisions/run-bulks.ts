import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { recordAudit } from '../../audit/record-audit.ts';
import {
  type BulkItem,
  endBulk,
  expirePreviews,
  listOpenBulks,
  listOpenItems,
  listTouchedJobs,
  lockOpenItem,
  recordOutcome,
} from '../../bulk/carry-out-bulk.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { inPhase } from '../../db/phase.ts';
import { isConnectionLost } from '../../db/server/connection-lost.ts';
import type { Bulk } from '../../model/bulk.ts';
import { KnownError } from '../../model/known-error.ts';
import { findBulk } from '../../report/console/read-bulk.ts';
import { refreshReporting } from '../../report/refresh-reporting.ts';
import { acquireLease, releaseLeases, startHeartbeat } from '../../schedule/lease.ts';
import { settleDoubt } from './settle-doubt.ts';

export type BulkRunOptions = {
  /** After a process died, another one waits so long before it goes on with what that one did. */
  readonly leaseMs: number;
  /** Aborts when the process is to end: the entry that is being settled is finished. */
  readonly stopping: AbortSignal;
  /** Told of each entry, and each bulk action, that could not be dealt with. */
  readonly onError: (error: unknown) => void;
};

/** So many entries are read at a time. */
const BATCH_ENTRIES = 500;

/**
 * Carries out what people have confirmed, and lets previews expire. Each entry is settled in a commit of its own that also notes its outcome,
 * so a process may be killed anywhere: the next one goes on with the entries that have none. A lease keeps two processes from working on
 * the same bulk action; if one lost it without knowing, the lock on each entry and what was frozen of it would still let it be settled once.
 *
 * @throws what keeps it from asking for work: the database is away.
 */
export async function runBulks(db: Database, options: BulkRunOptions): Promise<void> {
  const { stopping, onError } = options;
  await expirePreviews(db);
  for (const bulkId of await listOpenBulks(db)) {
    if (stopping.aborted) return;
    const phase = { name: `Carrying out bulk action ${bulkId}`, draining: stopping };
    await inPhase(phase, () => runBulk(db, { ...options, bulkId })).catch((error: unknown) => {
      if (isConnectionLost(error)) throw error;
      // The next look goes on with it.
      if (!stopping.aborted) onError(error);
    });
  }
}

async function runBulk(
  db: Database,
  { bulkId, leaseMs, stopping, onError }: BulkRunOptions & { readonly bulkId: string },
): Promise<void> {
  const holder = { owner: randomUUID(), host: hostname(), pid: process.pid };
  const lease = await acquireLease(db, { ...holder, name: `bulk:${bulkId}`, ttlMs: leaseMs });
  if (lease.kind === 'busy') return;
  const heartbeat = startHeartbeat(db, { owner: holder.owner, ttlMs: leaseMs, leases: 1 });
  const mayGoOn = (): boolean => heartbeat.isHeld() && !stopping.aborted;
  try {
    // Another process may have ended it just before.
    const bulk = await findBulk(db, bulkId);
    if (bulk === null || bulk.endedAt !== null) return;
    if (bulk.state === 'running') await settleItems(db, { bulk, mayGoOn, onError });
    if (!mayGoOn()) return;
    await updateReports(db, { bulkId, mayGoOn, onError });
    await endBulk(db, bulkId);
  } finally {
    heartbeat.stop();
    // When the database is away, the lease ends by itself.
    await releaseLeases(db, holder.owner).catch(() => {});
  }
}

type Work = { readonly mayGoOn: () => boolean; readonly onError: (error: unknown) => void };

/** Settles entry by entry, until none waits, somebody aborts it, or this process may not go on. */
async function settleItems(
  db: Database,
  { bulk, mayGoOn, onError }: Work & { readonly bulk: Bulk },
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
        return noteFailure(db, { bulkId, entryId: item.entryId });
      });
      if (!isRunning) return;
      after = item.entryId;
    }
    if (items.length < BATCH_ENTRIES) return;
  }
}

/** @returns false once the bulk action is not running any more. */
function settleItem(
  db: Database,
  bulk: Bulk,
  { entryId, state, attempt, ...deal }: BulkItem,
): Promise<boolean> {
  const { bulkId, decision, reason } = bulk;
  const actor = bulk.confirmedBy ?? bulk.createdBy;
  return inTransaction(db, async (trx) => {
    if (!(await lockOpenItem(trx, { bulkId, entryId }))) return false;
    const settled = await settleDoubt(trx, {
      entryId,
      decision,
      reason,
      decidedBy: actor,
      ...deal,
      shown: { state, attempt },
      bulkId,
      audit: (record) => recordAudit(trx, { ...record, actor, via: 'console' }),
    });
    await recordOutcome(trx, {
      bulkId,
      entryId,
      outcome: settled.kind === 'settled' ? 'settled' : 'changed',
    });
    return true;
  });
}

function noteFailure(
  db: Database,
  item: { readonly bulkId: string; readonly entryId: string },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    if (!(await lockOpenItem(trx, item))) return false;
    await recordOutcome(trx, { ...item, outcome: 'failed' });
    return true;
  });
}

/** Decided is decided, also where the reports cannot take note of it: the next run does. */
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

/** SQLSTATE classes 40 (deadlock), 55 (lock not available) and 57 (cancelled): the same entry may go well the next time. */
const PASSING_STATES = /^(40|55|57)/;

function isPassing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return isConnectionLost(error) || error instanceof KnownError || PASSING_STATES.test(code);
}

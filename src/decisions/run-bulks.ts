import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Bulk, type BulkOutcome, isAboutFiles } from '../core/bulk.ts';
import { errorCode } from '../core/error-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { EntryState } from '../core/ledger.ts';
import { databaseClock } from '../db/clock.ts';
import { type DatabaseTransaction, inTransaction } from '../db/in-transaction.ts';
import { inPhase } from '../db/phase.ts';
import { isConnectionLost } from '../db/server/connection-lost.ts';
import { type Database, execute, finds } from '../db/statement.ts';
import { acquireLease, releaseLeases, startHeartbeat } from '../ops/lease.ts';
import { recordAudit, type WriteAudit } from '../ops/record-audit.ts';
import { findBulk } from '../reports/bulk/read-bulk.ts';
import { refreshReporting } from '../rollups/refresh-reporting.ts';
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

/** Marks previews whose time is over as expired, and deletes their frozen items. Their totals are kept. */
async function expirePreviews(db: Database): Promise<void> {
  await execute(db)`
    with expired as (
      update ops.bulk_actions set state = 'expired'
      where ended_at is null and state = 'preview' and expires_at <= clock_timestamp() returning bulk_id
    )
    delete from ops.bulk_items where bulk_id = any(array(select bulk_id from expired))`;
}

/** Lists the bulk actions that still need work, oldest first. */
async function listOpenBulks(db: Database): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('ops.bulk_actions')
    .select('bulk_id')
    .where('ended_at', 'is', null)
    .where('state', 'in', ['running', 'aborted'])
    .orderBy('bulk_id')
    .execute();
  return rows.map((row) => row.bulk_id);
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
      const settle = (outcomeOf: OutcomeOf) => settleItem(db, { bulkId, item, outcomeOf });
      const isRunning = await settle((trx) => decide(trx, bulk, item)).catch((error: unknown) => {
        if (!mayGoOn() || isPassing(error)) throw error;
        onError(error);
        return settle(async () => 'failed');
      });
      if (!isRunning) return;
      onItem();
      after = item.subjectId;
    }
    if (items.length < BATCH_ENTRIES) return;
  }
}

/** An entry or a file of a bulk action, as it was frozen. */
type BulkItem = {
  readonly subjectId: string;
  /** For an entry, its `EntryState`. */
  readonly state: string;
  /** Null for a file. */
  readonly attempt: number | null;
  /** Number of credits of a double credit. */
  readonly credits: number | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
};

/** Lists the next items without an outcome, after a given one. */
async function listOpenItems(
  db: Database,
  { bulkId, after, limit }: { bulkId: string; after: string; limit: number },
): Promise<readonly BulkItem[]> {
  return db
    .selectFrom('ops.bulk_items')
    .select(['subject_id as subjectId', 'state', 'attempt', 'credits'])
    .select(['deal_id as dealId', 'collab_id as collabId'])
    .where((eb) => eb.and({ bulk_id: bulkId, outcome: null }))
    .where('subject_id', '>', after)
    .orderBy('subject_id')
    .limit(limit)
    .execute();
}

type OutcomeOf = (trx: DatabaseTransaction) => Promise<BulkOutcome>;

/**
 * Settles an item in a transaction that also records the outcome. An abort waits until this transaction ends. Another
 * process that tries to settle the same item finds that it has an outcome.
 *
 * @returns false if the bulk action is no longer running, or the item already has an outcome.
 */
function settleItem(
  db: Database,
  { bulkId, item: { subjectId }, outcomeOf }: { bulkId: string; item: BulkItem; outcomeOf: OutcomeOf },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const isOpen = await finds(trx)`
      select 1 from ops.bulk_actions b join ops.bulk_items i using (bulk_id)
      where b.bulk_id = ${bulkId}::bigint and b.state = 'running' and i.subject_id = ${subjectId}::bigint
        and i.outcome is null
      for share of b for update of i`;
    if (!isOpen) return false;
    await trx
      .updateTable('ops.bulk_items')
      .set({ outcome: await outcomeOf(trx), outcome_at: databaseClock })
      .where((eb) => eb.and({ bulk_id: bulkId, subject_id: subjectId, outcome: null }))
      .execute();
    return true;
  });
}

/**
 * Applies the decision as if the entry was settled alone. @returns `changed` if the entry differs from its frozen
 * state.
 */
async function decide(trx: DatabaseTransaction, bulk: Bulk, item: BulkItem): Promise<BulkOutcome> {
  const { bulkId, decision, reason, via } = bulk;
  const { subjectId, state, attempt, credits, dealId, collabId } = item;
  const decidedBy = bulk.confirmedBy ?? bulk.createdBy;
  const audit: WriteAudit = (record) => recordAudit(trx, { ...record, actor: decidedBy, via, bulkId });
  if (isAboutFiles(decision)) {
    const shown = { sourceFileId: subjectId, state };
    const decided = await decideFile(trx, { decision, shown, reason, decidedBy, audit });
    return decided ? 'settled' : 'changed';
  }
  const settled = await settleDoubt(trx, {
    entryId: subjectId,
    decision,
    reason,
    decidedBy,
    dealId,
    collabId,
    bulkId,
    audit,
    shown: { state: state as EntryState, attempt: attempt ?? 0 },
    shownCredits: credits ?? undefined,
  });
  return settled.kind === 'settled' ? 'settled' : 'changed';
}

async function listTouchedJobs(db: Database, bulkId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('ops.bulk_items')
    .select('job')
    .distinct()
    .where((eb) => eb.and({ bulk_id: bulkId, outcome: 'settled' }))
    .orderBy('job')
    .execute();
  return rows.flatMap(({ job }) => job ?? []);
}

/** Refreshes the sums. The decisions are valid even if this fails; the next run then refreshes them. */
async function updateReports(db: Database, { bulkId, mayGoOn, onError }: Work & { readonly bulkId: string }) {
  const onStep = (): void => {
    if (!mayGoOn()) throw new Error(`the process ends while bulk action ${bulkId} updates the reports`);
  };
  for (const job of await listTouchedJobs(db, bulkId))
    await refreshReporting(db, { job, onStep }).catch((error: unknown) => {
      if (!mayGoOn() || isConnectionLost(error)) throw error;
      onError(error);
    });
}

/** Ends a bulk action and stores its totals. A running one must have an outcome for each of its items. */
async function endBulk(db: Database, bulkId: string): Promise<void> {
  await execute(db)`
    update ops.bulk_actions b
    set state = case b.state when 'running' then 'finished' else b.state end, ended_at = clock_timestamp(),
        settled = c.settled, changed = c.changed, failed = c.failed
    from (
      select count(*) filter (where outcome = 'settled') as settled,
        count(*) filter (where outcome = 'changed') as changed,
        count(*) filter (where outcome = 'failed') as failed, count(*) filter (where outcome is null) as open
      from ops.bulk_items where bulk_id = ${bulkId}::bigint) c
    where b.bulk_id = ${bulkId}::bigint and b.ended_at is null
      and (b.state = 'aborted' or (b.state = 'running' and c.open = 0))`;
}

/**
 * SQLSTATE classes 40 (deadlock), 55 (lock not available) and 57 (cancelled). The same statement may succeed
 * on the next attempt.
 */
const PASSING_STATES = /^(40|55|57)/;

function isPassing(error: unknown): boolean {
  return (
    isConnectionLost(error) || error instanceof KnownError || PASSING_STATES.test(errorCode(error) ?? '')
  );
}

import type { PipelineConfig } from '../../../src/config/schema.ts';
import type { Backfill, BackfillState } from '../../../src/core/backfill.ts';
import type { DatabaseTransaction } from '../../../src/db/in-transaction.ts';
import type { AuditRecord } from '../../../src/ops/record-audit.ts';
import { plural } from '../../../src/render/text.ts';
import { isAttributeOrders } from '../settings.ts';
import { listBackfills, lockBackfill, moveBackfill } from './backfills.ts';
import { endBackfill } from './release-entries.ts';
import { readBackfillProgress } from './report.ts';
import { type StartBackfillOptions, type Started, startBackfill } from './start-backfill.ts';

/**
 * Changes that a person can make to a backfill. Commands and the console both call these functions. Each
 * change writes its audit record in the same transaction.
 */

export type BackfillChange = {
  readonly backfillId: string;
  /**
   * The reason that the person gave. Null if they gave none: commands do not require one, because scripts run
   * them too.
   */
  readonly reason: string | null;
  /** Writes the audit record in the same transaction. @returns the id of the record. */
  readonly audit: (record: Omit<AuditRecord, 'actor' | 'via'>) => Promise<string>;
};

export type Changed =
  | {
      readonly kind: 'changed';
      readonly backfill: Backfill;
      readonly auditId: string;
      readonly summary: string;
    }
  | { readonly kind: 'unknown' }
  /** Nothing was changed, because the change does not apply to the backfill's current state. */
  | { readonly kind: 'does_not_apply'; readonly backfill: Backfill }
  /** No live process is waiting for the backfill, so someone must start one. */
  | { readonly kind: 'no_process'; readonly backfill: Backfill };

/** States in which a person can cancel a backfill. */
export const CANCELLABLE: readonly BackfillState[] = ['planned', 'running', 'paused'];

/**
 * Pauses a running backfill. The process that posts notices it within a second, and finishes its requests in
 * flight.
 */
export async function pauseBackfill(trx: DatabaseTransaction, change: BackfillChange): Promise<Changed> {
  return changeLocked(trx, change, async (backfill) => {
    if (!(await moveBackfill(trx, backfill.backfillId, { from: ['running'], to: 'paused' })))
      return 'does_not_apply';
    return { action: 'pause_backfill', to: 'paused', summary: `Backfill ${backfill.backfillId} is paused.` };
  });
}

/**
 * Lets the process that waits for a paused backfill continue. Changes nothing if there is no such process.
 */
export async function resumeBackfill(trx: DatabaseTransaction, change: BackfillChange): Promise<Changed> {
  return changeLocked(trx, change, async (backfill) => {
    if (backfill.state !== 'paused') return 'does_not_apply';
    const { process } = await readBackfillProgress(trx, backfill);
    if (process === null) return 'no_process';
    await moveBackfill(trx, backfill.backfillId, { from: ['paused'], to: 'running' });
    const where = `process ${process.pid} on ${process.host}`;
    return {
      action: 'resume_backfill',
      to: 'running',
      summary: `Backfill ${backfill.backfillId} continues in ${where}.`,
    };
  });
}

/** Records that this process continues the backfill. */
export async function continueBackfill(trx: DatabaseTransaction, change: BackfillChange): Promise<Changed> {
  return changeLocked(trx, change, async ({ backfillId }) => {
    if (!(await moveBackfill(trx, backfillId, { from: ['running', 'paused'], to: 'running' })))
      return 'does_not_apply';
    const summary = `Backfill ${backfillId} continues in a new process.`;
    return { action: 'resume_backfill', to: 'running', summary };
  });
}

/**
 * Cancels a backfill. The orders that it has not posted are not posted, and return to their earlier state.
 * After this transaction has committed, the caller must call `refreshReporting` for the job to bring the
 * reports up to date.
 */
export async function cancelBackfill(
  trx: DatabaseTransaction,
  { config, ...change }: BackfillChange & { readonly config: PipelineConfig },
): Promise<Changed> {
  return changeLocked(trx, change, async (backfill) => {
    const { backfillId, job } = backfill;
    const start = startOf(config, job);
    if (!(await endBackfill(trx, backfillId, { job, start, from: CANCELLABLE, to: 'cancelled' })))
      return 'does_not_apply';
    const { planned, accepted, inDoubt } = await readBackfillProgress(trx, backfill);
    const left = planned - accepted - inDoubt;
    const rest = plural(left, 'order was', 'orders were');
    const summary = `Backfill ${backfillId} is cancelled: ${plural(accepted, 'order')} posted. ${rest} not posted and ${left === 1 ? 'returns to its' : 'return to their'} earlier state.`;
    return { action: 'cancel_backfill', to: 'cancelled', summary };
  });
}

/** Starts a plan that a person has approved, if the plan still matches the data (see `startBackfill`). */
export async function approveBackfill(
  trx: DatabaseTransaction,
  { audit, reason, ...options }: StartBackfillOptions & Pick<BackfillChange, 'audit' | 'reason'>,
): Promise<Started> {
  const started = await startBackfill(trx, options);
  if (started.kind !== 'started') return started;
  const { backfillId } = options;
  const [backfill] = await listBackfills(trx, { backfillId });
  const toPost = (backfill?.plan.groups ?? []).filter(({ standing }) => standing === 'to_post');
  await audit({
    action: 'approve_backfill',
    subjectKind: 'backfill',
    subject: backfillId,
    summary: `The plan of backfill ${backfillId} is executed: ${plural(
      toPost.reduce((sum, { orders }) => sum + orders, 0),
      'order',
    )} to post.`,
    reason,
    before: { state: 'planned' },
    after: { state: 'running', plan_hash: backfill?.planHash },
  });
  return started;
}

type Moved = { readonly action: string; readonly to: BackfillState; readonly summary: string };

async function changeLocked(
  trx: DatabaseTransaction,
  { backfillId, reason, audit }: BackfillChange,
  move: (backfill: Backfill) => Promise<Moved | 'does_not_apply' | 'no_process'>,
): Promise<Changed> {
  const backfill = await lockBackfill(trx, backfillId);
  if (backfill === null) return { kind: 'unknown' };
  const moved = await move(backfill);
  if (typeof moved === 'string') return { kind: moved, backfill };
  const { action, to, summary } = moved;
  const auditId = await audit({
    action,
    subjectKind: 'backfill',
    subject: backfillId,
    summary,
    reason,
    before: { state: backfill.state },
    after: { state: to },
  });
  return { kind: 'changed', backfill, auditId, summary };
}

/** The first day of the job's own runs (`start_date`), or null if it has none. */
function startOf(config: PipelineConfig, job: string) {
  const settings = config.jobs[job];
  return settings !== undefined && isAttributeOrders(settings) && settings.startDate !== null
    ? { day: settings.startDate, timeZone: settings.timeZone }
    : null;
}

import { sql, type Transaction } from 'kysely';
import type { PipelineConfig } from '../../../src/config/schema.ts';
import {
  BACKFILL_RULES,
  type Backfill,
  type BackfillState,
  type PlanChanges,
} from '../../../src/core/backfill.ts';
import { sumOrders } from '../../../src/core/order.ts';
import { databaseClock } from '../../../src/db/clock.ts';
import { type DatabaseTransaction, inTransaction } from '../../../src/db/in-transaction.ts';
import { type Database, execute } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import { takeForBackfill } from '../../../src/ledger/backfill-entries.ts';
import { type OrderNotes, referralDetails } from '../../../src/ledger/effects/referral.ts';
import { createDesiredEntries, lockJobs } from '../../../src/ledger/propose.ts';
import type { AuditRecord } from '../../../src/ops/record-audit.ts';
import { plural } from '../../../src/render/text.ts';
import { keepRevenueRule } from '../decide/decide-orders.ts';
import { jobsTogether } from '../decide/decisions.ts';
import { keepClaims } from '../decide/keep-claims.ts';
import { isAttributeOrders } from '../settings.ts';
import { lockBackfill, moveBackfill, readBackfill } from './backfills.ts';
import { comparePlan } from './compare-plan.ts';
import { gatherPlan, type PlanRules } from './gather-plan.ts';
import { endBackfill } from './release-entries.ts';
import { readBackfillProgress } from './report.ts';

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
 * After this transaction has committed, the caller must call `refreshReporting` for the job.
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
    const { planned, accepted, toPost, held } = await readBackfillProgress(trx, backfill);
    const isStarted = backfill.state !== 'planned';
    const left = isStarted ? held : planned;
    const rest = plural(left, 'order was', 'orders were');
    // What is being sent when a backfill ends is posted yet, refused, or a doubt.
    const sending =
      isStarted && toPost > 0
        ? ` ${plural(toPost, 'order is', 'orders are')} being sent, and the answers count.`
        : '';
    const summary = `Backfill ${backfillId} is cancelled: ${plural(accepted, 'order')} posted. ${rest} not posted and ${left === 1 ? 'returns to its' : 'return to their'} earlier state.${sending}`;
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
  const backfill = await readBackfill(trx, backfillId);
  const toPost = (backfill?.plan.groups ?? []).filter(({ standing }) => standing === 'to_post');
  await audit({
    action: 'approve_backfill',
    subjectKind: 'backfill',
    subject: backfillId,
    summary: `The plan of backfill ${backfillId} is executed: ${plural(sumOrders(toPost), 'order')} to post.`,
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

type Started =
  | { readonly kind: 'started' }
  /** Another process has already started, replaced or cancelled it. */
  | { readonly kind: 'not_planned' }
  | { readonly kind: 'changed'; readonly changes: PlanChanges };

type StartBackfillOptions = {
  readonly backfillId: string;
  readonly rules: PlanRules;
  readonly runId: string;
  /** Login name of the person. */
  readonly approvedBy: string;
  readonly requestsPerSecond: number | null;
  readonly concurrency: number | null;
  readonly orderNotes: OrderNotes;
};

/**
 * Creates exactly the entries of a plan, in one transaction, and only if the plan is still correct: every
 * order is decided again and compared with the plan. From then on only the backfill may post them, after
 * `holdCreditedElsewhere` has checked them.
 */
export function startBackfill(db: Database, options: StartBackfillOptions): Promise<Started> {
  const { backfillId, rules, runId, approvedBy, requestsPerSecond, concurrency } = options;
  return inTransaction(db, async (trx) => {
    const backfill = await lockBackfill(trx, backfillId);
    if (backfill?.state !== 'planned') return { kind: 'not_planned' };
    await lockJobs(trx, jobsTogether(rules));
    const changes = await comparePlan(trx, backfill, await gatherPlan(trx, rules));
    if (changes !== null) return { kind: 'changed', changes };
    await gatherDesired(trx, options.orderNotes);
    await takeForBackfill(trx, { ...rules, effect: 'referral', runId, backfillId });
    await keepRevenueRule(trx, rules);
    await attributeToThem(trx, rules);
    await keepClaims(trx, { ...rules, rulesHash: '' });
    await trx
      .updateTable('ops.backfills')
      .set({ state: 'running', approved_by: approvedBy, approved_at: databaseClock })
      .set({ state_changed_at: databaseClock, requests_per_second: requestsPerSecond, concurrency })
      .where('backfill_id', '=', backfillId)
      .execute();
    return { kind: 'started' };
  });
}

/** Fills `desired_entries` with the orders that the plan posts, oldest first. */
async function gatherDesired(trx: Transaction<DB>, orderNotes: OrderNotes): Promise<void> {
  await createDesiredEntries(trx);
  await execute(trx)`
    insert into desired_entries (key, body, body_hash, source, brand_id, amount, currency, order_platform,
      order_id, version_id, linked_id, details)
    select p.key, p.body, p.body_hash, p.source, p.brand_id, p.amount, p.currency, p.order_platform,
      p.order_id, row_number() over (order by p.ordered_at, p.order_version_id), p.entry_id,
      ${referralDetails(sql`p.note`, orderNotes)}
    from planned_orders p where p.standing = 'to_post'`;
  await execute(trx)`analyze desired_entries`;
}

/**
 * Stores the decisions of the plan as decisions of the job. Their files count as changed, so
 * that the sums include them, even if no run of the job has decided about a file yet.
 */
async function attributeToThem(trx: Transaction<DB>, { job, accountId }: PlanRules): Promise<void> {
  await execute(trx)`
    insert into intake.attributions as a (job, source, order_id, order_version_id, outcome, matched_by,
      matched_value, target, brand_id,
      influencer_handle, deal_id, collab_id, amount, currency, entry_id, is_pending, rules_hash)
    select ${job}, p.source, p.order_id, p.order_version_id, p.outcome, p.matched_by, p.matched_value,
      p.target, p.brand_id,
      p.influencer_handle, p.deal_id, p.collab_id, p.amount, p.currency, e.entry_id, false, ${BACKFILL_RULES}
    from planned_orders p
    cross join lateral (
      select e.entry_id from ledger.entries e
      where e.account_id = ${accountId} and e.effect = 'referral' and e.key = p.key limit 1) e
    where p.standing = 'to_post'
    on conflict (job, source, order_id) do update
    set order_version_id = excluded.order_version_id, outcome = excluded.outcome, reason = null,
      matched_by = excluded.matched_by,
        matched_value = excluded.matched_value, target = excluded.target, brand_id = excluded.brand_id,
        influencer_handle = excluded.influencer_handle, deal_id = excluded.deal_id,
        collab_id = excluded.collab_id,
        amount = excluded.amount, currency = excluded.currency, entry_id = excluded.entry_id,
        is_pending = false,
        rules_hash = excluded.rules_hash, decided_at = now()`;
  await execute(trx)`
    insert into intake.attributed_files (job, source_file_id, rules_hash, attributed_at)
    select ${job}, f.source_file_id, ${BACKFILL_RULES}, clock_timestamp()
    from (select distinct source_file_id from planned_orders where standing = 'to_post') f
    on conflict (job, source_file_id) do update set attributed_at = excluded.attributed_at`;
}

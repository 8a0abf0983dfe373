import { sql, type Transaction } from 'kysely';
import { BACKFILL_RULES, type PlanChanges } from '../../../src/core/backfill.ts';
import type { Database } from '../../../src/db/connect.ts';
import { inTransaction } from '../../../src/db/in-transaction.ts';
import type { DB } from '../../../src/db/tables.ts';
import { takeForBackfill } from '../../../src/ledger/backfill-entries.ts';
import { type OrderNotes, referralDetails } from '../../../src/ledger/effects/referral.ts';
import { lockJob } from '../../../src/ledger/lock-job.ts';
import { createDesiredEntries } from '../../../src/ledger/propose.ts';
import { keepRevenueRule } from '../decide/decide-orders.ts';
import { keepClaims } from '../decide/keep-claims.ts';
import { lockBackfill } from './backfills.ts';
import { comparePlan } from './compare-plan.ts';
import { gatherPlan, type PlanRules } from './gather-plan.ts';

export type Started =
  | { readonly kind: 'started' }
  /** Another process has already started, replaced or cancelled it. */
  | { readonly kind: 'not_planned' }
  | { readonly kind: 'changed'; readonly changes: PlanChanges };

export type StartBackfillOptions = {
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
    await lockJob(trx, rules.job);
    const changes = await comparePlan(trx, backfill, await gatherPlan(trx, rules));
    if (changes !== null) return { kind: 'changed', changes };
    await gatherDesired(trx, options.orderNotes);
    await takeForBackfill(trx, { ...rules, effect: 'referral', runId, backfillId });
    await keepRevenueRule(trx, rules);
    await attributeToThem(trx, rules);
    await keepClaims(trx, { ...rules, rulesHash: '' });
    await sql`
      update ops.backfills
      set state = 'running', approved_by = ${approvedBy}, approved_at = clock_timestamp(), state_changed_at = clock_timestamp(),
          requests_per_second = ${requestsPerSecond}::double precision, concurrency = ${concurrency}::integer
      where backfill_id = ${backfillId}::bigint`.execute(trx);
    return { kind: 'started' };
  });
}

/** Fills `desired_entries` with the orders that the plan posts, oldest first. */
async function gatherDesired(trx: Transaction<DB>, orderNotes: OrderNotes): Promise<void> {
  await createDesiredEntries(trx);
  await sql`
    insert into desired_entries (key, body, body_hash, source, brand_id, amount, currency, order_platform, order_id, version_id, linked_id,
      details)
    select p.key, p.body, p.body_hash, p.source, p.brand_id, p.amount, p.currency, p.order_platform, p.order_id,
      row_number() over (order by p.ordered_at, p.order_version_id), p.entry_id, ${referralDetails(sql`p.note`, orderNotes)}
    from planned_orders p where p.standing = 'to_post'`.execute(trx);
  await sql`analyze desired_entries`.execute(trx);
}

/**
 * Stores the decisions of the plan as decisions of the job. Their files count as changed, so
 * that reports include them, even if no run of the job has decided about a file yet.
 */
async function attributeToThem(trx: Transaction<DB>, { job, accountId }: PlanRules): Promise<void> {
  await sql`
    insert into intake.attributions as a (job, source, order_id, order_version_id, outcome, matched_by, matched_value, target, brand_id,
      influencer_handle, deal_id, collab_id, amount, currency, entry_id, is_pending, rules_hash)
    select ${job}, p.source, p.order_id, p.order_version_id, p.outcome, p.matched_by, p.matched_value, p.target, p.brand_id,
      p.influencer_handle, p.deal_id, p.collab_id, p.amount, p.currency, e.entry_id, false, ${BACKFILL_RULES}
    from planned_orders p
    cross join lateral (
      select e.entry_id from ledger.entries e
      where e.account_id = ${accountId} and e.effect = 'referral' and e.key = p.key limit 1) e
    where p.standing = 'to_post'
    on conflict (job, source, order_id) do update
    set order_version_id = excluded.order_version_id, outcome = excluded.outcome, reason = null, matched_by = excluded.matched_by,
        matched_value = excluded.matched_value, target = excluded.target, brand_id = excluded.brand_id,
        influencer_handle = excluded.influencer_handle, deal_id = excluded.deal_id, collab_id = excluded.collab_id,
        amount = excluded.amount, currency = excluded.currency, entry_id = excluded.entry_id, is_pending = false,
        rules_hash = excluded.rules_hash, decided_at = now()`.execute(trx);
  await sql`
    insert into intake.attributed_files (job, source_file_id, rules_hash, attributed_at)
    select ${job}, f.source_file_id, ${BACKFILL_RULES}, clock_timestamp()
    from (select distinct source_file_id from planned_orders where standing = 'to_post') f
    on conflict (job, source_file_id) do update set attributed_at = excluded.attributed_at`.execute(trx);
}

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadJobCodes } from '../../../src/codes/load-job-codes.ts';
import type { SourceSettings } from '../../../src/config/source-fields.ts';
import type { Backfill, Period, PlanChanges } from '../../../src/core/backfill.ts';
import { sumOrders } from '../../../src/core/order.ts';
import type { CodeProblem } from '../../../src/core/report.ts';
import { analyzeGrown } from '../../../src/db/analyze.ts';
import { inTransaction } from '../../../src/db/in-transaction.ts';
import { intakeSource } from '../../../src/intake/read/intake-source.ts';
import { boundAccount } from '../../../src/ledger/open-account.ts';
import { acquireLease, releaseLease } from '../../../src/ops/lease.ts';
import { sourcesOf, throwIfDraining } from '../../../src/ops/run.ts';
import { NO_ACCOUNT } from '../../../src/runs/posting.ts';
import { attributionRules } from '../attribution-rules.ts';
import { createOrderIntake } from '../take-orders.ts';
import { listBackfills, readBackfill, storePlan } from './backfills.ts';
import { comparePlan } from './compare-plan.ts';
import { gatherPlan, type PlanRules } from './gather-plan.ts';
import type { BackfillRun } from './with-backfill-run.ts';

export type Planned = {
  readonly backfill: Backfill;
  /**
   * The differences from the previous plan for the same period that was not executed. Null if there are none.
   */
  readonly changes: PlanChanges | null;
  readonly codeProblems: readonly CodeProblem[];
};

/** The limits that a backfill asks for. Null means the default share (see `shareOf`). */
export type WantedShare = { readonly requestsPerSecond: number | null; readonly concurrency: number | null };

/**
 * Reads new codes and files as a run does, and keeps what it has read. Then decides which orders to post and
 * stores the decision as a plan. Sends nothing.
 */
export async function planBackfill(run: BackfillRun, period: Period, share: WantedShare): Promise<Planned> {
  const { problems: codeProblems } = await readNews(run);
  const { db, job, runId } = run;
  run.progress.begin({ name: 'plan', label: 'Planning', unit: 'orders', total: null });
  const rules = await planRules(run, period);
  return inTransaction(db, async (trx) => {
    const gathered = await gatherPlan(trx, rules);
    const [before] = await listBackfills(trx, { job: job.name, period, states: ['planned'], limit: 1 });
    const changes = before === undefined ? null : await comparePlan(trx, before, gathered);
    run.progress.advance(sumOrders(gathered.plan.groups));
    // The plan is identical, down to each order and cent, so the existing one is kept.
    if (before !== undefined && changes === null) return { backfill: before, changes, codeProblems };
    const backfillId = await storePlan(trx, gathered, { ...share, job: job.name, period, runId });
    const backfill = await readBackfill(trx, backfillId);
    if (backfill === null) throw new Error('the plan was not stored');
    return { backfill, changes, codeProblems };
  });
}

/** The rules by which a plan is made, and made again just before it is executed. */
export async function planRules(run: BackfillRun, period: Period): Promise<PlanRules> {
  const accountId = (await boundAccount(run.db)) ?? NO_ACCOUNT;
  return { ...attributionRules(run), period, accountId };
}

/**
 * Reads new codes and new files. Holds the lease of each source while reading its files, so a run of the job
 * waits meanwhile.
 */
export async function readNews(run: BackfillRun): Promise<{ readonly problems: readonly CodeProblem[] }> {
  const codes = await loadJobCodes(run);
  for (const source of sourcesOf(run)) await readSource(run, source);
  await analyzeGrown(run.db, ['intake.source_files', 'intake.orders', 'intake.rejected_rows']);
  return codes;
}

const ASK_AGAIN_MS = 500;

async function readSource(run: BackfillRun, source: SourceSettings): Promise<void> {
  const { db, owner, config } = run;
  const name = `source:${source.name}`;
  const ttlMs = config.api.leaseSeconds * 1_000;
  const lease = { name, owner, ttlMs, host: hostname(), pid: process.pid };
  let isTold = false;
  for (;;) {
    const answer = await acquireLease(db, lease);
    if (answer.kind === 'acquired') break;
    if (!isTold) run.progress.note(`Waiting for the run that reads source ${source.name}.`);
    isTold = true;
    await sleep(ASK_AGAIN_MS, undefined, { signal: run.draining }).catch(() => {});
    throwIfDraining(run);
  }
  try {
    await intakeSource(run, source, await createOrderIntake(run));
  } finally {
    await releaseLease(db, { owner, name }).catch(() => {});
  }
}

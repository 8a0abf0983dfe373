import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import { analyzeGrown } from '../db/analyze.ts';
import { isConnectionLost } from '../db/server/connection-lost.ts';
import { keepEarnings } from '../money/kept-earnings.ts';
import { loadExchange, loadStatementRules } from '../money/load-rules.ts';
import type { ReturnRules } from '../money/update-returns.ts';
import { updateReturns } from '../money/update-returns.ts';
import type { Run } from '../ops/run.ts';
import { explainStale, refreshReporting } from '../rollups/refresh-reporting.ts';
import { keepAccruals } from './payments/accruals.ts';

/** How long the refresh may continue once the run has to end. */
const ENDING_MS = 5_000;

const TABLES = [
  'order_dispositions',
  'funnel_days',
  'deal_days',
  'deal_totals',
  'brand_days',
  'code_days',
  'code_use_days',
  'return_months',
  'order_earnings',
  'deal_earnings',
  'earning_days',
];

/**
 * Brings schema `reporting` up to date, as a step of its own. Its result does not affect what was posted. If
 * it fails, the run says so and the next run updates the reports.
 *
 * @returns why the update failed. Null if it succeeded.
 * @throws KnownError `interrupted` (exit 130) if the run has to end and much work is left. Also throws if the
 * connection is lost.
 */
export async function updateReports(run: Run): Promise<string | null> {
  const { db, job, nouns, progress, draining } = run;
  progress.begin({ name: 'refresh', label: 'Updating the reports', unit: nouns.items, total: null });
  let endBy: number | null = null;
  function onStep(orders: number): void {
    progress.advance(orders);
    if (!draining.aborted) return;
    endBy ??= performance.now() + ENDING_MS;
    if (performance.now() > endBy)
      throw new KnownError({
        code: 'interrupted',
        message: `${draining.reason instanceof KnownError ? draining.reason.message : 'The run was told to stop.'} It was updating the reports.`,
        help: 'Run the job again: it updates the rest.',
        safe: 'Posting had finished, and every answer is recorded. Until the next run, the views of schema bi show an older state.',
        exitCode: EXIT.interrupted,
      });
  }
  try {
    await refreshReporting(db, { job: job.name, onStep });
    const rules = loadReturnRules(run);
    if (rules !== null) {
      // A plan accepts and adjusts nothing, so it leaves the earnings as they are.
      if (!db.isTransaction) await keepEarnings(db, { rules, onStep: () => onStep(0) });
      await updateReturns(db, { rules, onStep: () => onStep(0) });
      if (!db.isTransaction) await keepAccruals(db, { rules, payments: run.config.statements.payments });
    }
  } catch (error) {
    // A plan is a single transaction, and no statement can follow an error in it.
    if (db.isTransaction || isConnectionLost(error) || isInterrupted(error)) throw error;
    return explainStale(error);
  }
  await analyzeGrown(
    db,
    TABLES.map((table) => `reporting.${table}`),
  );
  return null;
}

/**
 * The rules by which returns are computed. Null, with a note, if the terms or rates cannot be used. The
 * returns then stay as they are.
 */
function loadReturnRules({ config, progress }: Run): ReturnRules | null {
  try {
    return {
      ...loadStatementRules(config.statements),
      marginPercent: config.statements.marginPercent,
      exchange: loadExchange(config.statements),
    };
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    progress.note(
      `The returns (bi.returns_monthly) were not updated: ${error.message} To see what is wrong: npx influencer-sync statement`,
    );
    return null;
  }
}

function isInterrupted(error: unknown): boolean {
  return error instanceof KnownError && error.details.exitCode === EXIT.interrupted;
}

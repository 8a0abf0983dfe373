import type { Database } from '../../src/db/connect.ts';
import { type OpenLedger, openLedger } from '../../src/ledger/open-ledger.ts';
import { createBudget } from '../../src/ledger/sending/ask.ts';
import { meetNamedDeals } from '../../src/mirror/discover-deals.ts';
import { countDueDeals } from '../../src/mirror/due-deals.ts';
import { countDueHandles, meetNamedHandles } from '../../src/mirror/known-handles.ts';
import { countDuePrefixes, plantPrefixes } from '../../src/mirror/known-prefixes.ts';
import { publish } from '../../src/mirror/publish.ts';
import { openDatabaseClock } from '../../src/mirror/stage.ts';
import type { Run } from '../../src/ops/run.ts';
import { keepReconciliation } from '../../src/reports/money/reconcile-deals.ts';
import type { FlowEnd } from '../../src/runs/runnable-kind.ts';
import { type Explored, type Exploring, exploreHandles, explorePrefixes } from './explore-account.ts';
import { fetchDeals, fetchListings } from './fetch-account.ts';
import { openQuestions } from './open-questions.ts';
import { type MirrorReport, reportMirror } from './report.ts';
import type { MirrorAccountSettings } from './settings.ts';
import { spreadDeals } from './spread-deals.ts';

const MS_PER_HOUR = 3_600_000;

/** Runs the steps of the mirror: collect known deals → list → explore → fetch → publish → report. */
export async function mirrorAccount(run: Run<MirrorAccountSettings>): Promise<FlowEnd<MirrorReport>> {
  const { db, job, client, runId, owner, options } = run;
  const clock = await openDatabaseClock(db);
  const due = dueAt(clock(), job.refreshAfterHours);
  const budget = createBudget(Math.min(job.budget, options.limit ?? job.budget));
  const autocomplete = createBudget(Math.min(job.autocompleteBudget, budget.left()));

  const named = await meetNamedDeals(db);
  await meetNamedHandles(db);
  if (autocomplete.left() > 0) await plantPrefixes(db);
  if (client === null) {
    const budgets = { budget: budget.left(), autocompleteBudget: autocomplete.left() };
    const plan = { ...budgets, ...(await countDue(db, due, { withPrefixes: autocomplete.left() > 0 })) };
    return { stop: null, report: await reportMirror(db, { runId, due, plan, outcome: null }) };
  }

  const ledger = await openLedger(run, client);
  const questions = openQuestions(run, { client, budget, clock });
  const exploring = { questions, autocomplete, askedBefore: due.askedBefore };
  const read = await readAccount(run, exploring, { due, ledger }).finally(questions.close);

  run.progress.begin({ name: 'publish', label: 'Publishing', unit: 'deals', total: null });
  const stop = questions.stopped();
  // The answers of a run that stops early wait for the next run, so that readers never see half a run.
  const published = stop === null ? await publish(db, { runId, owner, ...due }) : null;
  run.progress.advance(published?.deals.asked ?? 0);
  if (published !== null)
    await keepReconciliation(db, { accountCurrency: run.config.reconcile.accountCurrency, runId });
  const outcome = {
    published,
    requests: budget.used(),
    discovered: named + read.discovered,
    problems: read.problems,
  };
  const report = await reportMirror(db, { runId, due, plan: null, outcome });
  return { stop: stop ?? (published === null ? LEASE_LOST : null), report };
}

/**
 * Sends all requests to the service, in the order of their value for the mirror, because the budget may run
 * out.
 */
async function readAccount(
  run: Run<MirrorAccountSettings>,
  exploring: Exploring,
  { due, ledger }: { due: Due; ledger: OpenLedger },
): Promise<Explored> {
  const problems = await fetchListings(run, exploring.questions);
  const byHandle = await exploreHandles(run, exploring);
  const byPrefix = await explorePrefixes(run, exploring);
  await spreadDeals(run, exploring.questions, { due, ledger });
  // Those that no worker has read, within what is left of the budget.
  await fetchDeals(run, exploring.questions, due);
  return {
    discovered: byHandle.discovered + byPrefix.discovered,
    problems: [...problems, ...byPrefix.problems],
  };
}

const LEASE_LOST = {
  kind: 'lease_lost',
  message: 'another process took over, or the database was unreachable for too long',
} as const;

type Due = ReturnType<typeof dueAt>;

function dueAt(now: Date, refreshAfterHours: number) {
  const askedBefore = new Date(now.getTime() - refreshAfterHours * MS_PER_HOUR);
  return { now, refreshAfterHours, askedBefore };
}

/** Counts what a run would request. */
async function countDue(db: Database, due: Due, { withPrefixes }: { withPrefixes: boolean }) {
  return {
    dueByWay: await countDueDeals(db, due),
    handles: await countDueHandles(db, due.askedBefore),
    prefixes: withPrefixes ? await countDuePrefixes(db, due.askedBefore) : 0,
  };
}

import { loadJobCodes } from '../../src/codes/load-job-codes.ts';
import { analyzeGrown } from '../../src/db/analyze.ts';
import { type Run, sourcesOf } from '../../src/ops/run.ts';
import { updateReports } from '../../src/reports/update-reports.ts';
import { beginPosting, postProposed } from '../../src/runs/posting.ts';
import type { FlowEnd } from '../../src/runs/runnable-kind.ts';
import { intakeSources } from '../../src/runs/workers/read-sources.ts';
import { attributionRules } from './attribution-rules.ts';
import { releaseEnded } from './backfill/release-entries.ts';
import { decideOrders } from './decide/decide-orders.ts';
import { prepareEntries } from './decide/prepare-entries.ts';
import { type OrdersReport, reportOrders } from './report.ts';
import type { AttributeOrdersSettings } from './settings.ts';
import { createOrderIntake } from './take-orders.ts';

/** Runs the job: read, decide, post, add up (docs/architecture.md). */
export async function attributeOrders(run: Run<AttributeOrdersSettings>): Promise<FlowEnd<OrdersReport>> {
  const { db, job } = run;
  const sources = sourcesOf(run);
  const intake = await createOrderIntake(run);
  const posting = await beginPosting(run);
  const { accountId } = posting;
  const rules = attributionRules(run);
  await releaseEnded(db, rules);

  const codes = await loadJobCodes(run);
  const unread = await intakeSources(run, sources, intake);
  await analyzeGrown(db, ['intake.source_files', 'intake.orders', 'intake.rejected_rows']);
  run.progress.begin({ name: 'attribute', label: 'Attributing orders', unit: 'orders', total: null });
  const { decided } = await decideOrders(db, { ...rules, codesHash: codes.hash });
  run.progress.advance(decided);
  const orderPlatformBySource = Object.fromEntries(
    sources.map((source) => [source.name, source.orderPlatform]),
  );
  await analyzeGrown(db, ['intake.attributed_files', 'intake.attributions']);
  await prepareEntries(db, {
    job: job.name,
    runId: run.runId,
    accountId,
    brandId: job.brandId,
    orderPlatformBySource,
    orderNotes: job.orderNotes,
  });

  const stop = (await postProposed(run, posting)) ?? unread;
  const staleBecause = await updateReports(run);
  const report = await reportOrders(db, {
    runId: run.runId,
    job: job.name,
    sources: job.sources,
    codeProblems: codes.problems,
    areOwnersChecked: codes.areOwnersChecked,
    areReportsStale: staleBecause !== null,
  });
  if (staleBecause === null) return { stop, report };
  if (stop !== null) run.progress.note(staleBecause);
  return { stop: stop ?? { kind: 'reports_stale', message: staleBecause }, report };
}

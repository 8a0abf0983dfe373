import { loadJobCodes } from '../../src/codes/load-job-codes.ts';
import { analyzeGrown } from '../../src/db/analyze.ts';
import { replaceRows } from '../../src/intake/files/replace-rows.ts';
import type { Intake } from '../../src/intake/read/intake-file.ts';
import { createRowIntake } from '../../src/intake/read/take-rows.ts';
import { inDecision } from '../../src/ledger/propose.ts';
import { type Run, sourcesOf } from '../../src/ops/run.ts';
import { beginPosting, postProposed } from '../../src/runs/posting.ts';
import type { FlowEnd } from '../../src/runs/runnable-kind.ts';
import { intakeSources } from '../../src/runs/workers/read-sources.ts';
import {
  CLICKS,
  type ClickRules,
  decideClicks,
  excludeRemovedClicks,
  proposeClicks,
} from './decide-clicks.ts';
import { holdDoubled } from './decide-doubled.ts';
import { readClicks } from './read-clicks.ts';
import { type ClicksReport, reportClicks } from './report.ts';
import type { PostClicksSettings } from './settings.ts';

/**
 * Runs the steps of the job: list → open → decode → parse → map → stage → seal → decide → propose → claim →
 * post → record → report.
 */
export async function postClicks(run: Run<PostClicksSettings>): Promise<FlowEnd<ClicksReport>> {
  const { db, job, runId } = run;
  const sources = sourcesOf(run);
  const posting = await beginPosting(run);
  const codes = await loadJobCodes(run);
  const unread = await intakeSources(run, sources, createClickIntake());
  await analyzeGrown(db, ['intake.source_files', 'intake.clicks', 'intake.rejected_rows']);

  run.progress.begin({ name: 'attribute', label: 'Attributing clicks', unit: 'rows', total: null });
  const rules: ClickRules = {
    job: job.name,
    sources: sources.map(({ name, timeZone }) => ({ source: name, timeZone })),
    brandId: job.brandId,
    startDate: job.startDate,
  };
  await inDecision(db, [job.name], async (trx) => {
    run.progress.advance(await decideClicks(trx, rules));
    await excludeRemovedClicks(trx, { job: job.name, sources: job.sources });
    await proposeClicks(trx, { ...rules, runId, accountId: posting.accountId });
  });
  const stop = (await postProposed(run, posting)) ?? unread;
  const report = await reportClicks(db, {
    runId,
    job: job.name,
    sources: job.sources,
    codeProblems: codes.problems,
  });
  return { stop, report };
}

/** Reads files of clicks. */
export function createClickIntake(): Intake {
  return createRowIntake({
    purpose: { readFor: 'clicks' },
    open: ({ source }) => readClicks(source),
    judge: holdDoubled,
    publish: (trx, file) => replaceRows(trx, CLICKS, file),
  });
}

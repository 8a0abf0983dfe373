import { inDecision } from '../../src/ledger/propose.ts';
import type { Run } from '../../src/ops/run.ts';
import { beginPosting, postProposed } from '../../src/runs/posting.ts';
import type { FlowEnd } from '../../src/runs/runnable-kind.ts';
import { proposeNotes } from './decide-corrections.ts';
import { type CorrectionsReport, reportCorrections } from './report.ts';
import type { TellCorrectionsSettings } from './settings.ts';

/** Runs the steps of the job: choose → propose → claim → post → record → report. */
export async function tellCorrections(
  run: Run<TellCorrectionsSettings>,
): Promise<FlowEnd<CorrectionsReport>> {
  const { db, job, runId } = run;
  const { ledger, accountId } = await beginPosting(run);
  await inDecision(db, [job.name], (trx) => proposeNotes(trx, { job, accountId, runId }));
  const stop = await postProposed(run, { ledger, accountId });
  return { stop, report: await reportCorrections(db, { runId, job }) };
}

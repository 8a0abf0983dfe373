import type { RunStop } from '../../src/core/run.ts';
import { analyzeGrown } from '../../src/db/analyze.ts';
import { inDecision } from '../../src/ledger/propose.ts';
import type { Run } from '../../src/ops/run.ts';
import { beginPosting, type Posting, postProposed } from '../../src/runs/posting.ts';
import type { FlowEnd } from '../../src/runs/runnable-kind.ts';
import { type Allowance, countWithin, decideOutreach } from './decide-outreach.ts';
import { describeApproval } from './render.ts';
import { type OutreachReport, readNext, reportOutreach } from './report.ts';
import { HUNDREDTHS_AN_INFLUENCER, type SubmitOutreachSettings } from './settings.ts';

/**
 * Runs the steps of the job: choose → (approve) → propose → claim → submit → record → report.
 *
 * @param found.mayRefuse nothing is approved or submitted: all wait until a person has decided about a file.
 */
export async function submitOutreach(
  run: Run<SubmitOutreachSettings>,
  { mayRefuse }: { readonly mayRefuse: boolean },
): Promise<FlowEnd<OutreachReport>> {
  const { db, job, runId, options } = run;
  const posting = await beginPosting(run);
  run.progress.begin({ name: 'choose', label: 'Choosing influencers', unit: 'influencers', total: null });
  const allowance = {
    credits: Math.floor(job.creditHundredths / HUNDREDTHS_AN_INFLUENCER),
    limit: options.limit ?? Number.MAX_SAFE_INTEGER,
  };
  const approved = await choose(run, posting, { ...allowance, mayRefuse });
  await analyzeGrown(db, ['intake.outreach_candidates', 'ledger.entries']);
  const stop = approved > 0 ? await postApproved(run, posting, approved) : null;
  const report = await reportOutreach(db, { runId, job, mayRefuse });
  return { stop, report };
}

/**
 * Decides which influencers to submit, and asks for approval if it is required.
 *
 * @returns the number of influencers that the run may submit.
 */
async function choose(
  run: Run<SubmitOutreachSettings>,
  { accountId }: Posting,
  { mayRefuse, ...within }: Omit<Allowance, 'approved'> & { readonly mayRefuse: boolean },
): Promise<number> {
  const { db, job, runId, client, progress, options } = run;
  const decide = (approved: number) =>
    inDecision(db, [job.name], async (trx) => {
      const { candidates, eligible } = await decideOutreach(trx, {
        settings: {
          ...job,
          batchSize: Math.min(job.batchSize, run.config.api.description.limits.influencers_per_call),
        },
        accountId,
        runId,
        allowance: { ...within, approved },
      });
      progress.advance(candidates);
      return eligible;
    });
  if (mayRefuse) {
    await decide(0);
    return 0;
  }
  // A plan shows what an approved run would do.
  if (job.approve || client === null) {
    await decide(Number.MAX_SAFE_INTEGER);
    return Math.min(within.credits, within.limit);
  }
  const eligible = await decide(0);
  if (eligible === 0 || options.approve === undefined) return 0;
  progress.end();
  const question = describeApproval(job, { eligible, next: await readNext(db, job.name) });
  if (!(await options.approve(question))) return 0;
  // Decides again: influencers who unsubscribed while the question was open are left out, and the approved
  // number is not exceeded.
  await decide(eligible);
  return eligible;
}

/**
 * Sends ready requests with at most this number of influencers in total. A request contains several
 * influencers. Requests that a person approved to be sent again count too.
 */
async function postApproved(
  run: Run<SubmitOutreachSettings>,
  posting: Posting,
  influencers: number,
): Promise<RunStop | null> {
  const limit = await countWithin(run.db, { job: run.job.name, influencers });
  return postProposed({ ...run, options: { ...run.options, limit } }, posting);
}

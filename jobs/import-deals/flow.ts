import type { RunStop } from '../../src/core/run.ts';
import { foldHandle } from '../../src/core/text/fold.ts';
import { analyzeGrown } from '../../src/db/analyze.ts';
import { replaceRows } from '../../src/intake/files/replace-rows.ts';
import type { Intake } from '../../src/intake/read/intake-file.ts';
import { intakeSource } from '../../src/intake/read/intake-source.ts';
import { createRowIntake } from '../../src/intake/read/take-rows.ts';
import { inDecision } from '../../src/ledger/propose.ts';
import { createAsk, createBudget } from '../../src/ledger/sending/ask.ts';
import { type OpenRequestGate, openRequestGate } from '../../src/ledger/sending/open-request-gate.ts';
import { discoverDeals } from '../../src/mirror/discover-deals.ts';
import { openDealAnswer, readDealAnswer } from '../../src/mirror/read-deal-answer.ts';
import type { ReadRecord } from '../../src/mirror/read-record.ts';
import { type Run, sourcesOf } from '../../src/ops/run.ts';
import { beginPosting, type Posting, postProposed } from '../../src/runs/posting.ts';
import type { FlowEnd } from '../../src/runs/runnable-kind.ts';
import type { Client } from '../../src/service/client.ts';
import { CREATORS, holdContradictory } from './decide-conflicting.ts';
import { type DealRules, decideCreators, proposeDeals, proposeNotes } from './decide-creators.ts';
import { countAttempts, handlesToLookUp, isMirrored, mirrorMissing, saveLookup } from './decide-requests.ts';
import { readCreators } from './read-creators.ts';
import { type DealsReport, reportDeals } from './report.ts';
import type { ImportDealsSettings } from './settings.ts';
import { type SentUpdates, updateDeals } from './update-deals.ts';

type DealsRun = Run<ImportDealsSettings>;

/**
 * Runs the steps of the job: list → open → decode → parse → map → stage → seal → decide → look up → propose
 * deals → claim → post → record. Then does the same for the notes of creators that have a deal, and then
 * sends stages and statuses.
 *
 * @throws KnownError `mirror_missing` (exit 2).
 */
export async function importDeals(run: DealsRun): Promise<FlowEnd<DealsReport>> {
  const { db, job, runId } = run;
  if (!(await isMirrored(db))) throw mirrorMissing(job.name);
  const sources = sourcesOf(run);
  const posting = await beginPosting(run);
  for (const source of sources) await intakeSource(run, source, createCreatorIntake());
  await analyzeGrown(db, ['intake.source_files', 'intake.creators', 'intake.rejected_rows']);

  const { brandId, dealflowId, createAffiliateDetails } = job;
  const rules: DealRules = {
    job: job.name,
    brandId,
    dealflowId,
    createAffiliateDetails,
    runId,
    sources: sources.map(({ name }) => name),
    accountId: posting.accountId,
    isPlan: run.client === null,
  };
  run.progress.begin({ name: 'decide', label: 'Matching creators with deals', unit: 'rows', total: null });
  run.progress.advance(await decide(run, rules, proposeDeals));
  const { stop, updates } =
    run.client === null ? NOTHING_SENT : await send(run, run.client, { posting, rules });
  const report = await reportDeals(db, { runId, job: job.name, sources: job.sources, sent: updates });
  return { stop, report };
}

/** Reads lists of creators. */
export function createCreatorIntake(): Intake {
  return createRowIntake({
    purpose: { readFor: 'creators' },
    open: () => ({ open: readCreators }),
    judge: holdContradictory,
    publish: (trx, file) => replaceRows(trx, CREATORS, file),
  });
}

type Sending = { readonly stop: RunStop | null; readonly updates: SentUpdates };
const NOTHING_SENT: Sending = { stop: null, updates: { stages: 0, statuses: 0, unseen: 0 } };

/**
 * Sends what was decided: deals first, because notes, stages and statuses need their ids. Once a step stops
 * the run, the later steps send nothing. Requests without a clear answer do not stop it.
 */
async function send(
  run: DealsRun,
  client: Client,
  { posting, rules }: { posting: Posting; rules: DealRules },
): Promise<Sending> {
  let { stop, updates } = NOTHING_SENT;
  let unfinished: RunStop | null = null;

  async function ask(
    work: (open: OpenRequestGate & { readonly limit: number | null }) => Promise<void>,
  ): Promise<void> {
    if (stop !== null) return;
    const open = openRequestGate(run, client);
    try {
      await work({ ...open, limit: await leftOf(run) });
      stop = open.gate.stopped();
      unfinished ??= open.gate.unfinished();
    } finally {
      open.close();
    }
  }
  async function post(propose: typeof proposeDeals, items: 'deals' | 'notes'): Promise<void> {
    await decide(run, rules, propose);
    if (stop !== null) return;
    const options = { ...run.options, limit: await leftOf(run) };
    stop = await postProposed({ ...run, options, nouns: { ...run.nouns, items } }, posting);
  }

  await ask((open) => lookUpDeals(run, client, open));
  await post(proposeDeals, 'deals');
  await post(proposeNotes, 'notes');
  await ask(async (open) => {
    updates = await updateDeals(run, client, open);
  });
  return { stop: stop ?? unfinished, updates };
}

/** @returns the number of creators whose decision has changed. */
function decide(run: DealsRun, rules: DealRules, propose: typeof proposeDeals): Promise<number> {
  return inDecision(run.db, [run.job.name], async (trx) => {
    const decided = await decideCreators(trx, rules);
    await propose(trx, rules);
    return decided;
  });
}

/** Number of requests that the run may still send. Null means no limit. */
async function leftOf({ db, runId, options: { limit } }: DealsRun): Promise<number | null> {
  return limit === null ? null : Math.max(0, limit - (await countAttempts(db, runId)));
}

/**
 * Asks the service, once for each handle, whether a creator who is to get a deal already has one. The service
 * has no operation to list deals, so the mirror may not have discovered it. A deal that the service names is
 * added to the known deals, and the mirror then reads its details. A creator whose look-up failed gets no
 * deal in this run and is looked up again in the next run.
 */
async function lookUpDeals(
  run: Run,
  client: Client,
  { gate, forEach, limit }: OpenRequestGate & { readonly limit: number | null },
): Promise<void> {
  const { db, job, progress } = run;
  const handles = await handlesToLookUp(db, { job: job.name, limit });
  if (handles.length === 0) return;
  progress.begin({
    name: 'look_up',
    label: 'Looking up creators',
    unit: 'influencers',
    total: handles.length,
  });
  // Each handle is looked up once. A request without an answer is retried a few times.
  const budget = createBudget(Number.POSITIVE_INFINITY);
  const ask = createAsk({ client, gate, budget, clock: () => new Date() });
  await forEach(handles, async ({ folded, handle }) => {
    const answer = await ask('get_deal_details', { query: { influencer_handle: handle } });
    if (answer.kind !== 'answer' && answer.kind !== 'not_found') return;
    const deal = answer.kind === 'answer' ? readDeal(answer.text) : null;
    if (deal === null && answer.kind === 'answer') {
      gate.leaveUnanswered('the answer contains no deal');
      return;
    }
    if (deal !== null) await discoverDeals(db, [{ dealId: deal.id, way: 'handle' }]);
    const named = deal?.fields.influencer_handle;
    if (typeof named === 'string' && foldHandle(named) !== folded) {
      gate.leaveUnanswered(
        'the answer is the deal of another handle, so it does not say whether this one has a deal',
      );
      return;
    }
    const dealId = deal?.id ?? null;
    await saveLookup(db, { job: job.name, folded, dealId });
    progress.advance(1);
  });
}

/** @returns null if the answer contains no readable deal. */
function readDeal(text: string): ReadRecord | null {
  const opened = openDealAnswer(text);
  if (!('body' in opened)) return null;
  const read = readDealAnswer(opened, null);
  return 'deal' in read ? read.deal : null;
}

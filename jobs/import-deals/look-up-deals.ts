import { createAsk, createBudget } from '../../src/ledger/sending/ask.ts';
import type { OpenRequestGate } from '../../src/ledger/sending/open-request-gate.ts';
import { discoverDeals } from '../../src/mirror/discover-deals.ts';
import { openDealAnswer, readDealAnswer } from '../../src/mirror/read-deal-answer.ts';
import type { Run } from '../../src/ops/run.ts';
import type { Client } from '../../src/service/client.ts';
import { handlesToLookUp, saveLookup } from './decide-requests.ts';

/**
 * Asks the service, once for each handle, whether a creator who is to get a deal already has one. The service
 * has no operation to list deals, so the mirror may not have discovered it. A deal that the service names is
 * added to the known deals, and the mirror then reads its details. A creator whose look-up failed gets no
 * deal in this run and is looked up again in the next run.
 */
export async function lookUpDeals(
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
    const dealId = answer.kind === 'answer' ? readDealId(answer.text) : null;
    if (dealId === null && answer.kind === 'answer') {
      gate.leaveUnanswered('the answer contains no deal');
      return;
    }
    if (dealId !== null) await discoverDeals(db, [{ dealId, way: 'handle' }]);
    await saveLookup(db, { job: job.name, folded, dealId });
    progress.advance(1);
  });
}

/** @returns null if the answer contains no readable deal. */
function readDealId(text: string): string | null {
  const opened = openDealAnswer(text);
  if (!('body' in opened)) return null;
  const read = readDealAnswer(opened, null);
  return 'deal' in read ? read.deal.id : null;
}

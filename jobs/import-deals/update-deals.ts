import type { Client, ExchangeInput } from '../../src/api/client.ts';
import type { OperationName } from '../../src/api/contract.ts';
import { readUpdateAnswer } from '../../src/delivery/classify.ts';
import { sendRepeatable } from '../../src/delivery/send-repeatable.ts';
import { maskAddresses } from '../../src/model/text/mask-addresses.ts';
import type { OpenRequestGate } from '../../src/pipeline/open-request-gate.ts';
import type { Run } from '../../src/pipeline/run.ts';
import { saveUpdate, type WaitingUpdate, waitingUpdates } from './decide-requests.ts';

/** Number of updates that the service accepted in a run. */
export type SentUpdates = { readonly stages: number; readonly statuses: number };

/** One request and the values that it sets. */
type Update = {
  readonly sets: { readonly stage: number | null; readonly isActive: boolean | null };
  readonly operation: OperationName;
  readonly input: ExchangeInput;
};

/**
 * Sends stages (`update_dealstage`) and active statuses (`update_deal_info`) that the service has not
 * accepted yet. Both requests set a value, so they are safe to repeat until the answer is clear. A refused
 * update is sent again in the next run.
 *
 * @param limit maximum number of requests. Null means no limit.
 */
export async function updateDeals(
  run: Run,
  client: Client,
  { gate, forEach, limit }: OpenRequestGate & { readonly limit: number | null },
): Promise<SentUpdates> {
  const { db, job, progress } = run;
  const sent = { stages: 0, statuses: 0 };
  const waiting = await waitingUpdates(db, job.name);
  if (waiting.length === 0) return sent;
  progress.begin({ name: 'update', label: 'Updating deals', unit: 'deals', total: waiting.length });
  let left = limit ?? Number.POSITIVE_INFINITY;

  await forEach(waiting, async (deal) => {
    let problem: string | null = null;
    for (const { sets, operation, input } of updatesOf(deal)) {
      if (left <= 0) return;
      left -= 1;
      const answer = await sendRepeatable({ client, gate }, { operation, input, read: readUpdateAnswer });
      // Without a clear answer, the update waits for the next run.
      if (answer === null) return;
      const { outcome } = answer;
      if (outcome.kind !== 'accepted' && (outcome.kind !== 'rejected' || outcome.stopsGate)) return;
      if (outcome.kind === 'rejected') {
        problem ??= maskAddresses(outcome.message).slice(0, 500);
        await saveUpdate(db, { creatorId: deal.creatorId, stage: null, isActive: null, problem });
        continue;
      }
      await saveUpdate(db, { creatorId: deal.creatorId, ...sets, problem });
      if (sets.stage === null) sent.statuses += 1;
      else sent.stages += 1;
    }
    progress.advance(1);
  });
  return sent;
}

function updatesOf({ dealId, stage, isActive }: WaitingUpdate): readonly Update[] {
  const updates: Update[] = [];
  if (stage !== null)
    updates.push({
      sets: { stage, isActive: null },
      operation: 'update_dealstage',
      input: { body: JSON.stringify({ deal_id: dealId, new_stage: stage }) },
    });
  if (isActive !== null)
    updates.push({
      sets: { stage: null, isActive },
      operation: 'update_deal_info',
      input: {
        body: JSON.stringify({
          deal_id: dealId,
          new_deal_info: { is_active: isActive },
          status_update_only: true,
        }),
      },
    });
  return updates;
}

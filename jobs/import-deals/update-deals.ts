import { maskAddresses } from '../../src/core/text/mask-addresses.ts';
import { type Ask, createAsk, createBudget } from '../../src/ledger/sending/ask.ts';
import { readUpdateAnswer } from '../../src/ledger/sending/classify.ts';
import type { OpenRequestGate } from '../../src/ledger/sending/open-request-gate.ts';
import type { RequestGate } from '../../src/ledger/sending/request-gate.ts';
import { sendRepeatable } from '../../src/ledger/sending/send-repeatable.ts';
import { openDealAnswer, readDealAnswer } from '../../src/mirror/read-deal-answer.ts';
import type { ReadRecord } from '../../src/mirror/read-record.ts';
import { dealShape } from '../../src/mirror/record-shapes.ts';
import type { Run } from '../../src/ops/run.ts';
import type { Client, ExchangeInput } from '../../src/service/client.ts';
import type { OperationName } from '../../src/service/contract.ts';
import { saveUpdate, type WaitingUpdate, waitingUpdates } from './decide-requests.ts';

/** Number of updates that the service accepted in a run, and that its deals then show. */
export type SentUpdates = {
  readonly stages: number;
  readonly statuses: number;
  /** The part of both that no answer can show, because the deals of the service have no such field. */
  readonly unseen: number;
};

type Update = {
  readonly sets: { readonly stage: number | null; readonly isActive: boolean | null };
  readonly operation: OperationName;
  readonly input: ExchangeInput;
};

/**
 * Sends stages (`update_dealstage`) and active statuses (`update_deal_info`) that the service has not
 * accepted yet. Both requests set a value, so they are safe to repeat until the answer is clear. Then it reads
 * each deal once: an update is done only if the deal shows it. A refused update, one that the deal does not show, and
 * one whose deal could not be read are sent again in the next run.
 *
 * @param limit maximum number of requests. Null means no limit.
 */
export async function updateDeals(
  run: Run,
  client: Client,
  { gate, forEach, limit }: OpenRequestGate & { readonly limit: number | null },
): Promise<SentUpdates> {
  const { db, job, progress } = run;
  const sent = { stages: 0, statuses: 0, unseen: 0 };
  const waiting = await waitingUpdates(db, job.name);
  if (waiting.length === 0) return sent;
  progress.begin({ name: 'update', label: 'Updating deals', unit: 'deals', total: waiting.length });
  let left = limit ?? Number.POSITIVE_INFINITY;
  const budget = createBudget(Number.POSITIVE_INFINITY);
  const ask = createAsk({ client, gate, budget, clock: () => new Date() });

  await forEach(waiting, async (deal) => {
    let problem: string | null = null;
    const accepted: Update['sets'][] = [];
    for (const { sets, operation, input } of updatesOf(deal)) {
      if (left <= 0) break;
      left -= 1;
      const answer = await sendRepeatable({ client, gate }, { operation, input, read: readUpdateAnswer });
      // Without a clear answer, the update waits for the next run.
      const outcome = answer?.outcome;
      if (outcome?.kind === 'accepted') accepted.push(sets);
      if (outcome?.kind !== 'rejected' || outcome.stopsGate) continue;
      problem ??= maskAddresses(outcome.message).slice(0, 500);
      await saveUpdate(db, { creatorId: deal.creatorId, stage: null, isActive: null, problem });
    }
    const shown = accepted.length === 0 ? null : await readBack(ask, gate, deal.dealId);
    for (const sets of shown === null ? [] : accepted) {
      const isShown = compare(sets, shown);
      if (isShown === 'other') problem ??= describeOther(sets);
      const done = isShown === 'other' ? { stage: null, isActive: null } : sets;
      await saveUpdate(db, { creatorId: deal.creatorId, ...done, problem });
      if (isShown === 'other') continue;
      if (isShown === 'unseen') sent.unseen += 1;
      if (sets.stage === null) sent.statuses += 1;
      else sent.stages += 1;
    }
    progress.advance(1);
  });
  return sent;
}

/** What a deal shows of one field: its value as text, null if it is empty, undefined if there is no such field. */
type Shown = Readonly<Record<'stage' | 'isActive', string | null | undefined>>;

/** The deal as the service shows it now. Null if it does not: the gate counts that. */
async function readBack(ask: Ask, gate: RequestGate, dealId: string): Promise<Shown | null> {
  const answer = await ask('get_deal_details', { query: { deal_id: dealId } });
  const opened = answer.kind === 'answer' ? openDealAnswer(answer.text) : null;
  const read = opened !== null && 'body' in opened ? readDealAnswer(opened, readDealId(dealId)) : null;
  if (read !== null && 'deal' in read) {
    const { deal } = read;
    return { stage: showField(deal, 'funnel_step'), isActive: showField(deal, 'is_active') };
  }
  // A question that failed was counted where it was asked.
  if (answer.kind === 'answer' || answer.kind === 'not_found')
    gate.leaveUnanswered('an updated deal could not be read back');
  return null;
}

function showField({ fields, raw }: ReadRecord, name: string): string | null | undefined {
  const record = JSON.parse(raw) as object;
  const names = dealShape.columns.find((column) => column.name === name)?.from ?? [];
  return fields[name] ?? (names.some((own) => Object.hasOwn(record, own)) ? null : undefined);
}

/** The address of a deal page ends with the id of the deal. */
function readDealId(dealId: string): string {
  return dealId.split('/').findLast((part) => part !== '') ?? dealId;
}

function compare({ stage, isActive }: Update['sets'], shown: Shown | null): 'same' | 'other' | 'unseen' {
  const [asked, is] = stage === null ? [isActive, shown?.isActive] : [stage, shown?.stage];
  if (is === undefined) return 'unseen';
  return is === String(asked) ? 'same' : 'other';
}

function describeOther({ stage, isActive }: Update['sets']): string {
  const what = stage === null ? `active: ${isActive}` : `stage ${stage}`;
  return `the service accepted ${what}, but the deal does not show it`;
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

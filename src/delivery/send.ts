import type { Client } from '../api/client.ts';
import type { OperationName } from '../api/contract.ts';
import type { ClaimedEntry, Effect, Outcome } from '../model/ledger.ts';
import { classify } from './classify.ts';

/** The operation that brings each effect about. */
const operations: Readonly<Record<Effect, OperationName>> = {
  referral: 'new_influencer_referral',
  click: 'new_influencer_click',
  create_deal: 'create_deal',
  note: 'create_note',
  task: 'create_task',
};

/** Posts an entry that has been claimed, once, and says what is known after it. */
export type Send = (entry: ClaimedEntry) => Promise<Outcome>;

/** Sends claimed entries: what is not claimed does not compile. */
export function createSender(client: Pick<Client, 'exchange'>): Send {
  return async (entry) => {
    const exchange = await client.exchange(operations[entry.effect], { body: bodyOf(entry) });
    return classify(entry.effect, exchange, new Date());
  };
}

/**
 * The frozen body; a referral carries its reference in `order_notes`, so that an order found at the service, or in an event, leads back
 * to the attempt that posted it.
 */
function bodyOf(entry: ClaimedEntry): string {
  if (entry.effect !== 'referral') return entry.body;
  return `${entry.body.slice(0, entry.body.lastIndexOf('}'))},"order_notes":"${referenceOf(entry)}"}`;
}

/** Digits of the ledger's id that tell two ledgers apart to a person (continuity/identity.ts shows the same ones). */
const SHORT_ID = 8;

/** Opaque to the service: ledger, entry and attempt. */
function referenceOf({
  entryId,
  attempt,
  claim,
}: Pick<ClaimedEntry, 'entryId' | 'attempt' | 'claim'>): string {
  return `influencer-sync ${claim.ledgerId.slice(0, SHORT_ID)}.e${entryId}.a${attempt}`;
}

import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { storeEvent } from '../intake/store-event.ts';
import { applyEvidence } from '../ledger/apply-evidence.ts';
import type { WebhookEvent } from '../model/webhook-event.ts';

/**
 * Stores an event and lets the ledger take note of the order that it names, in one commit that is durable when this resolves.
 *
 * @returns false when the same body was stored before: then nothing happens.
 */
export function receiveEvent(db: Database, event: WebhookEvent): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    if (!(await storeEvent(trx, event))) return false;
    const { order, dealId, collabId, bodySha256 } = event;
    if (order !== null) await applyEvidence(trx, { ...order, dealId, collabId, bodySha256 });
    return true;
  });
}

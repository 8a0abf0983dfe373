import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { isConnectionLost } from '../db/server/connection-lost.ts';
import { storeEvents } from '../intake/store-events.ts';
import { applyEvidences } from '../ledger/apply-evidence.ts';
import { groupCommit } from '../ledger/group-commit.ts';
import type { WebhookEvent } from '../model/http/webhook-event.ts';

/** Makes an event durable before it resolves. @returns false when the same body was stored before: then nothing happens. */
export type StoreEvent = (event: WebhookEvent) => Promise<boolean>;

/** What became of one event of a group. */
type Stored = { readonly isNew: boolean } | { readonly error: unknown };

/**
 * Stores events and lets the ledger take note of the orders that they name. Events that come at the same time share one commit; each is
 * answered for after it. An event that the database refuses fails alone: the others of its group are stored one by one.
 */
export function createEventStore(db: Database): StoreEvent {
  const store = groupCommit<WebhookEvent, Stored>((events) => storeGroup(db, events));
  return async (event) => {
    const stored = await store(event);
    if ('error' in stored) throw stored.error;
    return stored.isNew;
  };
}

async function storeGroup(db: Database, events: readonly WebhookEvent[]): Promise<readonly Stored[]> {
  try {
    const fresh = await receiveEvents(db, events);
    return fresh.map((isNew) => ({ isNew }));
  } catch (error) {
    // A database that is away is away for all of them.
    if (events.length === 1 || isConnectionLost(error)) return events.map(() => ({ error }));
  }
  const each: Stored[] = [];
  for (const event of events) each.push(...(await storeGroup(db, [event])));
  return each;
}

/**
 * Takes in signed events: stores each, and lets the ledger take note of the orders that they name, in one commit that is durable when this
 * resolves.
 *
 * @returns for each false when the same body was stored before: then nothing happens.
 */
export function receiveEvents(db: Database, events: readonly WebhookEvent[]): Promise<readonly boolean[]> {
  return inTransaction(db, async (trx) => {
    const isNew = await storeEvents(trx, events);
    const evidences = events.flatMap(({ order, dealId, collabId, bodySha256 }, place) =>
      order !== null && isNew[place] === true ? [{ ...order, dealId, collabId, bodySha256 }] : [],
    );
    await applyEvidences(trx, evidences);
    return isNew;
  });
}

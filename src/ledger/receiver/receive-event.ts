import type { WebhookEvent } from '../../core/http/webhook-event.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { isConnectionLost } from '../../db/server/connection-lost.ts';
import { applyEvidences } from '../apply-evidence.ts';
import { groupCommit } from '../group-commit.ts';
import { storeEvents } from './store-events.ts';

/**
 * Stores an event durably before it resolves. @returns false if the same body was stored before, in which
 * case nothing happens.
 */
export type StoreEvent = (event: WebhookEvent) => Promise<boolean>;

/** The result of storing one event of a group. */
type Stored = { readonly isNew: boolean } | { readonly error: unknown };

/**
 * Stores events and applies them to the orders that they name. Events that arrive at the same time share one
 * commit, and each call resolves after it. If the database refuses an event, the events of its group are
 * stored one by one, so that only that event fails.
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
    // If the connection is lost, it is lost for all events.
    if (events.length === 1 || isConnectionLost(error)) return events.map(() => ({ error }));
  }
  const each: Stored[] = [];
  for (const event of events) each.push(...(await storeGroup(db, [event])));
  return each;
}

/**
 * Stores signed events and applies them to the orders that they name. Does so in one commit, which is durable
 * when this resolves.
 *
 * @returns for each event false if the same body was stored before, in which case nothing happens.
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

import type { Transaction } from 'kysely';
import type { WebhookEvent } from '../../core/http/webhook-event.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { isConnectionLost } from '../../db/server/connection-lost.ts';
import { type Database, rowsOf, toJsonParameter } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { applyEvidences } from '../evidence/apply-evidence.ts';
import { groupCommit } from '../group-commit.ts';

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

/**
 * Stores webhook events in the order in which they came, together with the changes of codes and links that
 * they report. They are durable once the transaction is committed.
 *
 * @returns for each event, true if it is new. False if its body was stored before, or occurs earlier in the
 * list.
 */
async function storeEvents(
  trx: Transaction<DB>,
  events: readonly WebhookEvent[],
): Promise<readonly boolean[]> {
  const given = events.map((event, place) => ({
    place,
    kind: event.kind,
    body: event.body,
    digest: event.bodySha256,
    dealId: event.dealId,
    collabId: event.collabId,
    sentAt: event.sentAt,
    changed: event.codeChange?.kind,
    oldValue: event.codeChange?.oldValue,
    newValue: event.codeChange?.newValue,
  }));
  // A change that names no deal is skipped, because it does not say who owns the code.
  const rows = await rowsOf<{ place: number }>(trx)`
    with durable as materialized (select set_config('synchronous_commit', 'on', true)),
    given as materialized (
      select distinct on (g.digest) g.*
      from jsonb_to_recordset(${toJsonParameter(given)}::jsonb) as g(place integer, kind text, body text,
        digest text, "dealId" text,
        "collabId" text, "sentAt" timestamptz, changed text, "oldValue" text, "newValue" text), durable
      order by g.digest, g.place
    ),
    stored as (
      insert into ops.webhook_events (kind, body, body_sha256, deal_id, collab_id, sent_at)
      select kind, body::jsonb, digest, "dealId", "collabId", "sentAt" from given order by place
      on conflict (body_sha256) do nothing
      returning event_id, body_sha256
    ),
    changes as (
      insert into intake.code_changes (event_id, kind, deal_id, collab_id, old_value, new_value)
      select s.event_id, g.changed, g."dealId", g."collabId", g."oldValue", g."newValue"
      from stored s join given g on g.digest = s.body_sha256
      where g.changed is not null and g."dealId" is not null
    )
    select g.place from stored s join given g on g.digest = s.body_sha256`;
  const fresh = new Set(rows.map(({ place }) => place));
  return events.map((_, place) => fresh.has(place));
}

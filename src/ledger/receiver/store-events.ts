import { sql, type Transaction } from 'kysely';
import type { WebhookEvent } from '../../core/http/webhook-event.ts';
import type { DB } from '../../db/tables.ts';
import { toJsonParameter } from '../../db/to-json-parameter.ts';

/**
 * Stores webhook events in the order in which they came, together with the changes of codes and links that
 * they report. They are durable once the transaction is committed.
 *
 * @returns for each event, true if it is new. False if its body was stored before, or occurs earlier in the
 * list.
 */
export async function storeEvents(
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
  const { rows } = await sql<{ place: number }>`
    with durable as materialized (select set_config('synchronous_commit', 'on', true)),
    given as materialized (
      select distinct on (g.digest) g.*
      from jsonb_to_recordset(${toJsonParameter(given)}::jsonb) as g(place integer, kind text, body text, digest text, "dealId" text,
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
    select g.place from stored s join given g on g.digest = s.body_sha256`.execute(trx);
  const fresh = new Set(rows.map(({ place }) => place));
  return events.map((_, place) => fresh.has(place));
}

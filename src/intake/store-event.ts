import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';
import type { WebhookEvent } from '../model/webhook-event.ts';

/**
 * Stores an event, and the change of a code or link that it tells of. It is durable when the transaction is committed.
 *
 * @returns false when the same body was stored before: then nothing is to be done for it.
 */
export async function storeEvent(trx: Transaction<DB>, event: WebhookEvent): Promise<boolean> {
  const { kind, body, bodySha256, dealId, collabId, sentAt, codeChange } = event;
  const { rows } = await sql<{ event_id: string }>`
    with durable as materialized (select set_config('synchronous_commit', 'on', true))
    insert into ops.webhook_events (kind, body, body_sha256, deal_id, collab_id, sent_at)
    select ${kind}, ${body}::jsonb, ${bodySha256}, ${dealId}, ${collabId}, ${sentAt}::timestamptz from durable
    on conflict (body_sha256) do nothing
    returning event_id`.execute(trx);
  const eventId = rows[0]?.event_id;
  if (eventId === undefined) return false;
  // A change that names no deal can be nobody's code.
  if (codeChange === null || dealId === null) return true;
  await trx
    .insertInto('intake.code_changes')
    .values({
      event_id: eventId,
      kind: codeChange.kind,
      deal_id: dealId,
      collab_id: collabId,
      old_value: codeChange.oldValue,
      new_value: codeChange.newValue,
    })
    .execute();
  return true;
}

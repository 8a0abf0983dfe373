import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { CodeChange } from '../model/webhook-event.ts';

/** What an event of the service told of a deal's discount code or custom link. */
export type ToldChange = {
  readonly kind: CodeChange['kind'];
  readonly dealId: string;
  readonly collabId: string | null;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  /** Where a link led and leads: a page, or a name. Null for a code. */
  readonly oldTarget: string | null;
  readonly newTarget: string | null;
  /** When the event came. */
  readonly at: Date;
};

/** Codes and links that events have changed, in the order in which they came. */
export async function readCodeChanges(db: Database): Promise<readonly ToldChange[]> {
  const { rows } = await sql<ToldChange>`
    select c.kind, c.deal_id as "dealId", c.collab_id as "collabId", c.old_value as "oldValue", c.new_value as "newValue",
      l.link ->> 'old_custom_link_target' as "oldTarget", l.link ->> 'new_custom_link_target' as "newTarget", c.received_at as at
    from intake.code_changes c
    left join ops.webhook_events e on c.kind = 'custom_link' and e.event_id = c.event_id
    cross join lateral (select e.body -> 'custom_link_information' as link) l
    order by c.event_id`.execute(db);
  return rows;
}

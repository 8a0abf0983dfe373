import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { CodeChange } from '../model/http/webhook-event.ts';

/** What an event of the service told of a deal's discount code or custom link. */
export type OwnershipChange = {
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
  /** Brands that the deal is or was of, as far as it was mirrored: its own and those of its collaborations. Empty: not known. */
  readonly brandIds: readonly string[];
};

/**
 * Codes and links that events have changed, in the order in which they came. No event names a brand. Where it names a collaboration that was
 * mirrored, the brand is that one's; else a deal has several, since each of its collaborations has its own.
 */
export async function readCodeChanges(db: Database): Promise<readonly OwnershipChange[]> {
  const { rows } = await sql<OwnershipChange>`
    with changes as materialized (
      select c.*, reporting.deal_id_of(c.deal_id) as mirrored_id from intake.code_changes c
    ),
    deals as materialized (select distinct mirrored_id as deal_id from changes),
    brands as materialized (
      select deal_id, array_agg(distinct brand_id order by brand_id) as brand_ids
      from (
        select deal_id, brand_id from deals join mirror.deal_versions using (deal_id)
        union all
        select deal_id, brand_id from deals join mirror.collaboration_versions using (deal_id)) known
      where brand_id is not null group by deal_id
    )
    select c.kind, c.deal_id as "dealId", c.collab_id as "collabId", c.old_value as "oldValue", c.new_value as "newValue",
      l.link ->> 'old_custom_link_target' as "oldTarget", l.link ->> 'new_custom_link_target' as "newTarget", c.received_at as at,
      case when m.brand_id is not null then array[m.brand_id] else coalesce(b.brand_ids, '{}') end as "brandIds"
    from changes c
    left join ops.webhook_events e on c.kind = 'custom_link' and e.event_id = c.event_id
    cross join lateral (select e.body -> 'custom_link_information' as link) l
    left join mirror.collaboration_versions m on m.collab_id = c.collab_id and m.is_latest
    left join brands b on b.deal_id = c.mirrored_id
    order by c.event_id`.execute(db);
  return rows;
}

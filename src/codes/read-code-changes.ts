import type { CodeChange } from '../core/http/webhook-event.ts';
import { type Database, rowsOf } from '../db/statement.ts';

/** A change of a deal's discount code or custom link, as an event reported it. */
export type OwnershipChange = {
  readonly kind: CodeChange['kind'];
  readonly dealId: string;
  readonly collabId: string | null;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  /** Where a link led before and leads now: a page, or a name. Null for a code. */
  readonly oldTarget: string | null;
  readonly newTarget: string | null;
  /** When it was changed, as the signed event states; when the event was received, if it states no likely time. */
  readonly at: Date;
  /**
   * Brands of the deal and its collaborations, now or earlier, as far as the mirror knows them. Empty: not
   * known.
   */
  readonly brandIds: readonly string[];
};

/** An event that is repeated for longer than this is late indeed, or its clock is wrong. */
const LATEST = '7 days';

/**
 * Reads the changes of codes and links in the order in which they were made: an event that is repeated after a failure
 * may arrive after the next change. Events do not name a brand. If an event names a mirrored collaboration, the brand is that of the collaboration. Otherwise a deal
 * may have several, because each of its collaborations has its own brand.
 */
export async function readCodeChanges(db: Database): Promise<readonly OwnershipChange[]> {
  return rowsOf<OwnershipChange>(db)`
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
    select c.kind, c.deal_id as "dealId", c.collab_id as "collabId", c.old_value as "oldValue",
      c.new_value as "newValue",
      l.link ->> 'old_custom_link_target' as "oldTarget", l.link ->> 'new_custom_link_target' as "newTarget",
      s.at,
      case when m.brand_id is not null then array[m.brand_id]
        else coalesce(b.brand_ids, '{}') end as "brandIds"
    from changes c
    left join ops.webhook_events e on e.event_id = c.event_id
    cross join lateral (
      select case when c.kind = 'custom_link' then e.body -> 'custom_link_information' end as link,
        case when e.body ->> 'webhook_timestamp' ~ '^[0-9]{9,10}$'
          then to_timestamp((e.body ->> 'webhook_timestamp')::float8) end as stated) l
    cross join lateral (
      select case when l.stated between c.received_at - ${LATEST}::interval and c.received_at
        then l.stated else c.received_at end as at) s
    left join mirror.collaboration_versions m on m.collab_id = c.collab_id and m.is_latest
    left join brands b on b.deal_id = c.mirrored_id
    order by s.at, c.event_id`;
}

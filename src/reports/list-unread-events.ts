import { type Database, rowsOf } from '../db/statement.ts';

/** Events that arrived and could not be used, because the description of the service does not fit them. */
export type UnreadEvents = {
  /** `signature`: signed in a known way that is not described. `payload`: orders without a readable order id. */
  readonly what: 'signature' | 'payload';
  readonly events: number;
  readonly since: Date;
  /** For a signature: settings of `service.events` that fit, as JSON text. */
  readonly proposal: string | null;
};

/** Lists what could not be used since the last event that could: of any kind, or of an order. */
export function listUnreadEvents(db: Database) {
  return rowsOf<UnreadEvents>(db)`
    with seen as (
      select received_at, body,
        case when kind = 'signature_mismatch' then 'signature'
             when kind = 'new_influencer_order'
               and body #>> '{order_information,order_id}' is null then 'payload'
             when kind = 'new_influencer_order' then 'order' else 'other' end as what
      from ops.webhook_events where received_at > now() - interval '30 days')
    select what, count(*)::integer as events, min(received_at) as since,
      case when what = 'signature' then (array_agg(body order by received_at desc))[1]::text end as proposal
    from seen
    where what = 'signature'
      and received_at > coalesce((select max(received_at) from seen where what <> 'signature'), '-infinity')
      or what = 'payload'
      and received_at > coalesce((select max(received_at) from seen where what = 'order'), '-infinity')
    group by what order by what`;
}

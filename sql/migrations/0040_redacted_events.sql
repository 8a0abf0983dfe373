-- Events lose what nobody needs once they were read: postal addresses, names, the text of e-mails. Members keep their names, and their values
-- where they are ids, amounts, codes, links, dates, or public: src/webhook/redact-event.ts does the same with new events.

create function ops.redact_event(event jsonb, is_stored boolean) returns jsonb language plpgsql immutable as $$
declare
  stored constant text[] := array[
    'deal_id', 'collab_id', 'brand_id', 'deal_url', 'webhook_timestamp', 'webhook_type',
    'deal_name', 'dealflow_funnel_step', 'dealflow_type', 'dealflow_name', 'nr_followers', 'platform',
    'order_id', 'order_name', 'order_revenue', 'order_currency', 'order_timestamp', 'match_types',
    'account_currency', 'account_currency_revenue', 'paid_commission', 'commission_rate', 'discount_codes',
    'old_discount_code', 'new_discount_code', 'old_discount_perc', 'new_discount_perc',
    'old_custom_link', 'new_custom_link', 'old_custom_link_target', 'new_custom_link_target',
    'old_commission_perc', 'new_commission_perc', 'payout_currency', 'payout_amount',
    'post_url', 'post_type', 'published_time', 'received_time', 'quantity'];
begin
  case jsonb_typeof(event)
    when 'object' then
      return (select coalesce(jsonb_object_agg(key, ops.redact_event(value, key = any (stored))), '{}') from jsonb_each(event));
    when 'array' then
      return (select coalesce(jsonb_agg(ops.redact_event(item, is_stored) order by place), '[]')
        from jsonb_array_elements(event) with ordinality as list(item, place));
    when 'string', 'number' then
      return case when is_stored then event else '"[not stored]"' end;
    else
      return event;
  end case;
end $$;

update ops.webhook_events e set body = r.body
from (select event_id, ops.redact_event(body, false) as body from ops.webhook_events) r
where r.event_id = e.event_id and r.body <> e.body;

drop function ops.redact_event(jsonb, boolean);

comment on column ops.webhook_events.body is 'What was sent: members with their values where those are ids, amounts, codes, links, dates or public; of all others only that they were there. A JSON text where it was no JSON object.';

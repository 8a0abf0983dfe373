import { isObject } from '../../core/text/exact-json.ts';

/** Placeholder for a value that is not stored. */
const NOT_STORED = '[not stored]';

/**
 * Members of events whose values are stored: ids, amounts, codes, links, dates, and public properties of a
 * deal. All others may be personal: the postal address of `product_sent`, the text of a reply, a name, a
 * comment. An event of an unknown kind may contain anything.
 */
const STORED: ReadonlySet<string> = new Set([
  ...['deal_id', 'collab_id', 'brand_id', 'deal_url', 'webhook_timestamp', 'webhook_type'],
  ...['deal_name', 'dealflow_funnel_step', 'dealflow_type', 'dealflow_name', 'nr_followers', 'platform'],
  ...['order_id', 'order_name', 'order_revenue', 'order_currency', 'order_timestamp', 'match_types'],
  ...['account_currency', 'account_currency_revenue', 'paid_commission', 'commission_rate', 'discount_codes'],
  ...['old_discount_code', 'new_discount_code', 'old_discount_perc', 'new_discount_perc'],
  ...['old_custom_link', 'new_custom_link', 'old_custom_link_target', 'new_custom_link_target'],
  ...['old_commission_perc', 'new_commission_perc', 'payout_currency', 'payout_amount'],
  ...['post_url', 'post_type', 'published_time', 'received_time', 'quantity'],
]);

/**
 * Returns an event as it may be stored. Values are kept only for members in `STORED`. Of all other members,
 * only their presence is kept, and whether they were null, true or false.
 */
export function redactEvent(event: unknown, isStored = false): unknown {
  if (Array.isArray(event)) return event.map((item) => redactEvent(item, isStored));
  if (isObject(event))
    return Object.fromEntries(
      Object.entries(event).map(([name, value]) => [name, redactEvent(value, STORED.has(name))]),
    );
  return isStored || event === null || typeof event === 'boolean' ? event : NOT_STORED;
}

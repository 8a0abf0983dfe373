import type { WebhookType } from '../../service/contract/webhook-types.ts';
import type { Collaboration } from '../account/account.ts';
import type { EventDetails } from './events.ts';

/**
 * Builds the details of an event that changes no state of the sandbox: its settings, in the shape of its
 * kind.
 */
export function describeHappening(
  kind: WebhookType,
  { brandId }: Collaboration,
  { settings, atMs }: { settings: Readonly<Record<string, unknown>>; atMs: number },
): EventDetails {
  // Without a time zone, as the service writes it.
  const received_time = new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
  switch (kind) {
    case 'new_payout_request':
      // Text in this event, an integer everywhere else.
      return { ...settings, brand_id: String(brandId) };
    case 'new_max_bid':
      return { max_bid_information: settings };
    case 'product_sent':
      return {
        send_product_info: {
          line_items: [{ title: settings.product, quantity: settings.quantity }],
          customer: { email: settings.customer_email },
          shipping_address: { country_code: 'NL' },
          phone: settings.phone,
        },
      };
    case 'new_influencer_post':
      return { post_information: { ...settings, published_time: received_time } };
    default:
      return { email_information: { ...settings, received_time } };
  }
}

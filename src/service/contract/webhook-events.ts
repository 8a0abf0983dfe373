import { z } from 'zod';
import { answeredId, dealAddress } from './fields.ts';
import type { WebhookType } from './webhook-types.ts';

/** Text that is null if the record does not have it. */
const maybeText = z.string().nullable();
const maybeNumber = z.number().nullable();

/**
 * Members that all kinds of events have. They are not in the specification but taken from public examples, so
 * every object accepts further members.
 */
const common = {
  deal_id: answeredId,
  collab_id: answeredId.optional(),
  deal_url: dealAddress.optional().describe('Address of the deal page.'),
  webhook_timestamp: z.string().meta({ pattern: '^[0-9]+$' }).optional().describe('Unix seconds as text.'),
  deal_info: z
    .looseObject({
      deal_name: maybeText.optional(),
      is_active: z.boolean().optional(),
      dealflow_funnel_step: z.int().nullish(),
      dealflow_type: maybeText.optional(),
      dealflow_name: maybeText.optional(),
      picture_url: maybeText.optional(),
      nr_followers: maybeNumber.optional(),
      full_name: maybeText.optional(),
      platform: maybeText.optional(),
      profile_url: maybeText.optional(),
    })
    .optional(),
};

const email = z.looseObject({
  received_time: z
    .string()
    .meta({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$' })
    .describe('Without a time zone, for example 2025-01-16 09:15:00.'),
});

function event(description: string, details: z.ZodRawShape) {
  return z.looseObject({ ...common, ...details }).describe(`${description} Payload: not shown.`);
}

/**
 * The body of each kind of event that section Events, "Event kinds", lists. The specification shows no
 * payloads; the sandbox sends these.
 */
export const webhookEvents = {
  new_payout_request: event('A user creates a payout request.', {
    payout_comment: z.string(),
    brand_id: z
      .string()
      .meta({ pattern: '^[0-9]+$' })
      .describe('Text in this event, an integer in all others.'),
    payout_currency: z.string(),
    payout_amount: z.number(),
  }),
  new_max_bid: event('A new Max Bid is requested for a deal.', {
    max_bid_information: z.looseObject({ max_bid_comment: z.string() }),
  }),
  update_discount_code: event('A discount code is updated for a collaboration.', {
    code_information: z.looseObject({
      old_discount_code: maybeText,
      new_discount_code: maybeText,
      old_discount_perc: maybeNumber,
      new_discount_perc: maybeNumber,
    }),
  }),
  update_commission: event('A commission percentage is updated for a collaboration.', {
    commission_information: z.looseObject({
      old_commission_perc: maybeNumber,
      new_commission_perc: maybeNumber,
    }),
  }),
  update_custom_link: event('A custom link is updated or deleted for a collaboration.', {
    custom_link_information: z.looseObject({
      old_custom_link: maybeText,
      new_custom_link: maybeText,
      old_custom_link_target: maybeText,
      new_custom_link_target: maybeText,
    }),
  }),
  product_sent: event('A user sends a product to an influencer or contact.', {
    send_product_info: z.looseObject({
      line_items: z.array(z.looseObject({})),
      customer: z.looseObject({}),
      shipping_address: z.looseObject({}),
      phone: maybeText,
    }),
  }),
  new_email_sent: event('A new e-mail is sent to a deal contact.', { email_information: email }),
  new_influencer_post: event('An influencer publishes a post that is linked to a deal.', {
    post_information: z.looseObject({}).optional(),
  }),
  new_influencer_reply: event('An influencer replies to an e-mail associated with a deal.', {
    email_information: email,
  }),
  new_influencer_order: event('A new order is attributed to an influencer by discount code or link.', {
    order_information: z.looseObject({
      order_id: z.string(),
      order_name: maybeText,
      order_revenue: z.number(),
      order_currency: z.string(),
      account_currency: z.string(),
      account_currency_revenue: z.number(),
      paid_commission: z.number(),
      commission_rate: z.number().describe('A fraction: 0.1 is ten percent.'),
      discount_codes: maybeText,
      platform: maybeText,
      match_types: maybeText,
      order_timestamp: z.string(),
    }),
  }),
} as const satisfies Record<WebhookType, z.ZodType>;

/** The kinds of events of section Events, "Event kinds". */
export const webhookTypes = [
  'new_payout_request',
  'new_max_bid',
  'update_discount_code',
  'update_commission',
  'update_custom_link',
  'product_sent',
  'new_email_sent',
  'new_influencer_post',
  'new_influencer_reply',
  'new_influencer_order',
] as const;

export type WebhookType = (typeof webhookTypes)[number];

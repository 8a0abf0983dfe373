import { z } from 'zod';
import { answeredId, identification, messageResponse, mustNameDeal, namesDeal, text } from './fields.ts';
import { defineOperation } from './operation.ts';

export const affiliateTrackingOperations = {
  new_influencer_click: defineOperation({
    group: 'affiliate tracking',
    method: 'POST',
    path: '/v1/crm/new_influencer_click',
    otherPaths: ['/v1/crm/increase_influencer_clicks'],
    body: z
      .looseObject({
        ...identification,
        increase_clicks: z
          .int()
          .min(0)
          .optional()
          .describe('Number of clicks to add. Required or not: not shown.'),
        country_code: z.string().optional().describe('Required or not: not shown.'),
      })
      .refine(namesDeal, mustNameDeal),
    response: messageResponse.extend({
      deal_id: answeredId,
      collab_id: answeredId,
      new_clicks_value: z.number(),
    }),
    repeatable: false,
    description:
      'Adds to the tracked clicks of a deal. The overview names it /v1/crm/increase_influencer_clicks. Endpoints, Affiliate tracking.',
  }),
  new_influencer_referral: defineOperation({
    group: 'affiliate tracking',
    method: 'POST',
    path: '/v1/crm/new_influencer_referral',
    body: z
      .looseObject({
        ...identification,
        order_id: text.describe(
          'Required or not: not shown. Without it an order cannot be told from another, so it is.',
        ),
        order_revenue: z
          .number()
          .describe(
            'Exact JSON number. Required or not: not shown. This project requires it, because an order without an amount earns nothing.',
          ),
        order_platform: z.string().optional().describe('Name of the shop platform.'),
        order_discount_codes_used: z.string().optional(),
        order_notes: z.string().optional(),
        currency: z.string().optional().describe('Currency code; only in some variants.'),
        order_name: z.string().optional().describe('Not in the specification.'),
        order_commission: z.number().optional().describe('Not in the specification.'),
        timestamp: z
          .union([z.number(), z.string()])
          .optional()
          .describe('Time of the order; the present time if not given. Not in the specification.'),
      })
      .refine(namesDeal, mustNameDeal),
    response: messageResponse.extend({ deal_id: answeredId, collab_id: answeredId }),
    repeatable: false,
    description: "Adds an order to a collaboration's affiliate performance. Endpoints, Affiliate tracking.",
  }),
};

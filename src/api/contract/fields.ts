import { z } from 'zod';

/** The three networks of "What the service does". */
export const platform = z.enum(['instagram', 'tiktok', 'youtube']);

/** Required text: an empty one says nothing. */
export const text = z.string().min(1);

export const brandId = z.int().describe('Integer id of a brand of the account.');

/** Section "Import influencers": a two-letter country code. Which letters stand for a country, the specification does not list. */
export const countryCode = z.string().regex(/^[A-Za-z]{2}$/, 'must be two letters, such as NL');

/** In a query everything is text; whole numbers are read back from it. */
export const brandIdInQuery = z
  .union([z.int(), z.string().regex(/^[0-9]{1,15}$/, 'must be a whole number')])
  .describe('Integer id of a brand of the account.');

/** Answers that carry one sentence for people and perhaps more. */
export const messageResponse = z.looseObject({ message: z.string() });

/** Names a deal: at least one of the three. Section "Affiliate tracking (server side, advanced)". */
export const identification = {
  influencer_handle: z
    .string()
    .optional()
    .describe('One of deal_id, influencer_handle, collab_id is required.'),
  deal_id: z.string().optional().describe('Deal id or the address of a deal page.'),
  collab_id: z.string().optional().describe('Collaboration id.'),
  brand_id: brandId.optional().describe('Picks the right collaboration when a deal has several.'),
};

type Identification = {
  readonly influencer_handle?: string | undefined;
  readonly deal_id?: string | undefined;
  readonly collab_id?: string | undefined;
};

/** Something names the deal. An empty text names nothing. */
export function namesDeal(input: Identification): boolean {
  return Boolean(input.deal_id) || Boolean(input.influencer_handle) || Boolean(input.collab_id);
}

/** What is said where nothing names the deal. */
export const mustNameDeal = {
  path: ['deal_id'],
  message: 'at least one of deal_id, influencer_handle and collab_id is required',
  params: { atLeastOneOf: ['deal_id', 'influencer_handle', 'collab_id'] },
};

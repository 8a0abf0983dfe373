import { z } from 'zod';

/** The three networks of "What the service does". */
export const platform = z.enum(['instagram', 'tiktok', 'youtube']);

/** Required text: an empty one says nothing. */
export const text = z.string().min(1);

export const brandId = z.int().describe('Integer id of a brand of the account.');

/** Section "Import influencers": a two-letter country code. Which letters stand for a country, the specification does not list. */
export const countryCode = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be two letters, such as NL')
  .meta({ title: 'two letters' });

/** In a query everything is text; whole numbers are read back from it. */
export const brandIdInQuery = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^[0-9]{1,15}$/, 'must be a whole number')
      .meta({ title: 'whole number' }),
  ])
  .describe('Integer id of a brand of the account.');

/** An address of the web: of an image, a profile, a deal page. Only the OpenAPI document says so; an answer is taken as it comes. */
export const webAddress = z.string().meta({ title: 'web address', format: 'uri' });

/** Section "Deal": `{app_url}/deal/<deal_id>`. */
export const dealAddress = webAddress.meta({
  title: 'web address',
  format: 'uri',
  pattern: '/deal/[^/?#]+$',
});

/** An e-mail address. Which texts the service takes for one, the specification does not say, so none is refused. */
export const emailAddress = z.string().meta({ title: 'e-mail address' });

/** An id that an answer gives. The specification says that it is text; that it is not empty, only the OpenAPI document says. */
export const answeredId = z.string().meta({ minLength: 1 });

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

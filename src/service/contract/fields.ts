import { z } from 'zod';

/** The three platforms of section "What the service does". */
export const platform = z.enum(['instagram', 'tiktok', 'youtube']);

/** Required text. Blank text is refused because it carries no information. */
export const text = z.string().regex(/\S/, 'must not be blank');

export const brandId = z.int().describe('Integer id of a brand of the account.');

/**
 * Section "Import influencers": a two-letter country code. The specification does not list the valid codes.
 */
export const countryCode = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be two letters, such as NL')
  .meta({ title: 'two letters' });

/** Query parameters are text, so a whole number is accepted as text too. */
export const brandIdInQuery = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^[0-9]{1,15}$/, 'must be a whole number')
      .meta({ title: 'whole number' }),
  ])
  .describe('Integer id of a brand of the account.');

/**
 * A web address, for example of an image, a profile or a deal page. Only the OpenAPI document states the
 * format; answers are not checked for it.
 */
export const webAddress = z.string().meta({ title: 'web address', format: 'uri' });

/** Section "Deal": `{app_url}/deal/<deal_id>`. */
export const dealAddress = webAddress.meta({
  title: 'web address',
  format: 'uri',
  pattern: '/deal/[^/?#]+$',
});

/** An e-mail address. The specification does not say which texts are valid, so none is refused. */
export const emailAddress = z.string().meta({ title: 'e-mail address' });

/**
 * An id in an answer. The specification says that it is text. Only the OpenAPI document says that it is not
 * empty.
 */
export const answeredId = z.string().meta({ minLength: 1 });

/** An answer with a message for people and possibly further members. */
export const messageResponse = z.looseObject({ message: z.string() });

/**
 * The members that identify a deal; at least one of the first three is required. Section "Affiliate tracking
 * (server side, advanced)".
 */
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

/** @returns true if the input identifies a deal. Blank text does not. */
export function namesDeal(input: Identification): boolean {
  const { deal_id: dealId, influencer_handle: handle, collab_id: collabId } = input;
  return [dealId, handle, collabId].some((name) => /\S/.test(name ?? ''));
}

/** The issue that is reported if the input does not identify a deal. */
export const mustNameDeal = {
  path: ['deal_id'],
  message: 'at least one of deal_id, influencer_handle and collab_id is required',
  params: { atLeastOneOf: ['deal_id', 'influencer_handle', 'collab_id'] },
};

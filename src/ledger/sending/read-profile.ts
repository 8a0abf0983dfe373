import { z } from 'zod';
import type { Profile } from '../../core/customer.ts';
import { isObject, parseJson } from '../../core/json/exact-json.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { specifiedService } from '../../service/description/schema.ts';
import { isFilled } from '../../service/description/verdict.ts';

/** A field that does not have the expected form is ignored; the others are kept. */
const text = z
  .union([z.string(), z.number()])
  .transform((value) => maskAddresses(String(value)).trim().slice(0, 500) || null)
  .nullable()
  .catch(null);

const answer = z.looseObject({
  is_influencer: z.union([z.boolean(), z.stringbool()]).nullable().catch(null),
  type: text,
  user_id: text,
  username: text,
  url: text,
  picture: text,
  followers: z
    .union([
      z.int().min(0),
      z
        .string()
        .regex(/^\d{1,15}$/)
        .transform(Number),
    ])
    .nullable()
    .catch(null),
  is_verified: z.union([z.boolean(), z.stringbool()]).nullable().catch(null),
});

/**
 * Reads the answer of `identify_influencers_real_time`, unless `isUnclearProfile`.
 *
 * @returns null for no match.
 */
export function readProfile(body: string): Profile | null {
  const parsed = answer.safeParse(parseJson(body));
  if (!parsed.success || !isMatch(parsed.data)) return null;
  const said = parsed.data;
  return {
    platform: said.type,
    userId: said.user_id,
    username: said.username,
    followers: said.followers,
    isVerified: said.is_verified,
    profileUrl: said.url,
    pictureUrl: said.picture,
  };
}

function isMatch({ is_influencer: isInfluencer, ...said }: z.infer<typeof answer>): boolean {
  return isInfluencer ?? (said.user_id !== null || said.username !== null || said.url !== null);
}

/** Members with which a service says how a request went. */
const ABOUT_THE_REQUEST: readonly string[] = [
  ...specifiedService.answers.reasons,
  ...Object.keys(specifiedService.answers.yes),
  ...specifiedService.answers.no_if_failed,
];

/**
 * True if an answer says neither that somebody is an influencer nor that nobody is: a profile under other names, within
 * another member, or in words that are not known. The specification does not show the answer for no match. These say
 * it: `is_influencer: false`, null, false, an empty list, and an object that has nothing to say about anybody.
 */
export function isUnclearProfile(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value)) return value !== null && value !== false;
  const said = answer.parse(value);
  if (said.is_influencer !== null || isMatch(said)) return false;
  const about = Object.entries(value).filter(([name]) => !ABOUT_THE_REQUEST.includes(name));
  // An answer that speaks only of the request, and names a brand, may say that the brand is not known: that is no answer
  // about the person. It may be written in any member.
  if (about.length === 0 && /\bbrand/i.test(JSON.stringify(value))) return true;
  const isKnown = about.length === 0 || about.some(([name]) => name in answer.shape);
  return !isKnown || about.some(([, one]) => isFilled(one));
}

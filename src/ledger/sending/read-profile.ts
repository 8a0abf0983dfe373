import { z } from 'zod';
import type { Profile } from '../../core/customer.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { specifiedService } from '../../service/description/schema.ts';

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
 * Reads the answer of `identify_influencers_real_time`. The specification does not show the answer for no
 * match, so every answer that names no influencer counts as one: false, null, an empty object or list, no
 * body.
 */
export function readProfile(body: string): Profile | null {
  const parsed = answer.safeParse(parse(body));
  if (!parsed.success) return null;
  const { is_influencer: isInfluencer, ...said } = parsed.data;
  const isNamed = said.user_id !== null || said.username !== null || said.url !== null;
  if (!(isInfluencer ?? isNamed)) return null;
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

/** Members with which a service says how a request went. */
const ABOUT_THE_REQUEST: readonly string[] = [
  ...specifiedService.answers.reasons,
  ...Object.keys(specifiedService.answers.yes),
  ...specifiedService.answers.no_if_failed,
];

/**
 * True if an answer has content, but no member that is known: a profile under other names, or within another
 * member. It says neither that somebody is an influencer nor that nobody is.
 */
export function isUnknownProfile(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(value);
  return (
    !names.some((name) => name in answer.shape) && names.some((name) => !ABOUT_THE_REQUEST.includes(name))
  );
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

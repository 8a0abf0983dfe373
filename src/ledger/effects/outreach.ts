import { type RawBuilder, sql } from 'kysely';
import { bodySql } from './body-sql.ts';
import { type EffectKind, keyOf } from './effect.ts';

/** A batch of influencers who are added to an outreach campaign. */
export const outreach: EffectKind = {
  effect: 'outreach',
  operation: 'submit_influencers',
  referenceMember: null,
  subject: sql`json_array_length(e.body::json -> 'influencer_ids') || case json_array_length(e.body::json -> 'influencer_ids') when 1 then ' influencer' else ' influencers' end || ' for outreach ' || (e.body::json ->> 'outreach_id')`,
  namesDeal: false,
  ifRepeated:
    'it skips the influencers who are in the outreach, according to its specification; if it does not, they may be contacted twice',
  readAcceptance({ total_added: added, duplicates_ignored: duplicates }) {
    if (!Number.isSafeInteger(added)) return null;
    const known = Number.isSafeInteger(duplicates) ? `, ${duplicates} already in the account` : '';
    return { dealId: null, collabId: null, message: `${added} added${known}` };
  },
  findContradiction({ total_added: added, duplicates_ignored: duplicates }, { influencer_ids: ids }) {
    if (!Array.isArray(ids)) return undefined;
    const isWhole = Number(added) >= 0 && Number(added) + Number(duplicates ?? 0) === ids.length;
    return isWhole ? undefined : 'that counts more or fewer influencers than were sent';
  },
};

/**
 * SQL for the request body of a batch.
 *
 * @param row alias of a row with `outreach_id, platform` and `ids`, a sorted text[], so that the same
 * influencers always give the same bytes.
 */
export function outreachBody(row: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  return bodySql('submit_influencers', {
    outreach_id: column('outreach_id'),
    influencer_ids: column('ids'),
    platform: column('platform'),
  });
}

/**
 * SQL for the idempotency key of a batch: the outreach, the platform, and a digest of the influencers' ids.
 */
export function outreachKey(row: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  const digest = sql`encode(sha256(convert_to(to_json(${column('ids')})::text, 'UTF8')), 'hex')`;
  return keyOf([column('outreach_id'), column('platform'), digest]);
}

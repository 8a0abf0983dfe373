import { sql } from 'kysely';
import type { EffectKind } from './effect.ts';

/** Influencers who are added to an outreach campaign, a batch of them. */
export const outreach: EffectKind = {
  effect: 'outreach',
  operation: 'submit_influencers',
  referenceMember: null,
  subject: sql`json_array_length(e.body::json -> 'influencer_ids') || ' influencers for outreach ' || (e.body::json ->> 'outreach_id')`,
  namesDeal: false,
  readAcceptance({ success, total_added: added, duplicates_ignored: duplicates }) {
    if (success === false || !Number.isSafeInteger(added)) return null;
    const known = Number.isSafeInteger(duplicates) ? `, ${duplicates} already in the account` : '';
    return { dealId: null, collabId: null, message: `${added} added${known}` };
  },
};

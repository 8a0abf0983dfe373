import type { Account } from '../account.ts';
import { type Influencer, pictureUrl, profileUrl } from '../search/influencer.ts';
import { answer, type Handlers, refuse } from './operation.ts';

export const identify: Handlers = {
  identify_influencers: ({ account, body, identifyDelayMs, clock }) => {
    const brandId = chooseBrand(account, body.brand_id);
    if (typeof brandId === 'string') return refuse(404, brandId);
    const { influencer_list: emails, source_type: sourceType = null } = body;
    const queuedAt = clock.now();
    const dueAt = queuedAt + identifyDelayMs;
    const { enquiries } = account;
    enquiries.set(String(enquiries.items.size), { brandId, sourceType, emails, queuedAt, dueAt });
    return answer({
      message: `${emails.length} contacts were received and queued.`,
      success: true,
    });
  },

  identify_influencers_real_time: ({ account, population, query }) => {
    const { brand_id, influencer_email: email } = query;
    if (!email) return refuse(400, 'influencer_email: it is required');
    const brandId = chooseBrand(account, brand_id === undefined ? undefined : Number(brand_id));
    if (typeof brandId === 'string') return refuse(404, brandId);
    const influencer = population.findByEmail(email);
    return answer(influencer === null ? { is_influencer: false } : describeIdentified(influencer));
  },
};

/** Returns the given brand, or the account's first one; as text, why there is none. */
function chooseBrand(account: Account, brandId: number | undefined): number | string {
  if (brandId === undefined) return [...account.brands.keys()][0] ?? 'Brand not found: the account has none.';
  return account.brands.has(brandId) ? brandId : `Brand not found: there is no brand_id ${brandId}.`;
}

/** The answer for an identified influencer, common to both ways of identification. */
export function describeIdentified(influencer: Influencer): Readonly<Record<string, unknown>> {
  return {
    is_influencer: true,
    type: influencer.platform,
    user_id: influencer.userId,
    url: profileUrl(influencer),
    username: influencer.handle,
    fullname: influencer.fullName,
    picture: pictureUrl(influencer),
    followers: influencer.followers,
    is_verified: influencer.isVerified,
  };
}

import { type Account, dealsOf } from '../account/account.ts';
import { type Influencer, pictureUrl, profileUrl } from '../search/population.ts';
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
    return answer({ message: `${emails.length} contacts were received and queued.`, success: true });
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

/** Section Limits: 0.04 search credits for each influencer added. */
const HUNDREDTHS_AN_ADDED_ONE = 4;

export const outreach: Handlers = {
  submit_influencers: ({ account, population, body, bodyText, requestLog, followUps }) => {
    const { outreach_id, influencer_ids, platform } = body;
    if (!account.outreaches.has(outreach_id))
      return refuse(404, 'Outreach not found: there is no such outreach_id.');
    const unknown = influencer_ids.filter((id) => population.find(id)?.platform !== platform).length;
    if (unknown > 0)
      return refuse(
        404,
        `Influencer not found: ${unknown} of influencer_ids are not user ids of ${platform}.`,
      );
    const added = [...new Set(influencer_ids)].filter((id) => {
      const handle = population.find(id)?.handle ?? '';
      const hasDeal = dealsOf(account, handle).some((deal) => deal.platform === platform);
      return !hasDeal && !account.submitted.items.has(id);
    });
    if (!account.credits.spendSearch(added.length * HUNDREDTHS_AN_ADDED_ONE))
      return refuse(402, `Not enough search credits: ${account.credits.search()} are left.`);
    for (const id of added) {
      account.submitted.set(id, outreach_id);
      followUps.startOutreach(id, outreach_id);
    }
    requestLog.recordSubmission({ account, outreachId: outreach_id, added, bodyText });
    return answer({
      message: 'The influencers were added to the outreach campaign.',
      total_added: added.length,
      duplicates_ignored: influencer_ids.length - added.length,
      success: true,
      status: 200,
    });
  },
};

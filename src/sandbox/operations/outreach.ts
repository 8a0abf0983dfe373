import { dealsOf } from '../find-collaboration.ts';
import { answer, type Handlers, refuse } from './operation.ts';

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

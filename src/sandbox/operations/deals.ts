import { type Account, addDeal, type Collaboration, type Deal, newDealId, salesOf } from '../account.ts';
import { dealsOf, readDealId } from '../find-collaboration.ts';
import { answer, type Handlers, refuse } from './operation.ts';

/** Members of `create_deal` that belong to the collaboration. The others belong to the contact. */
const OF_COLLABORATION = [
  'code_perc',
  'custom_url',
  'custom_url_target',
  'commission_perc',
  'create_affiliate_details',
];

export const deals: Handlers = {
  create_deal: ({ account, body, appUrl }) => {
    const { influencer_handle, platform, brand_id, dealflow_id, code, funnel_step, ...rest } = body;
    const dealflow = account.dealflows.get(dealflow_id);
    if (!account.brands.has(brand_id))
      return refuse(404, `Brand not found: there is no brand_id ${brand_id}.`);
    if (dealflow === undefined) return refuse(404, 'Dealflow not found: there is no such dealflow_id.');
    if (dealflow.brandId !== brand_id)
      return refuse(400, `dealflow_id: this dealflow is not one of brand ${brand_id}.`);
    const entries = Object.entries(rest);
    const collaboration = addDeal(account, {
      deal_id: newDealId(account),
      influencer_handle,
      platform,
      brand_id,
      dealflow_id,
      code: code ?? null,
      collab_id: null,
      funnelStep: funnel_step ?? null,
      details: Object.fromEntries(entries.filter(([name]) => !OF_COLLABORATION.includes(name))),
      collaborationDetails: Object.fromEntries(entries.filter(([name]) => OF_COLLABORATION.includes(name))),
    });
    enterInStore(account, collaboration, body.create_affiliate_details === true);
    const { deal } = collaboration;
    return answer({
      deal_id: deal.id,
      deal_page_url: `${appUrl()}/deal/${deal.id}`,
      message: 'The deal was created.',
    });
  },

  get_deal_details: ({ account, query }) => {
    const { deal_id, influencer_handle, return_collabs } = query;
    const deal = deal_id
      ? account.deals.get(readDealId(deal_id))
      : dealsOf(account, influencer_handle ?? '')[0];
    if (deal === undefined)
      return refuse(404, `Deal not found: no deal has this ${deal_id ? 'deal_id' : 'influencer_handle'}.`);
    const withCollaborations = return_collabs === true || return_collabs === 'true';
    return answer({ deal_info: describeDeal(deal, withCollaborations) });
  },
};

/**
 * Records where code and link of a new deal were created: in the connected shop, or only on the deal page.
 */
function enterInStore(account: Account, { id, code, details }: Collaboration, isConnected: boolean): void {
  const place = { collab_id: id, created_in: isConnected ? 'store' : 'deal_page' } as const;
  const { code_perc, custom_url, custom_url_target } = details;
  if (code !== null && code !== '') {
    const detail = typeof code_perc === 'number' ? code_perc : null;
    account.store.set(`${id} code`, { kind: 'discount_code', value: code, detail, ...place });
  }
  if (typeof custom_url === 'string' && custom_url !== '') {
    const detail = typeof custom_url_target === 'string' ? custom_url_target : null;
    account.store.set(`${id} link`, { kind: 'custom_link', value: custom_url, detail, ...place });
  }
}

function describeDeal(deal: Deal, withCollaborations: boolean): unknown {
  const { id, influencerHandle, platform, brandId, isActive, funnelStep, details, collaborations } = deal;
  return {
    ...details,
    id,
    influencer_handle: influencerHandle,
    brand_id: brandId,
    is_active: isActive,
    platform,
    funnel_step: funnelStep,
    dealflow_id: collaborations[0]?.dealflowId ?? null,
    total_clicks: collaborations.reduce((sum, { clicks }) => sum + clicks, 0),
    total_referrals:
      Number(details.total_referrals ?? 0) +
      collaborations.reduce((sum, { referrals }) => sum + referrals, 0),
    ...(withCollaborations ? { collabs: collaborations.map(describeCollaboration) } : {}),
  };
}

function describeCollaboration(collaboration: Collaboration): unknown {
  const { id, brandId, dealflowId, code, details, capturesPosts, clicks, referrals } = collaboration;
  return {
    ...details,
    collab_id: id,
    brand_id: brandId,
    dealflow_id: dealflowId,
    code,
    post_capture_enabled: capturesPosts,
    clicks,
    referrals,
    /** Exact text by currency, because sums across currencies make no sense. */
    sales: Object.fromEntries(
      Object.entries(salesOf(collaboration)).map(([currency, sum]) => [currency || 'account currency', sum]),
    ),
  };
}

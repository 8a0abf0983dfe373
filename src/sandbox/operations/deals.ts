import { z } from 'zod';
import { explainIssues } from '../../service/explain-issues.ts';
import {
  type Account,
  addDeal,
  type Collaboration,
  type Deal,
  dealsOf,
  keepCollaboration,
  keepDeal,
  newDealId,
  salesOf,
} from '../account/account.ts';
import { changeTerms, type Terms } from '../account/commission.ts';
import { findCollaboration, readDealId } from '../account/find-collaboration.ts';
import { type Answer, answer, type Call, type Handlers, refuse } from './operation.ts';

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

/** Operations on a deal page: notes, tasks, stages, capture of posts. */
export const dealWork: Handlers = {
  create_note: ({ account, body, clock }) =>
    withDeal(account, body.deal_id, (deal) => {
      deal.notes.push({
        note_description: body.note_description,
        created_at: new Date(clock.now()).toISOString(),
      });
      keepDeal(account, deal);
      return answer({ message: 'The note was created.' });
    }),

  create_task: ({ account, body, clock }) =>
    withDeal(account, body.deal_id, (deal) => {
      const { tasktype, task_title, task_description, deadline, assigned_to } = body;
      const created_at = new Date(clock.now()).toISOString();
      deal.tasks.push({ tasktype, task_title, task_description, deadline, assigned_to, created_at });
      keepDeal(account, deal);
      return answer({ message: 'The task was created.' });
    }),

  update_dealstage: ({ account, body }) =>
    withDeal(account, body.deal_id, (deal) => {
      const { new_stage: stage, dashboard_id: dealflowId } = body;
      if (dealflowId !== undefined) {
        const refusal = moveToDealflow(account, deal, dealflowId);
        if (refusal !== null) return refusal;
      }
      if (stage !== undefined) deal.funnelStep = stage;
      keepDeal(account, deal);
      const isCaptured = deal.collaborations.some(({ capturesPosts }) => capturesPosts);
      return answer({ message: 'The deal was moved.', ugc_tracking_activated: isCaptured });
    }),

  update_post_capture: ({ account, body, followUps }) => {
    const found = findCollaboration(account, body);
    if (found.kind === 'refused') return found.answer;
    const { collaboration } = found;
    const isSwitched = collaboration.capturesPosts !== body.enabled;
    collaboration.capturesPosts = body.enabled;
    keepCollaboration(account, collaboration);
    if (isSwitched) followUps.switchCapture(collaboration);
    return answer({
      message: `The capture of posts is ${body.enabled ? 'on' : 'off'}.`,
      deal_id: collaboration.deal.id,
      collab_id: collaboration.id,
      enabled: body.enabled,
    });
  },
};

/**
 * Moves the deal's collaborations with the dealflow's brand to that dealflow.
 * @returns the refusal, or null.
 */
function moveToDealflow(account: Account, deal: Deal, dealflowId: string): Answer | null {
  const dealflow = account.dealflows.get(dealflowId);
  if (dealflow === undefined) return refuse(404, 'Dealflow not found: there is no such dashboard_id.');
  const moved = deal.collaborations.filter(({ brandId }) => brandId === dealflow.brandId);
  if (moved.length === 0)
    return refuse(400, `dashboard_id: the deal has no collaboration with brand ${dealflow.brandId}.`);
  for (const collaboration of moved) {
    collaboration.dealflowId = dealflowId;
    keepCollaboration(account, collaboration);
  }
  return null;
}

function withDeal(account: Account, dealId: string, act: (deal: Deal) => Answer): Answer {
  const deal = account.deals.get(readDealId(dealId));
  return deal === undefined ? refuse(404, 'Deal not found: there is no such deal_id.') : act(deal);
}

/**
 * Members of `new_deal_info` with a known meaning. The specification shows none. Other members are stored as
 * received.
 */
const newDealInfo = z.looseObject({
  is_active: z.boolean().optional(),
  funnel_step: z.int().optional(),
  code: z.string().nullable().optional(),
  code_perc: z.number().min(0).max(100).nullable().optional(),
  commission_perc: z.number().nullable().optional(),
  custom_url: z.string().nullable().optional(),
  custom_url_target: z.string().nullable().optional(),
});

/** Members that belong to a collaboration. Changing one fires an event. */
const TERMS = ['code', 'code_perc', 'commission_perc', 'custom_url', 'custom_url_target'] as const;

/** Identifying members of a deal, which an update does not change. */
const FIXED = ['id', 'deal_id', 'influencer_handle', 'platform', 'brand_id', 'collabs'];

export const updateDealInfo: Handlers = {
  update_deal_info: (call) => {
    const { account, body } = call;
    const deal = account.deals.get(readDealId(body.deal_id));
    if (deal === undefined) return refuse(404, 'Deal not found: there is no such deal_id.');
    const read = newDealInfo.safeParse(body.new_deal_info ?? {});
    if (!read.success) return refuse(400, `new_deal_info.${explainIssues(read.error.issues)}`);
    const { is_active: isActive, funnel_step: step, ...rest } = read.data;
    if (body.status_update_only !== true) {
      const refusal = changeCollaboration(call, deal, rest);
      if (refusal !== null) return refusal;
      deal.funnelStep = step ?? deal.funnelStep;
      deal.details = {
        ...deal.details,
        ...Object.fromEntries(Object.entries(rest).filter(([name]) => ![...FIXED, ...TERMS].includes(name))),
      };
    }
    deal.isActive = isActive ?? deal.isActive;
    keepDeal(account, deal);
    return answer({ message: 'The deal was updated.', deal_id: deal.id, is_active: deal.isActive });
  },
};

/**
 * Changes code, link and commission if the request contains any.
 * @returns the refusal, or null.
 */
function changeCollaboration(
  { account, body, events, clock }: Call<'update_deal_info'>,
  deal: Deal,
  info: Readonly<Record<string, unknown>>,
) {
  const named = TERMS.filter((name) => info[name] !== undefined);
  if (named.length === 0) return null;
  const { brand_id, collab_id } = body;
  const found = findCollaboration(account, {
    deal_id: deal.id,
    ...(typeof brand_id === 'number' ? { brand_id } : {}),
    ...(typeof collab_id === 'string' ? { collab_id } : {}),
  });
  if (found.kind === 'refused') return found.answer;
  const terms = Object.fromEntries(named.map((name) => [name, info[name]])) as Terms;
  changeTerms({ account, events, clock }, found.collaboration, terms);
  return null;
}

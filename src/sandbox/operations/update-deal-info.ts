import { z } from 'zod';
import { explainIssues } from '../../service/explain-issues.ts';
import { type Deal, keepDeal } from '../account.ts';
import { changeTerms, type Terms } from '../change-terms.ts';
import { findCollaboration, readDealId } from '../find-collaboration.ts';
import { answer, type Call, type Handlers, refuse } from './operation.ts';

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
      deal.details = { ...deal.details, ...without(rest, [...FIXED, ...TERMS]) };
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

function without(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

import type { Account, Collaboration } from '../account.ts';
import type { EventDetails } from './events.ts';

/** The body of an event: what all kinds have in common, and the details of its kind. */
export function describeEvent(
  account: Account,
  collaboration: Collaboration,
  { details, appUrl }: { readonly details: EventDetails; readonly appUrl: string },
): unknown {
  const { deal } = collaboration;
  const dealflow = account.dealflows.get(collaboration.dealflowId);
  return {
    deal_id: deal.id,
    collab_id: collaboration.id,
    deal_url: `${appUrl}/deal/${deal.id}`,
    webhook_timestamp: String(Math.floor(Date.now() / 1000)),
    deal_info: {
      deal_name: deal.influencerHandle,
      is_active: deal.isActive,
      dealflow_funnel_step: deal.funnelStep,
      dealflow_type: 'crm',
      dealflow_name: dealflow?.name ?? null,
      picture_url: null,
      nr_followers: null,
      full_name: fullName(deal.details),
      platform: deal.platform,
      profile_url: `https://${encodeURIComponent(deal.platform)}.example/${encodeURIComponent(deal.influencerHandle)}`,
    },
    ...details,
  };
}

function fullName({ first_name: first, last_name: last }: Readonly<Record<string, unknown>>): string | null {
  const name = [first, last].filter((part) => typeof part === 'string' && part !== '').join(' ');
  return name === '' ? null : name;
}

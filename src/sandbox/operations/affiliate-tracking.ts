import { type Collaboration, creditSale, keepCollaboration } from '../account/account.ts';
import { ACCOUNT_CURRENCY, commissionPercOf } from '../account/commission.ts';
import { findCollaboration } from '../account/find-collaboration.ts';
import type { EventDetails } from '../events/events.ts';
import type { Order } from '../request-log.ts';
import { answer, type Call, type Handlers, refuse } from './operation.ts';

export const affiliateTracking: Handlers = {
  new_influencer_click: ({ account, body, bodyText, requestLog }) => {
    const found = findCollaboration(account, body);
    if (found.kind === 'refused') return found.answer;
    const { collaboration } = found;
    const added = body.increase_clicks ?? 1;
    collaboration.clicks += added;
    keepCollaboration(account, collaboration);
    const newClicks = collaboration.deal.collaborations.reduce((sum, { clicks }) => sum + clicks, 0);
    requestLog.recordClick({ account, collaboration, added, newClicks, bodyText });
    return answer({
      deal_id: collaboration.deal.id,
      collab_id: collaboration.id,
      new_clicks_value: newClicks,
      message: 'The clicks were added.',
    });
  },

  new_influencer_referral: (call) => {
    const { account, body, bodyText, requestLog, events, followUps, clock } = call;
    const found = findCollaboration(account, body);
    if (found.kind === 'refused') return found.answer;
    const { collaboration } = found;
    const repeated = noticeRepeat(call);
    if (repeated === '409')
      return refuse(409, 'This order_id is already registered for this order_platform.');
    const done = {
      deal_id: collaboration.deal.id,
      collab_id: collaboration.id,
      message: 'The referral was added.',
    };
    // The service is said to ignore a repeated order "so retries are safe", so the answer is the usual one.
    if (repeated === 'ignore') return { ...answer(done), isProcessed: false };

    const revenue = requestLog.recordReferral({ account, collaboration, order: body, bodyText });
    creditSale(collaboration, { revenue, currency: body.currency });
    keepCollaboration(account, collaboration);
    followUps.expectPayout(collaboration);
    const atMs = clock.now();
    const details = orderInformation(body, collaboration, atMs);
    events.fire('new_influencer_order', { collaboration, details, atMs });
    return answer(done);
  },
};

/**
 * Records the order if repeated orders must be recognised, now or after a restart with other settings.
 * @returns how to treat this order.
 */
function noticeRepeat({
  account,
  body,
  duplicates,
}: Call<'new_influencer_referral'>): 'accept' | 'ignore' | '409' {
  if (duplicates === 'accept' && !account.stateStore.isDurable) return 'accept';
  const order = `${body.order_platform ?? ''}\n${body.order_id}`;
  if (account.orders.items.has(order)) return duplicates;
  account.orders.set(order, true);
  return 'accept';
}

type ReferredOrder = Order & {
  readonly order_discount_codes_used?: string | undefined;
  readonly order_name?: unknown;
};

/**
 * Builds the details of `new_influencer_order`. The commission rate is a fraction here and a percentage
 * everywhere else.
 */
function orderInformation(order: ReferredOrder, collaboration: Collaboration, nowMs: number): EventDetails {
  const perc = commissionPercOf(collaboration);
  const { code } = collaboration;
  const codes = order.order_discount_codes_used ?? null;
  const isByCode = codes !== null && code !== null && codes.toLowerCase().includes(code.toLowerCase());
  return {
    order_information: {
      order_id: order.order_id,
      order_name: typeof order.order_name === 'string' ? order.order_name : order.order_id,
      order_revenue: order.order_revenue,
      order_currency: order.currency ?? ACCOUNT_CURRENCY,
      account_currency: ACCOUNT_CURRENCY,
      account_currency_revenue: order.order_revenue,
      paid_commission: Math.round(order.order_revenue * perc) / 100,
      commission_rate: perc / 100,
      discount_codes: codes,
      platform: order.order_platform ?? null,
      match_types: isByCode ? 'discount_code' : null,
      order_timestamp: new Date(nowMs).toISOString(),
    },
  };
}

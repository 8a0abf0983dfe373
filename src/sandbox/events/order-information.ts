import type { Collaboration } from '../account.ts';
import type { Order } from '../request-log.ts';
import type { EventDetails } from './events.ts';

/** The currency in which the sandbox's account keeps its books. Amounts in others are taken over one to one: it knows no rates. */
const ACCOUNT_CURRENCY = 'EUR';

/** Commission of a collaboration for which none was agreed, in percent. */
const COMMISSION_PERC = 10;

type ReferredOrder = Order & {
  readonly order_discount_codes_used?: string | undefined;
  readonly order_name?: unknown;
};

/** Details of `new_influencer_order`. The commission rate is a fraction here, a percentage everywhere else. */
export function orderInformation(order: ReferredOrder, { code, details }: Collaboration): EventDetails {
  const perc = typeof details.commission_perc === 'number' ? details.commission_perc : COMMISSION_PERC;
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
      order_timestamp: new Date().toISOString(),
    },
  };
}

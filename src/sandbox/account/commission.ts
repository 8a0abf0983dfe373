import type { WebhookType } from '../../service/contract/webhook-types.ts';
import type { Clock } from '../clock.ts';
import type { EventDetails, Events } from '../events/events.ts';
import { addExact, exactText } from '../exact.ts';
import { type Account, type Collaboration, keepCollaboration, salesOf } from './account.ts';

/**
 * The currency of the sandbox's accounts. Amounts in other currencies are converted one to one, because the
 * sandbox has no exchange rates.
 */
export const ACCOUNT_CURRENCY = 'EUR';

/** Default commission of a collaboration, in percent. */
const COMMISSION_PERC = 10;

/** The commission of a collaboration, in percent. */
export function commissionPercOf({ details }: Collaboration): number {
  return typeof details.commission_perc === 'number' ? details.commission_perc : COMMISSION_PERC;
}

type Payout = { readonly currency: string; readonly amount: number };

/**
 * Returns the commission of all sales since the last call, one payout per currency that earned something, and
 * marks it as paid.
 */
export function takePayouts(collaboration: Collaboration): readonly Payout[] {
  const { paidSales } = collaboration;
  const sales = salesOf(collaboration);
  collaboration.paidSales = sales;
  return Object.entries(sales).flatMap(([currency, sold]) => {
    const unpaid = { units: 0n, scale: 0 };
    addExact(unpaid, sold);
    addExact(unpaid, negated(paidSales[currency] ?? '0'));
    const amount = Math.round(Number(exactText(unpaid)) * commissionPercOf(collaboration)) / 100;
    return amount > 0 ? [{ currency: currency === '' ? ACCOUNT_CURRENCY : currency, amount }] : [];
  });
}

function negated(number: string): string {
  return number.startsWith('-') ? number.slice(1) : `-${number}`;
}

/** New terms of a collaboration. Absent members keep their value; null removes it. */
export type Terms = {
  readonly code?: string | null;
  readonly code_perc?: number | null;
  readonly commission_perc?: number | null;
  readonly custom_url?: string | null;
  readonly custom_url_target?: string | null;
};

/**
 * Changes the terms of a collaboration. Fires an event for each of code, link and commission that changed.
 */
export function changeTerms(
  { account, events, clock }: { account: Account; events: Events; clock: Clock },
  collaboration: Collaboration,
  terms: Terms,
): void {
  const before = {
    code: collaboration.code,
    code_perc: numberOf(collaboration.details.code_perc),
    commission_perc: numberOf(collaboration.details.commission_perc),
    custom_url: textOf(collaboration.details.custom_url),
    custom_url_target: textOf(collaboration.details.custom_url_target),
  };
  const after = { ...before, ...terms };
  const { code, ...details } = after;
  collaboration.code = code;
  collaboration.details = { ...collaboration.details, ...details };
  keepCollaboration(account, collaboration);
  const tell = (kind: WebhookType, details: EventDetails): void =>
    void events.fire(kind, { collaboration, details, atMs: clock.now() });
  if (before.code !== after.code || before.code_perc !== after.code_perc)
    tell('update_discount_code', {
      code_information: {
        old_discount_code: before.code,
        new_discount_code: after.code,
        old_discount_perc: before.code_perc,
        new_discount_perc: after.code_perc,
      },
    });
  if (before.commission_perc !== after.commission_perc)
    tell('update_commission', {
      commission_information: {
        old_commission_perc: before.commission_perc,
        new_commission_perc: after.commission_perc,
      },
    });
  if (before.custom_url !== after.custom_url || before.custom_url_target !== after.custom_url_target)
    tell('update_custom_link', {
      custom_link_information: {
        old_custom_link: before.custom_url,
        new_custom_link: after.custom_url,
        old_custom_link_target: before.custom_url_target,
        new_custom_link_target: after.custom_url_target,
      },
    });
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

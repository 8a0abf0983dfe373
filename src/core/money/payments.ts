import { formatMoney, isMore, type Money, subtractMoney } from '../money.ts';

export const PAYMENT_STATES = [
  'proposed',
  'exported',
  'partly_paid',
  'paid',
  'returned',
  'cancelled',
] as const;
export type PaymentState = (typeof PAYMENT_STATES)[number];

/** EndToEndIds of payments of this tool, in any case. */
export const OWN_REFERENCE = /^IS-[0-9A-F]{26}$/i;

/** The kinds of files for the bank. */
export const FILE_KINDS = ['pain.001', 'csv'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** Whether an amount of a creator is below zero: corrections prevail, so the creator owes it. */
export function isDebt({ amount }: Money): boolean {
  return isMore('0', amount);
}

/**
 * Whether an unpaid amount is of orders that name no deal (`mia.test without a deal`), so that it has no page of a
 * creator.
 */
export function isWithoutDeal(creator: string): boolean {
  return creator.endsWith(' without a deal');
}

/** What a creator owes, for people: `8.00 EUR`. @param debt its amount is below zero. */
export function formatDebt({ amount, currency }: Money): string {
  return formatMoney(subtractMoney('0', amount), currency);
}

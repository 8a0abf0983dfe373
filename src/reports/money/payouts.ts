import type { DealPayout } from '../../core/money/reconciliation.ts';
import { formatMoney } from '../../core/money.ts';
import type { Block } from '../../render/block.ts';
import { plural } from '../../render/text.ts';

const RIGHT = { align: 'right' } as const;

/** Explanation of the comparison of payouts, also for the console. */
export const PAYOUTS_WHY =
  'earned: the total of closed statements. requested: the payout requests in events of the service. paid out: the total that the service reports, in the currency of the account. before: the part that was already paid when the mirror first read the deal, which statements may not contain. A difference is not an error: you pay after you close a statement, and you may have paid for something else.';

/**
 * Describes what deals earned and what was paid out.
 * @param shown.hasMore whether these are only the largest differences.
 */
export function payoutsSection(payouts: readonly DealPayout[], hasMore = false): Block {
  if (payouts.length === 0)
    return {
      kind: 'text',
      text: 'Payouts are not compared: no statement is closed, and the service reports neither payouts nor payout requests.',
      tone: 'dim',
    };
  const columns = [
    { title: 'deal', cutAt: 'never' as const },
    { title: 'influencer' },
    { title: 'earned', ...RIGHT },
    { title: 'requested', ...RIGHT },
    { title: 'paid out', ...RIGHT },
    { title: 'before', ...RIGHT },
    { title: 'earned less paid out', ...RIGHT },
  ];
  const rows = payouts.map((payout) => [
    payout.dealId,
    payout.influencerHandle ?? '',
    formatMoney(payout.earnedAmount, payout.currency),
    ...payoutCells(payout),
  ]);
  return {
    kind: 'section',
    title: 'Earned and paid out',
    why: PAYOUTS_WHY,
    parts: [
      { kind: 'table', columns, rows },
      ...(hasMore
        ? [
            {
              kind: 'aside' as const,
              text: `These are the ${plural(payouts.length, 'row')} with the largest differences. All: npx influencer-sync reconcile`,
            },
          ]
        : []),
    ],
  };
}

/** Formats the requested, paid and previously paid amounts and the difference, also for the console. */
export function payoutCells({
  currency,
  requestedAmount,
  paidAmount,
  paidBeforeAmount,
  differenceAmount,
}: DealPayout): readonly string[] {
  return [requestedAmount, paidAmount, paidBeforeAmount, differenceAmount].map((amount) =>
    amount === null ? 'unknown' : formatMoney(amount, currency),
  );
}

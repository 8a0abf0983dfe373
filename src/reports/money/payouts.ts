import type { DealPayout } from '../../core/money/reconciliation.ts';
import { formatMoney } from '../../core/money.ts';
import { type Block, column, more, number, say, section, table, whole } from '../../render/block.ts';
import { plural } from '../../render/text.ts';

/** Explanation of the comparison of payouts, also for the console. */
export const PAYOUTS_WHY =
  'earned: the total of closed statements. requested: the payout requests in events of the service. paid out: the total that the service reports, in the currency of the account. before: the part that was already paid when the mirror first read the deal, which statements may not contain. A difference is not an error: you pay after you close a statement, and you may have paid for something else.';

/**
 * Describes what deals earned and what was paid out.
 * @param shown.hasMore whether these are only the largest differences.
 */
export function describePayouts(payouts: readonly DealPayout[], hasMore = false): readonly Block[] {
  if (payouts.length === 0)
    return [
      say(
        'Payouts are not compared: no statement is closed, and the service reports neither payouts nor payout requests.',
        { tone: 'dim' },
      ),
    ];
  const text = `These are the ${plural(payouts.length, 'row')} with the largest differences. All: npx influencer-sync reconcile`;
  return section('Earned and paid out', {
    why: PAYOUTS_WHY,
    parts: [
      table(payouts, [
        whole('deal', ({ dealId }) => dealId),
        column('influencer', ({ influencerHandle }) => influencerHandle),
        number('earned', ({ earnedAmount, currency }) => formatMoney(earnedAmount, currency)),
        ...['requested', 'paid out', 'before', 'earned less paid out'].map((title, index) =>
          number(title, (payout: DealPayout) => payoutCells(payout)[index] ?? ''),
        ),
      ]),
      ...more(hasMore, text),
    ],
  });
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

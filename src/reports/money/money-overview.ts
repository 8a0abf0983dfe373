import type { PipelineConfig } from '../../config/schema.ts';
import { isUnexplained } from '../../core/money/reconciliation.ts';
import { SELF_PURCHASE_DAYS } from '../../core/money/returns.ts';
import { formatMoney } from '../../core/money.ts';
import { type Block, column, more, number, say, section, table, whole } from '../../render/block.ts';
import { formatCount } from '../../render/text.ts';
import { describeRuleSums } from './conflicts.ts';
import type { FoundInfluencer } from './read-customers.ts';
import type { FirstRows, MoneyOverview } from './read-money-overview.ts';
import { describeCompared, describePayouts } from './reconciliation.ts';
import { describeCohorts, describeMonths, describeReturns, describeSelfPurchases } from './returns.ts';

export type MoneyContext = {
  readonly settings: PipelineConfig['reconcile'];
  /** The job that reads the totals of the service; null if none is configured. */
  readonly mirrorJob: string | null;
};

/**
 * Describes returns, customers won, influencers among customers, the comparisons with the service, and conflicts,
 * for the page of a run. Each part is what its command prints, and names that command for the rest.
 */
export function describeMoney(overview: MoneyOverview, context: MoneyContext): readonly Block[] {
  const { month, returns, wonFrom, won, selfPurchases, influencers, reconciled, payouts, conflicts } =
    overview;
  const { settings, mirrorJob } = context;
  const command = (words: string) => ({ lines: [`npx influencer-sync ${words}`] });
  return [
    ...described(returns, (rows, hasMore) =>
      describeReturns(rows, {
        ...{ by: 'deal', months: month, hasMore },
        commands: command(`returns --from ${month} --to ${month}`),
      }),
    ),
    ...described(won, (rows, hasMore) =>
      describeCohorts(rows, {
        ...{ months: describeMonths({ from: wonFrom, to: month }), hasMore },
        commands: command(`returns customers --from ${wonFrom} --to ${month}`),
      }),
    ),
    ...described(selfPurchases, (rows, hasMore) =>
      describeSelfPurchases(rows, { days: SELF_PURCHASE_DAYS, hasMore }),
    ),
    ...described(influencers, describeInfluencers),
    ...described(reconciled, (deals, hasMore) =>
      describeCompared({
        ...{ deals, hasMore, mirrorJob },
        unexplained: deals.filter((deal) => isUnexplained(deal, settings)),
      }),
    ),
    ...described(payouts, describePayouts),
    ...described(conflicts, (rows, hasMore) =>
      rows.length === 0
        ? [say(`No order of ${month} has evidence for more than one owner.`)]
        : describeRuleSums(rows, {
            note: hasMore ? `${month}; the owners with the most revenue` : month,
            commands: command(`conflicts --from ${month} --to ${month}`),
          }),
    ),
  ];
}

function described<Row>(
  first: FirstRows<Row> | null,
  describe: (rows: readonly Row[], hasMore: boolean) => readonly Block[],
): readonly Block[] {
  return first === null ? [] : describe(first.rows, first.hasMore);
}

/** Describes influencers among the customers who have no deal yet. Nothing if there are none. */
function describeInfluencers(influencers: readonly FoundInfluencer[], hasMore: boolean): readonly Block[] {
  return section('Influencers among customers', {
    note: 'without a deal, most followers first',
    why: 'Look-ups in real time found them. Orders and amounts are what the customer bought, according to the export that was read last.',
    parts: [
      table(influencers, [
        whole('influencer', ({ username }) => username ?? 'unknown'),
        column('platform', ({ platform }) => platform),
        column('brand', ({ brandName, brandId }) => brandName ?? brandId),
        number('followers', ({ followers }) => (followers === null ? 'unknown' : formatCount(followers))),
        number('orders', ({ orders }) => (orders === null ? 'unknown' : formatCount(orders))),
        number('spent', ({ spent, currency }) => (spent === null ? 'unknown' : formatMoney(spent, currency))),
      ]),
      ...more(hasMore, 'The page Customers of the console has all.'),
    ],
  });
}

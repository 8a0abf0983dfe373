import type { PipelineConfig } from '../../config/schema.ts';
import { isUnexplained } from '../../core/money/reconciliation.ts';
import { SELF_PURCHASE_DAYS } from '../../core/money/returns.ts';
import type { Block } from '../../render/block.ts';
import { describeRuleSums } from './conflicts.ts';
import { describeInfluencers } from './influencers.ts';
import { payoutsSection } from './payouts.ts';
import type { MoneyOverview } from './read-money-overview.ts';
import { describeCompared } from './reconciliation.ts';
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
  const wonMonths = { from: wonFrom, to: month };
  return [
    ...(returns === null
      ? []
      : describeReturns(returns.rows, {
          ...{ by: 'deal', months: month, hasMore: returns.hasMore },
          commands: command(`returns --from ${month} --to ${month}`),
        })),
    ...(won === null
      ? []
      : describeCohorts(won.rows, {
          ...{ months: describeMonths(wonMonths), hasMore: won.hasMore },
          commands: command(`returns customers --from ${wonFrom} --to ${month}`),
        })),
    ...(selfPurchases === null
      ? []
      : describeSelfPurchases(selfPurchases.rows, {
          days: SELF_PURCHASE_DAYS,
          hasMore: selfPurchases.hasMore,
        })),
    ...(influencers === null ? [] : describeInfluencers(influencers.rows, influencers)),
    ...(reconciled === null
      ? []
      : describeCompared({
          ...{ deals: reconciled.rows, hasMore: reconciled.hasMore, mirrorJob },
          unexplained: reconciled.rows.filter((deal) => isUnexplained(deal, settings)),
        })),
    ...(payouts === null ? [] : [payoutsSection(payouts.rows, payouts.hasMore)]),
    ...(conflicts === null
      ? []
      : conflicts.rows.length === 0
        ? [{ kind: 'text' as const, text: `No order of ${month} has evidence for more than one owner.` }]
        : [
            describeRuleSums(conflicts.rows, {
              note: conflicts.hasMore ? `${month}; the owners with the most revenue` : month,
              commands: command(`conflicts --from ${month} --to ${month}`),
            }),
          ]),
  ];
}

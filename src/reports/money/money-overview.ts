import type { PipelineConfig } from '../../config/schema.ts';
import { isUnexplained } from '../../core/money/reconciliation.ts';
import { SELF_PURCHASE_DAYS } from '../../core/money/returns.ts';
import { formatKnown } from '../../core/money.ts';
import { monthsUntil } from '../../core/time/month.ts';
import type { Database } from '../../db/connect.ts';
import { type Block, column, more, number, say, section, table, whole } from '../../render/block.ts';
import { formatCount } from '../../render/text.ts';
import { describeRuleSums } from './conflicts.ts';
import { compareRules } from './list-conflicts.ts';
import { findNewestMonth, listCustomersWon, listReturns, listSelfPurchases } from './list-returns.ts';
import { listInfluencers } from './read-customers.ts';
import { listPayouts, listReconciled } from './reconcile-deals.ts';
import { describeCompared, describePayouts } from './reconciliation.ts';
import { describeCohorts, describeMonths, describeReturns, describeSelfPurchases } from './returns.ts';

const SHOWN_ROWS = 10;
const MONTHS_OF_A_YEAR = 12;

/**
 * Describes returns, customers won, influencers among customers, the comparisons with the service, and conflicts,
 * for the page of a run, from sums of the last refresh. Each part is the beginning of what its command prints, and names
 * that command for the rest. It is left out if runs of this kind do not change it.
 *
 * @param options.fills what runs of the kind fill (`JobKind.fills`).
 * @param options.mirrorJob the job that reads the totals of the service; null if none is configured.
 */
export async function describeMoney(
  db: Database,
  {
    fills,
    settings,
    mirrorJob,
    now,
  }: { fills: readonly string[]; settings: PipelineConfig['reconcile']; mirrorJob: string | null; now: Date },
): Promise<readonly Block[]> {
  const month = (await findNewestMonth(db)) ?? now.toISOString().slice(0, 7);
  const [wonFrom = month] = monthsUntil(month, MONTHS_OF_A_YEAR);
  const ofMonth = { from: month, to: month };
  const { accountCurrency } = settings;
  const limit = SHOWN_ROWS + 1;
  const command = (words: string) => ({ lines: [`npx influencer-sync ${words}`] });
  const blocks: Block[] = [];
  // One at a time, because a run may have a single connection.
  async function add<Row>(
    views: readonly string[],
    read: () => Promise<readonly Row[]>,
    describe: (rows: readonly Row[], hasMore: boolean) => readonly Block[],
  ): Promise<void> {
    if (!views.some((view) => fills.includes(view))) return;
    const rows = await read();
    blocks.push(...describe(rows.slice(0, SHOWN_ROWS), rows.length > SHOWN_ROWS));
  }
  await add(
    ['bi.returns_monthly'],
    () => listReturns(db, { by: 'deal', ...ofMonth, limit }),
    (rows, hasMore) =>
      describeReturns(rows, {
        by: 'deal',
        months: month,
        hasMore,
        commands: command(`returns --from ${month} --to ${month}`),
      }),
  );
  await add(
    ['bi.customer_cohorts'],
    () => listCustomersWon(db, { from: wonFrom, to: month, areMostFirst: true, limit }),
    (rows, hasMore) =>
      describeCohorts(rows, {
        months: describeMonths({ from: wonFrom, to: month }),
        hasMore,
        commands: command(`returns customers --from ${wonFrom} --to ${month}`),
      }),
  );
  await add(
    ['bi.self_purchases'],
    () => listSelfPurchases(db, { days: SELF_PURCHASE_DAYS, limit }),
    (rows, hasMore) => describeSelfPurchases(rows, { days: SELF_PURCHASE_DAYS, hasMore }),
  );
  await add(
    ['bi.influencers_among_customers'],
    () => listInfluencers(db, { limit, isWithoutDeal: true }),
    (influencers, hasMore) =>
      section('Influencers among customers', {
        note: 'without a deal, most followers first',
        why: 'Look-ups in real time found them. Orders and amounts are what the customer bought, according to the export that was read last.',
        parts: [
          table(influencers, [
            whole('influencer', ({ username }) => username ?? 'unknown'),
            column('platform', ({ platform }) => platform),
            column('brand', ({ brandName, brandId }) => brandName ?? brandId),
            number('followers', ({ followers }) => (followers === null ? 'unknown' : formatCount(followers))),
            number('orders', ({ orders }) => (orders === null ? 'unknown' : formatCount(orders))),
            number('spent', ({ spent, currency }) => formatKnown(spent, currency)),
          ]),
          ...more(hasMore, 'The page Customers of the console has all.'),
        ],
      }),
  );
  // A run changes one of its two sides: the posted orders, or the totals of the service.
  await add(
    ['bi.orders_attributed', 'bi.reconciliation'],
    () => listReconciled(db, { limit }),
    (deals, hasMore) => {
      const unexplained = deals.filter((deal) => isUnexplained(deal, settings));
      return describeCompared({ deals, hasMore, mirrorJob, unexplained });
    },
  );
  // The other side changes when a person closes a statement.
  await add(['bi.reconciliation'], () => listPayouts(db, { accountCurrency, limit }), describePayouts);
  await add(
    ['bi.conflicts'],
    () => compareRules(db, { ...ofMonth, limit }),
    (rows, hasMore) =>
      rows.length === 0
        ? [say(`No order of ${month} has evidence for more than one owner.`)]
        : describeRuleSums(rows, {
            note: hasMore ? `${month}; the owners with the most revenue` : month,
            commands: command(`conflicts --from ${month} --to ${month}`),
          }),
  );
  return blocks;
}

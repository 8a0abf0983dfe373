import { EXIT } from '../../core/exit-code.ts';
import { isUnexplained } from '../../core/money/reconciliation.ts';
import { defineCommand } from '../command.ts';

export const reconcileCommand = defineCommand({
  name: 'reconcile',
  summary: 'compare posted orders with those that the service counts',
  description: 'compare the orders that were posted with those that the service counts, deal by deal',
  takes: [['--deal <id>', 'one deal']],
  examples: [
    ['reconcile', 'every deal that the mirror has read, or for which orders were posted'],
    ['reconcile --deal D1 --json', 'one deal, for a program'],
  ],
  notes:
    'Reads the database only. Exits with 3 if more is unexplained than `reconcile` of pipeline.yaml allows.',
  /**
   * Compares the orders that were posted with those that the service counts.
   * @returns 3 if a deal has a larger unexplained difference than the settings allow.
   */
  async action({ output, open }, { deal: dealId = null }) {
    const { isMirrorAccount } = await import('../../../jobs/mirror-account/settings.ts');
    const { listDisputedOrders, listPayouts, reconcileDeals } = await import(
      '../../reports/money/reconcile-deals.ts'
    );
    const { describeReconciliation } = await import('../../reports/money/reconciliation.ts');
    const { config, read } = await open();
    const { accountCurrency } = config.reconcile;
    const { deals, orders, payouts } = await read(async (db) => {
      const deals = await reconcileDeals(db, { accountCurrency, dealId });
      const fewerIn = deals.filter(({ unexplained }) => (unexplained ?? 0) < 0).map((deal) => deal.dealId);
      const orders = await listDisputedOrders(db, { dealId, fewerIn });
      return { deals, orders, payouts: await listPayouts(db, { accountCurrency, dealId }) };
    });
    const unexplained = deals.filter((deal) => isUnexplained(deal, config.reconcile));
    for (const deal of deals) output.emit({ event: 'reconciled_deal', ...deal });
    for (const order of orders) output.emit({ event: 'disputed_order', ...order });
    for (const payout of payouts) output.emit({ event: 'deal_payout', ...payout });
    output.emit({ event: 'reconciled', deals: deals.length, unexplained: unexplained.length });
    const mirrorJob = Object.values(config.jobs).find(isMirrorAccount)?.name ?? null;
    output.show(describeReconciliation({ deals, orders, payouts, unexplained, mirrorJob }));
    return unexplained.length > 0 ? EXIT.rowsRejected : EXIT.ok;
  },
});

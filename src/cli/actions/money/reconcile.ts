import { isMirrorAccount } from '../../../../jobs/mirror-account/settings.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { isUnexplained } from '../../../core/money/reconciliation.ts';
import { renderBlocks } from '../../../render/render-blocks.ts';
import { listDisputedOrders } from '../../../reports/money/list-disputed-orders.ts';
import { listPayouts } from '../../../reports/money/list-payouts.ts';
import { reconcileDeals } from '../../../reports/money/reconcile-deals.ts';
import { describeReconciliation } from '../../../reports/money/reconciliation.ts';
import type { ReconcileOptions } from '../../commands/money/reconcile.ts';
import { openConfig, withDatabase } from '../../open/open-config.ts';
import type { Output } from '../../terminal/output.ts';

/**
 * Compares the orders that were posted with those that the service counts.
 * @returns 3 if a deal has a larger unexplained difference than the settings allow.
 */
export async function reconcile(output: Output, options: ReconcileOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  const dealId = options.deal ?? null;
  const { accountCurrency } = config.reconcile;
  const { deals, orders, payouts } = await withDatabase(config, async (db) => {
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
  const shown = { deals, orders, payouts, unexplained, mirrorJob };
  output.print(renderBlocks(describeReconciliation(shown), output.terminal));
  return unexplained.length > 0 ? EXIT.rowsRejected : EXIT.ok;
}

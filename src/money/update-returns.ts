import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { noteAllDeals, noteDealsOf, takeChangedDeals } from '../rollups/changed-deals.ts';
import { addUpReturns, adoptReturnRules, type ReturnRules } from './add-up-returns.ts';
import { adoptRates } from './adopt-rates.ts';

/** Number of changed deals per step, so that a step takes a second or less. */
const STEP_DEALS = 2_000;

/**
 * Updates the revenue and cost of deals whose orders have changed, or of all deals if the rules have changed.
 * Works in steps of one commit each.
 *
 * @param options.onStep called after each step. If it throws, the work ends between two steps.
 */
export async function updateReturns(
  db: Database,
  { rules, onStep = () => {} }: { readonly rules: ReturnRules; readonly onStep?: () => void },
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await noteDealsOf(trx, await adoptRates(trx, rules.exchange));
    if (await adoptReturnRules(trx, rules)) await noteAllDeals(trx);
  });
  for (let taken = STEP_DEALS; taken === STEP_DEALS; onStep())
    taken = await inTransaction(db, async (trx) => {
      const deals = await takeChangedDeals(trx, STEP_DEALS);
      if (deals > 0) await addUpReturns(trx, { rules, isPlan: db.isTransaction });
      return deals;
    });
}

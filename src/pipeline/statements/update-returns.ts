import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { addUpReturns, adoptReturnRules, type ReturnRules } from '../../earnings/add-up-returns.ts';
import { adoptRates } from '../../earnings/adopt-rates.ts';
import { noteAllDeals, noteDealsOf, takeChangedDeals } from '../../report/money/changed-deals.ts';

/** So many deals and months take a second or less. */
const STEP_DEALS = 2_000;

/**
 * Adds up what deals brought and cost where orders have changed, in steps of one commit each; all of it where the rules have.
 *
 * @param options.onStep called after each step; what it throws ends the work between two steps.
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
      if (deals > 0) await addUpReturns(trx, rules);
      return deals;
    });
}

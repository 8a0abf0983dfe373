import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { type DatabaseTransaction, inTransaction } from '../db/in-transaction.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import { noteAllDeals, noteDealsOf, takeChangedDeals } from '../rollups/changed-deals.ts';
import { addUpReturns, adoptReturnRules, type ReturnRules } from './add-up-returns.ts';
import type { Exchange } from './convert-lines.ts';

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

/**
 * Stores the exchange rates for the conversion of returns.
 *
 * @returns the months whose amounts may change, as `2026-10-01`. If the file only gains a day, that is one or
 *   two months.
 */
export async function adoptRates(
  trx: DatabaseTransaction,
  exchange: Exchange | null,
): Promise<readonly string[]> {
  const { rows } = await sql<{ month: string }>`
    with given as materialized (
      select currency, day::date as day_local, rate
      from jsonb_to_recordset(${toJsonParameter(exchange?.rates ?? [])}::jsonb) as r (currency text, day text, rate numeric)
    ),
    removed as (
      delete from reporting.exchange_rates x
      where not exists (select from given g where g.currency = x.currency and g.day_local = x.day_local)
      returning x.day_local
    ),
    written as (
      insert into reporting.exchange_rates as x (currency, day_local, rate) select currency, day_local, rate from given
      on conflict (currency, day_local) do update set rate = excluded.rate where x.rate <> excluded.rate
      returning x.day_local
    )
    -- Months are in UTC, days are not.
    select distinct date_trunc('month', day_local + shift)::date::text as month
    from (select day_local from removed union select day_local from written) d cross join (values (-1), (1)) as s(shift)`.execute(
    trx,
  );
  return rows.map(({ month }) => month);
}

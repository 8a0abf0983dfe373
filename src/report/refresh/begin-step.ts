import { sql, type Transaction } from 'kysely';
import { suitLargeStatements } from '../../db/large-statements.ts';
import type { DB } from '../../db/tables.ts';
import { rebuildDealTotals } from './deal-totals.ts';

/**
 * Begins a step of a refresh. Locks the row of `reporting.refresh`, so that later statements see what another
 * refresh has just written, and no other step runs until this transaction ends.
 *
 * A process of an older version does not keep `reporting.deal_totals`. If one has refreshed since, they are
 * added up again.
 */
export async function beginStep(trx: Transaction<DB>): Promise<void> {
  await suitLargeStatements(trx);
  const { rows } = await sql<{ is_behind: boolean }>`
    select refreshed_at is distinct from totalled_at as is_behind from reporting.refresh for update`.execute(
    trx,
  );
  if (rows[0]?.is_behind === true) await rebuildDealTotals(trx);
  await sql`
    update reporting.refresh set refreshed_at = n.at, totalled_at = n.at from (select clock_timestamp() as at) n`.execute(
    trx,
  );
}

import { sql, type Transaction } from 'kysely';
import { suitLargeStatements } from '../db/large-statements.ts';
import type { DB } from '../db/tables.ts';
import { rebuildDealTotals } from './deal-totals.ts';
import { rebuildConflicts } from './keep-conflicts.ts';
import type { Partition } from './partitions.ts';

/**
 * Begins a step of a refresh. Locks the row of `reporting.refresh`, so that later statements see what another
 * refresh has just written, and no other step runs until this transaction ends.
 *
 * The commit does not wait for the disk. What a crash of the server takes back is a step as a whole, with the record
 * of what it did, so the next refresh does it again.
 *
 * A process of an older version does not keep `reporting.deal_totals` or `reporting.conflicts`. If one has
 * refreshed since, they are made again.
 */
export async function beginStep(trx: Transaction<DB>): Promise<void> {
  await suitLargeStatements(trx);
  const { rows } = await sql<{ lacks_totals: boolean; lacks_conflicts: boolean }>`
    select set_config('synchronous_commit', 'off', true), refreshed_at is distinct from totalled_at as lacks_totals,
      refreshed_at is distinct from conflicts_at as lacks_conflicts
    from reporting.refresh for update`.execute(trx);
  if (rows[0]?.lacks_totals === true) await rebuildDealTotals(trx);
  if (rows[0]?.lacks_conflicts === true) await rebuildConflicts(trx);
  await sql`
    update reporting.refresh set refreshed_at = n.at, totalled_at = n.at, conflicts_at = n.at from (select clock_timestamp() as at) n`.execute(
    trx,
  );
}

/**
 * Begins a step that writes only to its partition. A step of the other partition may run at the same time, but none of the
 * same partition, and none that `beginStep` has begun. It leaves the columns of `reporting.refresh` as they are, because
 * two steps cannot both write them: a step of `beginStep` follows.
 */
export async function beginPartitionStep(trx: Transaction<DB>, partition: Partition): Promise<void> {
  await suitLargeStatements(trx);
  await sql`select set_config('synchronous_commit', 'off', true) from reporting.refresh for share`.execute(
    trx,
  );
  await sql`select from reporting.refresh_partitions where partition_no = ${partition} for update`.execute(
    trx,
  );
}

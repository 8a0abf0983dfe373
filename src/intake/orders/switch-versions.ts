import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from '../../db/tables.ts';
import { meaningOf } from './summed-orders.ts';

/** Drops staged versions that say the same as the current one (after summing, or in columns that the digest sees and we don't store). */
export async function dropEqualVersions(trx: Transaction<DB>, sourceFileId: string): Promise<number> {
  const { rows } = await sql<{ dropped: string }>`
    with dropped as (
      delete from intake.orders o using intake.orders c
      where o.source_file_id = ${sourceFileId}::bigint and not o.is_current
        and c.order_version_id = o.replaces and c.order_version_id = any (${replacedBy(sourceFileId)})
        and row(${meaningOf('o')}) is not distinct from row(${meaningOf('c')})
      returning 1
    )
    select count(*) as dropped from dropped`.execute(trx);
  return Number(rows[0]?.dropped ?? 0);
}

/** Versions that those which a file has staged take the place of. */
function replacedBy(sourceFileId: string): RawBuilder<unknown> {
  return sql`array(select s.replaces from intake.orders s where s.source_file_id = ${sourceFileId}::bigint and not s.is_current)`;
}

/** Puts the staged versions in force. Two statements: an order has one current version at any time. */
export async function switchVersions(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  await sql`
    update intake.orders c set is_current = false from intake.orders o
    where o.source_file_id = ${sourceFileId}::bigint and not o.is_current
      and c.order_version_id = o.replaces and c.order_version_id = any (${replacedBy(sourceFileId)})`.execute(
    trx,
  );
  await sql`
    update intake.orders set is_current = true
    where source_file_id = ${sourceFileId}::bigint and not is_current`.execute(trx);
}

import type { Transaction } from 'kysely';
import { execute } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { membersOfBatch, takeOutGone } from './waiting-batches.ts';

/**
 * Removes the customers of a file from the batches that wait to be submitted, because the file is read again
 * under other settings. Customers who may still be submitted are staged again by that reading. A batch may
 * contain customers of several files; the others keep waiting. Customers who were submitted stay submitted.
 */
export async function withdrawCustomers(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  await execute(trx)`
    with mine as materialized (
      select c.customer_hash, c.batch_id from intake.customers c
      where c.staged_file_id = ${sourceFileId}::bigint and not c.is_unsubscribed
        and exists (select from intake.waiting_batches w where w.batch_id = c.batch_id and w.purpose = 'submit')
    ),
    members as materialized (
      select b.batch_id, m.address, m.hash, m.place, g.customer_hash is not null as is_gone
      from intake.waiting_batches b cross join ${membersOfBatch}
      left join mine g on g.customer_hash = m.hash
      where b.purpose = 'submit'
        and (b.source_file_id = ${sourceFileId}::bigint or b.batch_id = any (array(select batch_id from mine)))
    ),
    ${takeOutGone},
    asked as (
      delete from intake.waiting_batches where source_file_id = ${sourceFileId}::bigint and purpose = 'lookup'
    ),
    forgotten as (
      delete from intake.customers c using mine m
      where c.customer_hash = m.customer_hash and c.earlier_submissions = 0 and c.refused_at is null
    )
    -- Whoever had refused, and for whom the file said yes with a later date, has refused again.
    update intake.customers c
    set staged_file_id = null, batch_id = null, is_unsubscribed = c.refused_at is not null,
      said_yes = c.said_yes and c.refused_at is null, consented_at = case when c.refused_at is null then c.consented_at end
    from mine m where c.customer_hash = m.customer_hash and (c.earlier_submissions > 0 or c.refused_at is not null)`;
}

import { type RawBuilder, sql } from 'kysely';
import { type Database, execute } from '../../db/statement.ts';
import { CURRENT_KEY_NO } from './rekey-customers.ts';
import { membersOfBatch, takeOutGone } from './waiting-batches.ts';

export type PrepareOptions = {
  readonly brandId: string;
  readonly batchSize: number;
  /** Sources whose customers are submitted although their consent is unknown. */
  readonly unknownFrom: readonly string[];
};

/**
 * Prepares a brand's waiting batches for sending: removes customers who may not be submitted, and uses as few
 * calls as possible. Whatever happened between reading a file and now, only customers who said yes are left,
 * and those whose consent is unknown if a setting permits it.
 */
export async function prepareBatches(db: Database, options: PrepareOptions): Promise<void> {
  await takeOutForbidden(db, options);
  await repack(db, options);
}

/** SQL that lists which customers `c` may be sent to the service. Everybody else may not. */
export function maySend(unknownFrom: readonly string[]): RawBuilder<boolean> {
  return sql`(c.consent = 'yes' or c.consent = 'unknown' and coalesce(c.staged_file_id in (
    select s.source_file_id from intake.source_files s where s.source = any (${[...unknownFrom]}::text[])),
      false))`;
}

/** Removes customers who may not be submitted from their batches, together with their addresses. */
async function takeOutForbidden(
  db: Database,
  { brandId, unknownFrom }: Pick<PrepareOptions, 'brandId' | 'unknownFrom'>,
): Promise<void> {
  await execute(db)`
    with gone as materialized (
      select c.customer_hash from intake.customers c
      join intake.waiting_batches b on b.batch_id = c.batch_id and b.purpose = 'submit'
      where c.brand_id = ${brandId} and not ${maySend(unknownFrom)}
    ),
    members as materialized (
      select b.batch_id, m.address, m.hash, m.place, g.customer_hash is not null as is_gone
      from intake.waiting_batches b cross join ${membersOfBatch}
      left join gone g on g.customer_hash = m.hash
      where b.brand_id = ${brandId} and b.purpose = 'submit' and exists (select from gone)
    ),
    ${takeOutGone}
    update intake.customers c set staged_file_id = null, batch_id = null
    from gone g where c.customer_hash = g.customer_hash`;
}

/**
 * Joins small batches of several files and splits batches that exceed the size of a call. Updates the batch
 * of each customer.
 */
async function repack(db: Database, { brandId, batchSize }: PrepareOptions): Promise<void> {
  await execute(db)`
    with odd as materialized (
      select b.*
      from intake.waiting_batches b
        join intake.source_files f on f.source_file_id = b.source_file_id and f.state = 'sealed'
      where b.brand_id = ${brandId} and b.purpose = 'submit' and b.customers <> ${batchSize}::integer
    ),
    worth_it as (
      select 1 from odd having count(*) > 1 or max(customers) > ${batchSize}::integer
    ),
    taken as (
      delete from intake.waiting_batches b using odd, worth_it where b.batch_id = odd.batch_id
      returning b.*
    ),
    packs as materialized (
      select array(
        select nextval('intake.waiting_batches_batch_id_seq')
        from generate_series(0, (select sum(customers) - 1 from taken), ${batchSize}::integer)) as ids
    ),
    members as materialized (
      select t.batch_id as old_batch_id, t.job, t.source_file_id, t.created_at, m.address, m.hash, m.place,
        p.ids[1 + (row_number() over (order by t.batch_id, m.place) - 1)::integer
          / ${batchSize}::integer] as batch_id
      from taken t
      cross join rows from (jsonb_array_elements_text(t.influencer_list::jsonb), unnest(t.customer_hashes))
        with ordinality as m(address, hash, place)
      cross join packs p
    ),
    packed as (
      insert into intake.waiting_batches
        (batch_id, job, brand_id, source_file_id, purpose, influencer_list, customer_hashes, created_at,
          key_no)
      overriding system value
      select batch_id, max(job), ${brandId}, max(source_file_id), 'submit',
        jsonb_agg(address order by old_batch_id, place)::text, array_agg(hash order by old_batch_id, place),
        min(created_at), ${CURRENT_KEY_NO}
      from members group by batch_id
    )
    update intake.customers c set batch_id = m.batch_id
    from members m where c.customer_hash = m.hash and c.batch_id = m.old_batch_id`;
}

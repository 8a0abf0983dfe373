import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';

export type PrepareOptions = { readonly brandId: string; readonly batchSize: number };

/** Makes what waits to be submitted for a brand ready to be sent: nobody who has unsubscribed, and no more calls than it takes. */
export async function prepareBatches(db: Database, options: PrepareOptions): Promise<void> {
  await takeOutUnsubscribed(db, options.brandId);
  await repack(db, options);
}

/** Takes customers who waited and have unsubscribed since out of their batches, their addresses with them. */
async function takeOutUnsubscribed(db: Database, brandId: string): Promise<void> {
  const { rows } = await sql`
    select from ledger.contacts
    where brand_id = ${brandId} and state = 'unsubscribed' and staged_file_id is not null limit 1`.execute(
    db,
  );
  if (rows.length === 0) return;
  await sql`
    with gone as materialized (
      select contact_hash from ledger.contacts
      where brand_id = ${brandId} and state = 'unsubscribed' and staged_file_id is not null
    ),
    members as materialized (
      select b.batch_id, m.address, m.hash, m.place, g.contact_hash is not null as is_gone
      from intake.contacts b
      cross join rows from (jsonb_array_elements_text(b.influencer_list::jsonb), unnest(b.contact_hashes))
        with ordinality as m(address, hash, place)
      left join gone g on g.contact_hash = m.hash
      where b.brand_id = ${brandId} and b.purpose = 'submit'
    ),
    rebuilt as materialized (
      select batch_id, jsonb_agg(address order by place) filter (where not is_gone) as list,
        array_agg(hash order by place) filter (where not is_gone) as hashes
      from members group by batch_id having bool_or(is_gone)
    ),
    kept as (
      update intake.contacts b set influencer_list = r.list::text, contact_hashes = r.hashes
      from rebuilt r where b.batch_id = r.batch_id and r.list is not null
    ),
    emptied as (
      delete from intake.contacts b using rebuilt r where b.batch_id = r.batch_id and r.list is null
    )
    update ledger.contacts c set staged_file_id = null from gone g where c.contact_hash = g.contact_hash`.execute(
    db,
  );
}

/** Joins small batches of several files, and cuts those that are larger than a call may be. */
async function repack(db: Database, { brandId, batchSize }: PrepareOptions): Promise<void> {
  await sql`
    with odd as materialized (
      select b.* from intake.contacts b join intake.source_files f on f.source_file_id = b.source_file_id and f.state = 'sealed'
      where b.brand_id = ${brandId} and b.purpose = 'submit' and cardinality(b.contact_hashes) <> ${batchSize}::integer
    ),
    worth_it as (
      select 1 from odd having count(*) > 1 or max(cardinality(contact_hashes)) > ${batchSize}::integer
    ),
    taken as (
      delete from intake.contacts b using odd, worth_it where b.batch_id = odd.batch_id
      returning b.*
    ),
    members as (
      select t.job, t.source_file_id, t.created_at, m.address, m.hash,
        (row_number() over (order by t.batch_id, m.place) - 1) / ${batchSize}::integer as pack,
        row_number() over (order by t.batch_id, m.place) as place
      from taken t
      cross join rows from (jsonb_array_elements_text(t.influencer_list::jsonb), unnest(t.contact_hashes))
        with ordinality as m(address, hash, place)
    )
    insert into intake.contacts (job, brand_id, source_file_id, purpose, influencer_list, contact_hashes, created_at)
    select max(job), ${brandId}, max(source_file_id), 'submit', jsonb_agg(address order by place)::text,
      array_agg(hash order by place), min(created_at)
    from members group by pack order by pack`.execute(db);
}

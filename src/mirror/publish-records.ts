import { type RawBuilder, sql, type Transaction } from 'kysely';
import { countsOf, execute } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import type { RecordShape } from './record-shapes.ts';

/** The result for the records of one kind in a publication. */
export type RecordCounts = {
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly gone: number;
};

/** SQL for the records that were read: (id, row_hash, fields, raw, drift, fetched_at), each id once. */
export type Incoming = RawBuilder<unknown>;

/** SQL for the staged records of a kind. */
export function stagedRecords(kind: RecordShape['kind']): Incoming {
  if (kind === 'collaboration') {
    return sql`(
      select collab_id as id, row_hash, fields, raw, drift, fetched_at
      from mirror.staged_collaborations
      where is_newest)`;
  }
  return sql`(
    select record_id as id, row_hash, fields, raw, drift, fetched_at from mirror.staged
    where record_kind = ${kind} and outcome = 'read')`;
}

/**
 * Ends the versions that are no longer current and adds the new ones: one for each new or changed record,
 * none for an unchanged record.
 */
export async function publishVersions(
  trx: Transaction<DB>,
  shape: RecordShape,
  runId: string,
): Promise<Omit<RecordCounts, 'gone'>> {
  const table = sql.table(shape.table);
  const key = sql.ref(shape.key);
  const incoming = stagedRecords(shape.kind);
  const names = sql.join(shape.columns.map(({ name }) => sql.ref(name)));
  const values = sql.join(
    shape.columns.map(({ name, type }) => sql`(i.fields ->> ${sql.lit(name)})::${sql.raw(SQL_TYPES[type])}`),
  );
  // Deals have their times in `known_deals`.
  const [seenColumn, seenValue] =
    shape.kind === 'brand' || shape.kind === 'dealflow'
      ? [sql`, seen_at`, sql`, i.fetched_at`]
      : [sql``, sql``];
  // A record that returns after it was gone gets a new version even if its content is equal, so that its
  // history shows the gap. The count makes Postgres end all previous versions before it adds the first new
  // one, because a record has only one latest version.
  const { added, fresh, read } = await countsOf<'added' | 'fresh' | 'read'>(trx)`
    with ended as (
      update ${table} v set is_latest = false, valid_to = coalesce(v.valid_to, i.fetched_at)
      from ${incoming} i
      where v.is_latest and v.${key} = i.id and (v.row_hash <> i.row_hash or v.valid_to is not null)
      returning v.${key} as id, v.first_seen_at),
    added as (
      insert into ${table} (${key}, ${names}, raw, row_hash, valid_from, first_seen_at, run_id${seenColumn})
      select i.id, ${values}, i.raw, i.row_hash, i.fetched_at, coalesce(e.first_seen_at, i.fetched_at),
        ${runId}::bigint${seenValue}
      from ${incoming} i left join ended e on e.id = i.id cross join (select count(*) from ended) all_ended
      where not exists (
        select from ${table} v
        where v.${key} = i.id and v.is_latest and v.row_hash = i.row_hash and v.valid_to is null)
      returning first_seen_at = valid_from as is_new)
    select count(*) as added, count(*) filter (where is_new) as fresh,
      (select count(*) from ${incoming} i) as read
    from added`;
  return { new: fresh, changed: added - fresh, unchanged: read - added };
}

const SQL_TYPES = {
  text: 'text',
  id: 'text',
  boolean: 'boolean',
  integer: 'integer',
  numeric: 'numeric',
} as const;

/**
 * Updates `seen_at` of the records in a listing, and ends records that a complete listing no longer contains.
 * An empty listing ends nothing, because it may be the result of a fault.
 *
 * @returns the number of records that are gone.
 */
export async function settleListing(trx: Transaction<DB>, shape: RecordShape): Promise<number> {
  const table = sql.table(shape.table);
  const key = sql.ref(shape.key);
  await execute(trx)`
    update ${table} v set seen_at = s.fetched_at from mirror.staged s
    where s.record_kind = ${shape.kind} and v.${key} = s.record_id and v.is_latest`;
  return execute(trx)`
    update ${table} v set valid_to = l.fetched_at from mirror.staged_listings l
    where l.record_kind = ${shape.kind} and l.is_complete and v.is_current and v.seen_at < l.fetched_at
      and exists (select from mirror.staged s where s.record_kind = ${shape.kind})
      and not exists (select from mirror.staged s
        where s.record_kind = ${shape.kind} and s.record_id = v.${key})`;
}

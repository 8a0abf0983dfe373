import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';
import { stagedRecords } from './publish-records.ts';
import type { RecordShape } from './record-shapes.ts';

/**
 * Records how the records that are about to be published differ from their previous versions, and which
 * values could not be read. Call it before `publishVersions`. Only the top-level fields of a record are
 * compared; nested values are compared as a whole.
 */
export async function noteDrift(trx: Transaction<DB>, shape: RecordShape, runId: string): Promise<void> {
  const { kind } = shape;
  const table = sql.table(shape.table);
  const key = sql.ref(shape.key);
  const incoming = stagedRecords(kind);
  const pairs = sql`
    select i.id, v.raw as old, i.raw as new
    from ${incoming} i join ${table} v on v.${key} = i.id and v.is_latest and v.row_hash <> i.row_hash`;
  const enter = sql`
    insert into mirror.drift (run_id, record_kind, field, kind, expected, found, records, sample_id)
    select ${runId}::bigint, ${kind}, left(field, 200), d.kind, expected, found, count(*), min(id)`;
  await sql`
    ${enter} from (
      select p.id, o.key as field, 'type_changed' as kind, jsonb_typeof(o.value) as expected, jsonb_typeof(n.value) as found
      from (${pairs}) p cross join lateral jsonb_each(p.old) o join lateral jsonb_each(p.new) n on n.key = o.key
      where jsonb_typeof(o.value) <> jsonb_typeof(n.value) and 'null' not in (jsonb_typeof(o.value), jsonb_typeof(n.value))) d
    group by field, d.kind, expected, found`.execute(trx);
  // If one deal lacks a field, that deal has changed. Only a field that no deal has any more has vanished.
  await sql`
    ${enter} from (
      select p.id, o.key as field, 'vanished' as kind, jsonb_typeof(o.value) as expected, null as found
      from (${pairs}) p cross join lateral jsonb_each(p.old) o where not p.new ? o.key) d
    where not exists (select from ${incoming} i where i.raw ? field)
      and not exists (
        select from mirror.staged s join ${table} v on v.${key} = s.record_id and v.is_latest
        where s.record_kind = ${kind} and s.outcome = 'unchanged' and v.raw ? field)
    group by field, d.kind, expected, found`.execute(trx);
  await sql`
    ${enter} from (
      select i.id, m.field, m.kind, m.expected, m.found
      from ${incoming} i cross join lateral jsonb_to_recordset(i.drift) as m(field text, kind text, expected text, found text)
      where i.drift is not null
        and not exists (select from ${table} v where v.${key} = i.id and v.is_latest and v.row_hash = i.row_hash)) d
    group by field, d.kind, expected, found`.execute(trx);
}

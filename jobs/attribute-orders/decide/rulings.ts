import type { Transaction } from 'kysely';
import { execute, toJsonParameter } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';

/** What a person decides about held orders: what was not known is settled, or they are never credited. */
export type Ruling = 'credit' | 'exclude';

/** An order that is held, or all orders of a source with a status that is not known. */
export type RuledSubject =
  | { readonly source: string; readonly status: string }
  | {
      readonly source: string;
      readonly orderId: string;
      readonly reason: string;
      /** Version for which the decision holds. Null: every version. */
      readonly contentHash: string | null;
    };

/**
 * Stores decisions about held orders, each in place of an earlier one about the same. The next run of each job decides
 * about these orders again.
 */
export async function storeRulings(
  trx: Transaction<DB>,
  {
    subjects,
    decision,
    decidedBy,
  }: { subjects: readonly RuledSubject[]; decision: Ruling; decidedBy: string },
): Promise<void> {
  const rows = subjects.map((subject) =>
    'status' in subject ? { ...subject, reason: 'unknown_status' } : { ...subject, status: null },
  );
  await execute(trx)`drop table if exists pg_temp.ruled`;
  await execute(trx)`
    create temporary table ruled on commit drop as
    select * from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb)
      as g(source text, status text, "orderId" text, reason text, "contentHash" text)`;
  await execute(trx)`
    update intake.rulings r set withdrawn_at = clock_timestamp()
    from ruled g
    where r.withdrawn_at is null and r.source = g.source and r.reason = g.reason
      and r.status is not distinct from g.status and r.order_id is not distinct from g."orderId"`;
  await execute(trx)`
    insert into intake.rulings (source, status, order_id, reason, content_hash, decision, decided_by)
    select distinct source, status, "orderId", reason, "contentHash", ${decision}, ${decidedBy} from ruled`;
  await execute(trx)`
    delete from intake.attributed_files f
    where f.source_file_id in (
      select o.source_file_id
      from intake.attributions a
      join ruled g on g.source = a.source
      cross join lateral (select o.source_file_id, o.status from intake.orders o
        where o.order_version_id = a.order_version_id limit 1) o
      where a.outcome = 'held' and a.reason = g.reason
        and (g."orderId" = a.order_id or g.status = coalesce(o.status, '')))`;
}

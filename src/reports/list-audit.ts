import { sql } from 'kysely';
import { type Database, rowOf, rowsOf } from '../db/statement.ts';
import { type Having, hasAll, type Page } from './wanted-rows.ts';

export type AuditEntry = {
  readonly auditId: string;
  readonly occurredAt: Date;
  readonly actor: string;
  readonly via: string;
  readonly action: string;
  readonly subjectKind: string;
  readonly subject: string | null;
  readonly summary: string;
  readonly reason: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly filter: unknown;
  readonly bulkId: string | null;
};

const columns = sql`
  audit_id as "auditId", occurred_at as "occurredAt", actor, via, action, subject_kind as "subjectKind",
  subject, summary,
  reason, before, after, filter, bulk_id as "bulkId"`;

/**
 * Lists people's changes, newest first, with the key `auditId`. A bulk action is one change, unless its parts or the
 * changes of one subject are requested.
 */
export function listAudit(
  db: Database,
  { limit, after = null, actor, subject, bulkId = null }: Page & Having<'actor' | 'subject' | 'bulkId'>,
) {
  const isPart =
    bulkId === null ? sql`(bulk_id is null or ${subject != null})` : sql`bulk_id = ${bulkId}::bigint`;
  return rowsOf<AuditEntry>(db)`
    select ${columns} from ops.audit
    where (${after}::bigint is null or audit_id < ${after}::bigint)
      and ${hasAll({ actor, subject }, isPart)}
    order by audit_id desc limit ${limit}`;
}

/** @returns null if there is no such record. */
export async function findAudit(db: Database, auditId: string): Promise<AuditEntry | null> {
  const row = await rowOf<AuditEntry>(db)`
    select ${columns} from ops.audit where audit_id = ${auditId}::bigint`;
  return row ?? null;
}

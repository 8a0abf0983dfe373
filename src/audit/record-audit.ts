import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { maskAddresses } from '../model/text/mask-addresses.ts';

/** A change by a person, as stored in `ops.audit`. */
export type AuditRecord = {
  /** Login name on the machine, or the name with which the person signed in to the console. */
  readonly actor: string;
  readonly via: 'console' | 'command';
  /** Machine name of the action, for example `settle_doubt`. */
  readonly action: string;
  readonly subjectKind:
    | 'entry'
    | 'file'
    | 'code'
    | 'job'
    | 'backfill'
    | 'bulk'
    | 'check'
    | 'statement'
    | 'customer'
    | 'table'
    | 'key'
    | 'order';
  /** Id or name of the subject. Null if the action concerns many. */
  readonly subject: string | null;
  /** What was done, in a sentence without row values. */
  readonly summary: string;
  /** The person's reason, in their own words. */
  readonly reason?: string | null;
  /** The fields that change, before and after: ids, states and amounts, never a row of a file. */
  readonly before?: object | null;
  readonly after?: object | null;
  /** The filter of an action on many subjects. */
  readonly filter?: object | null;
  /** The bulk action that this change belongs to. */
  readonly bulkId?: string | null;
};

/** An audit record without its actor, who is added by the writer. */
export type ActorlessRecord = Omit<AuditRecord, 'actor' | 'via'>;

/** Records a change in the transaction for which the writer was created. @returns the id of the record. */
export type WriteAudit = (record: ActorlessRecord) => Promise<string>;

/** Records a change in the given transaction. @returns the id of the record. */
export type WriteAuditIn = (trx: DatabaseTransaction, record: ActorlessRecord) => Promise<string>;

/** Creates a writer for actions of a job for which a person would be accountable. */
export function auditOfJob(job: string): WriteAuditIn {
  return (trx, record) => recordAudit(trx, { ...record, actor: `job ${job}`, via: 'command' });
}

/**
 * Records a change in the same transaction, so that the change and its record are committed together.
 *
 * @returns the id of the record.
 */
export async function recordAudit(trx: DatabaseTransaction, record: AuditRecord): Promise<string> {
  const json = (value: object | null | undefined): string | null =>
    value === null || value === undefined ? null : JSON.stringify(value);
  const { rows } = await sql<{ id: string }>`
    insert into ops.audit (actor, via, action, subject_kind, subject, summary, reason, before, after, filter, bulk_id)
    values (${maskAddresses(record.actor)}, ${record.via}, ${record.action}, ${record.subjectKind}, ${record.subject}, ${maskAddresses(record.summary)},
      ${record.reason === undefined || record.reason === null ? null : maskAddresses(record.reason)},
      ${json(record.before)}::jsonb, ${json(record.after)}::jsonb, ${json(record.filter)}::jsonb, ${record.bulkId ?? null}::bigint)
    returning audit_id as id`.execute(trx);
  const [row] = rows;
  if (row === undefined) throw new Error('an audit record was not stored');
  return row.id;
}

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { maskAddresses } from '../model/text/mask-addresses.ts';

/** A change that a person makes, as `ops.audit` keeps it. */
export type AuditRecord = {
  /** Login name on the machine, or the name that the console signed in. */
  readonly actor: string;
  readonly via: 'console' | 'command';
  /** `settle_doubt`. */
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
    | 'key';
  /** Its id or name; null where the action concerns many. */
  readonly subject: string | null;
  /** What was done, in a sentence, without row values. */
  readonly summary: string;
  /** In the person's words. */
  readonly reason?: string | null;
  /** Fields that change, as they are and as they will be: ids, states and amounts, never a row of a file. */
  readonly before?: object | null;
  readonly after?: object | null;
  /** Of an action on many. */
  readonly filter?: object | null;
  /** The action on many that this one belongs to. */
  readonly bulkId?: string | null;
};

/** What is written down of a change by whoever knows its actor. */
export type ActorlessRecord = Omit<AuditRecord, 'actor' | 'via'>;

/** Writes down a change of an actor, in the transaction that it was made for. @returns id of the record. */
export type WriteAudit = (record: ActorlessRecord) => Promise<string>;

/** Writes down a change of an actor, in the transaction of the change. @returns id of the record. */
export type WriteAuditIn = (trx: DatabaseTransaction, record: ActorlessRecord) => Promise<string>;

/** Writes down what a job does by itself that a person would answer for. */
export function auditOfJob(job: string): WriteAuditIn {
  return (trx, record) => recordAudit(trx, { ...record, actor: `job ${job}`, via: 'command' });
}

/**
 * Writes down who changes what, in the transaction of the change: neither is there without the other.
 *
 * @returns id of the record.
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

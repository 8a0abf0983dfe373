import { maskAddresses } from '../core/text/mask-addresses.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { rowOf, toJsonParameter } from '../db/statement.ts';

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
    | 'order'
    | 'seed'
    | 'ledger'
    | 'claim'
    | 'payment'
    | 'proposal';
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

/** Who decides something, and the writer of its audit record, in the same transaction. */
export type Decided = { readonly decidedBy: string; readonly audit: WriteAudit };

/** With the reason that the person gave, which is not blank. */
export type DecidedWhy = Decided & { readonly reason: string };

/** Records a change in the given transaction. @returns the id of the record. */
export type WriteAuditIn = (trx: DatabaseTransaction, record: ActorlessRecord) => Promise<string>;

/** Creates a writer for actions of a job for which a person would be accountable. */
export function auditOfJob(job: string): WriteAuditIn {
  return (trx, record) => recordAudit(trx, { ...record, actor: `job ${job}`, via: 'command' });
}

/**
 * Records a change in the same transaction, so that the change and its record are committed together. For a user
 * of the database who may not write the table (an operator), the record names this user.
 *
 * @returns the id of the record.
 */
export async function recordAudit(trx: DatabaseTransaction, record: AuditRecord): Promise<string> {
  const { actor, subjectKind, summary, reason, bulkId, ...rest } = record;
  const columns = {
    ...rest,
    actor: maskAddresses(actor),
    subject_kind: subjectKind,
    summary: maskAddresses(summary),
    reason: reason === undefined || reason === null ? null : maskAddresses(reason),
    bulk_id: bulkId,
  };
  const row = await rowOf<{ id: string }>(trx)`
    select ops.record_audit(${toJsonParameter(columns)}::jsonb) as id`;
  if (row === undefined) throw new Error('an audit record was not stored');
  return row.id;
}

import { userInfo } from 'node:os';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { type Decided, recordAudit, type WriteAudit } from '../../ops/record-audit.ts';

/**
 * The name of the person who runs a command, which is stored with decisions.
 *
 * A container may run with a uid that has no entry in the passwd database. Then the result is the uid. The
 * variables USER and LOGNAME are not used, because anyone can set them.
 */
export function readOperator(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.geteuid?.() ?? 'unknown'}`;
  }
}

/**
 * Creates a writer of audit records for changes by the person at this terminal.
 * @returns a function that writes a record and returns its id.
 */
export function auditIn(trx: DatabaseTransaction): WriteAudit {
  return (record) => recordAudit(trx, { ...record, actor: readOperator(), via: 'command' });
}

/** The person at this terminal and the writer of audit records. */
export function decidedHere(trx: DatabaseTransaction): Decided {
  return { decidedBy: readOperator(), audit: auditIn(trx) };
}

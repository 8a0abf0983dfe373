import { userInfo } from 'node:os';
import { recordAudit, type WriteAudit } from '../../audit/record-audit.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';

/**
 * Who runs a command that decides something: the name that is kept with the decision.
 *
 * A container may run as any uid, without an entry in the passwd database: then there is no name, and the uid is all that is known. The
 * variables USER and LOGNAME are not asked, because they say what their setter likes.
 */
export function readOperator(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.geteuid?.() ?? 'unknown'}`;
  }
}

/** Writes down that the person at this terminal has changed something. @returns what gives the id of each record. */
export function auditIn(trx: DatabaseTransaction): WriteAudit {
  return (record) => recordAudit(trx, { ...record, actor: readOperator(), via: 'command' });
}

/** Who decides at this terminal, and where it is written down. */
export function decidedHere(trx: DatabaseTransaction) {
  return { decidedBy: readOperator(), audit: auditIn(trx) };
}

import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { recordAudit } from '../../ops/record-audit.ts';
import { beginNewLedger, type RecoveryOptions } from './recover.ts';

/**
 * Begins a new ledger by a person's decision, and records it in the audit, in one commit.
 *
 * @returns the number of claims of other ledgers that no longer count.
 */
export function beginAuditedLedger(db: Database, options: RecoveryOptions): Promise<number> {
  const { accountId, decidedBy, reason } = options;
  return inTransaction(db, async (trx) => {
    const claims = await beginNewLedger(trx, options);
    await recordAudit(trx, {
      ...{ actor: decidedBy, via: 'command', reason },
      ...{ action: 'begin_new_ledger', subjectKind: 'ledger', subject: accountId },
      summary: 'Began a new ledger: claims of another one do not count in it.',
      after: { disregarded_claims: claims },
    });
    return claims;
  });
}

import type { WriteAudit } from '../../audit/record-audit.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { findLeaks } from '../statements/find-leaks.ts';

export type LeakToAcknowledge = {
  /** Folded, as orders are matched by it. */
  readonly code: string;
  /** Why, in the words of the person. Not blank. */
  readonly reason: string;
  readonly now: Date;
  /** Writes the audit record, in the same transaction. @returns its id. */
  readonly audit: WriteAudit;
};

/**
 * Writes down that a person has looked at a code that may have leaked: for 30 days it is no news. Commands and the console do so through here.
 *
 * @returns id of the audit record; null where the code is not flagged, and nothing is written.
 */
export async function acknowledgeLeak(
  trx: DatabaseTransaction,
  { code, reason, now, audit }: LeakToAcknowledge,
): Promise<string | null> {
  const leak = (await findLeaks(trx, { now })).find((one) => one.code === code);
  if (leak === undefined) return null;
  const { since, orders, withoutLink } = leak;
  return audit({
    action: 'acknowledge_leak',
    subjectKind: 'code',
    subject: code,
    summary: `A code that may have leaked since ${since} was acknowledged.`,
    reason,
    after: { since, orders, without_link: withoutLink },
  });
}

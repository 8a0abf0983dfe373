import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { findLeaks } from '../money/leaks/find-leaks.ts';
import type { DecidedWhy } from '../ops/record-audit.ts';

export type LeakToAcknowledge = Pick<DecidedWhy, 'reason' | 'audit'> & {
  /** Folded in the same way as the codes of orders. */
  readonly code: string;
  readonly now: Date;
};

/**
 * Records that a person has checked a code that may have leaked. The leak is not reported as new for 30 days, unless
 * it doubles or the code gets another owner.
 * Commands and the console both call this function.
 *
 * @returns false if the code is not flagged; nothing is written then.
 */
export async function acknowledgeLeak(
  trx: DatabaseTransaction,
  { code, reason, now, audit }: LeakToAcknowledge,
): Promise<boolean> {
  const leak = (await findLeaks(trx, { now })).find((one) => one.code === code);
  if (leak === undefined) return false;
  const { since, days, orders, withoutLink, dealId } = leak;
  await audit({
    action: 'acknowledge_leak',
    subjectKind: 'code',
    subject: code,
    summary: `A code that may have leaked since ${since} was acknowledged.`,
    reason,
    after: { since, days, orders, without_link: withoutLink, deal_id: dealId },
  });
  return true;
}

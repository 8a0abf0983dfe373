import { formatAmounts } from '../core/money.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { lockJob } from '../ledger/propose.ts';
import { type ComesTo, settleRestated } from '../ledger/settle-restated.ts';
import type { WriteAudit } from '../ops/record-audit.ts';
import { plural } from '../render/text.ts';
import {
  listOtherCurrency,
  type OtherCurrency,
  type OtherCurrencyFilter,
} from '../reports/money/list-other-currency.ts';

/**
 * Settles posted orders that an export states in another currency since: they earn what they earned before, or nothing.
 * Statements follow at once, also if no job reads the source any more.
 *
 * @returns the orders, as they were listed. None: nothing is written.
 */
export async function settleOtherCurrency(
  trx: DatabaseTransaction,
  {
    filter,
    comesTo,
    reason,
    audit,
  }: {
    readonly filter: OtherCurrencyFilter;
    readonly comesTo: ComesTo;
    /** The reason that the person gave. Not blank. */
    readonly reason: string;
    /** Writes the audit record, in the same transaction. */
    readonly audit: WriteAudit;
  },
): Promise<readonly OtherCurrency[]> {
  const jobs = new Set((await listOtherCurrency(trx, filter)).map(({ job }) => job));
  // A run that decides about these orders ends first, so that its adjustments are older than this one.
  for (const job of [...jobs].toSorted()) await lockJob(trx, job);
  const orders = (await listOtherCurrency(trx, filter)).filter(({ job }) => jobs.has(job));
  if (orders.length === 0) return [];
  await settleRestated(trx, { entryIds: orders.map(({ entryId }) => entryId), comesTo });
  const sent = orders.map(({ sentAmount: amount, currency }) => ({ amount, currency }));
  await audit({
    ...{ action: 'settle_other_currency', subjectKind: 'order', filter, reason },
    subject: orders.length === 1 ? (orders[0]?.orderId ?? null) : null,
    summary: `${plural(orders.length, 'order')}, sent with ${formatAmounts(sent)} and stated in another currency since: ${comesTo === 'sent' ? 'what was sent stays' : 'all of it was returned'}.`,
    after: { comesTo, orders: orders.length, entries: orders.map(({ entryId }) => entryId) },
  });
  return orders;
}

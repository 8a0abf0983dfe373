import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { type DecimalText, formatAmounts } from '../core/money.ts';
import { foldOrderId } from '../core/text/order-key.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { rowsOf } from '../db/statement.ts';
import { lockJobs } from '../ledger/propose.ts';
import { type ComesTo, settleRestated } from '../ledger/settle-restated.ts';
import { earnedOrders } from '../money/kept-earnings.ts';
import type { StatementRules } from '../money/statement.ts';
import type { DecidedWhy } from '../ops/record-audit.ts';
import { plural } from '../render/text.ts';
import {
  digestOtherCurrency,
  listOtherCurrency,
  type OtherCurrency,
  type OtherCurrencyFilter,
} from '../reports/money/list-other-currency.ts';

/** What became of such a decision. */
export type Settled =
  | {
      readonly kind: 'settled';
      /** The orders, as they were listed, and what each earns now. Null: unknown, or it is in no statement. */
      readonly orders: readonly (OtherCurrency & { readonly earned: DecimalText | null })[];
    }
  /** Nothing is written: ids of which no such order is known, and those of several sources. Neither: they have changed. */
  | { readonly kind: 'unclear'; readonly unknown: readonly string[]; readonly several: readonly string[] };

/**
 * Settles posted orders that an export states in another currency since: they earn what they earned before, or nothing.
 * Statements follow at once, also if no job reads the source any more. Orders that are named can be decided again.
 *
 * Call `keepEarnings` afterwards: until then, lists compute what these orders earn.
 */
export async function settleOtherCurrency(
  trx: DatabaseTransaction,
  {
    filter,
    shown,
    comesTo,
    rules,
    reason,
    audit,
  }: Pick<DecidedWhy, 'reason' | 'audit'> & {
    readonly filter: Pick<OtherCurrencyFilter, 'source' | 'orderIds'>;
    /** Digest of the orders that the person saw. If they are others or have changed since, nothing is decided. */
    readonly shown?: string;
    readonly comesTo: ComesTo;
    /** What the orders earn now is computed by them. */
    readonly rules: StatementRules;
  },
): Promise<Settled> {
  const list = () => listOtherCurrency(trx, { ...filter, isToDecide: true });
  const jobs = new Set((await list()).map(({ job }) => job));
  // A run that decides about these orders ends first, so that its adjustments are older than this one.
  await lockJobs(trx, jobs);
  const orders = (await list()).filter(({ job }) => jobs.has(job));
  const named = filter.orderIds ?? [];
  const countOf = (id: string) =>
    orders.filter(({ orderId }) => foldOrderId(orderId) === foldOrderId(id)).length;
  const unknown = named.filter((id) => countOf(id) === 0);
  const several = named.filter((id) => countOf(id) > 1);
  const hasChanged = shown !== undefined && shown !== digestOtherCurrency(orders);
  if (orders.length === 0 || unknown.length + several.length > 0 || hasChanged)
    return { kind: 'unclear', unknown, several };
  const entryIds = orders.map(({ entryId }) => entryId);
  await settleRestated(trx, { entryIds, comesTo });
  const sent = orders.map(({ sentAmount: amount, currency }) => ({ amount, currency }));
  await audit({
    action: 'settle_other_currency',
    subjectKind: 'order',
    filter,
    reason,
    subject: orders.length === 1 ? (orders[0]?.orderId ?? null) : null,
    summary: `${plural(orders.length, 'order')}, sent with ${formatAmounts(sent)} and stated in another currency since: ${comesTo === 'sent' ? 'what they came to before stays' : 'all of it was returned'}.`,
    after: {
      comesTo,
      orders: orders.length,
      entries: createHash('sha256').update(entryIds.join(',')).digest('hex'),
    },
  });
  await suitLargeStatements(trx);
  const entries = sql`select unnest(${entryIds}::bigint[])`;
  const rows = await rowsOf<{ id: string; earned: DecimalText | null }>(trx)`
    with ${earnedOrders(rules, { areKept: false, entries })}
    select entry_id as id, earned_amount::text as earned from earned where net_amount is not null`;
  const earned = new Map(rows.map((row) => [row.id, row.earned]));
  return {
    kind: 'settled',
    orders: orders.map((order) => ({ ...order, earned: earned.get(order.entryId) ?? null })),
  };
}

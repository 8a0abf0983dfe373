import { sql, type Transaction } from 'kysely';
import { keepsPlanFor } from '../../db/keeps-plan.ts';
import type { DB } from '../../db/tables.ts';
import { type OrderStatistics, OTHER_STATUSES } from '../../model/checks/file-statistics.ts';
import { maskAddresses } from '../../model/text/mask-addresses.ts';
import { toPrintableLine } from '../../model/text/printable.ts';

/**
 * Target size of the sample. The median of this many amounts differs from that of all amounts by a few per
 * cent at most. Smaller files are measured in full.
 */
const SAMPLED_ORDERS = 2_000;
/** A word that fewer orders share is not counted as a status: a misplaced column can contain anything. */
const MIN_STATUS_SHARE = 0.02;
const MAX_STATUSES = 20;
/**
 * Maximum number of pairs of currency and status that are fetched. Only a column that contains something else
 * has more.
 */
const MAX_GROUPS = 1_000;

export type MeasuredOrders = {
  readonly sourceFileId: string;
  /** The counts of orders come from sealing. */
  readonly ordersNew: number;
  readonly ordersChanged: number;
  readonly ordersUnchanged: number;
  /** The column from which the job computes revenue. */
  readonly revenue: 'total' | 'subtotal';
};

type Group = {
  readonly currency: string;
  readonly status: string | null;
  readonly orders: string;
  readonly amounted: string;
  readonly sampled: readonly string[] | null;
  readonly blank: string;
  readonly coded: string;
  readonly unowned: string;
  readonly newest: Date | null;
};

/**
 * SQL that is true if no code of an order is in the list of codes. Postgres reads that list once and hashes
 * it.
 */
export const isUnowned = sql<boolean>`not (select bool_or(c.code in (select code_folded from intake.codes)) from unnest(codes_folded) as c(code))`;

/** Computes statistics of the new and changed orders of a file, in one pass over its staged rows. */
export async function measureOrders(trx: Transaction<DB>, file: MeasuredOrders): Promise<OrderStatistics> {
  const { sourceFileId, ordersNew, ordersChanged, ordersUnchanged } = file;
  const judged = ordersNew + ordersChanged;
  const amount = sql.ref(file.revenue);
  const isSampled = sql`order_version_id % ${Math.max(1, Math.floor(judged / SAMPLED_ORDERS))}::bigint = 0`;
  const { rows } =
    judged === 0
      ? { rows: [] }
      : await sql<Group>`
    select currency, status, count(*) as orders, count(*) filter (where ${amount} > 0) as amounted,
      array_agg(${amount}::text) filter (where ${amount} > 0 and ${isSampled}) as sampled,
      sum(count(*) filter (where codes = '{}' and links = '{}' and influencer_handle is null and deal_id is null
        and collab_id is null)) over () as blank,
      sum(count(*) filter (where ${isSampled} and codes <> '{}')) over () as coded,
      sum(count(*) filter (where ${isSampled} and codes <> '{}' and ${isUnowned})) over () as unowned,
      max(max(placed_at) filter (where is_current)) over () as newest
    from intake.orders where source_file_id = ${sourceFileId}::bigint
    group by currency, status order by count(*) desc, currency, status limit ${MAX_GROUPS}::bigint ${keepsPlanFor(judged)}`.execute(
          trx,
        );
  return {
    new: ordersNew,
    known: ordersChanged + ordersUnchanged,
    judged,
    blankCodes: Number(rows[0]?.blank ?? 0),
    coded: Number(rows[0]?.coded ?? 0),
    unowned: Number(rows[0]?.unowned ?? 0),
    currencies: countBy(rows, ({ currency }) => currency),
    statuses: countStatuses(rows, judged),
    amounts: mediansOf(rows),
    newestAt: rows[0]?.newest ?? null,
  };
}

function countBy(groups: readonly Group[], wordOf: (group: Group) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const group of groups) {
    const word = wordOf(group);
    counts[word] = (counts[word] ?? 0) + Number(group.orders);
  }
  return counts;
}

function countStatuses(groups: readonly Group[], judged: number): Record<string, number> {
  const words = Object.entries(countBy(groups, ({ status }) => status ?? '(none)'));
  const common = words
    .filter(([, orders]) => orders >= judged * MIN_STATUS_SHARE)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, MAX_STATUSES)
    .map(([word, orders]) => [maskAddresses(toPrintableLine(word)).slice(0, 60), orders] as const);
  const others = judged - common.reduce((sum, [, orders]) => sum + orders, 0);
  return Object.fromEntries(others > 0 ? [...common, [OTHER_STATUSES, others]] : common);
}

function mediansOf(groups: readonly Group[]): OrderStatistics['amounts'] {
  const byCurrency = Map.groupBy(groups, ({ currency }) => currency);
  const medians: Record<string, { orders: number; median: string }> = {};
  for (const [currency, ofCurrency] of byCurrency) {
    const sampled = ofCurrency.flatMap((group) => group.sampled ?? []);
    // Sort as numbers, but keep the text: the median is exactly one of the amounts.
    const sorted = sampled.toSorted((one, other) => Number(one) - Number(other));
    const median = sorted[Math.floor((sorted.length - 1) / 2)];
    const orders = ofCurrency.reduce((sum, { amounted }) => sum + Number(amounted), 0);
    if (median !== undefined) medians[currency] = { orders, median };
  }
  return medians;
}

import { type RawBuilder, sql, type Transaction } from 'kysely';
import { type OrderStatistics, OTHER_STATUSES } from '../../core/checks/file-statistics.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { keepsPlan, keepsPlanFor } from '../../db/keeps-plan.ts';
import { rowsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';

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
  readonly ordersOlder: number;
  /** The column from which the job computes revenue. */
  readonly revenue: 'total' | 'subtotal';
};

type Group = {
  readonly sourceFileId: string;
  readonly currency: string;
  readonly status: string | null;
  readonly orders: number;
  readonly amounted: number;
  readonly sampled: readonly string[] | null;
  readonly blank: number;
  readonly coded: number;
  readonly unowned: number;
  readonly newest: Date | null;
};

/**
 * SQL that is true if no code of an order is in the list of codes. Postgres reads that list once and hashes
 * it.
 */
export const isUnowned = sql<boolean>`not (select bool_or(c.code in (select code_folded from intake.codes)) from unnest(codes_folded) as c(code))`;

/** Computes statistics of the new and changed orders of a file, in one pass over its staged rows. */
export async function measureOrders(trx: Transaction<DB>, file: MeasuredOrders): Promise<OrderStatistics> {
  const { sourceFileId, revenue } = file;
  const judged = file.ordersNew + file.ordersChanged;
  const isOfFile = sql`source_file_id = ${sourceFileId}::bigint`;
  if (judged === 0) return toOrderStatistics([], file);
  const groups = await rowsOf<Group>(trx)`
    ${groupsOf(isOfFile, { judged, revenue })} order by count(*) desc, currency, status
    limit ${MAX_GROUPS}::bigint ${keepsPlanFor(judged)}`;
  return toOrderStatistics(groups, file);
}

/**
 * Computes the same of several small files that have only new orders, with one statement.
 *
 * @returns their statistics in the order of the files.
 */
export async function measureNewOrders(
  trx: Transaction<DB>,
  files: readonly Pick<MeasuredOrders, 'sourceFileId' | 'ordersNew'>[],
  revenue: MeasuredOrders['revenue'],
): Promise<readonly OrderStatistics[]> {
  const judged = files.reduce((sum, { ordersNew }) => sum + ordersNew, 0);
  const isOfFiles = sql`source_file_id = any(${files.map(({ sourceFileId }) => sourceFileId)}::bigint[])`;
  const rows = await rowsOf<Group>(trx)`
    ${groupsOf(isOfFiles, { judged, revenue })} order by count(*) desc, currency, status ${keepsPlan}`;
  const byFile = Map.groupBy(rows, ({ sourceFileId }) => sourceFileId);
  return files.map((file) =>
    toOrderStatistics(byFile.get(file.sourceFileId) ?? [], {
      ...file,
      ordersChanged: 0,
      ordersUnchanged: 0,
      ordersOlder: 0,
    }),
  );
}

/**
 * SQL for the currencies and statuses of files.
 *
 * @param options.judged number of their orders.
 */
function groupsOf(
  isOfFiles: RawBuilder<unknown>,
  { judged, revenue }: { judged: number; revenue: MeasuredOrders['revenue'] },
): RawBuilder<Group> {
  const amount = sql.ref(revenue);
  const isSampled = sql`order_version_id % ${Math.max(1, Math.floor(judged / SAMPLED_ORDERS))}::bigint = 0`;
  return sql<Group>`
    select source_file_id as "sourceFileId", currency, status, count(*)::float8 as orders,
      (count(*) filter (where ${amount} > 0))::float8 as amounted,
      array_agg(${amount}::text) filter (where ${amount} > 0 and ${isSampled}) as sampled,
      (sum(count(*) filter (where codes = '{}' and links = '{}' and influencer_handle is null
            and deal_id is null
        and collab_id is null)) over file)::float8 as blank,
      (sum(count(*) filter (where ${isSampled} and codes <> '{}')) over file)::float8 as coded,
      (sum(count(*) filter (where ${isSampled} and codes <> '{}'
            and ${isUnowned})) over file)::float8 as unowned,
      max(max(placed_at) filter (where is_current)) over file as newest
    from intake.orders where ${isOfFiles}
    group by source_file_id, currency, status window file as (partition by source_file_id)`;
}

function toOrderStatistics(
  rows: readonly Group[],
  {
    ordersNew,
    ordersChanged,
    ordersUnchanged,
    ordersOlder,
  }: Omit<MeasuredOrders, 'sourceFileId' | 'revenue'>,
): OrderStatistics {
  const judged = ordersNew + ordersChanged;
  return {
    new: ordersNew,
    known: ordersChanged + ordersUnchanged + ordersOlder,
    judged,
    blankCodes: rows[0]?.blank ?? 0,
    coded: rows[0]?.coded ?? 0,
    unowned: rows[0]?.unowned ?? 0,
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
    counts[word] = (counts[word] ?? 0) + group.orders;
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
    const orders = ofCurrency.reduce((sum, { amounted }) => sum + amounted, 0);
    if (median !== undefined) medians[currency] = { orders, median };
  }
  return medians;
}

import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { OrderIdColumn } from '../../core/order.ts';
import { keepsPlan, keepsPlanFor } from '../../db/keeps-plan.ts';
import { rowOf, rowsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { otherIdColumn, sourceOf } from './judge-order-ids.ts';

/** What `countsOf` counts. */
export type StagedOrders = {
  readonly new: number;
  readonly changed: number;
  readonly conflicting: number;
  readonly cancelled: number;
  /** Number of rows of staged orders, including contradicting ones. */
  readonly stagedRows: number;
  /** Number of new and changed orders that no rule of the layout excludes. */
  readonly open: number;
  /** Number of open orders with a status that is not listed. */
  readonly unlistedStatus: number;
  /** Number of open orders in another currency than the source's. */
  readonly otherCurrency: number;
  /**
   * Number of open orders with a status that is credited. `zeroRevenue` counts those of them without revenue.
   */
  readonly credited: number;
  readonly zeroRevenue: number;
};

export type StagedFile = StagedOrders & {
  /** Distinct orders that are already known with the same content. */
  readonly unchanged: number;
  /** Number of rows of orders that are already known with the same content. */
  readonly unchangedRows: number;
  /** Another column by which an earlier file of the source identified its orders. Null if there is none. */
  readonly otherIdColumn: string | null;
  /** True if rows still wait for their order (`settleContinuations`). */
  readonly hasContinuations: boolean;
  /** True if orders may lack rows (`settleMissing`). */
  readonly hasMissing: boolean;
  readonly rejectedRows: number;
};

/** Condition: no rule of the layout excludes the order. Jobs credit renewals of subscriptions, unless set otherwise. */
const IS_OPEN = sql`coalesce(exclusion, 'renewal') = 'renewal'`;

/** Expectations for the orders of a file, from the settings of the job, the layout and the source. */
export type ExpectedOrders = {
  /** The amount from which the job computes revenue. */
  readonly revenue: 'total' | 'subtotal';
  /** Statuses that are credited. Null: every status. */
  readonly credited: readonly string[] | null;
  /** True if orders of a file without a column of the status are credited. */
  readonly mayLackStatus: boolean;
  /** All statuses that the layout or the job names. Null: the format has no list of statuses. */
  readonly listed: readonly string[] | null;
  /** Currency of the source. Null if the source does not specify one. */
  readonly currency: string | null;
};

/** SQL that counts staged orders, whatever they are grouped by, in the columns of `StagedOrders`. */
function countsOf({
  revenue,
  credited,
  mayLackStatus,
  listed,
  currency,
}: ExpectedOrders): RawBuilder<unknown> {
  const isCredited =
    credited === null
      ? sql`true`
      : sql`(status = any(${credited}::text[]) or (status is null and ${mayLackStatus}::boolean))`;
  const count = (condition: RawBuilder<unknown>) => sql`(count(*) filter (where ${condition}))::float8`;
  const countOpen = (condition: RawBuilder<unknown>) => count(sql`${IS_OPEN} and ${condition}`);
  return sql`
    ${count(sql`is_current`)} as new, ${count(sql`not is_current`)} as changed,
    ${count(sql`conflicting_line_no is not null`)} as conflicting,
    ${count(sql`cancelled_at is not null or exclusion = 'cancelled'`)} as cancelled,
    coalesce(sum(row_count), 0)::float8 as "stagedRows", ${countOpen(sql`true`)} as open,
    ${countOpen(isUnlisted(listed))} as "unlistedStatus",
    ${countOpen(sql`currency <> ${currency}::text`)} as "otherCurrency", ${countOpen(isCredited)} as credited,
    ${countOpen(sql`${isCredited} and coalesce(${sql.ref(revenue)}, 0) = 0`)} as "zeroRevenue"`;
}

/**
 * Counts the orders of a file that is being read, and finds what else decides about it, from the rows in the database
 * and not from what was meant to be stored.
 */
export async function countStaged(
  trx: Transaction<DB>,
  {
    sourceFileId,
    rowsRead,
    expected,
    orderIdColumn,
  }: { sourceFileId: string; rowsRead: number; orderIdColumn: OrderIdColumn; expected: ExpectedOrders },
): Promise<StagedFile> {
  const staged = await rowOf<StagedFile>(trx)`
    with staged as (
      select ${countsOf(expected)}
      from intake.orders where source_file_id = ${sourceFileId}::bigint
    ),
    seen as (
      select count(distinct v.id)::float8 as orders, coalesce(sum(v.row_count), 0)::float8 as rows
      from intake.unchanged_orders s
        cross join lateral unnest(s.order_version_ids, s.row_counts) as v(id, row_count)
      where s.source_file_id = ${sourceFileId}::bigint
    ),
    unchanged_orders as (
      select coalesce(sum(cancelled), 0)::float8 as cancelled
      from intake.unchanged_orders
      where source_file_id = ${sourceFileId}::bigint
    )
    select staged.new, staged.changed, staged.conflicting, staged."stagedRows",
      staged.cancelled + unchanged_orders.cancelled as cancelled, seen.orders as unchanged,
      seen.rows as "unchangedRows", (select coalesce(sum(row_count), 0)::float8 from intake.rejected_rows
        where source_file_id = ${sourceFileId}::bigint) as "rejectedRows",
      exists (select from intake.order_continuations
        where source_file_id = ${sourceFileId}::bigint) as "hasContinuations",
      exists (select from intake.missing_rows where source_file_id = ${sourceFileId}::bigint) as "hasMissing",
      ${otherIdColumn(sourceOf(sourceFileId), orderIdColumn)} as "otherIdColumn",
      staged.open, staged."unlistedStatus", staged."otherCurrency", staged.credited, staged."zeroRevenue"
    from staged, seen, unchanged_orders ${keepsPlanFor(rowsRead)}`;
  if (staged === undefined) throw new Error('a statement that counts returned no row');
  return staged;
}

/**
 * Counts the orders of several small files that have staged nothing else, with one statement.
 *
 * @returns the counts in the order of the files; undefined for a file without a staged order.
 */
export async function countNewOrders(
  trx: Transaction<DB>,
  sourceFileIds: readonly string[],
  expected: ExpectedOrders,
): Promise<readonly (StagedOrders | undefined)[]> {
  const rows = await rowsOf<StagedOrders & { readonly sourceFileId: string }>(trx)`
    select source_file_id as "sourceFileId", ${countsOf(expected)}
    from intake.orders
    where source_file_id = any(${[...sourceFileIds]}::bigint[])
    group by source_file_id ${keepsPlan}`;
  const byFile = new Map(rows.map((row) => [row.sourceFileId, row]));
  return sourceFileIds.map((id) => byFile.get(id));
}

/** SQL that is true if the status of an order is not listed. */
export function isUnlisted(listed: ExpectedOrders['listed']): RawBuilder<boolean> {
  return listed === null
    ? sql<boolean>`false`
    : sql<boolean>`((status = any(${listed}::text[])) is not true)`;
}

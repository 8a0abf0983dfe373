import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from '../../db/tables.ts';

export type StagedFile = {
  readonly new: number;
  readonly changed: number;
  readonly conflicting: number;
  /** Distinct orders that are known with the same content. */
  readonly unchanged: number;
  readonly cancelled: number;
  /** Rows of staged orders, contradicting ones included. */
  readonly stagedRows: number;
  /** Rows of orders that are known with the same content. */
  readonly unchangedRows: number;
  /** Of the new and changed orders: those that no rule of the layout excludes. */
  readonly open: number;
  /** Of these: in a status that nothing lists. */
  readonly unlistedStatus: number;
  /** Of these: in another currency than the source's. */
  readonly otherCurrency: number;
  /** Of these: in a status that is credited; and those of them without any revenue. */
  readonly credited: number;
  readonly zeroRevenue: number;
};

/** What the orders of a file are held against: the settings of the job, the layout and the source. */
export type ExpectedOrders = {
  /** The amount that the job's revenue begins with. */
  readonly revenue: 'total' | 'subtotal';
  /** Status words that are credited; null: every status. */
  readonly credited: readonly string[] | null;
  /** Every status word that the layout or the job names; null: the format has no list to go by. */
  readonly listed: readonly string[] | null;
  /** What the source says; null: nothing. */
  readonly currency: string | null;
};

/** What is stored of a file that is being read: counted from the rows themselves, not from what was meant to be stored. */
export async function countStaged(
  trx: Transaction<DB>,
  { sourceFileId, expected }: { readonly sourceFileId: string; readonly expected: ExpectedOrders },
): Promise<StagedFile> {
  const { revenue, credited, listed, currency } = expected;
  const isCredited =
    credited === null ? sql`true` : sql`(status is null or status = any(${credited}::text[]))`;
  const { rows } = await sql<Record<keyof StagedFile, string>>`
    with staged as (
      select count(*) filter (where is_current) as new, count(*) filter (where not is_current) as changed,
        count(*) filter (where conflicting_line_no is not null) as conflicting,
        count(*) filter (where cancelled_at is not null or exclusion = 'cancelled') as cancelled,
        coalesce(sum(row_count), 0) as rows,
        count(*) filter (where exclusion is null) as open,
        count(*) filter (where exclusion is null and ${isUnlisted(listed)}) as unlisted,
        count(*) filter (where exclusion is null and currency <> ${currency}::text) as "otherCurrency",
        count(*) filter (where exclusion is null and ${isCredited}) as credited,
        count(*) filter (where exclusion is null and ${isCredited} and coalesce(${sql.ref(revenue)}, 0) = 0) as zero
      from intake.orders where source_file_id = ${sourceFileId}::bigint
    ),
    seen as (
      select count(distinct v.id) as orders, coalesce(sum(v.row_count), 0) as rows
      from intake.unchanged_orders s cross join lateral unnest(s.order_version_ids, s.row_counts) as v(id, row_count)
      where s.source_file_id = ${sourceFileId}::bigint
    ),
    unchanged_orders as (
      select coalesce(sum(cancelled), 0) as cancelled from intake.unchanged_orders where source_file_id = ${sourceFileId}::bigint
    )
    select staged.new, staged.changed, staged.conflicting, staged.rows as "stagedRows",
      staged.cancelled + unchanged_orders.cancelled as cancelled, seen.orders as unchanged, seen.rows as "unchangedRows",
      staged.open, staged.unlisted as "unlistedStatus", staged."otherCurrency", staged.credited, staged.zero as "zeroRevenue"
    from staged, seen, unchanged_orders`.execute(trx);
  const [row] = rows;
  const number = (key: keyof StagedFile): number => Number(row?.[key] ?? 0);
  return {
    new: number('new'),
    changed: number('changed'),
    conflicting: number('conflicting'),
    unchanged: number('unchanged'),
    cancelled: number('cancelled'),
    stagedRows: number('stagedRows'),
    unchangedRows: number('unchangedRows'),
    open: number('open'),
    unlistedStatus: number('unlistedStatus'),
    otherCurrency: number('otherCurrency'),
    credited: number('credited'),
    zeroRevenue: number('zeroRevenue'),
  };
}

/** Of an order: its status is one that nothing names. */
export function isUnlisted(listed: ExpectedOrders['listed']): RawBuilder<boolean> {
  return listed === null ? sql<boolean>`false` : sql<boolean>`(status <> all(${listed}::text[]))`;
}

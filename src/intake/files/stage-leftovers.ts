import { type RawBuilder, sql } from 'kysely';
import type { MissingRow, OrderContinuation } from '../../core/order.ts';
import type { RejectedRow } from '../../core/record.ts';
import { countOf, type Database, toJsonParameter } from '../../db/statement.ts';
import { type FileRead, fenceOf } from './fence.ts';

/**
 * Stores rows of a reading.
 *
 * @param options.given the members of a row, each with its type in Postgres.
 * @param options.insert SQL that inserts the rows `g` for the file `f`.
 * @returns false if another reader has taken over the file. Nothing is stored then.
 */
export async function stageFenced(
  db: Database,
  read: FileRead,
  {
    rows,
    given,
    insert,
  }: { rows: readonly unknown[]; given: RawBuilder<unknown>; insert: RawBuilder<unknown> },
): Promise<boolean> {
  if (rows.length === 0) return true;
  const fenced = await countOf(db)`
    with fence as materialized (${fenceOf(read)}),
    inserted as (
      ${insert} from fence f cross join jsonb_to_recordset(${toJsonParameter(rows)}::jsonb) as g(${given})
    )
    select count(*) as fenced from fence`;
  return fenced === 1;
}

/** Stores rows whose order is elsewhere in the file. */
export function stageContinuations(
  db: Database,
  read: FileRead,
  rows: readonly OrderContinuation[],
): Promise<boolean> {
  return stageFenced(db, read, {
    rows,
    given: sql`"groupKey" text, line bigint, record bigint, "rowCount" integer`,
    insert: sql`
      insert into intake.order_continuations (source_file_id, group_key, line_no, record_no, row_count)
      select f.source_file_id, g."groupKey", g.line, g.record, g."rowCount"`,
  });
}

/** Stores which orders lack a row. */
export function stageMissing(db: Database, read: FileRead, rows: readonly MissingRow[]): Promise<boolean> {
  return stageFenced(db, read, {
    rows,
    given: sql`"groupKey" text, "isCertain" boolean`,
    insert: sql`
      insert into intake.missing_rows (source_file_id, group_key, is_certain)
      select f.source_file_id, g."groupKey", g."isCertain"`,
  });
}

/** Stores rows that could not be used. */
export function stageRejected(
  db: Database,
  read: FileRead & { readonly runId: string },
  rows: readonly RejectedRow[],
): Promise<boolean> {
  return stageFenced(db, read, {
    rows,
    given: sql`
      line bigint, record bigint, code text, "column" text, value text, reason text, help text,
      "rowCount" integer,
      "orderId" text, "orderName" text, "changedAt" timestamptz`,
    insert: sql`
      insert into intake.rejected_rows
        (source_file_id, line_no, record_no, code, column_name, value, reason, help, row_count, run_id,
          order_id, order_name, changed_at)
      select f.source_file_id, g.line, g.record, g.code, g."column", g.value, g.reason, g.help, g."rowCount",
        ${read.runId}::bigint,
        g."orderId", g."orderName", g."changedAt"`,
  });
}

import { sql } from 'kysely';
import type { MissingRow, OrderContinuation } from '../../core/order.ts';
import type { RejectedRow } from '../../core/record.ts';
import type { Database } from '../../db/connect.ts';
import { toJsonParameter } from '../../db/to-json-parameter.ts';
import { type FileRead, fenceOf } from './fence.ts';

/**
 * Stores rows whose order is elsewhere in the file. @returns false if another reader has taken over the file.
 */
export async function stageContinuations(
  db: Database,
  read: FileRead,
  continuations: readonly OrderContinuation[],
): Promise<boolean> {
  const { rows } = await sql<{ fenced: string }>`
    with fence as materialized (${fenceOf(read)}),
    inserted as (
      insert into intake.order_continuations (source_file_id, group_key, line_no, record_no, row_count)
      select f.source_file_id, g."groupKey", g.line, g.record, g."rowCount"
      from fence f cross join jsonb_to_recordset(${toJsonParameter(continuations)}::jsonb) as g(
        "groupKey" text, line bigint, record bigint, "rowCount" integer)
    )
    select count(*) as fenced from fence`.execute(db);
  return rows[0]?.fenced === '1';
}

/** Stores which orders lack a row. @returns false if another reader has taken over the file. */
export async function stageMissing(
  db: Database,
  read: FileRead,
  missing: readonly MissingRow[],
): Promise<boolean> {
  const { rows } = await sql<{ fenced: string }>`
    with fence as materialized (${fenceOf(read)}),
    inserted as (
      insert into intake.missing_rows (source_file_id, group_key, is_certain)
      select f.source_file_id, g."groupKey", g."isCertain"
      from fence f cross join jsonb_to_recordset(${toJsonParameter(missing)}::jsonb) as g("groupKey" text, "isCertain" boolean)
    )
    select count(*) as fenced from fence`.execute(db);
  return rows[0]?.fenced === '1';
}

/** Stores rows that could not be used. @returns false if another reader has taken over the file. */
export async function stageRejected(
  db: Database,
  read: FileRead & { readonly runId: string },
  rejected: readonly RejectedRow[],
): Promise<boolean> {
  const { rows } = await sql<{ fenced: string }>`
    with fence as materialized (${fenceOf(read)}),
    inserted as (
      insert into intake.rejected_rows
        (source_file_id, line_no, record_no, code, column_name, value, reason, help, row_count, run_id, order_id, order_name)
      select f.source_file_id, g.line, g.record, g.code, g."column", g.value, g.reason, g.help, g."rowCount", ${read.runId}::bigint,
        g."orderId", g."orderName"
      from fence f cross join jsonb_to_recordset(${toJsonParameter(rejected)}::jsonb) as g(
        line bigint, record bigint, code text, "column" text, value text, reason text, help text, "rowCount" integer,
        "orderId" text, "orderName" text)
    )
    select count(*) as fenced from fence`.execute(db);
  return rows[0]?.fenced === '1';
}

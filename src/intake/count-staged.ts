import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';

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
};

/** What is stored of a file that is being read: counted from the rows themselves, not from what was meant to be stored. */
export async function countStaged(trx: Transaction<DB>, sourceFileId: string): Promise<StagedFile> {
  const { rows } = await sql<Record<keyof StagedFile, string>>`
    with staged as (
      select count(*) filter (where is_current) as new, count(*) filter (where not is_current) as changed,
        count(*) filter (where conflicting_line_no is not null) as conflicting,
        count(*) filter (where cancelled_at is not null or exclusion = 'cancelled') as cancelled,
        coalesce(sum(row_count), 0) as rows
      from intake.orders where source_file_id = ${sourceFileId}::bigint
    ),
    seen as (
      select count(distinct v.id) as orders, coalesce(sum(v.row_count), 0) as rows
      from intake.order_sightings s cross join lateral unnest(s.order_version_ids, s.row_counts) as v(id, row_count)
      where s.source_file_id = ${sourceFileId}::bigint
    ),
    sightings as (
      select coalesce(sum(cancelled), 0) as cancelled from intake.order_sightings where source_file_id = ${sourceFileId}::bigint
    )
    select staged.new, staged.changed, staged.conflicting, staged.rows as "stagedRows",
      staged.cancelled + sightings.cancelled as cancelled, seen.orders as unchanged, seen.rows as "unchangedRows"
    from staged, seen, sightings`.execute(trx);
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
  };
}

import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { HoldReason } from '../../src/core/source.ts';
import { rowOf } from '../../src/db/statement.ts';
import type { DB } from '../../src/db/tables.ts';
import { holdConflicting, type RowTable, type StagedFile } from '../../src/intake/files/replace-rows.ts';

/** What lists state about a creator on a platform. Within one file, all rows about a creator state the same. */
export const CREATORS: RowTable = {
  table: 'intake.creators',
  key: ['handle_folded', 'platform', 'brand_id', 'dealflow_id'],
  states: [
    ...['stated_deal_id', 'stage', 'is_active', 'note', 'code', 'code_percent', 'commission_percent'],
    ...['custom_link', 'custom_link_target'],
  ],
  describes: ['influencer_handle'],
  statedAt: sql`now()`,
  stated: (sourceFileId) => sql`
    select distinct on (c.handle_folded, c.platform, c.brand_id, c.dealflow_id) c.*
    from (${statedIn(sourceFileId)}) c
    order by c.handle_folded, c.platform, c.brand_id, c.dealflow_id, c.line_no desc`,
};

/** SQL for the rows of a staged file, with the columns of `intake.creators`. */
function statedIn(sourceFileId: string): RawBuilder<unknown> {
  return sql`
    select s."handleFolded" as handle_folded, s.platform, coalesce(s."brandId", '') as brand_id,
      coalesce(s."dealflowId", '') as dealflow_id,
      s.handle as influencer_handle, s."dealId" as stated_deal_id, s.stage, s."isActive" as is_active, s.note,
      s.code, s."codePercent" as code_percent, s."commissionPercent" as commission_percent,
      s."customLink" as custom_link, s."customLinkTarget" as custom_link_target, r.line_no
    from intake.staged_rows r
    cross join lateral jsonb_to_record(r.content) as s("handleFolded" text, platform text, "brandId" text,
      "dealflowId" text, handle text,
      "dealId" text, stage integer, "isActive" boolean, note text, code text, "codePercent" numeric,
      "commissionPercent" numeric, "customLink" text, "customLinkTarget" text)
    where r.source_file_id = ${sourceFileId}::bigint`;
}

/** Returns the reason to hold a list of creators: its rows contradict each other, or a list that may be newer. */
export async function holdContradictory(trx: Transaction<DB>, file: StagedFile): Promise<HoldReason | null> {
  return (await holdConflictingRows(trx, file)) ?? (await holdConflicting(trx, CREATORS, file));
}

async function holdConflictingRows(
  trx: Transaction<DB>,
  { sourceFileId }: StagedFile,
): Promise<HoldReason | null> {
  const stated = sql.join(CREATORS.states.map((column) => sql.ref(`c.${column}`)));
  const first = await rowOf<{ line: string; other: string; all: number }>(trx)`
    select c.first as line, min(c.line_no) filter (where not c.is_same) as other,
      (count(*) over ())::float8 as all
    from (
      select c.*, min(c.line_no) over creator as first,
        row(${stated}) is not distinct from first_value(row(${stated})) over (creator
          order by c.line_no) as is_same
      from (${statedIn(sourceFileId)}) c
      window creator as (partition by c.handle_folded, c.platform, c.brand_id, c.dealflow_id)
    ) c
    group by c.handle_folded, c.platform, c.brand_id, c.dealflow_id, c.first having not bool_and(c.is_same)
    order by 1 limit 1`;

  if (first === undefined) return null;
  const more = first.all - 1;
  return {
    code: 'conflicting_rows',
    message: `Lines ${first.line} and ${first.other} are about the same creator and platform, and state different things${more === 0 ? '' : `; so do the rows of ${more} more`}.`,
    help: 'Keep one row for each creator, platform, brand and dealflow. If two lists were joined, put the newer one into a file of its own.',
  };
}

import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { foldHandle } from '../model/text/fold.ts';

/** A deal of an influencer, as the mirror last read it. */
export type DealOfHandle = {
  readonly dealId: string;
  readonly brandId: string | null;
  readonly isActive: boolean | null;
};

/** The deals that the mirror knows for a handle, active ones first; there may be others. */
export async function dealsOfHandle(db: Database, handle: string): Promise<readonly DealOfHandle[]> {
  const { rows } = await sql<DealOfHandle>`
    select deal_id as "dealId", brand_id as "brandId", is_active as "isActive" from mirror.deal_versions
    where is_latest and is_current and lower(ltrim(trim(influencer_handle), '@')) = ${foldHandle(handle)}
    order by is_active desc nulls last, deal_id`.execute(db);
  return rows;
}

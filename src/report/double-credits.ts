import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { DoubleCredit } from '../model/doubt.ts';

/** Orders for which the service has accepted more than one request, and that nobody has acknowledged yet. They are rare: the index finds them. */
export async function listDoubleCredits(
  db: Database,
  { job = null }: { readonly job?: string | null } = {},
): Promise<readonly DoubleCredit[]> {
  const { rows } = await sql<Omit<DoubleCredit, 'credits'> & { credits: string }>`
    select entry_id as "entryId", job, order_platform as "orderPlatform", order_id as "orderId", amount, currency,
      deal_id as "dealId", collab_id as "collabId", credits
    from ledger.double_credits where ${job}::text is null or job = ${job} order by entry_id`.execute(db);
  return rows.map((row) => ({ ...row, credits: Number(row.credits) }));
}

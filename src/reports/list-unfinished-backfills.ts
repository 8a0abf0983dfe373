import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/** A backfill that was approved and is neither finished nor cancelled. */
export type UnfinishedBackfill = {
  readonly backfillId: string;
  readonly job: string;
  /** Why it stopped; null if it runs, its process died, or a person paused it. */
  readonly problem: string | null;
  readonly isPaused: boolean;
  /** Orders that it still has to post, by currency, with their revenue. */
  readonly left: readonly { readonly currency: string; readonly orders: number; readonly amount: string }[];
};

/** Lists the backfills that are running or paused, at most one for each job. */
export async function listUnfinishedBackfills(db: Database): Promise<readonly UnfinishedBackfill[]> {
  const { rows } = await sql<UnfinishedBackfill>`
    select b.backfill_id as "backfillId", b.job, b.problem, b.state = 'paused' as "isPaused", coalesce((
      select json_agg(json_build_object('currency', currency, 'orders', orders, 'amount', amount::text) order by currency)
      from (
        select e.currency, count(*) as orders, sum(e.amount) as amount from ledger.entries e
        where e.backfill_id = b.backfill_id and not e.is_settled and e.state in ('ready', 'sending') group by 1) s
    ), '[]') as left
    from ops.backfills b where b.state in ('running', 'paused') order by b.job`.execute(db);
  return rows;
}

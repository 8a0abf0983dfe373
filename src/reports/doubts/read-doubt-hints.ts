import type { Doubt } from '../../core/ledger.ts';
import { type DoubtHint, type HintedDeal, hintAtDoubts } from '../../core/money/reconciliation.ts';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';

/**
 * Reads what the totals of their deals suggest about doubts, from the comparison that was stored when the mirror last
 * published. If one of the doubts of a deal has been settled since, the comparison says nothing about the others.
 *
 * @returns hints by entry. Most doubts have none.
 */
export async function readDoubtHints(
  db: Database,
  doubts: readonly Pick<Doubt, 'dealId'>[],
): Promise<ReadonlyMap<string, DoubtHint>> {
  const deals = [...new Set(doubts.flatMap(({ dealId }) => (dealId === null ? [] : [dealId])))];
  if (deals.length === 0) return new Map();
  const rows = await rowsOf<HintedDeal>(db)`
    select r.deal_id as "dealId", r.read_at as "readAt", r.others::float8 as others, r.doubts::float8 as doubts, r.written_off::float8 as "writtenOff",
      r.late::float8 as late, r.credited_twice::float8 as "creditedTwice", r.unexplained::float8 as unexplained,
      r.account_currency as "accountCurrency", r.unproven::float8 as unproven, r.unproven_amount::text as "unprovenAmount",
      r.doubts_amount::text as "doubtsAmount", r.doubt_ids::text[] as "doubtIds"
    from reporting.reconciliation r
    where r.deal_id in (select reporting.deal_id_of(named) from unnest(${deals}::text[]) named) and r.doubt_ids is not null
      and not exists (
        select from unnest(r.doubt_ids) d(entry_id) left join ledger.entries e using (entry_id) where e.state is distinct from 'in_doubt')`;
  return new Map(
    rows
      .map(hintAtDoubts)
      .filter((hint) => hint !== null)
      .flatMap((hint) => hint.doubtIds.map((entryId) => [entryId, hint] as const)),
  );
}

import type { ClaimSum } from '../../core/ledger.ts';
import { formatAmounts } from '../../core/money.ts';
import { formatCount, plural } from '../../core/text/plural.ts';
import { type Database, rowsOf } from '../../db/statement.ts';

export type WaitingClaims = {
  readonly claims: number;
  readonly accepted: number;
  readonly amounts: readonly ClaimSum[];
};

/**
 * Sums lost claims whose order no file has contained since. None of them is posted, but no report shows their
 * orders either.
 */
export async function readWaitingClaims(db: Database): Promise<WaitingClaims> {
  const rows = await rowsOf<ClaimSum & { claims: number; accepted: number }>(db)`
    select l.currency, coalesce(sum(l.amount), 0) as amount, count(*)::float8 as claims,
      count(*) filter (where l.disposition = 'accepted')::float8 as accepted
    from (
      select distinct on (l.account_id, l.effect, l.key_hash) l.*
      from ledger.lost_claims l
      where l.disposition in ('accepted', 'in_doubt')
        and not exists (select from ledger.recovered_claims r where r.lost_claim_id = l.lost_claim_id)
      order by l.account_id, l.effect, l.key_hash, (l.disposition = 'accepted') desc) l
    group by l.currency order by l.currency`;
  return {
    claims: rows.reduce((sum, { claims }) => sum + claims, 0),
    accepted: rows.reduce((sum, { accepted }) => sum + accepted, 0),
    amounts: rows.map(({ currency, amount }) => ({ currency, amount })),
  };
}

/** Describes them in sentences. Null if there are none. */
export function describeWaitingClaims({ claims, accepted, amounts }: WaitingClaims): string | null {
  if (claims === 0) return null;
  const were = `${plural(claims, 'order')} (${formatAmounts(amounts)}) ${claims === 1 ? 'was' : 'were'}`;
  const [whose, it, they] =
    claims === 1 ? ['its claim was', 'it', 'It is'] : ['their claims were', 'them', 'They are'];
  return `${were} sent, but ${whose} lost with an earlier state of the database, and no file has stated ${it} since. The service accepted ${formatCount(accepted)} of ${formatCount(claims)}. ${they} not posted again.`;
}

import { countOf, type Database, rowOf, rowsOf, toJsonParameter } from '../../db/statement.ts';
import type { ClaimedAttempt } from './journal-lines.ts';

/** Whether a claim is in this database. */
export type KnownClaim = {
  /** The claim was made here or recovered. */
  readonly isKnown: boolean;
  /** Its entry still waits for the claim's answer, also if a person has approved to send it again meanwhile. */
  readonly isUnsettled: boolean;
};

/**
 * Looks up claims and returns the results in the same order. A claim is identified by its entry, attempt and
 * id: a restored database may have another claim with the same entry, attempt and number.
 *
 * @param db null if there is no database: it knows none.
 */
export async function lookUpClaims(
  db: Database | null,
  claims: readonly ClaimedAttempt[],
): Promise<readonly KnownClaim[]> {
  if (db === null || claims.length === 0) return [];
  const given = claims.map(({ claim, entryId, attempt }, place) => ({
    place,
    entry_id: entryId,
    attempt,
    claim_id: claim.claimId,
    claim_no: claim.claimNo,
  }));
  return rowsOf<KnownClaim>(db)`
    select a.entry_id is not null or exists (
        select from ledger.lost_claims l
        where l.claim_id = g.claim_id and l.claim_no = g.claim_no) as "isKnown",
      coalesce(a.entry_id is not null and e.attempt = g.attempt
        and (e.state in ('sending', 'in_doubt') or (e.state = 'ready' and e.doubtful_attempt is not null)),
        false) as "isUnsettled"
    from jsonb_to_recordset(${toJsonParameter(given)}::jsonb) as g(place integer, entry_id bigint,
      attempt integer, claim_id uuid, claim_no bigint)
    left join ledger.attempts a on a.entry_id = g.entry_id and a.attempt = g.attempt
      and a.claim_id = g.claim_id
    left join ledger.entries e on e.entry_id = a.entry_id
    order by g.place`;
}

/** Returns true if this database has any claim. */
export async function hasClaims(db: Database): Promise<boolean> {
  return (await db.selectFrom('ledger.attempts').limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Returns the newest claim in this database, or null before the first one. It reads all claims, so use it for
 * messages only.
 */
export async function readNewestClaim(
  db: Database,
): Promise<{ readonly claimNo: string; readonly claimedAt: Date; readonly claims: number } | null> {
  const row = await rowOf<
    { claims: number } & ({ claimNo: string; claimedAt: Date } | { claimNo: null; claimedAt: null })
  >(db)`
    select max(claim_no) as "claimNo", max(claimed_at) as "claimedAt", count(*)::float8 as claims
    from ledger.attempts`;
  return row === undefined || row.claimNo === null ? null : row;
}

/**
 * Counts the claims that recoveries know only by their numbers: another machine may have made them, and its
 * journal is not here. Claims that were rolled back leave gaps in the numbers, so the result may be too high
 * but never too low.
 */
export async function countUndescribed(db: Database): Promise<number> {
  return countOf(db)`
    select coalesce(sum(r.up_to - r.above - (
        select count(distinct l.claim_no) from ledger.lost_claims l
        where l.ledger_id = r.ledger_id and l.claim_no > r.above and l.claim_no <= r.up_to)),
          0) as undescribed
    from (
      select r.ledger_id, r.above, r.up_to from ledger.recoveries v,
        jsonb_to_recordset(v.ranges) as r(ledger_id uuid, above bigint, up_to bigint)
      where not exists (select from ledger.recoveries a
        where a.accepts_undescribed and a.recovery_id >= v.recovery_id)
    ) r`;
}

import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { applyLostClaims } from './continuity/lost-claims.ts';
import { awaitWriters } from './evidence-writers.ts';

export type HoldCreditedElsewhereOptions = {
  readonly job: string;
  /** Account of the service that the database is bound to. */
  readonly accountId: string;
  /** How long evidence that is being written is waited for. */
  readonly waitMs?: number;
};

/** Events are stored in milliseconds, a seed of a million orders in seconds; a writer that takes longer hangs. */
const WAIT_MS = 30_000;

/**
 * T9 for evidence that came before the entry: what others have credited must not be sent from here as well; a person decides. To be called
 * before entries are posted and after they were committed, in a transaction of its own: evidence that comes later finds the entry and holds it
 * (`applyEvidences`), and evidence that is being written, which may have looked for the entry too early, is waited for. No snapshot of the
 * transaction that makes the entries could know it.
 *
 * A plan is one transaction and sends nothing: there it waits for no other.
 *
 * @returns how many entries it held.
 * @throws KnownError `evidence_busy` (exit 1).
 */
export async function holdCreditedElsewhere(
  db: Database,
  options: HoldCreditedElsewhereOptions,
): Promise<number> {
  const { job, accountId, waitMs } = options;
  if (!db.isTransaction) await awaitWriters(db, waitMs ?? WAIT_MS);
  return inTransaction(db, async (trx) => {
    await suitLargeStatements(trx);
    // What this ledger sent before it lost the claim comes first: such an order is a doubt, not credited by others.
    await applyLostClaims(trx);
    const { rows: any } = await sql`select from ledger.evidence limit 1`.execute(trx);
    if (any.length === 0) return 0;
    const { numAffectedRows } = await sql`
      with evident as materialized (
        select e.entry_id, v.kind
        from ledger.entries e
        cross join lateral (
          select v.kind from ledger.evidence v
          where v.order_id = e.order_id and lower(coalesce(v.order_platform, e.order_platform)) = lower(e.order_platform)
            and not exists (select from ledger.seed_undos u where u.seed_id = v.seed_id) limit 1) v
        where not e.is_settled and e.job = ${job} and e.account_id is not distinct from ${accountId}
          and e.effect is not distinct from 'referral' and ${isUnsent}
      )
      update ledger.entries e
      set state = 'held', state_changed_at = clock_timestamp(),
          state_reason = case v.kind when 'seeded' then 'credited_elsewhere' else 'evidence_of_another_poster' end
      from evident v
      where e.entry_id = v.entry_id and e.entry_id = any (array(select entry_id from evident)) and ${isUnsent}`.execute(
      trx,
    );
    return Number(numAffectedRows ?? 0);
  });
}

/** Entry `e` waits to be sent, and no request for it can have been processed. */
const isUnsent = sql`e.state = 'ready' and e.attempt = e.not_sent and e.doubtful_attempt is null`;

import { sql } from 'kysely';
import { inTransaction } from '../../db/in-transaction.ts';
import { suitLargeStatements } from '../../db/large-statements.ts';
import { type Database, execute } from '../../db/statement.ts';
import { applyLostClaims } from '../continuity/lost-claims.ts';
import { isAboutOrder } from './apply-evidence.ts';
import { awaitWriters } from './evidence-writers.ts';

export type HoldCreditedElsewhereOptions = {
  readonly job: string;
  /** The account that the database is bound to. */
  readonly accountId: string;
  /** How long to wait for transactions that are writing evidence, in milliseconds. */
  readonly waitMs?: number;
};

/**
 * Storing an event takes milliseconds and a seed of a million orders takes seconds. A writer that takes
 * longer hangs.
 */
const WAIT_MS = 30_000;

/**
 * Transition T9: holds entries that are ready but that another system has already credited. A person decides
 * what happens to them.
 *
 * Call it after the entries were committed and before they are posted, in a transaction of its own. No
 * snapshot of the transaction that creates the entries could see all evidence: evidence that is committed
 * later finds the entry and holds it (`applyEvidences`), and evidence that is being written now may have
 * looked for the entry too early, so this function waits for it.
 *
 * A plan runs in one transaction and sends nothing. In that case the function does not wait.
 *
 * @returns the number of entries held.
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
    // Apply claims that this ledger lost first: such an order is in doubt, not credited by another system.
    await applyLostClaims(trx);
    const any = await trx.selectFrom('ledger.evidence').limit(1).executeTakeFirst();
    if (any === undefined) return 0;
    return execute(trx)`
      with evident as materialized (
        select e.entry_id, v.kind
        from ledger.entries e
        cross join lateral (
          select v.kind from ledger.evidence v
          where ${isAboutOrder}
            and not exists (select from ledger.seed_undos u where u.seed_id = v.seed_id) limit 1) v
        where not e.is_settled and e.job = ${job} and e.account_id is not distinct from ${accountId}
          and e.effect is not distinct from 'referral' and ${isUnsent}
      )
      update ledger.entries e
      set state = 'held', state_changed_at = clock_timestamp(),
          state_reason = case v.kind when 'seeded' then 'credited_elsewhere'
            else 'evidence_of_another_poster' end
      from evident v
      where e.entry_id = v.entry_id and e.entry_id = any (array(select entry_id from evident)) and ${isUnsent}`;
  });
}

/** True if entry `e` is ready and no request for it can have been processed. */
const isUnsent = sql`e.state = 'ready' and e.doubtful_attempt is null`;

import { sql, type Transaction } from 'kysely';
import { KnownError } from '../../core/known-error.ts';
import { type Database, execute } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';

/** SQLSTATE `lock_not_available`. */
const LOCK_TIMED_OUT = '55P03';

/**
 * This table is always empty. It is locked instead of `ledger.evidence`, because the role of runs may only
 * insert there. The lock belongs to the transaction and not to the session, so it works behind a connection
 * pooler. Only a role that may write to schema `ledger` can take it.
 */
const LOCK = sql`ledger.evidence_lock`;

/**
 * Registers a transaction as a writer of evidence. Call it before the transaction looks up which orders its
 * evidence concerns. Writers do not block each other.
 */
export async function enterAsWriter(trx: Transaction<DB>): Promise<void> {
  await execute(trx)`lock table ${LOCK} in row exclusive mode`;
}

/**
 * Waits until every transaction that was writing evidence has ended. A writer that starts later sees
 * everything that was committed before it.
 *
 * @throws KnownError `evidence_busy` (exit 1) if this takes longer than `waitMs`.
 */
export async function awaitWriters(db: Database, waitMs: number): Promise<void> {
  try {
    await db.transaction().execute(async (trx) => {
      await execute(trx)`select set_config('lock_timeout', ${`${waitMs}ms`}, true)`;
      await execute(trx)`lock table ${LOCK} in share mode`;
    });
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== LOCK_TIMED_OUT) throw cause;
    throw new KnownError({
      code: 'evidence_busy',
      message: `For more than ${waitMs / 1_000} s another session has been recording orders that were credited elsewhere${holdersOf(cause)}.`,
      help: 'Wait until `ledger seed` ends, or restart the process that receives events if it hangs. Then run again.',
      safe: 'Nothing was posted, because one of these orders might have been posted a second time.',
      cause,
    });
  }
}

/** Describes the sessions that hold the lock, if the wait was long enough to find them. */
function holdersOf(cause: unknown): string {
  return cause instanceof Error && 'lockHolders' in cause ? ` (${String(cause.lockHolders)})` : '';
}

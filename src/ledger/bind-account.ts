import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';

/**
 * Binds this ledger to the account that the key belongs to, on first use; from then on refuses another account's key:
 * the same order posted to two accounts would be two orders.
 *
 * @throws KnownError `wrong_account` (exit 4).
 */
export async function bindAccount(db: Database, accountId: string): Promise<void> {
  await sql`insert into ops.account (account_id) values (${accountId}) on conflict do nothing`.execute(db);
  const bound = await boundAccount(db);
  if (bound === accountId) return;
  throw new KnownError({
    code: 'wrong_account',
    message: `This ledger belongs to account ${bound}, but the key belongs to account ${accountId}.`,
    help: `Use a key of account ${bound} (api.key), or another database (database.url) for account ${accountId}.`,
    safe: 'Nothing was sent.',
    exitCode: EXIT.authentication,
  });
}

/** The account that this ledger is bound to; null before the first run. */
export async function boundAccount(db: Database): Promise<string | null> {
  const row = await db.selectFrom('ops.account').select('account_id').executeTakeFirst();
  return row?.account_id ?? null;
}

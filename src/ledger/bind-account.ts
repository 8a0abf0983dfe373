import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { Database } from '../db/connect.ts';
import { execute } from '../db/statement.ts';

/**
 * Binds this ledger to the account of the key on first use. Later calls refuse the key of any other account,
 * because the same order posted to two accounts would be credited twice.
 *
 * @throws KnownError `wrong_account` (exit 4) if the ledger belongs to another account.
 */
export async function bindAccount(db: Database, accountId: string): Promise<void> {
  await execute(db)`insert into ops.account (account_id) values (${accountId}) on conflict do nothing`;
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

/** Returns the account that this ledger is bound to, or null before the first run. */
export async function boundAccount(db: Database): Promise<string | null> {
  const row = await db.selectFrom('ops.account').select('account_id').executeTakeFirst();
  return row?.account_id ?? null;
}

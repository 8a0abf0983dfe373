import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { Database } from '../db/connect.ts';
import { hello } from '../service/account.ts';
import { ApiError } from '../service/api-error.ts';
import type { Client } from '../service/client.ts';

/**
 * Asks the service which account the key belongs to.
 *
 * @param url Address of the service, for the error.
 * @returns the id of the account.
 * @throws KnownError `key_refused` (exit 4), `service_unavailable` (exit 1). No order was sent.
 */
export async function identifyAccount(client: Client, url: string): Promise<string> {
  const { accountId } = await hello(client).catch((error: unknown) => {
    throw error instanceof ApiError ? toKnownError(error, url) : error;
  });
  return accountId;
}

function toKnownError(error: ApiError, url: string): KnownError {
  const isRefused = error.isKeyRefused;
  const details = { where: url, safe: 'No order was sent.' };
  if (isRefused)
    return new KnownError({
      ...details,
      code: 'key_refused',
      message: `The service refused the API key: ${error.text}`,
      help: 'Compare api.key (INFLUENCER_API_KEY) with the API integration page of the service.',
      exitCode: EXIT.authentication,
    });
  return new KnownError({
    ...details,
    code: 'service_unavailable',
    message:
      error.fate === 'not_sent'
        ? `The service cannot be reached: ${error.text}.`
        : `The answer of the service is not as expected: ${error.message}`,
    help: 'Check api.url (INFLUENCER_API_URL), the network, and whether the service is up. Then run the command again.',
  });
}

/**
 * Binds this ledger to the account of the key on first use. Later calls refuse the key of any other account,
 * because the same order posted to two accounts would be credited twice.
 *
 * @throws KnownError `wrong_account` (exit 4) if the ledger belongs to another account.
 */
export async function bindAccount(db: Database, accountId: string): Promise<void> {
  const account = db.insertInto('ops.account').values({ account_id: accountId });
  await account.onConflict((known) => known.doNothing()).execute();
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

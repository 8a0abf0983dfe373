import { hello } from '../api/account.ts';
import { ApiError } from '../api/api-error.ts';
import type { Client } from '../api/client.ts';
import { databasePlace } from '../config/locate.ts';
import { bindAccount } from '../ledger/bind-account.ts';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import type { Run } from './run.ts';

/**
 * Asks the service whose key it is, binds the ledger to that account on first use, and says where the run sends to.
 *
 * @returns the account's id.
 * @throws KnownError `key_refused`, `wrong_account` (exit 4), `service_unavailable` (exit 1). Nothing was sent but the question.
 */
export async function openAccount(
  { db, config, onTarget }: Pick<Run, 'db' | 'config' | 'onTarget'>,
  client: Client,
): Promise<string> {
  const { accountId } = await hello(client).catch((error: unknown) => {
    throw error instanceof ApiError ? toKnownError(error) : error;
  });
  await bindAccount(db, accountId);
  onTarget?.({ service: config.api.url, accountId, ledger: databasePlace(config.database) });
  return accountId;
}

function toKnownError(error: ApiError): KnownError {
  const isRefused = error.status === 401 || error.status === 403;
  return new KnownError({
    code: isRefused ? 'key_refused' : 'service_unavailable',
    message: isRefused
      ? `The service refused the API key: ${error.text}`
      : `The service did not answer as it should: ${error.message}`,
    help: isRefused
      ? 'Check api.key (INFLUENCER_API_KEY) against the API integration page of the service.'
      : 'Check api.url (INFLUENCER_API_URL) and whether the service is up, then run the job again.',
    safe: 'Nothing else was sent.',
    exitCode: isRefused ? EXIT.authentication : EXIT.crash,
  });
}

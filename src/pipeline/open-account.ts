import { hello } from '../api/account.ts';
import { ApiError } from '../api/api-error.ts';
import type { Client } from '../api/client.ts';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';

/**
 * Asks the service which account the key belongs to.
 *
 * @returns the id of the account.
 * @throws KnownError `key_refused` (exit 4), `service_unavailable` (exit 1). Nothing else was sent.
 */
export async function identifyAccount(client: Client): Promise<string> {
  const { accountId } = await hello(client).catch((error: unknown) => {
    throw error instanceof ApiError ? toKnownError(error) : error;
  });
  return accountId;
}

function toKnownError(error: ApiError): KnownError {
  const isRefused = error.status === 401 || error.status === 403;
  return new KnownError({
    code: isRefused ? 'key_refused' : 'service_unavailable',
    message: isRefused
      ? `The service refused the API key: ${error.text}`
      : `The answer of the service is not as expected: ${error.message}`,
    help: isRefused
      ? 'Compare api.key (INFLUENCER_API_KEY) with the API integration page of the service.'
      : 'Check api.url (INFLUENCER_API_URL) and whether the service is up, then run the job again.',
    safe: 'Nothing else was sent.',
    exitCode: isRefused ? EXIT.authentication : EXIT.crash,
  });
}

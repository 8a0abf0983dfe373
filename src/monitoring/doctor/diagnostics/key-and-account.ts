import { requireService } from '../../../config/require-settings.ts';
import { type Finding, findingsOf, ok, problem } from '../../../core/finding.ts';
import { KnownError } from '../../../core/known-error.ts';
import { boundAccount, identifyAccount } from '../../../ledger/open-account.ts';
import type { Diagnostic, Patient } from '../../../runs/runnable-kind.ts';

/** Checks the address, the key, and whether the key belongs to the account of this ledger. */
export const keyAndAccount: Diagnostic = {
  name: 'service',
  async look(patient) {
    const { client, config } = patient;
    const { url } = requireService(config);
    if (client === null) return [];
    try {
      const accountId = await identifyAccount(client, url);
      return [ok(`${url} accepts the key of account ${accountId}.`), ...(await boundOf(patient, accountId))];
    } catch (error) {
      if (!(error instanceof KnownError)) throw error;
      return findingsOf('service', error.details);
    }
  },
};

async function boundOf({ db, hasTables }: Patient, accountId: string): Promise<readonly Finding[]> {
  if (db === null || !hasTables) return [];
  const bound = await boundAccount(db);
  if (bound === null || bound === accountId) return [];
  return [
    problem(
      `The key belongs to account ${accountId}, but the ledger belongs to account ${bound}.`,
      'The same order posted to two accounts would count twice, so every run refuses.',
      `Use a key of account ${bound} (api.key), or another database (database.url) for account ${accountId}.`,
    ),
  ];
}

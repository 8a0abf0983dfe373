import { configurationError, type KnownError } from '../../core/known-error.ts';
import type { StateStore } from './state-store.ts';

/**
 * Opens the file that keeps the state.
 *
 * @returns null if no file is given.
 * @throws KnownError `sandbox_db_unusable` (exit 2) if the file cannot be used, belongs to another seed, or
 *   is combined with a referral log.
 */
export async function openStateStore(
  { db, referralLog }: { db?: string; referralLog?: string },
  seed: string,
): Promise<StateStore | null> {
  if (db === undefined) return null;
  if (referralLog !== undefined)
    throw unusable('You cannot combine --db and --referral-log: the database keeps the request log.', {
      help: 'Leave one of them out. With --db, GET /_sandbox/log/referrals lists them.',
    });
  const stateStore = await open(db);
  const known = stateStore.all('seed')[0]?.[1];
  if (known === undefined) stateStore.put('seed', 'seed', seed);
  else if (known !== seed) {
    stateStore.close();
    throw unusable('The database of the sandbox was created with another seed, so its ids would not match.', {
      help: 'Start it with the seed of the database (--seed), or name another file with --db.',
    });
  }
  return stateStore;
}

async function open(path: string): Promise<StateStore> {
  // Imported only here, because SQLite is not needed without a database.
  const { createSqliteStore } = await import('./sqlite-store.ts');
  try {
    return createSqliteStore(path);
  } catch (cause) {
    throw unusable('The database of the sandbox cannot be opened, is in use, or has other content.', {
      help: 'Stop the other sandbox, or name another file with --db.',
      cause,
    });
  }
}

function unusable(message: string, why: { readonly help: string; readonly cause?: unknown }): KnownError {
  return configurationError({
    code: 'sandbox_db_unusable',
    message,
    safe: 'The sandbox was not started.',
    ...why,
  });
}

import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import type { Keeper } from './keeper.ts';

/**
 * Opens the file that keeps the state; null where none is named.
 *
 * @throws KnownError `sandbox_db_unusable` (exit 2): it cannot be used, belongs to another seed, or a truth file is named as well.
 */
export async function openKeeper(
  { db, truth }: { readonly db?: string; readonly truth?: string },
  seed: string,
): Promise<Keeper | null> {
  if (db === undefined) return null;
  if (truth !== undefined)
    throw unusable('A database and a truth file are named: the database keeps the truth.');
  const keeper = await open(db);
  const known = keeper.all('seed')[0]?.[1];
  if (known === undefined) keeper.put('seed', 'seed', seed);
  else if (known !== seed) {
    keeper.close();
    throw unusable('The database of the sandbox was made with another seed, so its ids would not fit.');
  }
  return keeper;
}

async function open(path: string): Promise<Keeper> {
  // Loaded only now: without a database there is no need for SQLite.
  const { createSqliteKeeper } = await import('./sqlite-keeper.ts');
  try {
    return createSqliteKeeper(path);
  } catch (cause) {
    throw unusable(
      'The database of the sandbox cannot be opened, is in use, or holds something else.',
      cause,
    );
  }
}

function unusable(message: string, cause?: unknown): KnownError {
  return new KnownError({
    code: 'sandbox_db_unusable',
    message,
    help: 'Name another file with --db, or use one of the sandbox, with the seed that it was made with and without --truth.',
    safe: 'The sandbox was not started.',
    exitCode: EXIT.configuration,
    ...(cause === undefined ? {} : { cause }),
  });
}

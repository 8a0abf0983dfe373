import { configurationError, type KnownError } from '../../core/known-error.ts';
import { plural } from '../../core/text/plural.ts';
import { type Database, execute } from '../../db/statement.ts';
import { forgetPreviousKey, readPreviousKey } from './rekey-customers.ts';

/** Fingerprints of the keys in the configuration. This module never sees the keys themselves. */
export type KeyFingerprints = {
  readonly current: string;
  /** Null if the configuration has no previous key. */
  readonly previous: string | null;
};

/**
 * Binds the customers of this database to the key of their hashes on first use. Later calls refuse another
 * key, because with it every customer would look new and be submitted again. A new key replaces the old one
 * if the configuration names the old one as the previous key.
 *
 * @throws KnownError `customer_key_changed`, `previous_customer_key_missing` (exit 2).
 */
export async function bindCustomerKey(db: Database, { current, previous }: KeyFingerprints): Promise<void> {
  await db
    .insertInto('intake.customer_key')
    .values({ fingerprint: current })
    .onConflict((key) => key.doNothing())
    .execute();
  if (previous !== null)
    await execute(db)`
      update intake.customer_key
      set previous_fingerprint = fingerprint, fingerprint = ${current}, key_no = key_no + 1,
        rotated_at = clock_timestamp()
      where fingerprint = ${previous} and previous_fingerprint is null`;
  const bound = await db.selectFrom('intake.customer_key').selectAll().executeTakeFirstOrThrow();
  if (bound.fingerprint !== current) throw keyChanged(bound.rotated_at ?? bound.bound_at);
  if (bound.previous_fingerprint === null || bound.previous_fingerprint === previous) return;
  const { customers, forgotten } = await readPreviousKey(db);
  if (customers + forgotten > 0)
    throw configurationError({
      code: 'previous_customer_key_missing',
      message: `${plural(customers, 'customer')} and ${forgotten} forgotten ${customers + forgotten === 1 ? 'one is' : 'ones are'} known only under the previous key.`,
      where: 'customers.previous_hash_key',
      help: 'Set it again until exports have named them. To give them up (they are submitted again when an export names them):\n  npx influencer-sync hash-key retire',
      safe: 'Nothing was read or sent.',
    });
  await forgetPreviousKey(db);
}

/**
 * Checks the key without binding it: digests under another key would be those of nobody. Passes if no key was used yet,
 * or if the next run replaces the one in use.
 *
 * @throws KnownError `customer_key_changed` (exit 2).
 */
export async function requireBoundKey(
  db: Database,
  { current, previous }: KeyFingerprints,
): Promise<'bound' | 'unused'> {
  const bound = await db.selectFrom('intake.customer_key').selectAll().executeTakeFirst();
  if (bound === undefined) return 'unused';
  if (![current, previous].includes(bound.fingerprint)) throw keyChanged(bound.rotated_at ?? bound.bound_at);
  return 'bound';
}

function keyChanged(since: Date): KnownError {
  return configurationError({
    code: 'customer_key_changed',
    message: `The customers of this database were hashed with another key (since ${since.toISOString().slice(0, 10)}).`,
    where: 'customers.hash_key',
    help: 'Set the old key again (CUSTOMER_HASH_KEY). To replace it, set it as customers.previous_hash_key, and the new one as hash_key. If you have lost it for good, see docs/privacy.md, "If the key is lost":\n  npx influencer-sync hash-key lost',
    safe: 'Nothing was read or sent.',
  });
}

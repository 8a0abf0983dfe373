import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';

/**
 * Binds the customers of this database to the key that their hashes are made with, on first use; from then on refuses another one: it
 * would make every customer a new one, and submit all of them again.
 *
 * @param fingerprint of the key; the key itself never comes here.
 * @throws KnownError `customer_key_changed` (exit 2).
 */
export async function bindCustomerKey(db: Database, fingerprint: string): Promise<void> {
  await sql`insert into intake.customer_key (fingerprint) values (${fingerprint}) on conflict do nothing`.execute(
    db,
  );
  const bound = await db.selectFrom('intake.customer_key').selectAll().executeTakeFirstOrThrow();
  if (bound.fingerprint === fingerprint) return;
  throw new KnownError({
    code: 'customer_key_changed',
    message: `The customers of this database were hashed with another key (since ${bound.bound_at.toISOString().slice(0, 10)}).`,
    where: 'customers.hash_key',
    help: 'Set the old key again (CUSTOMER_HASH_KEY). If you have lost it for good, forget the customers; all of them are then submitted again:\n  truncate intake.customer_key, intake.customers, intake.lookups, intake.waiting_batches;',
    safe: 'Nothing was read or sent.',
    exitCode: EXIT.configuration,
  });
}

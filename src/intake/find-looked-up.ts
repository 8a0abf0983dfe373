import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { toArrayParameter } from '../db/to-array-parameter.ts';
import type { ContactHash } from '../model/contact.ts';

export type FindLookedUpOptions = {
  readonly hashes: readonly ContactHash[];
  /** After so many days a customer is looked up again; null: never. */
  readonly recheckAfterDays: number | null;
};

/** @returns those of the customers of whom the service was asked, and need not be again. */
export async function findLookedUp(
  db: Database,
  { hashes, recheckAfterDays }: FindLookedUpOptions,
): Promise<ReadonlySet<ContactHash>> {
  if (hashes.length === 0) return new Set();
  const { rows } = await sql<{ hash: ContactHash }>`
    select encode(uuid_send(contact_hash), 'hex') as hash from ledger.lookups
    where contact_hash = any (${toArrayParameter(hashes)}::uuid[])
      and (looked_up_at <= now() - ${recheckAfterDays}::numeric * interval '1 day') is not true`.execute(db);
  return new Set(rows.map(({ hash }) => hash));
}

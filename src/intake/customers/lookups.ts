import { sql } from 'kysely';
import type { CustomerHash, Profile } from '../../core/customer.ts';
import { toArrayParameter } from '../../db/array-parameters.ts';
import { type Database, execute, rowOf, rowsOf, toJsonParameter } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { maySend } from './prepare-batches.ts';
import { membersOfBatch } from './waiting-batches.ts';

/** A customer to look up. Contains a plain address: it must not reach any log, error or other table. */
export type WantedLookup = { readonly hash: CustomerHash; readonly address: string };

export type LookupResult = {
  readonly hash: CustomerHash;
  readonly brandId: string;
  readonly runId: string;
  readonly httpStatus: number;
  readonly answer:
    | { readonly kind: 'influencer'; readonly profile: Profile }
    | { readonly kind: 'no_match' }
    | { readonly kind: 'refused'; readonly message: string };
};

export type LookupScope = {
  readonly brandId: string;
  readonly recheckAfterDays: number | null;
  /** Sources whose customers are submitted although their consent is unknown. */
  readonly unknownFrom: readonly string[];
};

/**
 * Yields the customers of sealed files who have not been looked up yet and may be submitted. A customer of two
 * files may be yielded twice.
 */
export async function* wantedLookups(
  db: Database,
  { brandId, recheckAfterDays, unknownFrom }: LookupScope,
): AsyncGenerator<WantedLookup> {
  for (let after = '0'; ; ) {
    const next = await rowOf<{ batch_id: string }>(db)`
      select b.batch_id
      from intake.waiting_batches b
        join intake.source_files f on f.source_file_id = b.source_file_id and f.state = 'sealed'
      where b.brand_id = ${brandId} and b.purpose = 'lookup' and b.batch_id > ${after}::bigint
      order by b.batch_id limit 1`;
    if (next === undefined) return;
    yield* await rowsOf<WantedLookup>(db)`
      select m.hash, m.address
      from intake.waiting_batches b cross join ${membersOfBatch}
      where b.batch_id = ${next.batch_id}::bigint
        and exists (select from intake.customers c where c.customer_hash = m.hash and ${maySend(unknownFrom)})
        and not exists (
          select from intake.lookups l where l.customer_hash = m.hash
            and (l.looked_up_at > now() - ${recheckAfterDays}::numeric * interval '1 day') is not false)
      order by m.place`;
    after = next.batch_id;
  }
}

/** Stores the results of look-ups. A later result for the same customer replaces the earlier one. */
export async function recordLookups(
  db: Database,
  results: readonly LookupResult[],
): Promise<readonly null[]> {
  const answers = sql.join(ANSWERED.map((column) => sql.ref(column)));
  await execute(db)`
    insert into intake.lookups (customer_hash, brand_id, ${answers}, looked_up_at)
    select customer_hash, brand_id, ${answers}, clock_timestamp()
    from jsonb_populate_recordset(null::intake.lookups, ${toJsonParameter(results.map(toRow))}::jsonb)
    on conflict (customer_hash) do update
    set (${answers}, looked_up_at) = (select ${answers}, looked_up_at from (select excluded.*) answered)`;
  return results.map(() => null);
}

/**
 * Deletes the addresses that waited to be looked up. Customers beyond the budget come back with a later file.
 */
export async function dropLookups(db: Database, brandId: string): Promise<void> {
  await db
    .deleteFrom('intake.waiting_batches')
    .where((eb) => eb.and({ brand_id: brandId, purpose: 'lookup' }))
    .execute();
}

/** The columns of an answer. Those that it does not have are null. */
const ANSWERED = [
  ...(['outcome', 'platform', 'user_id', 'username', 'followers', 'is_verified', 'profile_url'] as const),
  ...(['picture_url', 'http_status', 'message', 'run_id'] as const),
] satisfies readonly (keyof DB['intake.lookups'])[];

type LookupRow = Partial<Record<'customer_hash' | 'brand_id' | (typeof ANSWERED)[number], unknown>>;

function toRow({ hash, brandId, runId, httpStatus, answer }: LookupResult): LookupRow {
  const row: LookupRow = {
    customer_hash: hash,
    brand_id: brandId,
    run_id: runId,
    http_status: httpStatus,
    outcome: answer.kind,
  };
  if (answer.kind === 'refused') return { ...row, message: answer.message };
  if (answer.kind === 'no_match') return row;
  const { platform, userId, username, followers, isVerified, profileUrl, pictureUrl } = answer.profile;
  return {
    ...row,
    platform,
    user_id: userId,
    username,
    followers,
    is_verified: isVerified,
    profile_url: profileUrl,
    picture_url: pictureUrl,
  };
}

export type FindLookedUpOptions = {
  readonly hashes: readonly CustomerHash[];
  /** Customers are looked up again after this many days. Null: never. */
  readonly recheckAfterDays: number | null;
};

/** @returns those of the given customers who have been looked up and need no new look-up. */
export async function findLookedUp(
  db: Database,
  { hashes, recheckAfterDays }: FindLookedUpOptions,
): Promise<ReadonlySet<CustomerHash>> {
  if (hashes.length === 0) return new Set();
  const rows = await rowsOf<{ hash: CustomerHash }>(db)`
    select encode(uuid_send(customer_hash), 'hex') as hash from intake.lookups
    where customer_hash = any (${toArrayParameter(hashes)}::uuid[])
      and (looked_up_at <= now() - ${recheckAfterDays}::numeric * interval '1 day') is not true`;
  return new Set(rows.map(({ hash }) => hash));
}

import { type CustomerKeys, requireCustomerKeys } from '../config/require-settings.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { CustomerHash } from '../core/customer.ts';
import type { Certificate, FoundRows } from '../core/privacy/forget.ts';
import { plural } from '../core/text/plural.ts';
import { toUuidArrayParameter } from '../db/array-parameters.ts';
import { type DatabaseTransaction, unlessDryRun } from '../db/in-transaction.ts';
import { countsOf, type Database } from '../db/statement.ts';
import { bindCustomerKey } from '../intake/customers/bind-customer-key.ts';
import {
  type DeletedRows,
  forgetCustomer,
  noteSearched,
  readCustomerBrands,
  readTombstones,
} from '../intake/customers/forgotten-customers.ts';
import { rekeyTombstones } from '../intake/customers/rekey-customers.ts';
import type { WriteAuditIn } from '../ops/record-audit.ts';
import { withLeases } from '../ops/with-leases.ts';
import { customerBrands, customerLeases, requireAddress } from './customer-jobs.ts';
import { fingerprintsOf, hashesUnder, tombstonesUnder } from './customer-keys.ts';
import { searchText } from './search-text.ts';

export type ForgetOptions = {
  readonly config: PipelineConfig;
  /** An e-mail address as a person typed it. */
  readonly typed: string;
  readonly isDryRun: boolean;
  /** Records who requested the deletion, in the same transaction as the change. */
  readonly audit: WriteAuditIn;
};

/**
 * Removes a customer from the database, and leaves a tombstone so that no export adds the customer again.
 * First deletes rows by digest, in one commit with the tombstone and the audit record. Then removes the
 * address itself from all text. If it is interrupted, running it again completes the work.
 *
 * @throws KnownError `bad_address`, `customer_key_missing`, `customer_key_changed` (exit 2);
 * `already_running` (exit 5) while a run has customers in memory. No error contains the address.
 */
export async function forgetPerson(db: Database, options: ForgetOptions): Promise<Certificate> {
  const { config, isDryRun } = options;
  const address = requireAddress(options.typed);
  const keys = requireCustomerKeys(config);
  const names = isDryRun ? [] : customerLeases(config);
  const leases = { names, ttlMs: config.api.leaseSeconds * 1000, draining: new AbortController().signal };
  return withLeases(db, leases, () => forget(db, { ...options, address, keys }));
}

type Forgetting = ForgetOptions & { readonly address: string; readonly keys: CustomerKeys };

async function forget(db: Database, options: Forgetting): Promise<Certificate> {
  const { config, keys, address, isDryRun, audit } = options;
  const fingerprints = fingerprintsOf(keys);
  const fingerprint = fingerprints.current;
  const brandIds = new Set([...customerBrands(config), ...(await readCustomerBrands(db))]);
  const [tombstone, ...previous] = tombstonesUnder(keys, address);
  const hashes = hashesUnder(keys, { brandIds, address });
  const known = await readTombstones(db);
  const wasForgotten = [tombstone, ...previous].some((one) => known.has(one));

  const customer = { tombstone, hashes, fingerprint };
  const subject = { subjectKind: 'customer', subject: shortTombstone(tombstone) } as const;
  const deleted = await unlessDryRun(db, isDryRun, async (trx) => {
    await bindCustomerKey(trx, fingerprints);
    const tombstones = previous.map((one) => ({ previous: one, current: tombstone }));
    await rekeyTombstones(trx, { hashes: tombstones, fingerprint });
    const { candidates, requests } = await forgetInfluencers(trx, hashes);
    const rows = { ...(await forgetCustomer(trx, customer)), 'intake.outreach_candidates': candidates };
    const summary = `Forgot a customer: ${sayRows(rows)}.`;
    if (!isDryRun) await audit(trx, { action: 'forget_customer', ...subject, summary, after: rows });
    return { rows, requests };
  });

  const search = { address, replacement: `forgotten-${shortTombstone(tombstone)}` };
  const { found, tables, columns } = await searchText(db, { ...search, isDryRun });
  await unlessDryRun(db, isDryRun, async (trx) => {
    await noteSearched(trx, tombstone);
    if (found.length === 0 || isDryRun) return;
    const after = Object.fromEntries(found.map(({ place, rows, action }) => [place, { rows, action }]));
    const summary = `Searched ${tables} tables for the address of a forgotten customer: found in ${plural(found.length, 'column')}.`;
    await audit(trx, { action: 'redact_customer', ...subject, summary, after });
  });
  return {
    tombstone,
    keyFingerprint: fingerprint,
    at: new Date(),
    isDryRun,
    wasForgotten,
    found: [...byDigest(deleted.rows), ...inOutreach(deleted.requests), ...found],
    searched: { tables, columns },
  };
}

/** Long enough to find the record again, and too short to distinguish the customers of two keys. */
function shortTombstone(tombstone: string): string {
  return tombstone.slice(0, 12);
}

function byDigest(deleted: DeletedRows): readonly FoundRows[] {
  return Object.entries(deleted).flatMap(([place, rows]) =>
    rows === 0 ? [] : [{ place, rows, action: 'deleted' as const, why: null }],
  );
}

/**
 * Requests for outreach contain a public profile of the customer. The ledger must keep it so that the profile
 * is not submitted twice.
 */
function inOutreach(requests: number): readonly FoundRows[] {
  const why =
    'Requests for outreach name the public profile of the customer. Requests that were sent are kept; the next run of the job withdraws the others.';
  return requests === 0 ? [] : [{ place: 'ledger.entries', rows: requests, action: 'kept', why }];
}

function sayRows(deleted: DeletedRows): string {
  const said = Object.entries(deleted).filter(([, rows]) => rows > 0);
  if (said.length === 0) return 'nothing was stored about them';
  return said.map(([table, rows]) => `${rows} in ${table}`).join(', ');
}

/**
 * Deletes the decisions of `submit-outreach` about influencers who are known only through the customers to be
 * forgotten. The job's next run withdraws batches that were not sent. Call it before the look-ups of these
 * customers are deleted.
 *
 * @returns deleted decisions, and outreach requests that name these influencers, which the ledger keeps.
 */
async function forgetInfluencers(trx: DatabaseTransaction, hashes: readonly CustomerHash[]) {
  return countsOf<'candidates' | 'requests'>(trx)`
    with looked_up as (
      select customer_hash, lower(platform) as platform, user_id,
        coalesce(lower(platform), '?') || ':'
          || coalesce(user_id, '@' || lower(username), profile_url, '?') as influencer
      from intake.lookups where outcome = 'influencer'
    ),
    mine as materialized (
      select * from looked_up where customer_hash = any (${toUuidArrayParameter(hashes)}::uuid[])
    ),
    theirs as (
      select influencer from mine
      except select influencer from looked_up
      where customer_hash <> all (${toUuidArrayParameter(hashes)}::uuid[])
    ),
    deleted as (
      delete from intake.outreach_candidates where influencer in (select influencer from theirs) returning 1
    )
    select (select count(*) from deleted) as candidates,
      (select count(*) from ledger.entries e
       where e.effect = 'outreach' and exists (
         select from mine m
         where e.details ->> 'platform' = m.platform and e.details -> 'ids' ? m.user_id)) as requests`;
}

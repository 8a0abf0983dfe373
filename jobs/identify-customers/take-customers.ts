import { requireCustomerKeys } from '../../src/config/require-settings.ts';
import { type CustomerHash, type StatedCustomer, submitsUnknown } from '../../src/core/customer.ts';
import {
  type CustomerTotals,
  createCustomerStager,
} from '../../src/intake/customers/create-customer-stager.ts';
import { readTombstones } from '../../src/intake/customers/forgotten-customers.ts';
import { customerHasher, fingerprintOf } from '../../src/intake/customers/map/customer-hash.ts';
import { mapCustomers } from '../../src/intake/customers/map/map-customers.ts';
import { foldAddress } from '../../src/intake/customers/map/parse-address.ts';
import { rekeyTombstones } from '../../src/intake/customers/rekey-customers.ts';
import { sealCustomers, withdrawCustomers } from '../../src/intake/customers/seal-customers.ts';
import type { Intake } from '../../src/intake/read/intake-file.ts';
import { stageBatches } from '../../src/intake/read/stage-batches.ts';
import { type Run, sourcesOf } from '../../src/ops/run.ts';
import { findForgotten } from '../../src/privacy/customer-keys.ts';
import type { IdentifyCustomersSettings, LookupSettings } from './settings.ts';

/** Reads files for their customers, and counts across all the files of a run. */
export type CustomerIntake = Intake & {
  /** Number of customers that the run would look up if its budget allowed it. */
  readonly lookupsBeyond: () => number;
};

/** Names the sources of a run whose customers are submitted although their consent is unknown. */
export function sourcesOfUnknown(run: Run<IdentifyCustomersSettings>): readonly string[] {
  return sourcesOf(run)
    .filter((source) => submitsUnknown(run.job.consent, source))
    .map(({ name }) => name);
}

/** Turns the rows of a file into customers of the job's brand: map → stage → seal. */
export function createCustomerIntake({ job, config }: Run<IdentifyCustomersSettings>): CustomerIntake {
  const { brandId, recheckAfterDays, lookup, consent } = job;
  const batchSize = Math.min(job.batchSize, config.api.description.limits.emails_per_call);
  const keys = requireCustomerKeys(config);
  const hashOf = customerHasher(keys.current, brandId);
  const { previous } = keys;
  const previousHasher = previous === null ? null : customerHasher(previous, brandId);
  const previousHashOf =
    previousHasher === null ? null : (address: string) => previousHasher(foldAddress(address));
  const isWanted = lookup === null ? null : (customer: StatedCustomer) => meets(lookup, customer);
  const lookedUpAlready = new Set<CustomerHash>();
  let lookupsBeyond = 0;

  function count({ lookups }: CustomerTotals): void {
    for (const hash of lookups.within) lookedUpAlready.add(hash);
    lookupsBeyond += lookups.beyond;
  }

  return {
    purpose: { readFor: 'customers', consent },
    withdraw: withdrawCustomers,
    lookupsBeyond: () => lookupsBeyond,
    async take(run, { source, layout, otherLayouts, file }, { chunks, digest, ...read }) {
      const { db, runId } = run;
      const lookupBudget = (lookup?.budget ?? 0) - lookedUpAlready.size;
      const stager = createCustomerStager(db, {
        ...read,
        runId,
        job: job.name,
        brandId,
        batchSize,
        recheckAfterDays,
        previousHashOf,
        isWanted,
        lookupBudget,
        lookedUpAlready,
      });
      // No customer is forgotten while a run reads customers, because both need the lease of the brand.
      const forgotten = findForgotten(await readTombstones(db), keys);
      const { isForgotten } = forgotten;
      const asOf = file.modifiedAt ?? new Date();
      const mapping = { layout, source, otherLayouts, consent, asOf, uri: file.uri, hashOf, isForgotten };
      const batches = mapCustomers(chunks, mapping);
      const rowsRead = await stageBatches(run, source, { batches, add: stager.add });
      if (rowsRead === null) return { kind: 'lost' };
      const staged = await stager.finish();
      await rekeyTombstones(db, { hashes: forgotten.toRekey(), fingerprint: fingerprintOf(keys.current) });
      if (staged === null) return { kind: 'lost' };
      const { maxRejectedShare, maxUnreadableShare } = source.limits;
      const judging = { staged, maxRejectedShare, maxUnreadableShare, source: source.name, brandId };
      const sealing = { ...read, runId, rowsRead, contentSha256: digest(), ...judging };
      const sealed = await sealCustomers(db, sealing);
      if (sealed.kind === 'sealed') count(staged);
      return sealed;
    },
  };
}

/**
 * Returns true if the job looks the customer up: always if it has no conditions, otherwise if the customer
 * meets one of them.
 */
function meets({ minOrders, minSpent, withCode }: LookupSettings, customer: StatedCustomer): boolean {
  if (minOrders === null && minSpent === null && !withCode) return true;
  return (
    (minOrders !== null && (customer.ordersCount ?? 0) >= minOrders) ||
    (minSpent !== null && customer.spent !== null && Number(customer.spent) >= minSpent) ||
    (withCode && customer.boughtWithCode === true)
  );
}

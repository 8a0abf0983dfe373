import {
  type CustomerTotals,
  createCustomerStager,
} from '../../src/intake/customers/create-customer-stager.ts';
import { sealCustomers } from '../../src/intake/customers/seal-customers.ts';
import { RejectedSoFar } from '../../src/intake/files/rejected-so-far.ts';
import { customerHasher } from '../../src/map/customers/customer-hash.ts';
import { mapCustomers } from '../../src/map/customers/map-customers.ts';
import type { CustomerHash, StatedCustomer } from '../../src/model/customer.ts';
import type { Intake } from '../../src/pipeline/intake-file.ts';
import { type Run, throwIfDraining } from '../../src/pipeline/run.ts';
import type { IdentifyCustomersSettings, LookupSettings } from './settings.ts';

/** How files are read for their customers, and what they came to together. */
export type CustomerIntake = Intake & {
  /** Customers that the run wants to look up beyond its budget. */
  readonly lookupsBeyond: () => number;
};

/** A file's rows become customers of the job's brand: map → stage → seal. */
export function createCustomerIntake({ job, config }: Run<IdentifyCustomersSettings>): CustomerIntake {
  const { brandId, batchSize, recheckAfterDays, lookup, consent } = job;
  const hashOf = customerHasher(config.customers.hashKey, brandId);
  const isWanted = lookup === null ? null : (customer: StatedCustomer) => meets(lookup, customer);
  const lookedUpAlready = new Set<CustomerHash>();
  let lookupsBeyond = 0;

  function count({ lookups }: CustomerTotals): void {
    for (const hash of lookups.within) lookedUpAlready.add(hash);
    lookupsBeyond += lookups.beyond;
  }

  return {
    purpose: { readFor: 'customers', consent },
    lookupsBeyond: () => lookupsBeyond,
    async take(run, { source, layout, otherLayouts }, { chunks, digest, ...read }) {
      const { db, runId, progress } = run;
      const lookupBudget = (lookup?.budget ?? 0) - lookedUpAlready.size;
      const stager = createCustomerStager(db, {
        ...read,
        ...{ runId, job: job.name, brandId, batchSize, recheckAfterDays },
        ...{ isWanted, lookupBudget, lookedUpAlready },
      });
      const rejectedSoFar = new RejectedSoFar({ source: source.name, ...source.limits });
      let rowsRead = 0;
      for await (const batch of mapCustomers(chunks, { layout, source, otherLayouts, consent, hashOf })) {
        throwIfDraining(run);
        rejectedSoFar.take(batch);
        if (!(await stager.add(batch))) return { kind: 'lost' };
        rowsRead += batch.rowsRead;
        progress.advance(0, batch.rowsRead);
      }
      const staged = await stager.finish();
      if (staged === null) return { kind: 'lost' };
      const { maxRejectedShare, maxUnreadableShare } = source.limits;
      const judging = { staged, maxRejectedShare, maxUnreadableShare, source: source.name };
      const sealing = { ...read, runId, rowsRead, contentSha256: digest(), ...judging };
      const sealed = await sealCustomers(db, sealing);
      if (sealed.kind === 'sealed') count(staged);
      return sealed;
    },
  };
}

/** Whether the job looks a customer up: all of them, or those who meet one of its conditions. */
function meets({ minOrders, minSpent, withCode }: LookupSettings, customer: StatedCustomer): boolean {
  if (minOrders === null && minSpent === null && !withCode) return true;
  return (
    (minOrders !== null && (customer.ordersCount ?? 0) >= minOrders) ||
    (minSpent !== null && customer.spent !== null && Number(customer.spent) >= minSpent) ||
    (withCode && customer.boughtWithCode === true)
  );
}

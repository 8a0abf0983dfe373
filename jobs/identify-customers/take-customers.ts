import { type ContactTotals, createContactStager } from '../../src/intake/customers/create-contact-stager.ts';
import { sealContacts } from '../../src/intake/customers/seal-contacts.ts';
import { RejectedSoFar } from '../../src/intake/files/rejected-so-far.ts';
import { contactHasher } from '../../src/map/customers/contact-hash.ts';
import { mapContacts } from '../../src/map/customers/map-contacts.ts';
import type { ContactHash, StatedContact } from '../../src/model/contact.ts';
import type { Intake } from '../../src/pipeline/intake-file.ts';
import { type Run, throwIfDraining } from '../../src/pipeline/run.ts';
import type { IdentifyCustomersSettings, LookupSettings } from './settings.ts';

/** How files are read for their customers, and what they came to together. */
export type ContactIntake = Intake & {
  /** Customers that the run wants to look up beyond its budget. */
  readonly lookupsBeyond: () => number;
};

/** A file's rows become customers of the job's brand: map → stage → seal. */
export function createContactIntake({ job, config }: Run<IdentifyCustomersSettings>): ContactIntake {
  const { brandId, batchSize, recheckAfterDays, lookup, consent } = job;
  const hashOf = contactHasher(config.contacts.hashKey, brandId);
  const isWanted = lookup === null ? null : (contact: StatedContact) => meets(lookup, contact);
  const lookedUpAlready = new Set<ContactHash>();
  let lookupsBeyond = 0;

  function count({ lookups }: ContactTotals): void {
    for (const hash of lookups.within) lookedUpAlready.add(hash);
    lookupsBeyond += lookups.beyond;
  }

  return {
    purpose: { readFor: 'contacts', consent },
    lookupsBeyond: () => lookupsBeyond,
    async take(run, { source, layout, otherLayouts }, { chunks, digest, ...read }) {
      const { db, runId, progress } = run;
      const lookupBudget = (lookup?.budget ?? 0) - lookedUpAlready.size;
      const stager = createContactStager(db, {
        ...read,
        ...{ runId, job: job.name, brandId, batchSize, recheckAfterDays },
        ...{ isWanted, lookupBudget, lookedUpAlready },
      });
      const rejectedSoFar = new RejectedSoFar({ source: source.name, ...source.limits });
      let rowsRead = 0;
      for await (const batch of mapContacts(chunks, { layout, source, otherLayouts, consent, hashOf })) {
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
      const sealed = await sealContacts(db, sealing);
      if (sealed.kind === 'sealed') count(staged);
      return sealed;
    },
  };
}

/** Whether a customer is one whom the job looks up: everybody, or whoever meets one of its conditions. */
function meets({ minOrders, minSpent, withCode }: LookupSettings, contact: StatedContact): boolean {
  if (minOrders === null && minSpent === null && !withCode) return true;
  return (
    (minOrders !== null && (contact.ordersCount ?? 0) >= minOrders) ||
    (minSpent !== null && contact.spent !== null && Number(contact.spent) >= minSpent) ||
    (withCode && contact.boughtWithCode === true)
  );
}

import { requireCustomerKeys } from '../../src/config/require-settings.ts';
import {
  type ConsentCount,
  type ConsentRule,
  describeConsent,
  NOTHING_SEEN,
} from '../../src/core/customer.ts';
import { ok } from '../../src/core/finding.ts';
import { requireBoundKey } from '../../src/intake/customers/bind-customer-key.ts';
import { mapCustomers } from '../../src/intake/customers/map/map-customers.ts';
import { fingerprintsOf } from '../../src/privacy/customer-keys.ts';
import type { Diagnostic, NewestFile } from '../../src/runs/runnable-kind.ts';

/** Checks the secret with which customer addresses are hashed, if a job reads customers: it must be that of the database. */
const hashKey: Diagnostic = {
  name: 'customers key',
  async look({ config, db, hasTables }) {
    if (!Object.values(config.jobs).some(({ kind }) => kind === 'identify-customers')) return [];
    const keys = requireCustomerKeys(config);
    const use = db === null || !hasTables ? 'unused' : await requireBoundKey(db, fingerprintsOf(keys));
    const what =
      use === 'bound'
        ? 'The key is that of the customers in the database.'
        : 'The key is set and long enough. No run has used one yet.';
    return [ok(what)];
  },
};

export const diagnostics: readonly Diagnostic[] = [hashKey];

/** Number of rows of the newest file in which consent is counted. */
const MAX_ROWS = 1_000;

/** Describes the consent in the first rows of a file, as a sentence. */
export async function checkConsent(file: NewestFile, rule: ConsentRule): Promise<string> {
  const consent = await countConsent(file, rule);
  return ` Consent: ${describeConsent(consent)}${consent.columns.length === 0 ? '' : ', in its first rows'}.`;
}

/**
 * Counts consent without storing anything about the customers. Counting needs no hash, so it is left empty.
 */
async function countConsent(
  { layout, otherLayouts, source, open }: NewestFile,
  consent: ConsentRule,
): Promise<ConsentCount> {
  let [seen, rows] = [NOTHING_SEEN, 0];
  const options = { layout, otherLayouts, source, consent, asOf: new Date(), hashOf: () => '' };
  for await (const batch of mapCustomers(open(), options)) {
    seen = batch.seen;
    rows += batch.rowsRead;
    if (rows >= MAX_ROWS) break;
  }
  return seen.consent;
}

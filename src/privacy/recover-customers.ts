import { layoutFolders } from '../config/layout-folders.ts';
import { requireCustomerKeys } from '../config/require-settings.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { SourceSettings } from '../config/source-fields.ts';
import type { ConsentRule, StatedCustomer } from '../core/customer.ts';
import { plural } from '../core/text/plural.ts';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { customerHasher, fingerprintOf } from '../intake/customers/map/customer-hash.ts';
import { mapCustomers } from '../intake/customers/map/map-customers.ts';
import {
  type LostDigests,
  listSealedFiles,
  replaceLostKey,
  requireLostKey,
  restoreCustomers,
} from '../intake/customers/replace-lost-key.ts';
import { loadLayout } from '../intake/layout/load-layout.ts';
import { openRecords } from '../intake/read/open-records.ts';
import type { WriteAuditIn } from '../ops/record-audit.ts';
import { withLeases } from '../ops/with-leases.ts';
import { listFiles } from '../store/list-files.ts';
import type { SourceClients } from '../store/source-clients.ts';
import { customerLeases } from './customer-jobs.ts';
import { rekeyingOf } from './customer-keys.ts';

/** A job that reads customers, and its rules. */
export type CustomerReader = {
  readonly brandId: string;
  readonly source: SourceSettings;
  readonly consent: ConsentRule;
};

export type RecoverCustomersOptions = {
  readonly config: PipelineConfig;
  readonly readers: readonly CustomerReader[];
  readonly clients: SourceClients;
  readonly audit: WriteAuditIn;
};

export type Recovered = LostDigests & {
  /**
   * Files that were read before: the number that was read again, and the number that no longer exists in the
   * same version.
   */
  readonly files: number;
  readonly filesGone: number;
};

/**
 * Replaces a lost key by a new one. Customers in files that were read before and still exist count as
 * submitted.
 *
 * @throws KnownError `customer_key_not_lost` (exit 2), `already_running` (exit 5); FileHeld if a file no
 * longer fits its layout.
 */
export function recoverCustomers(db: Database, options: RecoverCustomersOptions): Promise<Recovered> {
  const { config, audit } = options;
  const draining = new AbortController().signal;
  const keys = requireCustomerKeys(config);
  const leases = { names: customerLeases(config), ttlMs: config.api.leaseSeconds * 1000, draining };
  return withLeases(db, leases, async () => {
    await requireLostKey(db, fingerprintOf(keys.current));
    let [files, filesGone] = [0, 0];
    for (const reader of options.readers) {
      const read = await restoreSource(db, { ...options, key: keys.current, draining }, reader);
      files += read.files;
      filesGone += read.filesGone;
    }
    const fingerprint = fingerprintOf(keys.current);
    return inTransaction(db, async (trx) => {
      const lost = await replaceLostKey(trx, { fingerprint, rekey: rekeyingOf(keys) });
      const summary = `A new key takes the place of a lost one: it restored ${lost.restored} of ${plural(lost.customers, 'customer')} from ${plural(files, 'file')}.`;
      const after = { ...lost, files, files_gone: filesGone };
      await audit(trx, {
        action: 'replace_lost_key',
        subjectKind: 'key',
        subject: fingerprint,
        summary,
        after,
      });
      return { ...lost, files, filesGone };
    });
  });
}

type Restoring = RecoverCustomersOptions & { readonly key: string; readonly draining: AbortSignal };

async function restoreSource(
  db: Database,
  { config, clients, key, draining: signal }: Restoring,
  { brandId, source, consent }: CustomerReader,
): Promise<{ readonly files: number; readonly filesGone: number }> {
  // Files that were read count as they are, also those of before a cut last row held its file.
  const layout = { ...loadLayout(source.layout, layoutFolders(config.path)), endsWithoutLineBreak: true };
  const hashOf = customerHasher(key, brandId);
  const known = await listSealedFiles(db, source.name);
  const names = new Set(known.map(({ uri, version }) => `${uri}\n${version}`));
  let files = 0;
  for await (const file of listFiles(source, { clients, signal })) {
    if (!names.has(`${file.uri}\n${file.version}`)) continue;
    files += 1;
    const { records } = openRecords(file, layout, { source, clients, signal });
    const asOf = file.modifiedAt ?? new Date();
    let customers: StatedCustomer[] = [];
    for await (const batch of mapCustomers(records, { layout, source, consent, asOf, hashOf })) {
      customers.push(...batch.customers, ...batch.doubtful);
      if (customers.length < CUSTOMERS) continue;
      await restoreCustomers(db, { customers, brandId, source: source.name });
      customers = [];
    }
    await restoreCustomers(db, { customers, brandId, source: source.name });
  }
  return { files, filesGone: known.length - files };
}

/** Maximum number of customers in one statement. */
const CUSTOMERS = 10_000;

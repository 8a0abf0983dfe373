import { layoutFolders } from '../config/layout-folders.ts';
import type { SourceSettings } from '../config/source-fields.ts';
import { FileHeld } from '../core/held/file-held.ts';
import type { SourceFile } from '../core/source.ts';
import { fileName } from '../core/text/file-name.ts';
import { mapCustomers } from '../intake/customers/map/map-customers.ts';
import { loadLayout } from '../intake/layout/load-layout.ts';
import { openRecords } from '../intake/read/open-records.ts';
import { type Run, throwIfDraining } from '../ops/run.ts';
import { listFiles } from '../store/list-files.ts';

/** Addresses of customers who asked to be forgotten. They are never written to a log, an error or a table. */
export type Requests = {
  /** Each address once. */
  readonly addresses: readonly string[];
  /** Number of rows that are not an address. */
  readonly unreadable: number;
  /** Files that could not be used, described in sentences. */
  readonly problems: readonly string[];
};

/** Reads all files of a source of requests, even if they were read before. Stores nothing from them. */
export async function readRequests(run: Run, source: SourceSettings): Promise<Requests> {
  const addresses = new Map<string, string>();
  const problems: string[] = [];
  let unreadable = 0;
  const { sourceClients: clients, draining: signal } = run;
  for await (const file of listFiles(source, { clients, signal })) {
    throwIfDraining(run);
    try {
      for await (const batch of readFile(run, source, file)) {
        for (const { hash, address } of batch.customers) addresses.set(hash, address);
        unreadable += batch.rejected.length;
      }
    } catch (error) {
      if (!(error instanceof FileHeld)) throw error;
      problems.push(
        `${fileName(file.uri)}: ${error.reason.message.replaceAll(file.uri, fileName(file.uri))}`,
      );
    }
  }
  return { addresses: [...addresses.values()], unreadable, problems };
}

function readFile(
  { config, sourceClients: clients, draining: signal }: Run,
  source: SourceSettings,
  file: SourceFile,
) {
  const layout = loadLayout(source.layout, layoutFolders(config.path));
  const { records } = openRecords(file, layout, { source, clients, signal });
  // Forgetting a customer requires no consent.
  const asOf = file.modifiedAt ?? new Date();
  return mapCustomers(records, { layout, source, consent: null, asOf, hashOf: (folded) => folded });
}

import { layoutFolders } from '../config/layout-folders.ts';
import type { PipelineConfig } from '../config/schema.ts';
import { FileHeld } from '../core/held/file-held.ts';
import type { Database } from '../db/connect.ts';
import type { ConsentTrace } from '../intake/customers/map/customer-reader.ts';
import { traceConsent } from '../intake/customers/map/map-customers.ts';
import { foldAddress } from '../intake/customers/map/parse-address.ts';
import { type KnownFile, listKnownFiles } from '../intake/files/list-known-files.ts';
import { loadLayout, loadOtherLayouts } from '../intake/layout/load-layout.ts';
import { openRecords } from '../intake/read/open-records.ts';
import { listFiles } from '../store/list-files.ts';
import type { SourceClients } from '../store/source-clients.ts';
import { requireAddress } from './customer-jobs.ts';
import type { CustomerReader } from './recover-customers.ts';

/** A row of a file that names the person, or why a file was not read. */
export type TracedRow = {
  readonly brandId: string;
  readonly source: string;
  readonly uri: string;
  /** Why nothing in the file counts: it is held, for example. Null: it counts. */
  readonly held: string | null;
} & (ConsentTrace | { readonly line: null });

/**
 * Yields each row of a person in the files of the sources that exist now, in the order in which they are read.
 * Reads every file to its end, and stores nothing. Whether a file counts is what the last run decided.
 *
 * @throws KnownError `bad_address` (exit 2), or if a source cannot be listed.
 */
export async function* traceCustomer(
  db: Database,
  {
    config,
    readers,
    clients,
    typed,
  }: {
    readonly config: PipelineConfig;
    readonly readers: readonly CustomerReader[];
    readonly clients: SourceClients;
    /** The address as somebody typed it. */
    readonly typed: string;
  },
): AsyncGenerator<TracedRow> {
  const folded = foldAddress(requireAddress(typed));
  const folders = layoutFolders(config.path);
  for (const { brandId, source, consent } of readers) {
    const layout = loadLayout(source.layout, folders);
    const otherLayouts = () => loadOtherLayouts(layout, folders);
    const known = await listKnownFiles(db, { source: source.name });
    for await (const file of listFiles(source, { clients })) {
      const asOf = file.modifiedAt ?? new Date();
      const options = { layout, source, otherLayouts, consent, asOf, hashOf: () => '' };
      const rows: ConsentTrace[] = [];
      let reason: string | null = null;
      try {
        const { records } = openRecords(file, layout, { source, clients });
        for await (const row of traceConsent(records, options, folded)) rows.push(row);
      } catch (error) {
        if (!(error instanceof FileHeld)) throw error;
        reason = error.reason.message;
      }
      const place = { brandId, source: source.name, uri: file.uri };
      const read = known.find((one) => one.readFor === 'customers' && one.uri === file.uri);
      const held = whyNot(read?.version === file.version ? read : null, reason);
      for (const row of rows) yield { ...place, ...row, held };
      // Its rows may name the person.
      if (rows.length === 0 && reason !== null) yield { ...place, line: null, held: reason };
    }
  }
}

/**
 * Returns why the rows of a file do not count.
 *
 * @param read its last reading in this version. Null: there is none.
 * @param reason why it cannot be read now.
 */
function whyNot(read: KnownFile | null, reason: string | null): string | null {
  if (read?.state === 'sealed' || read?.state === 'duplicate') return null;
  if (read?.state === 'held') return read.holdMessage ?? reason ?? 'It is held.';
  if (read?.state === 'released' && read.releasedBy !== null)
    return `It was released by ${read.releasedBy}, because it is not needed.`;
  return reason ?? 'No run has read it yet.';
}

import { layoutFolders } from '../../config/layout-folders.ts';
import type { ConsentTrace } from '../../map/customers/customer-reader.ts';
import { traceConsent } from '../../map/customers/map-customers.ts';
import { foldAddress } from '../../map/customers/parse-address.ts';
import { loadLayout, loadLayouts } from '../../map/layout/load-layout.ts';
import type { PipelineConfig } from '../../model/config.ts';
import { FileHeld } from '../../model/held/file-held.ts';
import { listFiles } from '../../source/list-files.ts';
import type { SourceClients } from '../../source/source-clients.ts';
import { openRecords } from '../open-records.ts';
import { requireAddress } from './customer-jobs.ts';
import type { CustomerReader } from './recover-customers.ts';

/** A row of a file that names the person, or why a file was not read. */
export type TracedRow = { readonly brandId: string; readonly source: string; readonly uri: string } & (
  | (ConsentTrace & { readonly held: null })
  | { readonly held: string }
);

/**
 * Yields each row of a person in the files of the sources that exist now, in the order in which they are read.
 * Reads every file to its end, and stores nothing.
 *
 * @throws KnownError `bad_address` (exit 2), or if a source cannot be listed.
 */
export async function* traceCustomer(
  config: PipelineConfig,
  {
    readers,
    clients,
    typed,
  }: {
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
    const otherLayouts = () => loadLayouts(folders).filter(({ name }) => name !== layout.name);
    for await (const file of listFiles(source, { clients })) {
      const place = { brandId, source: source.name, uri: file.uri };
      const asOf = file.modifiedAt ?? new Date();
      const options = { layout, source, otherLayouts, consent, asOf, hashOf: () => '' };
      try {
        const { records } = openRecords(file, layout, { source, clients });
        for await (const row of traceConsent(records, options, folded))
          yield { ...place, ...row, held: null };
      } catch (error) {
        if (!(error instanceof FileHeld)) throw error;
        yield { ...place, held: error.reason.message };
      }
    }
  }
}

import type { SourceSettings } from '../../config/source-fields.ts';
import type { ReadFor } from '../../core/layout.ts';
import type { SourceFile } from '../../core/source.ts';
import type { Database } from '../../db/connect.ts';
import { openSourceChecks } from '../checks/check-files.ts';
import { listKnownFiles } from '../files/list-known-files.ts';
import { openSourceAges } from '../files/source-ages.ts';
import { changeOfColumns } from '../layout/earlier-columns.ts';
import type { Layout } from '../layout/to-layout.ts';
import { createAgeOf } from './intake-source.ts';

/**
 * Compares the header of a file with those of earlier files of its source, as a run does that reads it. A file that was
 * read is in force, whatever its header.
 *
 * @throws FileHeld `column_missing`.
 */
export async function requireEarlierColumns(
  db: Database,
  {
    header,
    file,
    source,
    layout,
    readFor,
  }: {
    header: readonly string[];
    file: SourceFile;
    source: SourceSettings;
    layout: Layout;
    readFor: ReadFor;
  },
): Promise<void> {
  const known = await listKnownFiles(db, { source: source.name, uri: file.uri });
  const own = known.find((one) => one.readFor === readFor && one.version === file.version);
  if (own?.state === 'sealed' || own?.state === 'duplicate') return;
  const ages = openSourceAges(db, { source: source.name, readFor, ageOf: createAgeOf(source) });
  const { newer } = await ages.compare(file);
  const { earlierFiles } = await openSourceChecks(db, { source, readFor }).begin(file, () => header);
  const change = changeOfColumns(header, { layout, source, readFor, earlier: earlierFiles(newer) });
  if (change !== null) throw change;
}

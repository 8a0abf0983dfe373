import { layoutFolders } from '../config/layout-folders.ts';
import { selectUnread } from '../intake/select-unread.ts';
import { checkSource } from '../map/check-source.ts';
import { layoutHash } from '../map/layout-hash.ts';
import { loadLayout, loadLayouts } from '../map/load-layout.ts';
import type { SourceSettings } from '../model/config.ts';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import { listFiles } from '../source/list-files.ts';
import { inPages } from './in-pages.ts';
import { type Intake, intakeFile } from './intake-file.ts';
import { type Run, throwIfDraining } from './run.ts';
import { takeOrders } from './take-orders.ts';

/** Files that are looked up at once. */
const PAGE_SIZE = 1_000;

/**
 * Brings every file of a source that is new into the database, one after the other, each sealed or held in one commit.
 *
 * @throws KnownError `no_files` (exit 2) when the listing is empty, and what the listing throws.
 */
export async function intakeSource(
  run: Run,
  source: SourceSettings,
  intake: Intake = takeOrders,
): Promise<void> {
  const { db, sourceClients: clients, draining, options } = run;
  const folders = layoutFolders(run.config.path);
  const layout = loadLayout(source.layout, folders);
  const { purpose } = intake;
  checkSource(layout, source, purpose);
  const otherLayouts = loadLayouts(folders).filter(({ name }) => name !== layout.name);
  const reading = { source, layout, otherLayouts, layoutHash: layoutHash(layout, source, purpose) };

  let found = 0;
  for await (const page of inPages(listFiles(source, { clients, signal: draining }), PAGE_SIZE)) {
    const files = page.filter(({ uri }) => options.file === null || uri.includes(options.file));
    found += files.length;
    const unread = await selectUnread(db, {
      source: source.name,
      layoutHash: reading.layoutHash,
      files,
      readFor: purpose.readFor,
    });
    // A file that is asked for by name is read again although it was held before.
    const again = options.file !== null;
    for (const file of again ? files : unread) {
      throwIfDraining(run);
      await intakeFile(run, { ...reading, file, again }, intake);
    }
  }
  throwIfDraining(run);
  if (found === 0 && !options.allowEmpty) throw noFiles(source, options.file);
}

function noFiles(source: SourceSettings, wanted: string | null): KnownError {
  return new KnownError({
    code: 'no_files',
    message:
      wanted === null
        ? `Source ${source.name} has no files.`
        : `Source ${source.name} has no file whose address contains "${wanted}".`,
    where: source.uri,
    help: 'Check the address, the prefix and the glob; or give --allow-empty if there may be none.',
    safe: 'Nothing was posted.',
    exitCode: EXIT.configuration,
  });
}

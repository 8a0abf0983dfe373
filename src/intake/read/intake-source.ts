import { layoutFolders } from '../../config/layout-folders.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { SourceSettings } from '../../config/source-fields.ts';
import { compareForReading, readFileAge } from '../../core/file-age.ts';
import { configurationError, type KnownError } from '../../core/known-error.ts';
import type { Purpose, ReadFor } from '../../core/layout.ts';
import type { SourceFile } from '../../core/source.ts';
import { type Run, throwIfDraining } from '../../ops/run.ts';
import { coversFile, findFiles, listFiles } from '../../store/list-files.ts';
import { nameInSource } from '../../store/parse-source-uri.ts';
import { openSourceChecks } from '../checks/check-files.ts';
import { type HeldVersion, listHeldVersions, releaseFiles } from '../files/release-files.ts';
import { selectUnread } from '../files/select-unread.ts';
import { openSourceAges, type SourceAges } from '../files/source-ages.ts';
import { checkSource } from '../layout/check-source.ts';
import { layoutHash } from '../layout/layout-hash.ts';
import { loadLayout, loadLayouts } from '../layout/load-layout.ts';
import { type ListingWindow, openListingWindow } from '../listing/listing-window.ts';
import { takeAnnouncements } from '../listing/take-announcements.ts';
import type { Intake } from './intake-file.ts';
import { readInTurn } from './read-in-turn.ts';

/** Number of files that are looked up in the database at once. */
const PAGE_SIZE = 1_000;

/**
 * Reads every new file of a source into the database, the older ones first. Each file is sealed or held
 * in one commit, which small files may share.
 *
 * @throws KnownError `no_files` (exit 2) if the listing is empty; any error of the listing; and the error
 * that makes most files unreadable.
 */
export async function intakeSource(run: Run, source: SourceSettings, intake: Intake): Promise<void> {
  const { db, options } = run;
  const folders = layoutFolders(run.config.path);
  const layout = loadLayout(source.layout, folders);
  const { purpose } = intake;
  checkSource(layout, source, purpose);
  const otherLayouts = () => loadLayouts(folders).filter(({ name }) => name !== layout.name);
  const checks = openSourceChecks(db, { source, readFor: purpose.readFor });
  const ageOf = createAgeOf(source);
  const ages = openSourceAges(db, { source: source.name, readFor: purpose.readFor, ageOf });
  const reading = {
    source,
    layout,
    otherLayouts,
    layoutHash: layoutHash(layout, source, purpose),
    checks,
    ages,
  };

  // The listing is read completely first, because the share of unreadable files is measured against their
  // total number.
  let found = 0;
  const wanted: SourceFile[] = [];
  const held = await listHeldVersions(db, { source: source.name, readFor: purpose.readFor });
  const heldUris = new Set(held.map(({ uri }) => uri));
  const listed = new Map<string, { readonly version: string; readonly isUnread: boolean }>();
  const window = await openWindow(run, { ...reading, readFor: purpose.readFor });
  for await (const page of inPages(filesOf(run, source, window), PAGE_SIZE)) {
    const files = page.filter(({ uri }) => options.file === null || uri.includes(options.file));
    found += files.length;
    const unread = await selectUnread(db, {
      source: source.name,
      layoutHash: reading.layoutHash,
      files,
      readFor: purpose.readFor,
    });
    for (const file of heldUris.size === 0 ? [] : page)
      if (heldUris.has(file.uri))
        listed.set(file.uri, { version: file.version, isUnread: unread.includes(file) });
    // A file that is selected by name is read again even if it was held before.
    wanted.push(...(options.file === null ? unread : files));
  }
  const isListed = window?.isListed ?? true;
  if (found === 0 && isListed && !options.allowEmpty)
    throw noFiles(run, { source, since: window?.since ?? null });

  await endHolds(run, { source, held, listed });
  const inOrder = wanted
    .map((file) => ({ file, age: ageOf(file) }))
    .sort((a, b) => compareForReading(a.age, b.age));
  let files: readonly SourceFile[] = inOrder.map(({ file }) => file);
  // Files that contradict each other may agree with a newer one that was read after them.
  while (files.length > 0) {
    await readInTurn(run, files, { ...reading, found, intake });
    files = ages.takeSettled();
  }
  throwIfDraining(run);
  await window?.close();
}

/** Returns a function that reads how old a file of a source is. */
export function createAgeOf(source: SourceSettings): SourceAges['ageOf'] {
  const nameOf = nameInSource(source.uri);
  return ({ uri, modifiedAt = null }) =>
    readFileAge({ uri, name: nameOf(uri), modifiedAt, rule: source.age });
}

/** Decides which names to look at. Null for a file that is requested by name, because it may be any of them. */
async function openWindow(
  run: Run,
  reading: { readonly source: SourceSettings; readonly readFor: ReadFor; readonly layoutHash: string },
): Promise<ListingWindow | null> {
  if (run.options.file !== null) return null;
  const isAnnounced = await takeAnnouncements(run, reading.source, reading.readFor);
  return openListingWindow(run.db, { ...reading, isAnnounced });
}

/** Returns the files in a window, in the order of their names. */
async function* filesOf(
  { sourceClients: clients, draining: signal }: Run,
  source: SourceSettings,
  window: ListingWindow | null,
): AsyncGenerator<SourceFile> {
  // Files that are looked up besides a listing are older than those it returns, so they sort before them.
  if (window !== null) yield* findFiles(source, window.uris, { clients, signal });
  if (window?.isListed ?? true) yield* listFiles(source, { clients, signal, since: window?.since ?? null });
}

/**
 * Releases holds that are no longer needed. A hold ensures that no order is missed. It ends if the source no
 * longer covers that file name (its uri or `exclude` has changed), or if the held version was replaced by a
 * version that was read before. Deleting a held file does not end the hold.
 */
async function endHolds(
  { db, options }: Run,
  {
    source,
    held,
    listed,
  }: {
    readonly source: SourceSettings;
    readonly held: readonly HeldVersion[];
    readonly listed: ReadonlyMap<string, { readonly version: string; readonly isUnread: boolean }>;
  },
): Promise<void> {
  const uncovered: string[] = [];
  const replaced: string[] = [];
  for (const { sourceFileId, uri, version } of held) {
    const now = listed.get(uri);
    if (now === undefined && !(await coversFile(source, uri))) uncovered.push(sourceFileId);
    // With --file, the other files were not looked up.
    const isKnown = options.file === null && now !== undefined && !now.isUnread;
    if (isKnown && now.version !== version) replaced.push(sourceFileId);
  }
  await releaseFiles(db, {
    sourceFileIds: uncovered,
    reason: 'The source no longer covers this name.',
    releasedBy: null,
  });
  await releaseFiles(db, {
    sourceFileIds: replaced,
    reason: 'A known version is back under this name.',
    releasedBy: null,
  });
}

function noFiles(
  { nouns, options: { file: wanted } }: Run,
  { source, since }: { readonly source: SourceSettings; readonly since: string | null },
): KnownError {
  return configurationError({
    code: 'no_files',
    message:
      wanted === null
        ? `Source ${source.name} has no files${since === null ? '' : ` of ${since} or later`}.`
        : `Source ${source.name} has no file whose address contains "${wanted}".`,
    where: source.uri,
    help: 'Check the address, the prefix and the glob. If there may be no files, give --allow-empty.',
    safe: `Nothing was ${nouns.done}.`,
  });
}

/**
 * Digest of everything that determines how the files of a source are read. Two processes with the same digest
 * read a file in the same way.
 */
export function readingHash(config: PipelineConfig, source: SourceSettings, purpose: Purpose): string {
  return layoutHash(loadLayout(source.layout, layoutFolders(config.path)), source, purpose);
}

/** Groups items into arrays of `size`. The last array may be shorter. */
async function* inPages<Item>(items: AsyncIterable<Item>, size: number): AsyncGenerator<readonly Item[]> {
  let page: Item[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

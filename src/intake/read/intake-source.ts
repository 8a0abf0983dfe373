import { layoutFolders } from '../../config/layout-folders.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { SourceSettings } from '../../config/source-fields.ts';
import { configurationError, KnownError } from '../../core/known-error.ts';
import type { Purpose, ReadFor } from '../../core/layout.ts';
import type { SourceFile } from '../../core/source.ts';
import { plural } from '../../core/text/plural.ts';
import { compareForReading, readFileAge } from '../../core/time/file-age.ts';
import { type Run, throwIfDraining } from '../../ops/run.ts';
import { coversFile, findFiles, listFiles } from '../../store/list-files.ts';
import { nameInSource, type ObjectName } from '../../store/parse-source-uri.ts';
import { openQueue } from '../../store/queue/open-queue.ts';
import { takeEvents } from '../../store/queue/take-events.ts';
import { openSourceChecks } from '../checks/check-files.ts';
import { readAhead } from '../decode/read-ahead.ts';
import { expectAnnouncements, recordAnnouncements, removeOldAnnouncements } from '../files/announcements.ts';
import { type HeldVersion, listHeldVersions, releaseFiles } from '../files/release-files.ts';
import { selectUnread } from '../files/select-unread.ts';
import { openSourceAges, type SourceAges } from '../files/source-ages.ts';
import { checkSource } from '../layout/check-source.ts';
import { layoutHash } from '../layout/layout-hash.ts';
import { loadLayout, loadOtherLayouts } from '../layout/load-layout.ts';
import {
  type Intake,
  intakeFile,
  intakeTogether,
  type OpenedFile,
  type SourceReading,
} from './intake-file.ts';
import { type ListingWindow, openListingWindow } from './listing-window.ts';
import { openEarly } from './open-records.ts';

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
  const otherLayouts = () => loadOtherLayouts(layout, folders);
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
    source: SourceSettings;
    held: readonly HeldVersion[];
    listed: ReadonlyMap<string, { readonly version: string; readonly isUnread: boolean }>;
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
  { source, since }: { source: SourceSettings; since: string | null },
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

/** If more than this share of a source's files is unavailable, the source itself counts as unavailable. */
const MAX_UNAVAILABLE_SHARE = 0.5;

type Turns = SourceReading & {
  /** Number of files that the listing returned. */
  readonly found: number;
  readonly intake: Intake;
};

/**
 * Maximum number of small files that are read together (`intakeTogether`). More would save little, and if one of
 * them must be read alone, the others are read again.
 */
const MAX_TOGETHER = 16;
/** Maximum size of all of them, in bytes. Larger files gain little: a statement takes as long as some 20 kB. */
const MAX_TOGETHER_BYTES = 64 * 1_024;
/**
 * Maximum number of files that are read one by one after files could not be read together. The number doubles
 * each time in a row, because each file of some sources has rejected rows, or orders of the file before it.
 */
const MAX_ALONE = 1_024;

/**
 * Reads files one after the other, and small ones several at a time. The next ones are opened early if they are
 * small, so that their first records are parsed while the database seals the ones before.
 */
async function readInTurn(run: Run, wanted: readonly SourceFile[], { found, intake, ...reading }: Turns) {
  const { sourceClients: clients, draining: signal, options } = run;
  const { source, layout } = reading;
  const ahead = readAhead(wanted, { source, clients });
  // A file that is requested by name may be known, and a plan is rolled back as a whole.
  const takeTogether = options.file === null && !run.db.isTransaction ? intake.takeTogether : undefined;
  /** Files from the next one on that are open. */
  const opened: OpenedFile[] = [];
  let place = 0;
  /** Number of next files that are read one by one, and that number after the next failure. */
  let alone = 0;
  let aloneNext = 1;
  let unavailable = 0;
  let isAvailable = true;

  /** Opens the next files up to this number, those that are small before their turn. */
  function open(count: number): void {
    for (const file of wanted.slice(place + opened.length, place + count)) {
      const isNear = ahead.isNear(file);
      if (!isNear && opened.length > 0) return;
      const isEarly = isNear || file.sizeBytes <= MAX_TOGETHER_BYTES;
      const options = { source, open: ahead.open, clients, signal, isEarly };
      opened.push({ file, content: openEarly(file, layout, options) });
    }
  }

  /** Number of files to read together, from a place on. */
  function togetherFrom(start: number): number {
    // Files of a store that failed are requested one by one.
    if (takeTogether === undefined || alone > 0 || !isAvailable) return 1;
    let bytes = 0;
    const files = wanted.slice(start, start + MAX_TOGETHER);
    const end = files.findIndex((file) => {
      bytes += file.sizeBytes;
      return bytes > MAX_TOGETHER_BYTES;
    });
    return Math.max(1, end === -1 ? files.length : end);
  }

  try {
    while (place < wanted.length) {
      throwIfDraining(run);
      ahead.moveTo(place, isAvailable);
      const count = togetherFrom(place);
      open(count + togetherFrom(place + count));
      const [first] = opened;
      if (first === undefined) throw new Error('a file was not opened');
      const files = opened.slice(0, count);
      const isTogether = takeTogether !== undefined && files.length > 1;
      const sealed = isTogether
        ? await intakeTogether(run, files, { reading, purpose: intake.purpose, takeTogether })
        : 0;
      let cause: KnownError | null = null;
      if (sealed === null || sealed === 0) {
        // If only the database shows it, any of the files may be the cause.
        if (sealed === null) aloneNext = Math.max(aloneNext, MAX_TOGETHER);
        if (isTogether) {
          alone = aloneNext;
          aloneNext = Math.min(2 * aloneNext, MAX_ALONE);
        }
        alone = Math.max(0, alone - 1);
        cause = await intakeFile(run, { ...reading, ...first, again: options.file !== null }, intake);
      } else aloneNext = 1;
      const read = Math.max(1, sealed ?? 0);
      place += read;
      for (const { content } of opened.splice(0, read)) await content.close();
      isAvailable = cause === null;
      if (cause === null) continue;
      unavailable += 1;
      if (unavailable > found * MAX_UNAVAILABLE_SHARE)
        throw sourceUnavailable(run, { source, unavailable, found, cause });
    }
  } finally {
    ahead.stop();
    for (const { content } of opened) await content.close();
  }
}

/**
 * An unreadable file is held, and the others are read. If most files are unreadable, the source fails with
 * the reason of the last one.
 */
function sourceUnavailable(
  { nouns }: Run,
  options: {
    readonly source: SourceSettings;
    readonly unavailable: number;
    readonly found: number;
    readonly cause: KnownError;
  },
): KnownError {
  const { source, unavailable, found, cause } = options;
  const { message, where = source.uri } = cause.details;
  const count = `${unavailable} of ${plural(found, 'file')}`;
  return new KnownError({
    ...cause.details,
    message: `Source ${source.name} cannot be read: ${count} failed, more than half. ${message}`,
    where,
    safe: `Nothing was ${nouns.done}. Complete files stay read; the next run retries the others.`,
  });
}

/**
 * Receives what the queue of a source announces, and stores it for every source that shares the queue. The
 * messages are deleted once it is stored. Announced objects that belong to no such source are ignored.
 *
 * @returns false if the source has no queue, if it cannot be read, or for a plan, which must not take
 * messages from it. The names of the source must then be listed.
 */
async function takeAnnouncements(
  { db, config, client, draining: signal, progress }: Run,
  source: SourceSettings,
  readFor: ReadFor,
): Promise<boolean> {
  const { name, events, region, profile } = source;
  if (events === null || client === null) return false;
  await expectAnnouncements(db, { source: name, readFor });
  await removeOldAnnouncements(db);
  const sharing = Object.values(config.sources).filter((other) => other.events?.queue === events.queue);
  const queue = await openQueue({ url: events.queue, region, profile });
  try {
    const { notUnderstood } = await takeEvents(queue, {
      signal,
      record: async (objects) => recordAnnouncements(db, await placeObjects(objects, sharing)),
    });
    if (notUnderstood > 0)
      progress.note(
        `${plural(notUnderstood, 'message')} in the queue of source ${name} announced no object of S3 and stayed there, for its dead-letter queue.`,
      );
    return true;
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    const { message, help } = error.details;
    progress.note(`Source ${name}: ${message} All names were listed instead. ${help}`);
    return false;
  } finally {
    queue.close();
  }
}

/** Returns the files that announced objects are, one for each source that covers the object. */
async function placeObjects(
  objects: readonly ObjectName[],
  sources: readonly PipelineConfig['sources'][string][],
): Promise<readonly { readonly source: string; readonly uri: string }[]> {
  const files: { source: string; uri: string }[] = [];
  for (const { bucket, key } of objects) {
    const uri = `s3://${bucket}/${key}`;
    for (const source of sources) if (await coversFile(source, uri)) files.push({ source: source.name, uri });
  }
  return files;
}

import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { journalFolder, nearestFolder, shortPath } from '../../config/locate.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { isLoopback } from '../../core/http/is-loopback.ts';
import { openFileStore } from '../../store/file-store.ts';
import { listJournals, namesIn } from './journal-folder.ts';
import { createMark, type Mark } from './mark.ts';

/*
 * The data folder of an embedded database contains its journals too, so an older copy of the whole folder looks complete.
 * Therefore an embedded ledger keeps a second copy of its journals in the state folder of the user, by its id, so that it
 * is found wherever the data folder is. That holds for every service: a sandbox may outlive the data folder as a real
 * one does.
 */

const LEDGERS = 'ledgers';

type StateMark = {
  readonly folder: string;
  /** Why it cannot be used; null if it can. */
  readonly problem: string | null;
};

/** Returns where an embedded ledger keeps its second copy; null if it keeps none, or has no id yet. */
function findStateMark(config: PipelineConfig, ledgerId: string | null): StateMark | null {
  const { stateFolder } = config.ledger;
  if (stateFolder === null || ledgerId === null) return null;
  const folder = join(stateFolder, LEDGERS, ledgerId);
  return {
    folder,
    problem: stateFolder === '' ? 'this user has no home folder' : findProblem(config, folder),
  };
}

function findProblem({ database: { dataFolder } }: PipelineConfig, folder: string): string | null {
  const within = relative(dataFolder, folder);
  if (!within.startsWith('..') && !isAbsolute(within)) return 'it is in the data folder';
  try {
    // The dot finds a file that is in the way.
    accessSync(`${nearestFolder(folder)}/.`, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return `it cannot be written, ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The folders in which processes keep the journals of this ledger: that of the data folder, and the one outside it. */
export function ownJournalFolders(
  config: PipelineConfig,
  ledgerId: string,
): { readonly folder: string; readonly copyFolder: string | null } {
  const mark = findStateMark(config, ledgerId);
  const copyFolder = mark === null || mark.problem !== null ? null : mark.folder;
  return { folder: journalFolder(config.database), copyFolder };
}

/** The folders with which a database is compared. */
export function comparedFolders(config: PipelineConfig, ledgerId: string | null): readonly string[] {
  const mark = findStateMark(config, ledgerId);
  const own = mark === null || mark.problem !== null ? [] : [mark.folder];
  return [journalFolder(config.database), ...own, ...findPredecessors(config, ledgerId)];
}

/** Name of the file that states which data folder a ledger was last used in, and for which service. */
const PLACE = 'place.json';

/**
 * Begins the record outside the data folder, and states there which data folder the ledger is used in.
 *
 * @returns the folder, or null if it cannot be written after all. The next run says so.
 */
export function beginRecord(config: PipelineConfig, copyFolder: string): string | null {
  return orNull(() => {
    mkdirSync(copyFolder, { recursive: true, mode: 0o700 });
    const place: FolderUse = { dataFolder: config.database.dataFolder, isTrial: isLoopback(config.api.url) };
    writeFileSync(join(copyFolder, PLACE), JSON.stringify(place), { mode: 0o600 });
    return copyFolder;
  });
}

/**
 * The records of other ledgers that were last used in this data folder: it was deleted, or replaced by a copy from before
 * the first run. A ledger of a service on this machine does not count, nor does any for such a service, because a sandbox
 * is started over in that way.
 */
function findPredecessors(config: PipelineConfig, ledgerId: string | null): string[] {
  const { api, database, ledger } = config;
  if (ledger.stateFolder === null || ledger.stateFolder === '' || isLoopback(api.url)) return [];
  const all = join(ledger.stateFolder, LEDGERS);
  const known = orNull(() => namesIn(all)) ?? [];
  return known
    .filter((id) => id !== ledgerId)
    .map((id) => join(all, id))
    .filter((folder) => {
      const place = orNull(() => JSON.parse(readFileSync(join(folder, PLACE), 'utf8')) as Partial<FolderUse>);
      return place?.dataFolder === database.dataFolder && place.isTrial !== true;
    });
}

type FolderUse = { readonly dataFolder: string; readonly isTrial: boolean };

/** Null if something is absent, or cannot be read: describeBlindness says so. */
function orNull<Of>(read: () => Of): Of | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** The places where journals are kept, for messages. */
export function describeJournals({ ledger, database }: PipelineConfig): string {
  const local = ledger.mark?.uri ?? journalFolder(database);
  return ledger.stateFolder === null || ledger.stateFolder === ''
    ? local
    : `${local} and ${ledger.stateFolder}`;
}

/**
 * States what a run cannot see because nothing outside the data folder shows what was posted. Null if something does, or
 * if nothing was posted and a record will be kept.
 */
export function describeBlindness(
  config: PipelineConfig,
  { ledgerId, hasClaims }: { ledgerId: string | null; hasClaims: boolean },
): string | null {
  const mark = findStateMark(config, ledgerId);
  if (mark === null) return null;
  const copy = `an older copy of ${shortPath(config.database.dataFolder)} that was put back`;
  if (mark.problem !== null) {
    const where = config.ledger.stateFolder === '' ? '' : ` in ${mark.folder}`;
    return `This run cannot detect ${copy}: no record of the ledger can be kept${where} (${mark.problem}). Set XDG_STATE_HOME or ledger.mark_uri to a folder that lasts.`;
  }
  if (!hasClaims || listJournals(mark.folder).length > 0) return null;
  return `This run cannot detect ${copy}: there is no record of the ledger in ${mark.folder} yet. Later runs can, as long as you keep that folder.`;
}

const marks = new WeakMap<PipelineConfig, Mark>();

/** The mark of a configuration, shared by the whole process. Null if none is configured. */
export function openMark(config: PipelineConfig): Mark | null {
  const { mark: settings } = config.ledger;
  if (settings === null) return null;
  const mark =
    marks.get(config) ??
    createMark({
      store: openFileStore(settings),
      uri: settings.uri,
      journals: journalFolder(config.database),
    });
  marks.set(config, mark);
  return mark;
}

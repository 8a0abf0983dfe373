import type { ReadFor } from '../../core/layout.ts';
import { CONFLICTING_STATES, type SourceFile } from '../../core/source.ts';
import { compareAges, type FileAge } from '../../core/time/file-age.ts';
import { type Database, rowsOf } from '../../db/statement.ts';

/** Files that have been read, or are held because they contradict one, and that a file does not follow. */
export type OtherAges = {
  /** Ids of files that are newer than it. What they state stays in force. */
  readonly newer: readonly string[];
  /** Ids of files of which nothing says whether they are newer. */
  readonly unordered: readonly string[];
  /** True if the rows of the file say themselves how old they are. */
  readonly isByRow: boolean;
};

export const NEWEST: OtherAges = { newer: [], unordered: [], isByRow: false };

/** The ages of the files of a source that have been read for one purpose. */
export type SourceAges = {
  readonly ageOf: (file: Pick<SourceFile, 'uri' | 'modifiedAt'>) => FileAge;
  /** Compares a file with all that were read before it, in this run and in earlier ones. */
  compare(file: SourceFile): Promise<OtherAges>;
  /** Adds a file that was read. @param sourceFileId if it is a duplicate, that of its original. */
  learn(file: SourceFile, sourceFileId: string): void;
  /** Adds a file that is held because it contradicts another one, and nothing says which of the two is newer. */
  learnHeld(file: SourceFile, sourceFileId: string): void;
  /** Returns these files once, if a newer one was read after them: reading them again may end their hold. */
  takeSettled(): readonly SourceFile[];
};

type Read = {
  readonly id: string;
  readonly version: string;
  readonly age: FileAge;
  /** When it was first seen. */
  readonly seenMs: number;
  /** When a person said that it is newer than all that were there by then. Null: nobody did. */
  readonly newestSinceMs: number | null;
  /** It waits for a decision about its age, or had one. */
  readonly isHeld: boolean;
  /** False for one that is held, or that is being read. */
  readonly isRead: boolean;
};

/**
 * Opens the ages of a source's files. The caller holds the lease of the source. The files that were read before are
 * loaded when the first one is compared, because most runs find no new file.
 */
export function openSourceAges(
  db: Database,
  { source, readFor, ageOf }: { source: string; readFor: ReadFor; ageOf: SourceAges['ageOf'] },
): SourceAges {
  let loading: Promise<Read[]> | null = null;
  let loaded: Read[] | null = null;
  /** What was learned while the others were being loaded. */
  const early: Read[] = [];
  /**
   * Every other file is older than this one. A file of its series that follows it needs no further comparison. One of
   * another series may contradict one of its own.
   */
  let newest: FileAge | null = null;
  const isNewest = (age: FileAge): boolean =>
    newest !== null && age.series === newest.series && compareAges(age, newest) > 0;
  const heldHere: { readonly file: SourceFile; readonly read: Read; isSettled: boolean }[] = [];

  async function read(): Promise<Read[]> {
    // Of a file that was read before such times were stored, it is known when it was first seen. The one that is being
    // read is among them: a person may have said that another one is newer.
    const rows = await rowsOf<{
      id: string;
      uri: string;
      version: string;
      modifiedAt: Date;
      seenAt: Date;
      newestSince: Date | null;
      isHeld: boolean;
      isRead: boolean;
    }>(db)`
      select coalesce(duplicate_of, source_file_id) as id, uri, version,
        coalesce(modified_at, first_seen_at) as "modifiedAt",
        first_seen_at as "seenAt", newest_since as "newestSince",
        state in ('sealed', 'duplicate') as "isRead", state in ('held', 'reading')
          and (coalesce(hold_code = ${CONFLICTING_STATES}, false) or newest_since is not null) as "isHeld"
      from intake.source_files
      where source = ${source} and read_for = ${readFor}
        and (state in ('sealed', 'duplicate', 'reading')
          or (state = 'held' and (hold_code = ${CONFLICTING_STATES} or newest_since is not null)))
      order by source_file_id`;
    return rows.map(({ id, version, seenAt, newestSince, isHeld, isRead, ...file }) => ({
      id,
      version,
      isHeld,
      isRead,
      age: ageOf(file),
      seenMs: seenAt.getTime(),
      newestSinceMs: newestSince?.getTime() ?? null,
    }));
  }

  function load(): Promise<Read[]> {
    loading ??= read().then((known) => {
      for (const one of early) put(known, one);
      loaded = known;
      return known;
    });
    return loading;
  }

  function add(file: SourceFile, id: string, isHeld: boolean): Read {
    const read = {
      id,
      version: file.version,
      age: ageOf(file),
      isHeld,
      isRead: !isHeld,
      seenMs: Date.now(),
      newestSinceMs: null,
    };
    if (loaded !== null) return put(loaded, read);
    // If they are loaded later, the database will return this one too.
    if (loading !== null) early.push(read);
    return read;
  }

  return {
    ageOf,
    async compare(file) {
      const known = await load();
      const age = ageOf(file);
      if (isNewest(age) && !known.some(({ isHeld }) => isHeld)) {
        newest = age;
        return { ...NEWEST, isByRow: age.isByRow };
      }
      const own = known.find((other) => other.age.uri === age.uri && other.version === file.version);
      const { seenMs = Number.POSITIVE_INFINITY, newestSinceMs = null } = own ?? {};
      const self = { age, seenMs, newestSinceMs };
      const newer: string[] = [];
      const unordered: string[] = [];
      for (const other of known) {
        if (!other.isRead && !other.isHeld) continue;
        const isSameName = other.age.uri === age.uri;
        // Another reading of the same version says nothing else about its age.
        if (isSameName && other.version === file.version) continue;
        const order = compareRead(other, self);
        if (order > 0) newer.push(other.id);
        if (order === 0 && !isSameName) unordered.push(other.id);
      }
      if (newer.length === 0 && unordered.length === 0) newest = age;
      return { newer, unordered, isByRow: age.isByRow };
    },
    learn(file, sourceFileId) {
      const read = add(file, sourceFileId, false);
      for (const held of heldHere) held.isSettled ||= compareRead(read, held.read) > 0;
      const { age } = read;
      if (isNewest(age)) newest = age;
      else if (newest !== null && age.uri !== newest.uri && compareAges(age, newest) >= 0) newest = null;
    },
    learnHeld(file, sourceFileId) {
      heldHere.push({ file, read: add(file, sourceFileId, true), isSettled: false });
    },
    takeSettled() {
      const settled = heldHere.filter(({ isSettled }) => isSettled).map(({ file }) => file);
      heldHere.length = 0;
      return settled;
    },
  };
}

/** Adds a file, in place of itself if it was not read yet. Its first sight, and what a person said, stay. */
function put(known: Read[], read: Read): Read {
  const isSame = (other: Read): boolean => other.age.uri === read.age.uri && other.version === read.version;
  const { seenMs, newestSinceMs } = known.find(isSame) ?? read;
  const added = { ...read, seenMs, newestSinceMs };
  const at = known.findIndex((other) => isSame(other) && !other.isRead);
  known.splice(at === -1 ? known.length : at, 1, added);
  return added;
}

type Compared = Pick<Read, 'age' | 'seenMs' | 'newestSinceMs'>;

/** Compares files by what a person said, else by age: above zero if the first one is newer, zero if nothing says so. */
function compareRead(one: Compared, other: Compared): number {
  const isNewer = (a: Compared, b: Compared): boolean =>
    a.newestSinceMs !== null && a.newestSinceMs > Math.max(b.seenMs, b.newestSinceMs ?? 0);
  return Number(isNewer(one, other)) - Number(isNewer(other, one)) || compareAges(one.age, other.age);
}

import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { compareAges, type FileAge } from '../../model/file-age.ts';
import type { ReadFor } from '../../model/layout.ts';
import type { SourceFile } from '../../model/source.ts';

/** Files that have been read and that a file does not follow. Empty if it is newer than all of them. */
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
};

type Read = { readonly id: string; readonly version: string; readonly age: FileAge };

/**
 * Opens the ages of a source's files. The caller holds the lease of the source. The files that were read before are
 * loaded when the first one is compared, because most runs find no new file.
 */
export function openSourceAges(
  db: Database,
  {
    source,
    readFor,
    ageOf,
  }: { readonly source: string; readonly readFor: ReadFor; readonly ageOf: SourceAges['ageOf'] },
): SourceAges {
  let reading: Promise<Read[]> | null = null;
  /** No file is newer than this one. A file that follows it needs no further comparison. */
  let newest: FileAge | null = null;

  async function read(): Promise<Read[]> {
    // Of a file that was read before such times were stored, it is known when it was first seen.
    const { rows } = await sql<{ id: string; uri: string; version: string; modifiedAt: Date }>`
      select coalesce(duplicate_of, source_file_id) as id, uri, version, coalesce(modified_at, first_seen_at) as "modifiedAt"
      from intake.source_files
      where source = ${source} and read_for = ${readFor} and state in ('sealed', 'duplicate')`.execute(db);
    return rows.map(({ id, version, ...file }) => ({ id, version, age: ageOf(file) }));
  }

  return {
    ageOf,
    async compare(file) {
      reading ??= read();
      const known = await reading;
      const age = ageOf(file);
      if (newest !== null && compareAges(age, newest) > 0) {
        newest = age;
        return { ...NEWEST, isByRow: age.isByRow };
      }
      const newer: string[] = [];
      const unordered: string[] = [];
      for (const other of known) {
        const isSameName = other.age.uri === age.uri;
        // Another reading of the same version says nothing else about its age.
        if (isSameName && other.version === file.version) continue;
        const order = compareAges(other.age, age);
        if (order > 0) newer.push(other.id);
        if (order === 0 && !isSameName) unordered.push(other.id);
      }
      if (newer.length === 0 && unordered.length === 0) newest = age;
      return { newer, unordered, isByRow: age.isByRow };
    },
    learn(file, sourceFileId) {
      const age = ageOf(file);
      // If they have not been loaded, the database will return this one too.
      void reading?.then((known) => known.push({ id: sourceFileId, version: file.version, age }));
      if (newest === null) return;
      const order = compareAges(age, newest);
      if (order > 0) newest = age;
      if (order === 0 && age.uri !== newest.uri) newest = null;
    },
  };
}

import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import type { ReadFor } from '../../model/layout.ts';

/** A version of a file that is held, whether or not it is still there. */
export type HeldVersion = { readonly sourceFileId: string; readonly uri: string; readonly version: string };

/** All held versions of a source that no later reading of the same name has followed. */
export async function listHeldVersions(
  db: Database,
  { source, readFor }: { readonly source: string; readonly readFor: ReadFor },
): Promise<readonly HeldVersion[]> {
  const { rows } = await sql<HeldVersion>`
    select source_file_id as "sourceFileId", uri, version from intake.source_files
    where source = ${source} and read_for = ${readFor} and state = 'held' order by source_file_id`.execute(
    db,
  );
  return rows;
}

/**
 * Ends the hold of files that are not to be missed. What held them stays recorded. A file that a person released is not read again in the
 * same version; one that the program released is, as soon as its source covers it again.
 *
 * @param releasedBy who says so; null: the program.
 * @returns how many were held.
 */
export async function releaseFiles(
  db: Database,
  options: {
    readonly sourceFileIds: readonly string[];
    readonly reason: string;
    readonly releasedBy: string | null;
  },
): Promise<number> {
  const { sourceFileIds, reason, releasedBy } = options;
  if (sourceFileIds.length === 0) return 0;
  const { rows } = await sql`
    update intake.source_files
    set state = 'released', released_at = clock_timestamp(), released_by = ${releasedBy}::text, release_reason = ${reason},
        reread_at = null, reread_by = null
    where source_file_id = any(${sourceFileIds}::bigint[]) and state = 'held'
    returning source_file_id`.execute(db);
  return rows.length;
}

/**
 * Asks that the next run reads files again. Those that were read stay in force until then, and so do their orders that the new reading does
 * not state.
 *
 * @returns how many will be.
 */
export async function requestReread(
  db: Database,
  { sourceFileIds, requestedBy }: { readonly sourceFileIds: readonly string[]; readonly requestedBy: string },
): Promise<number> {
  const { rows } = await sql`
    update intake.source_files set reread_at = clock_timestamp(), reread_by = ${requestedBy}
    where source_file_id = any(${sourceFileIds}::bigint[]) and superseded_by is null and state <> 'reading'
    returning source_file_id`.execute(db);
  return rows.length;
}

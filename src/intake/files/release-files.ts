import type { ReadFor } from '../../core/layout.ts';
import { CONFLICTING_STATES } from '../../core/source.ts';
import { type Database, execute } from '../../db/statement.ts';

/** A held version of a file, whether or not the file still exists. */
export type HeldVersion = { readonly sourceFileId: string; readonly uri: string; readonly version: string };

/** Lists all held versions of a source's files. */
export async function listHeldVersions(
  db: Database,
  { source, readFor }: { source: string; readFor: ReadFor },
): Promise<readonly HeldVersion[]> {
  return db
    .selectFrom('intake.source_files')
    .select(['source_file_id as sourceFileId', 'uri', 'version'])
    .where((eb) => eb.and({ source, read_for: readFor, state: 'held' }))
    .orderBy('source_file_id')
    .execute();
}

/** True if a file of one of these sources is held for this reason. */
export async function isHeldFor(
  db: Database,
  { sources, readFor, code }: { sources: readonly string[]; readFor: ReadFor; code: string },
): Promise<boolean> {
  if (sources.length === 0) return false;
  const found = await db
    .selectFrom('intake.source_files')
    .select('source_file_id')
    .where((eb) => eb.and({ read_for: readFor, state: 'held', hold_code: code }))
    .where('source', 'in', sources)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Releases held files that are not needed. The reason for the hold stays recorded. The same version of a file
 * is not read again if a person released it. If the program released it, it is read again as soon as its
 * source covers it again.
 *
 * @param options.releasedBy the person who released the files; null for the program.
 * @returns the number of files released.
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
  return execute(db)`
    update intake.source_files
    set state = 'released', released_at = clock_timestamp(), released_by = ${releasedBy}::text,
      release_reason = ${reason},
        reread_at = null, reread_by = null
    where source_file_id = any(${sourceFileIds}::bigint[]) and state = 'held'`;
}

/**
 * Notes that files which contradict others are newer than all that are there now, as a person says. The next run reads
 * them again, and what they state is then in force. A file that is read after the transaction began is not among those.
 *
 * @returns the number of files that were held for that reason. Those of which it was said before are left out until a run
 *   has read them.
 */
export async function ruleNewest(
  db: Database,
  { sourceFileIds, ruledBy }: { sourceFileIds: readonly string[]; ruledBy: string },
): Promise<number> {
  return execute(db)`
    update intake.source_files
    set newest_since = now(), newest_by = ${ruledBy}, reread_at = clock_timestamp(), reread_by = ${ruledBy}
    where source_file_id = any(${sourceFileIds}::bigint[]) and state = 'held'
      and hold_code = ${CONFLICTING_STATES}
      and not (newest_since is not null and reread_at is not null)`;
}

/**
 * Requests that the next run reads files again. Until then, earlier readings stay in force. Orders that the
 * new reading does not contain stay in force as well.
 *
 * @returns the number of files that will be read again.
 */
export async function requestReread(
  db: Database,
  { sourceFileIds, requestedBy }: { sourceFileIds: readonly string[]; requestedBy: string },
): Promise<number> {
  return execute(db)`
    update intake.source_files set reread_at = clock_timestamp(), reread_by = ${requestedBy}
    where source_file_id = any(${sourceFileIds}::bigint[]) and superseded_by is null and state <> 'reading'`;
}

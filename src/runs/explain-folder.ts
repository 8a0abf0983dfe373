import { sep } from 'node:path';
import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';

/** Why a folder or file cannot be used, by the code of the system. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read or write it',
  EPERM: 'this user may not change it',
  EROFS: 'its file system is read-only',
  ENOTDIR: 'a file is where a folder must be',
  EEXIST: 'a file is where a folder must be',
  EISDIR: 'a folder is where a file must be',
  ELOOP: 'its links lead in a circle',
  ENOSPC: 'its file system is full',
  EDQUOT: 'the quota of this user is used up',
};

/**
 * Converts an error of the file system about the data folder to one that says which path, why, and what to do. Null for
 * any other error.
 */
export function explainFolder(error: unknown, dataFolder: string): KnownError | null {
  if (!(error instanceof Error) || !('code' in error) || !('path' in error)) return null;
  const { code, path } = error;
  const reason = Object.hasOwn(REASONS, String(code)) ? REASONS[String(code)] : undefined;
  if (reason === undefined || typeof path !== 'string') return null;
  const isInside = path === dataFolder || path.startsWith(dataFolder + sep);
  if (!isInside && !dataFolder.startsWith(path + sep)) return null;
  return new KnownError({
    code: 'data_folder_unusable',
    message: `The data folder cannot be used: ${reason} (${String(code)}).`,
    where: path,
    help: 'Let the user of influencer-sync own the folder and write to it, and put nothing else into it. Or set INFLUENCER_SYNC_DATA to another folder, and move its content there: it contains the journals, and answers that are not stored yet.',
    safe: 'Nothing is sent without a journal. What was sent before is in the database.',
    exitCode: EXIT.configuration,
    cause: error,
  });
}

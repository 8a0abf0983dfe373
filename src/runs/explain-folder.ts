import { sep } from 'node:path';
import type { PipelineConfig } from '../config/schema.ts';
import { configurationError, type KnownError } from '../core/known-error.ts';
import { findFolderProblem } from '../core/text/folder-problem.ts';

/**
 * Converts an error of the file system about a folder in which this machine keeps its journals to one that says which
 * path, why, and what to do. Null for any other error.
 */
export function explainFolder(
  error: unknown,
  { database: { dataFolder }, ledger: { stateFolder } }: Pick<PipelineConfig, 'database' | 'ledger'>,
): KnownError | null {
  const problem = findFolderProblem(error);
  if (problem === null) return null;
  const { path, reason, code } = problem;
  const unusable = (name: 'data' | 'state', folder: string, help: string): KnownError | null => {
    const isIn = path === folder || path.startsWith(folder + sep) || folder.startsWith(path + sep);
    if (folder === '' || !isIn) return null;
    return configurationError({
      code: name === 'data' ? 'data_folder_unusable' : 'state_folder_unusable',
      message: `The ${name} folder cannot be used: ${reason} (${code}).`,
      where: path,
      help: `Let the user of influencer-sync own the folder and write to it, keep space free, and put nothing else into it. ${help}`,
      safe: 'Nothing is sent without a journal. What was sent before is in the database.',
      cause: error,
    });
  };
  return (
    unusable(
      'data',
      dataFolder,
      'Or set INFLUENCER_SYNC_DATA to another folder, and move its content there: it contains the journals, and answers that are not stored yet.',
    ) ??
    unusable(
      'state',
      stateFolder ?? '',
      'Or set XDG_STATE_HOME to another folder, and move its content there: it contains the second copy of the journals.',
    )
  );
}

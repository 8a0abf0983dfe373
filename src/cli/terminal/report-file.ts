import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { shortPath } from '../../config/locate.ts';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { refusal } from '../usage-error.ts';

/**
 * Checks the file of `--report` before the run does anything, so that a run that has posted does not end
 * without its report.
 *
 * @returns a function that writes the file.
 * @throws KnownError `report_file_invalid` (exit 2) if the folder does not exist or is not writable.
 */
export function openReportFile(path: string): (page: string) => void {
  const file = resolve(path);
  try {
    accessSync(dirname(file), constants.W_OK);
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) throw new Error('it is a folder');
  } catch (cause) {
    throw refusal({
      code: 'report_file_invalid',
      message: 'The report cannot be written there.',
      where: shortPath(file),
      help: 'Name a file in a folder that exists and that this user may write to, for example --report report.html.',
      safe: 'Nothing was read or sent.',
      cause,
    });
  }
  return (page) => {
    try {
      writeFileSync(file, page);
    } catch (cause) {
      throw new KnownError({
        code: 'report_not_written',
        message: 'The run has ended and is recorded, but its report could not be written.',
        where: shortPath(file),
        help: 'Check the space on its disk, and that this user may write there. To see the run:  npx influencer-sync runs',
        safe: 'The ledger has everything that was sent.',
        exitCode: EXIT.crash,
        cause,
      });
    }
  };
}

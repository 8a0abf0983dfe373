import { FileHeld } from '../core/held/file-held.ts';
import type { SourceFile } from '../core/source.ts';

/**
 * Creates the hold for a file whose listed version no longer exists. Nothing has to be fixed, because the
 * next listing contains the new version.
 */
export function changedWhileReading({ uri }: SourceFile, cause?: unknown): FileHeld {
  return new FileHeld(
    {
      code: 'changed_while_reading',
      message: `${uri} was replaced while it was read.`,
      help: 'Nothing to do: the next run reads the new version. To avoid this, write exports under another name and rename them when they are complete.',
      isTransient: true,
    },
    cause,
  );
}

/** Creates the hold for a file that was removed after it was listed. */
export function fileGone({ uri }: SourceFile, cause?: unknown): FileHeld {
  return new FileHeld(
    {
      code: 'file_gone',
      message: `${uri} was removed after it was listed.`,
      help: 'Put it back if its orders should count.',
      isTransient: true,
    },
    cause,
  );
}

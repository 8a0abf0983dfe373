import { FileHeld } from '../model/file-held.ts';
import type { SourceFile } from '../model/source.ts';

/** The listed version is not there any more. The next listing shows the new one, so there is nothing to fix. */
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

/** The file was removed after it was listed. */
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

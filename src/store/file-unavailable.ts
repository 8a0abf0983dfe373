import { FileHeld } from '../core/held/file-held.ts';
import type { KnownError } from '../core/known-error.ts';
import type { SourceFile } from '../core/source.ts';

/** Code of a hold: this file cannot be read, but others of its source may be readable. */
export const FILE_UNAVAILABLE = 'file_unavailable';

/**
 * Creates the hold for one file that cannot be read. The other files are still read. Every run tries the file
 * again.
 *
 * @param cause the error for the whole source, which is reported if most of its files fail in this way.
 */
export function fileUnavailable({ uri }: Pick<SourceFile, 'uri'>, cause: KnownError): FileHeld {
  const { message, help } = cause.details;
  return new FileHeld(
    {
      code: FILE_UNAVAILABLE,
      message: `${uri} cannot be read now. ${message}`,
      help: `${help} Every run retries it; the other files are not affected. To stop waiting for it:  npx influencer-sync files release NAME --reason TEXT`,
      isTransient: true,
    },
    cause,
  );
}

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

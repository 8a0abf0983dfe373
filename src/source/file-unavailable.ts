import { FileHeld } from '../model/file-held.ts';
import type { KnownError } from '../model/known-error.ts';
import type { SourceFile } from '../model/source.ts';

/** Code of a hold: this file could not be read, while others of its source may be. */
export const FILE_UNAVAILABLE = 'file_unavailable';

/**
 * One file that may not be read, or whose reading fails, keeps no other from being read. It is tried again by every run.
 *
 * @param cause what the whole source would be told if most of its files failed so.
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

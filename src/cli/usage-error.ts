import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';

/** What was typed cannot be meant, which was noticed before anything was changed. */
export function usageError(message: string, help: string): KnownError {
  return new KnownError({
    code: 'usage',
    message,
    help,
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}

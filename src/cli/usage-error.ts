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

/** @throws KnownError where a decision is given without words: a later reader must understand it. */
export function requireReason(reason: string | undefined): string {
  const text = (reason ?? '').trim();
  if (text !== '') return text;
  throw usageError(
    'A decision about money needs a reason.',
    "Add --reason '…'. It is kept with the decision.",
  );
}

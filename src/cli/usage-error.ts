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

/**
 * @param told what the person is told without one; left out where the decision is about money.
 * @throws KnownError where a decision is given without words: a later reader must understand it.
 */
export function requireReason(
  reason: string | undefined,
  {
    message = 'A decision about money needs a reason.',
    kept = 'with the decision',
  }: {
    readonly message?: string;
    readonly kept?: string;
  } = {},
): string {
  const text = (reason ?? '').trim();
  if (text !== '') return text;
  throw usageError(message, `Add --reason '…'. It is kept ${kept}.`);
}

import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';

/** Creates an error about the command line. It was noticed before anything was changed. */
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
 * Requires a reason for a decision, so that later readers can understand it.
 *
 * @param message the error message without a reason; the default is for decisions about money.
 * @param kept where the reason is stored, for the error message.
 * @throws KnownError if the reason is missing or blank.
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

/** The reason that a person gave for a change that needs none. @throws KnownError (exit 2) if it is blank. */
export function givenReason({ reason }: { readonly reason?: string | undefined }): string | null {
  return reason === undefined
    ? null
    : requireReason(reason, { message: 'The reason is blank.', kept: 'in ops.audit' });
}

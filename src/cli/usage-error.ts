import { type KnownError, refusal } from '../core/known-error.ts';

/** Creates an error about the command line. */
export function usageError(message: string, help: string): KnownError {
  return refusal({ code: 'usage', message, help });
}

/**
 * Requires a reason for a decision, so that later readers can understand it.
 *
 * @param kept where the reason is stored, for the error message; by default, it is that of a decision about money.
 * @throws KnownError (exit 2) if the reason is missing or blank.
 */
export function requireReason(reason: string | undefined, kept?: string): string {
  const text = (reason ?? '').trim();
  if (text !== '') return text;
  throw usageError(
    kept === undefined ? 'A decision about money needs a reason.' : 'You must give a reason.',
    `Add --reason '…'. It is kept ${kept ?? 'with the decision'}.`,
  );
}

/** The reason that a person gave for a change that needs none. @throws KnownError (exit 2) if it is blank. */
export function givenReason({ reason }: { reason?: string | undefined }): string | null {
  if (reason === undefined || reason.trim() !== '') return reason?.trim() ?? null;
  throw usageError('The reason is blank.', "Add --reason '…'. It is kept in ops.audit.");
}

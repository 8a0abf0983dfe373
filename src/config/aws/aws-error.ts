import { errorCode } from '../../core/error-code.ts';

/** Helpers for failed requests to AWS. */

/**
 * True if no complete answer arrived: the connection was refused or cut, timed out, or the name was not
 * found.
 */
export function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === 'TimeoutError' ||
    /^(E[A-Z]+|CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(errorCode(error) ?? error.name)
  );
}

/** True if a request timed out. The SDK also calls a reset connection a time-out; that is excluded here. */
export function isTimeout(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'TimeoutError' &&
    !/^(ECONNRESET|EPIPE)$/.test(errorCode(error) ?? error.name)
  );
}

/** Returns the HTTP status of the answer, or null if there was none. */
export function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('$metadata' in error)) return null;
  const metadata = error.$metadata as { readonly httpStatusCode?: number };
  return metadata.httpStatusCode ?? null;
}

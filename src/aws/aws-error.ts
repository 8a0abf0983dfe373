/** What failed requests to AWS have in common. */

/** Whether no whole answer came: refused, cut, timed out, name not found. */
export function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === 'TimeoutError' ||
    /^(E[A-Z]+|CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(networkCode(error))
  );
}

/** Whether nothing came for too long. The SDK calls a reset connection a time-out, too. */
export function isTimeout(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'TimeoutError' &&
    !/^(ECONNRESET|EPIPE)$/.test(networkCode(error))
  );
}

/** HTTP status of the answer, if there was one. */
export function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('$metadata' in error)) return null;
  const metadata = error.$metadata as { readonly httpStatusCode?: number };
  return metadata.httpStatusCode ?? null;
}

/** What the network, or TLS, called the fault. */
export function networkCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** What codes of sockets, DNS and undici mean, for people. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name was not found',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while writing',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'no local port was free',
  EMFILE: 'too many files are open',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was closed before the answer was whole',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer was too large',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer were too large',
  UND_ERR_DESTROYED: 'the client was closed',
  UND_ERR_CLOSED: 'the client was closed',
  UND_ERR_ABORTED: 'the request was aborted',
  UND_ERR_INVALID_ARG: 'the request could not be made',
};

/**
 * Says why an exchange failed, by the error's code alone: messages of network errors carry addresses, and those of others may carry more.
 */
export function failureReason(error: unknown): string {
  if (error instanceof Error && error.name === 'HTTPParserError') return 'the answer was not HTTP/1.1';
  const code = codeOf(error);
  if (code === null) return 'the request failed';
  const meaning = MEANINGS[code];
  if (meaning !== undefined) return meaning;
  if (/CERT|TLS|SSL|ERR_SSL|SELF_SIGNED|UNABLE_TO_/.test(code))
    return `the secure connection failed (${code})`;
  return `the request failed (${code})`;
}

function codeOf(error: unknown): string | null {
  const code: unknown =
    typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : null;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : null;
}

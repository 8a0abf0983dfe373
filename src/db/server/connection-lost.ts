/** SQLSTATE classes and codes with which a server ends or refuses a connection: 08 connection, 53300 too many, 57P shutdown, 25P timeouts of sessions. */
const LOST_STATES = /^(08|57P0|53300|25P0[34])/;

/** Codes of the operating system. */
const LOST_ERRNOS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** What the driver says without a code when a connection ends under it or does not come up in time. */
const LOST_MESSAGES =
  /^(Connection terminated|Client was closed|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Whether an error means that the database went away, and not that a statement was wrong. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return LOST_STATES.test(code) || LOST_ERRNOS.has(code) || LOST_MESSAGES.test(error.message);
}

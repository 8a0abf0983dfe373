import { errorCode } from '../../core/error-code.ts';

/**
 * SQLSTATE classes and codes of a server that ends or refuses a connection: 08 connection, 53300 too many
 * connections, 57P shutdown, 25P session timeouts.
 */
const LOST_STATES = /^(08|57P0|53300|25P0[34])/;

/** Error codes of the operating system. */
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

/** Messages of the driver, without a code, if a connection breaks or is not established in time. */
const LOST_MESSAGES =
  /^(Connection terminated|Client was closed|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Returns true if an error means that the database is unreachable, and not that a statement is wrong. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error) ?? '';
  return LOST_STATES.test(code) || LOST_ERRNOS.has(code) || LOST_MESSAGES.test(error.message);
}

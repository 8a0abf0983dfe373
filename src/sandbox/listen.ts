import type { Server } from 'node:net';
import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import { hostInUrl } from '../core/text/is-loopback.ts';

/**
 * Starts to listen.
 * @throws KnownError `port_unusable` (exit 2), after calling `release`.
 */
export async function listen(start: () => Promise<unknown>, release: () => void): Promise<void> {
  try {
    await start();
  } catch (cause) {
    release();
    throw new KnownError({
      code: 'port_unusable',
      message: `The sandbox cannot listen there (${(cause as NodeJS.ErrnoException).code ?? 'unknown'}).`,
      help: 'Choose another port with --port, or --port 0 for a free one.',
      safe: 'The sandbox was not started.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

/**
 * Listens again after the server was down.
 * @returns true if the port was free.
 */
export function listensAgain(
  http: Server,
  address: { readonly port: number; readonly host: string },
): Promise<boolean> {
  return new Promise((resolve) => {
    const onListening = (): void => {
      http.off('error', onError);
      resolve(true);
    };
    const onError = (): void => {
      http.off('listening', onListening);
      resolve(false);
    };
    http.once('listening', onListening).once('error', onError).listen(address);
  });
}

/** Returns an address at which this machine can reach the host that it listens on. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return hostInUrl(host);
}

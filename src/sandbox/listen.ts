import type { Server } from 'node:net';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import { hostInUrl } from '../model/text/is-loopback.ts';

/** Begins to listen. @throws KnownError `port_unusable` (exit 2), after everything was released. */
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

/** Listens once more after the server was down. @returns whether the port was free. */
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

/** An address under which this machine reaches itself. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return hostInUrl(host);
}

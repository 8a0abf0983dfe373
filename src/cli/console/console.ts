import { defineCommand, parsePort } from '../command.ts';
import type { ConfigOptions } from '../open/open-config.ts';
import type { Output } from '../terminal/output.ts';
import { usageError } from '../usage-error.ts';

type ConsoleCommandOptions = ConfigOptions & {
  readonly host: string;
  readonly port: number;
  readonly open?: boolean;
  readonly hashPassword?: boolean;
};

export const consoleCommand = defineCommand({
  name: 'console',
  summary: 'show all of it in a browser, and decide there',
  description: 'show what happened in a browser, and settle doubts there; `serve` serves the same pages',
  takes: [
    [
      '--host <address>',
      'address to listen on; any address except 127.0.0.1 needs console.auth',
      undefined,
      '127.0.0.1',
    ],
    ['--port <number>', 'port to listen on, 0 for a free one', parsePort, 4080],
    ['--open', 'open the console in the browser of this machine'],
    [
      '--hash-password',
      'read a password from standard input and print the password_hash for console.auth.users',
    ],
  ],
  examples: [
    ['console', 'pages at http://127.0.0.1:4080'],
    ['console --port 0 --open', 'on a free port, opened in the browser'],
  ],
  action: ({ output }, options) => performConsole(output, options),
});

/**
 * Serves the console for a database, without running jobs, until SIGTERM or SIGINT.
 *
 * @throws KnownError `console_auth_missing`, `port_unusable` (exit 2), or an error about the database.
 */
export async function performConsole(output: Output, options: ConsoleCommandOptions): Promise<void> {
  const { openConsole } = await import('./open-console.ts');
  const { openConfigToRead, reading, withDatabase } = await import('../open/open-config.ts');
  const { listenForStop, untilAborted } = await import('../terminal/listen-for-stop.ts');
  const { createLogger } = await import('../../monitoring/observe/logger.ts');
  const { listen, openServer } = await import('../../monitoring/observe/start-observer.ts');
  if (options.hashPassword) return printHash(output);
  const config = await openConfigToRead(output, options);
  const log = createLogger({ level: process.env.LOG_LEVEL, isInteractive: true });
  const stopping = listenForStop({ warn: () => {} });
  try {
    return await withDatabase(
      config,
      async (db) => {
        const { host, port } = options;
        const pages = await openConsole({ config, db, host, log });
        try {
          const server = openServer();
          pages.add(server);
          const { url, close } = await listen(server, { host, port, command: 'console' });
          const address = `${url}${config.console.basePath}/`;
          output.emit({ event: 'listening', url: address });
          output.print(`Console at ${address}. Stop with Ctrl-C.`);
          if (options.open) await openBrowser(address);
          await untilAborted(stopping.signal);
          await close();
        } finally {
          await pages.close();
        }
      },
      { stopping, ...reading(output) },
    );
  } finally {
    stopping.ignore();
  }
}

async function printHash(output: Output): Promise<void> {
  const { text } = await import('node:stream/consumers');
  const { hashPassword } = await import('../../console/access/password.ts');
  const password = process.stdin.isTTY ? '' : (await text(process.stdin)).replace(/\r?\n$/, '');
  if (password.length < MIN_PASSWORD)
    throw usageError(
      `A password of at least ${MIN_PASSWORD} characters is needed on standard input.`,
      'For example:  openssl rand -base64 18 | tee password.txt | npx influencer-sync console --hash-password',
    );
  const hash = await hashPassword(password);
  output.emit({ event: 'password_hash', password_hash: hash });
  output.print(hash);
}

const MIN_PASSWORD = 12;

/** Opens the address in a browser. A failure is ignored because the address is printed too. */
async function openBrowser(url: string): Promise<void> {
  const { spawn } = await import('node:child_process');
  const [command, ...before] = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }[
    process.platform as string
  ] ?? ['xdg-open'];
  const child = spawn(command ?? 'xdg-open', [...before, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}

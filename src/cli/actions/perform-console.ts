import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { hashPassword } from '../../console/access/password.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { createLogger } from '../../monitoring/observe/logger.ts';
import { listen, openServer } from '../../monitoring/observe/start-observer.ts';
import type { ConsoleCommandOptions } from '../commands/console.ts';
import { openConfig, reading, withDatabase } from '../open/open-config.ts';
import { listenForStop, untilAborted } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';
import { usageError } from '../usage-error.ts';
import { openConsole } from './open-console.ts';

/**
 * Serves the console for a database, without running jobs, until SIGTERM or SIGINT.
 *
 * @throws KnownError `console_auth_missing`, `port_unusable` (exit 2), or an error about the database.
 */
export async function performConsole(output: Output, options: ConsoleCommandOptions): Promise<ExitCode> {
  if (options.hashPassword) return printHash(output);
  const config = await openConfig(options);
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
          if (options.open) openBrowser(address);
          await untilAborted(stopping.signal);
          await close();
        } finally {
          await pages.close();
        }
        return EXIT.ok;
      },
      { stopping, ...reading(output) },
    );
  } finally {
    stopping.ignore();
  }
}

async function printHash(output: Output): Promise<ExitCode> {
  const password = process.stdin.isTTY ? '' : (await text(process.stdin)).replace(/\r?\n$/, '');
  if (password.length < MIN_PASSWORD)
    throw usageError(
      `A password of at least ${MIN_PASSWORD} characters is needed on standard input.`,
      'For example:  openssl rand -base64 18 | tee password.txt | npx influencer-sync console --hash-password',
    );
  const hash = await hashPassword(password);
  output.emit({ event: 'password_hash', password_hash: hash });
  output.print(hash);
  return EXIT.ok;
}

const MIN_PASSWORD = 12;

/** Opens the address in a browser. A failure is ignored because the address is printed too. */
function openBrowser(url: string): void {
  const [command, ...before] = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }[
    process.platform as string
  ] ?? ['xdg-open'];
  const child = spawn(command ?? 'xdg-open', [...before, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}

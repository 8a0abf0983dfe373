import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { answersQueries } from './answers-queries.ts';
import { findFreePort } from './free-port.ts';
import { serverUser } from './guarded-folder.ts';
import { waitFor } from './wait-for.ts';

/** Folders in which packages install pgbouncer, in addition to PATH. PGBOUNCER names another location. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** The path of pgbouncer on this machine. Null if there is none. */
export function findPooler(): string | null {
  const { PGBOUNCER: named = '', PATH = '' } = process.env;
  const folders = [...PATH.split(delimiter), ...FOLDERS];
  const found = [named, ...folders.map((folder) => join(folder, 'pgbouncer'))];
  return found.find((path) => path !== '' && existsSync(path)) ?? null;
}

/**
 * Starts a pgbouncer in transaction mode in front of a database, with fewer server connections than clients,
 * so that each transaction may get a different one. It is stopped when the test ends.
 *
 * @returns the URL of the database through the pooler.
 */
export async function startPooler(binary: string, databaseUrl: string): Promise<string> {
  const target = new URL(databaseUrl);
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-pooler-'));
  // pgbouncer refuses to run as root, and its user must be able to read this folder.
  chmodSync(folder, 0o755);
  const password = target.password === '' ? '' : ` password=${decodeURIComponent(target.password)}`;
  const settings = [
    '[databases]',
    `* = host=${target.hostname} port=${target.port || 5432} user=${target.username}${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 3',
    'max_client_conn = 200',
    'server_idle_timeout = 1',
  ];
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `${settings.join('\n')}\n`);
  // A strict umask would restrict the mode that writeFileSync sets.
  chmodSync(file, 0o644);
  const child = spawn(binary, ['-q', file], {
    ...serverUser(),
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  await waitFor(async () => isOver(child) || (await answersQueries(url.href)));
  if (isOver(child)) throw new Error(`pgbouncer ended as it began: ${output}`);
  return url.href;
}

function isOver(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

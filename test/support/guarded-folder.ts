import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type ServerUser = { readonly uid: number; readonly gid: number };

/** "nobody" nearly everywhere. */
const NOBODY = 65_534;

/** Postgres refuses to run as root, and as a user without a name: as root it runs as `nobody`, or as any other that the machine knows. */
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
  /** Ends the database server in it, if one runs, and removes it. */
  remove(): Promise<void>;
};

/**
 * Waits until the pipe to its parent breaks, then ends the server of the folder and removes the folder. In a session of its own, so that
 * Ctrl-C reaches it as little as SIGKILL of its parent does.
 */
const GUARD = `
cat > /dev/null
read -r server < "$0/data/postmaster.pid" && kill -INT "$server" && while kill -0 "$server"; do sleep 0.05; done
rm -rf "$0"
`;

/** A temporary folder that goes when this process goes, however that ends: killed, too, it leaves neither files nor a server behind. */
export function makeGuardedFolder(): GuardedFolder {
  const path = makeReachableFolder();
  const guard = spawn('/bin/sh', ['-c', GUARD, path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  const pipe = guard.stdin;
  // A pipe is a socket with its own hold on the event loop.
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

/** The temporary folder that is set may be root's own; then one that everybody has. */
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

/** The shell goes there by itself: the working folder of a new process is entered before it becomes another user. */
function canEnter(path: string, user: ServerUser): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', path], { cwd: '/', ...user, stdio: 'ignore' }).status === 0;
}

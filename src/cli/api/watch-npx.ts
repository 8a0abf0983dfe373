import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

// `npx` starts a command through a shell: npx → sh → node. It forwards signals to the shell, which ends
// without forwarding them to node; and SIGKILL cannot be forwarded. So a script that knows only the pid of
// npx (`$!`) could not stop the command. Therefore the command watches the processes between npx and itself,
// and ends when one of them is gone.

const CHECK_EVERY_MS = 250;

/** npx, a shell, and possibly an older Node that started a newer one. */
const MAX_STEPS = 4;

const NPX = /\bnpm exec\b|\bnpx\b/;

/**
 * Resolves when the npx that started this process, or the shell between them, has ended. Never resolves if
 * npx did not start this process.
 */
export async function untilNpxEnds(env: NodeJS.ProcessEnv = process.env): Promise<void> {
  // If npx started another tool that started this process, that tool may want it to continue.
  const isByNpx = env.npm_lifecycle_event === 'npx' && /influencer-sync/.test(env.npm_lifecycle_script ?? '');
  const parent = process.ppid;
  const launchers = isByNpx ? await listLaunchers(parent) : [];
  return new Promise((resolve) => {
    if (!isByNpx) return;
    const timer = setInterval(() => {
      // A zombie parent still has its pid, but is no longer the parent of this process.
      if (process.ppid === parent && launchers.every(isAlive)) return;
      clearInterval(timer);
      resolve();
    }, CHECK_EVERY_MS);
    timer.unref();
  });
}

/**
 * Lists the processes from the parent up to npx. Empty if `ps` is not available, as in a minimal container;
 * the parent is watched in any case.
 */
async function listLaunchers(parent: number): Promise<readonly number[]> {
  const processes = await listProcesses();
  const found: number[] = [];
  for (let pid = parent; found.length < MAX_STEPS; ) {
    const one = processes.get(pid);
    if (one === undefined) return [];
    found.push(pid);
    if (NPX.test(one.command)) return found;
    pid = one.parent;
  }
  return [];
}

type Process = { readonly parent: number; readonly command: string };

async function listProcesses(): Promise<ReadonlyMap<number, Process>> {
  const listed = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args=']).catch(() => null);
  const lines = listed?.stdout.split('\n') ?? [];
  return new Map(
    lines.flatMap((line): [number, Process][] => {
      const [pid, parent, ...command] = line.trim().split(/\s+/);
      return pid === '' ? [] : [[Number(pid), { parent: Number(parent), command: command.join(' ') }]];
    }),
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

// `npx` starts a command through a shell: npx → sh → node. A signal that it gets it forwards to the shell, which ends without telling node;
// and of a SIGKILL nobody hears. Whoever has only the pid of npx (`$!` of a script) could then not stop the command. So the command watches
// those between npx and itself: once one of them is gone, nobody can stop it any more, and it ends.

const CHECK_EVERY_MS = 250;

/** npx, a shell, and perhaps an older Node that started a newer one. */
const MAX_STEPS = 4;

const NPX = /\bnpm exec\b|\bnpx\b/;

/** Resolves when npx started this process and has ended, or the shell between them. Never where something else started it. */
export async function untilNpxEnds(env: NodeJS.ProcessEnv = process.env): Promise<void> {
  // A tool that npx started, and that started this process in turn, may want it to go on.
  const isByNpx = env.npm_lifecycle_event === 'npx' && /influencer-sync/.test(env.npm_lifecycle_script ?? '');
  const parent = process.ppid;
  const launchers = isByNpx ? await listLaunchers(parent) : [];
  return new Promise((resolve) => {
    if (!isByNpx) return;
    const timer = setInterval(() => {
      // A parent that nobody has waited for still has its pid, but is no parent any more.
      if (process.ppid === parent && launchers.every(isAlive)) return;
      clearInterval(timer);
      resolve();
    }, CHECK_EVERY_MS);
    timer.unref();
  });
}

/** The processes from the parent up to npx. Where `ps` cannot tell, as in a minimal container: the parent, which is watched anyway. */
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

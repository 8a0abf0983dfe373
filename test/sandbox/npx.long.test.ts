import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

/** Starts the sandbox as a script does, which then knows only the pid of npx. */
async function startByNpx(): Promise<{ npx: ChildProcess; sandboxPid: number; url: string }> {
  // The variables that `npm test` adds would show that npm started this.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const npx = spawn('npx', ['--offline', 'influencer-sync', 'sandbox', '--port', '0'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    // A separate process group, like that of a command in a terminal.
    detached: true,
  });
  for await (const line of createInterface({ input: npx.stdout })) {
    const { url } = JSON.parse(line) as { url: string };
    const sandboxPid = sandboxBelow(npx.pid ?? 0);
    onTestFinished(() => {
      for (const pid of [npx.pid ?? 0, sandboxPid]) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    });
    return { npx, sandboxPid, url };
  }
  throw new Error('npx did not start the sandbox');
}

/** Returns the pid of the command, which runs below a shell below npx. */
function sandboxBelow(npx: number): number {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  const processes = lines.flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
  const below = new Set([npx]);
  for (let size = 0; size < below.size; ) {
    size = below.size;
    for (const { pid, parent } of processes) if (below.has(parent)) below.add(pid);
  }
  const found = processes.filter(({ pid, command }) => below.has(pid) && /^\S*node .*sandbox/.test(command));
  const [sandbox] = found;
  if (sandbox === undefined || found.length > 1) throw new Error('there is not one sandbox below npx');
  return sandbox.pid;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ['SIGTERM', 'npx alone', 1],
  ['SIGKILL', 'npx alone', 1],
  // As a terminal sends it. Sent to npx alone, it has no effect: the shell between npx and the command waits
  // for the command to end.
  ['SIGINT', 'its process group', -1],
] as const)(
  'no process of `npx influencer-sync sandbox` is left after %s to %s',
  async (signal, _whom, sign) => {
    const { npx, sandboxPid, url } = await startByNpx();
    expect((await fetch(`${url}/_sandbox/health`)).status).toBe(200);
    const ended = once(npx, 'exit');
    process.kill(sign * (npx.pid ?? 0), signal);
    await ended;
    await waitFor(() => !isRunning(sandboxPid), { timeoutMs: 20_000 });
    await expect(fetch(`${url}/_sandbox/health`)).rejects.toThrow();
  },
);

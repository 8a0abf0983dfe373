import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

/** Starts the sandbox as a script does, which then knows only the pid of npx. */
async function startByNpx(): Promise<{ npx: ChildProcess; group: number; url: string }> {
  // The variables that `npm test` adds would show that npm started this.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const npx = spawn('npx', ['--offline', 'influencer-sync', 'sandbox', '--port', '0'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    // A separate process group, like that of a command in a terminal: npx, its shell and the sandbox.
    detached: true,
  });
  await once(npx, 'spawn');
  const group = -(npx.pid ?? Number.NaN);
  onTestFinished(() => {
    if (isRunning(group)) process.kill(group, 'SIGKILL');
  });
  for await (const line of createInterface({ input: npx.stdout })) {
    const { url } = JSON.parse(line) as { url: string };
    return { npx, group, url };
  }
  throw new Error('npx did not start the sandbox');
}

/** Whether a process, or for a negative number any process of a group, is running. */
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
    const { npx, group, url } = await startByNpx();
    expect((await fetch(`${url}/_sandbox/health`)).status).toBe(200);
    const ended = once(npx, 'exit');
    process.kill(sign * (npx.pid ?? 0), signal);
    await ended;
    await waitFor(() => !isRunning(group), { timeoutMs: 20_000 });
    await expect(fetch(`${url}/_sandbox/health`)).rejects.toThrow();
  },
);

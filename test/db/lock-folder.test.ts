import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../src/core/exit-code.ts';
import { lockFolder } from '../../src/db/server/lock-folder.ts';
import { makeTestFolder } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

const MODULE = new URL('../../src/db/server/lock-folder.ts', import.meta.url).href;

let folder = '';
let note = '';
beforeEach(() => {
  folder = makeTestFolder();
  note = join(folder, 'lock.pid');
});

/** Returns a program that locks the folder and keeps the lock. */
function holding(): string {
  return `const { lockFolder } = await import(${JSON.stringify(MODULE)}); lockFolder(${JSON.stringify(folder)}); setInterval(() => {}, 60_000)`;
}

/** Starts another process that has locked the folder. */
async function holdElsewhere(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', holding()], { stdio: 'inherit' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await waitFor(() => existsSync(note));
  return child;
}

function expectInUse(pid: string): void {
  const details = {
    code: 'database_in_use',
    message: `Another process${pid} has the embedded database open.`,
    exitCode: EXIT.alreadyRunning,
    where: folder,
  };
  expect(() => lockFolder(folder)).toThrow(
    expect.objectContaining({ details: expect.objectContaining(details) }),
  );
}

function isFree(): boolean {
  try {
    lockFolder(folder)();
    return true;
  } catch {
    return false;
  }
}

it('a folder that another process has open is refused, and free once that process has ended', async () => {
  const child = await holdElsewhere();
  expectInUse(` (pid ${child.pid})`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const unlock = lockFolder(folder);
  expectInUse(` (pid ${process.pid})`);
  unlock();
  expect(existsSync(note)).toBe(false);
  lockFolder(folder)();
});

it('process IDs do not decide, because they mean nothing across containers', async () => {
  await holdElsewhere();
  for (const pid of [String(process.pid), '4194305']) {
    writeFileSync(note, pid);
    expectInUse(` (pid ${pid})`);
  }
  rmSync(note);
  expectInUse('');
});

it.skipIf(!existsSync('/proc/self/stat'))(
  'a process that has ended holds no lock, even if its parent has not reaped it',
  async () => {
    // The shell starts the holder and then becomes a program that never reaps its children.
    const parent = spawn('sh', ['-c', '"$@" & exec sleep 60', 'sh', process.execPath, '-e', holding()]);
    onTestFinished(() => void parent.kill('SIGKILL'));
    await waitFor(() => existsSync(note) && readFileSync(note, 'utf8') !== '');
    await waitFor(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
    const pid = Number(readFileSync(note, 'utf8'));
    process.kill(pid, 'SIGKILL');
    await waitFor(isFree);
    // The process releases the lock shortly before it exits and then stays as a zombie, because its parent
    // never reaps it.
    await waitFor(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '));
  },
);

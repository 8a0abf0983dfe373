import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockFolder } from '../../src/db/lock-folder.ts';
import { EXIT } from '../../src/model/exit-code.ts';
import { waitFor } from '../support/wait-for.ts';

const MODULE = new URL('../../src/db/lock-folder.ts', import.meta.url).href;

let folder = '';
let children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'influencer-sync-test-'));
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(folder, { recursive: true });
});

function start(command: string, ...args: string[]): ChildProcessByStdio<Writable, Readable, null> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

/** Another process that has taken the folder. */
async function holdElsewhere(): Promise<ChildProcess> {
  const program = `const { lockFolder } = await import(${JSON.stringify(MODULE)}); lockFolder(${JSON.stringify(folder)}); setInterval(() => {}, 60_000)`;
  const child = start(process.execPath, '--input-type=module', '--eval', program);
  await waitFor(async () => existsSync(join(folder, 'lock')));
  return child;
}

it('a folder that another process has open is refused, and free once that has given it back', async () => {
  const child = await holdElsewhere();
  const details = { code: 'database_in_use', exitCode: EXIT.alreadyRunning, where: folder };
  expect(() => lockFolder(folder)).toThrow(
    expect.objectContaining({ details: expect.objectContaining(details) }),
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  lockFolder(folder)();
  expect(existsSync(join(folder, 'lock'))).toBe(false);
});

it.skipIf(!existsSync('/proc/self/stat'))(
  'a process that has ended holds nothing, though nobody has taken note of its end',
  async () => {
    // The shell begins a process, becomes one that never asks for its end, and only then it ends.
    const parent = start('sh', '-c', 'exec 3<&0; cat <&3 & echo $!; exec sleep 60');
    const [line] = await once(parent.stdout, 'data');
    const pid = String(line).trim();
    await waitFor(async () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
    parent.stdin.end();
    await waitFor(async () => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '));
    writeFileSync(join(folder, 'lock'), pid);
    lockFolder(folder);
    expect(readFileSync(join(folder, 'lock'), 'utf8')).toBe(String(process.pid));
  },
);

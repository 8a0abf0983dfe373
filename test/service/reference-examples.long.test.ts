import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operationNames } from '../../src/service/contract.ts';
import { MAIN } from '../support/run-cli.ts';
import { startSandboxProcess } from '../support/sandbox-process.ts';

/** The test starts about two dozen processes in sequence, and the machine may be busy. */
const TIMEOUT_MS = 240_000;

it('every example of docs/operations.md works when they are run in order in a shell', {
  timeout: TIMEOUT_MS,
}, async () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const commands = [...page.matchAll(/^```bash\nnpx influencer-sync (.+) --env-file sandbox\.env\n```$/gm)];
  expect(commands.map(([, command = '']) => command.split(' ')[1])).toEqual(operationNames);
  const sandbox = await startSandboxProcess();
  const script = commands.map(([, command = '']) => `"$NODE" "$MAIN" ${command} --json`).join('\n');
  const { exitCode, stdout, stderr } = await runShell(script, {
    NODE: process.execPath,
    MAIN,
    INFLUENCER_API_URL: sandbox.url,
    INFLUENCER_API_KEY: sandbox.key,
  });
  expect(exitCode, stderr).toBe(0);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { operation: string });
  expect(events.map(({ operation }) => operation)).toEqual(operationNames);
});

function runShell(script: string, env: Readonly<Record<string, string>>) {
  const shell = spawn('/bin/sh', ['-eu', '-c', script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    shell[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  return new Promise<{ exitCode: number | null; stdout: string; stderr: string }>((resolve) =>
    shell.once('close', (exitCode) => resolve({ exitCode, ...output })),
  );
}

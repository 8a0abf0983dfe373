import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** What `npx influencer-sync` starts. */
export const MAIN = new URL('../../src/start.js', import.meta.url).pathname;

export type CliOptions = {
  readonly cwd?: string;
  /** Beside PATH, HOME and TMPDIR, which is all that it inherits: nothing of the developer's machine decides a test. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads from standard input; nothing when not given. */
  readonly input?: string;
  /** Another version's, for a test of both. */
  readonly program?: string;
};

export type CliResult = {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type CliProcess = {
  readonly pid: number;
  readonly ended: Promise<CliResult>;
  /** Whether the process is gone, whatever of its output is still to be read. */
  hasEnded(): boolean;
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
};

const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'LANG'];

/** What a command finds in its environment. */
export function environmentOf(env: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = INHERITED.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  return { ...Object.fromEntries(inherited), ...env };
}

/** Starts `influencer-sync <args>` as a real process; it is killed when the test has finished. */
export function startCli(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, input, program = MAIN }: CliOptions = {},
): CliProcess {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: environmentOf(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // One that reads nothing may be gone before.
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal, ...output }));
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return {
    pid: child.pid ?? 0,
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill: (signal) => child.kill(signal),
  };
}

/** Runs `influencer-sync <args>` to its end. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).ended;
}

/** What `--json` printed: one object a line, and nothing else. */
export function readEvents(result: { readonly stdout: string }): Record<string, unknown>[] {
  const lines = result.stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

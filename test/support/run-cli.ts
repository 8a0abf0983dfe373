import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';

/** The program that `npx influencer-sync` starts: that of the clone, or, for long tests, what is built of it. */
export const MAIN = inject('program');

export type CliOptions = {
  readonly cwd?: string;
  /**
   * Additional variables. The process inherits only PATH, HOME, TMPDIR and LANG, so that the developer's
   * machine does not affect a test. Its embedded ledgers leave nothing in the developer's home.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** Text for standard input. Empty if omitted. */
  readonly input?: string;
  /** The program of another version, for tests of both. */
  readonly program?: string;
};

export type CliResult = {
  /** Null if a signal ended the process. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type CliProcess = {
  readonly pid: number;
  readonly ended: Promise<CliResult>;
  /** Returns true if the process has ended, even if some of its output is still unread. */
  hasEnded(): boolean;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
};

const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'LANG'];

/** The environment of a command. */
export function environmentOf(env: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = INHERITED.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  return { ...Object.fromEntries(inherited), XDG_STATE_HOME: join(inject('suiteFolder'), 'state'), ...env };
}

/** Starts `influencer-sync <args>` as a real process. It is killed when the test ends. */
export function startCli(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, input, program = MAIN }: CliOptions = {},
): CliProcess {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: environmentOf(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A process that reads nothing may already have ended.
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

/** Runs `influencer-sync <args>` and waits until it ends. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).ended;
}

/** Parses the output of `--json`, which has one object per line and nothing else. */
export function readEvents(result: { readonly stdout: string }): Record<string, unknown>[] {
  const lines = result.stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

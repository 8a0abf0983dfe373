import { Writable } from 'node:stream';
import { runProgram } from '../../src/cli/program.ts';
import { replaceEnvironment } from './environment.ts';
import { type CliOptions, type CliResult, environmentOf, MAIN } from './run-cli.ts';

type HereOptions = Pick<CliOptions, 'cwd' | 'env'> & {
  /** Simulates a terminal with this width and without colours on standard output and standard error. */
  readonly columns?: number;
};

/** With standard output as bytes, for commands that write a file there. */
export type HereResult = CliResult & { readonly stdoutBytes: Buffer };

/**
 * Commands run one after the other in this process, because each needs the folder and environment of the
 * process for itself.
 */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs `influencer-sync <args>` in the process of the test, which saves the second of CPU time that a process
 * takes to start. A command that is stopped, killed, asked a question, or run in parallel with another one
 * needs its own process: `startCli`.
 */
export function runHere(args: readonly string[], options: HereOptions = {}): Promise<HereResult> {
  const result = last.then(() => runAlone(args, options));
  last = result.catch(() => {});
  return result;
}

async function runAlone(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, columns }: HereOptions,
): Promise<HereResult> {
  const before = { argv: process.argv, cwd: process.cwd() };
  const written: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  const collect = (stream: 'stdout' | 'stderr') => {
    const sink = new Writable({
      decodeStrings: false,
      write(text: string | Buffer, _encoding, done) {
        written[stream].push(Buffer.from(text));
        done();
      },
    });
    return Object.assign(
      sink,
      columns === undefined ? {} : { isTTY: true, columns, getColorDepth: () => 1 },
    ) as NodeJS.WriteStream;
  };
  const argv = [process.execPath, MAIN, ...args];
  process.chdir(cwd);
  const restore = replaceEnvironment(environmentOf(env));
  process.argv = argv;
  try {
    const exitCode = await runProgram({ argv, stdout: collect('stdout'), stderr: collect('stderr') });
    const [stdoutBytes, stderr] = [Buffer.concat(written.stdout), Buffer.concat(written.stderr).toString()];
    return { exitCode, signal: null, stdout: stdoutBytes.toString(), stderr, stdoutBytes };
  } finally {
    process.argv = before.argv;
    restore();
    process.chdir(before.cwd);
  }
}

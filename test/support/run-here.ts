import { Writable } from 'node:stream';
import { runProgram } from '../../src/cli/program.ts';
import { replaceEnvironment } from './environment.ts';
import { type CliOptions, type CliResult, environmentOf, MAIN } from './run-cli.ts';

type HereOptions = Pick<CliOptions, 'cwd' | 'env'> & {
  /** Simulates a terminal with this width and without colours on standard output and standard error. */
  readonly columns?: number;
};

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
export function runHere(args: readonly string[], options: HereOptions = {}): Promise<CliResult> {
  const result = last.then(() => runAlone(args, options));
  last = result.catch(() => {});
  return result;
}

async function runAlone(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, columns }: HereOptions,
): Promise<CliResult> {
  const before = { argv: process.argv, cwd: process.cwd() };
  const output = { stdout: '', stderr: '' };
  const collect = (stream: 'stdout' | 'stderr') => {
    const sink = new Writable({
      decodeStrings: false,
      write(text: string | Buffer, _encoding, done) {
        output[stream] += text.toString();
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
    return { exitCode, signal: null, ...output };
  } finally {
    process.argv = before.argv;
    restore();
    process.chdir(before.cwd);
  }
}

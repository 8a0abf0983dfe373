import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

/** What a program needed. */
export type Needed = {
  readonly seconds: number;
  /** Peak resident memory. NaN where there is no /proc. */
  readonly rssMb: number;
  readonly stdout: string;
};

const LOOK_EVERY_MS = 20;
/** A program that repeats what fails would otherwise never end. */
const LONGEST_MS = 30 * 60_000;

/**
 * Runs a program to its end, and measures its wall-clock time with its start, and its peak memory as Linux
 * states it.
 *
 * @throws Error with the end of its output if it fails, or takes longer than half an hour.
 */
export async function measureProcess(
  program: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): Promise<Needed> {
  const startedAt = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: LONGEST_MS, ...options });
  let rssMb = Number.NaN;
  const looking = setInterval(() => {
    rssMb = peakMb(child) ?? rssMb;
  }, LOOK_EVERY_MS);
  try {
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ]);
    if (exitCode !== 0)
      throw new Error(`${program} ended with ${exitCode}: ${(stderr + stdout).trim().slice(-2_000)}`);
    return { seconds: (performance.now() - startedAt) / 1000, rssMb, stdout };
  } finally {
    clearInterval(looking);
  }
}

/** The highest resident memory until now. Null if the process has ended. */
function peakMb({ pid }: ChildProcess): number | null {
  try {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return peak === undefined ? null : Math.round(Number(peak) / 1024);
  } catch {
    return null;
  }
}

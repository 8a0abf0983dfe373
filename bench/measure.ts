import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse';

/** One figure of a benchmark run. */
export type Measurement = {
  readonly name: string;
  readonly value: number;
  /** A ratio if omitted. */
  readonly unit?: 'MB' | 's' | 'ms' | '% of a core' | 'objects/s';
  readonly detail: string;
};

/** The resources that a separate process used. */
export type Measured = { readonly seconds: number; readonly cpuSeconds: number; readonly rssMb: number };

const READ_BYTES = 256 * 1024;

/**
 * Node settings of the Dockerfile and the systemd unit. A smaller heap for new objects saves a third of the
 * memory.
 */
export const DEPLOYED = { NODE_ENV: 'production', NODE_OPTIONS: '--max-semi-space-size=8' } as const;

/**
 * Runs a part of a benchmark in a separate process, which prints the result of `measureHere` as JSON.
 *
 * @param moduleUrl `import.meta.url` of the module to run.
 * @param settings environment of the process: `DEPLOYED` for our code, none for the code it is compared with.
 */
export function measureApart(
  moduleUrl: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Measured {
  const output = execFileSync(process.execPath, [fileURLToPath(moduleUrl), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...settings },
  });
  return JSON.parse(output) as Measured;
}

/** Measures the wall-clock time of some work, and the CPU time and peak memory of this whole process. */
export async function measureHere(work: () => Promise<void>): Promise<Measured> {
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage();
  return {
    seconds,
    cpuSeconds: (user + system) / 1e6,
    rssMb: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

/** The baseline for reading a file: csv-parse, without using its rows. */
export async function parseAlone(path: string): Promise<void> {
  for await (const _ of createReadStream(path, { highWaterMark: READ_BYTES }).pipe(parse()));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** Least and greatest of the values of several rounds: `0.51 to 0.60 in 5 rounds`. */
export function spreadOf(values: readonly number[], decimals = 2): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(decimals));
  return `${least} to ${most} in ${values.length} rounds`;
}

/** One round: what ours and its limit took, one right after the other, so that a slow machine slows both. */
export type Pair = {
  /** Above 1 if ours is faster. */
  readonly ratio: number;
  readonly ours: number;
  readonly limit: number;
};

/** A pair of rates, such as requests per second. */
export function pairOfRates(ours: number, limit: number): Pair {
  return { ratio: ours / limit, ours, limit };
}

/** A pair of times. */
export function pairOfSeconds(ours: number, limit: number): Pair {
  return { ratio: limit / ours, ours, limit };
}

/**
 * Describes pairs by the median of their ratios.
 *
 * @param units of ours and of the limit: `entries/s`, `requests/s`.
 */
export function describePairs(
  name: string,
  pairs: readonly Pair[],
  [oursUnit, limitUnit]: readonly [string, string],
): Measurement {
  const middle = (which: 'ours' | 'limit'): string => {
    const value = median(pairs.map((pair) => pair[which]));
    return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1);
  };
  const ratios = pairs.map(({ ratio }) => ratio);
  return {
    name,
    value: median(ratios),
    detail: `${spreadOf(ratios)}; ${middle('ours')} ${oursUnit} against ${middle('limit')} ${limitUnit}`,
  };
}

import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse';

/** One figure of a benchmark run. */
export type Measurement = {
  readonly name: string;
  readonly value: number;
  /** A ratio, unless it says otherwise. */
  readonly unit?: 'MB' | 's' | 'ms' | '% of a core';
  readonly detail: string;
};

/** What a process of its own took. */
export type Measured = { readonly seconds: number; readonly cpuSeconds: number; readonly rssMb: number };

const READ_BYTES = 256 * 1024;

/** How the Dockerfile and the systemd unit set Node: a smaller nursery for new objects takes a third less memory. */
export const DEPLOYED = { NODE_ENV: 'production', NODE_OPTIONS: '--max-semi-space-size=8' } as const;

/**
 * Runs a part of a benchmark in a process of its own, which prints what `measureHere` says as JSON.
 *
 * @param moduleUrl `import.meta.url` of the module that is run.
 * @param settings for its environment: `DEPLOYED` for what is ours, none for what it is measured against.
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

/** Wall clock of some work; CPU time and peak memory of this whole process. */
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

/** What reading a file is measured against: csv-parse, and nothing done with its rows. */
export async function parseAlone(path: string): Promise<void> {
  for await (const _ of createReadStream(path, { highWaterMark: READ_BYTES }).pipe(parse()));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

import { spawnSync } from 'node:child_process';
import { type Measurement, median } from './measure.ts';
import { commandLine } from './shop.ts';

/**
 * Measures the seconds from the start of the process to the end of `--help`. Omits the first run, which fills
 * the compile cache.
 */
export async function measureStart(runs: number): Promise<Measurement> {
  const seconds = Array.from({ length: runs + 1 }, () => {
    const startedAt = performance.now();
    const { status } = spawnSync(process.execPath, commandLine(['--help']), { stdio: 'ignore' });
    if (status !== 0) throw new Error(`--help ended with ${status}`);
    return (performance.now() - startedAt) / 1000;
  }).slice(1);
  return {
    name: 'start of --help',
    unit: 's',
    value: median(seconds),
    detail: `median of ${runs}, ${Math.max(...seconds).toFixed(2)} s at most`,
  };
}

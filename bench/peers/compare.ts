import type { Installed } from '../install.ts';
import { type Measurement, median, spreadOf } from '../measure.ts';

/** What one run of a contender took. */
export type Took = {
  readonly seconds: number;
  /** Peak memory of its process. NaN if unknown. */
  readonly rssMb: number;
};

/** A program that does the same work as ours, or a part of it. */
export type Contender = {
  readonly name: string;
  /** The program, or why it cannot be had. */
  readonly installed: Installed;
  readonly run: (program: string, round: number) => Promise<Took>;
};

/**
 * Runs our part and all contenders that can be had, in turn, several times. Tells which are skipped, and why.
 *
 * @returns for ours, its seconds; for each contender, its seconds ÷ ours in the same round, at the median.
 */
export async function compare(options: {
  readonly work: string;
  readonly rounds: number;
  readonly ours: (round: number) => Promise<Took>;
  readonly contenders: readonly Contender[];
}): Promise<readonly Measurement[]> {
  const { work, rounds, ours, contenders } = options;
  const present = contenders.flatMap(({ name, installed, run }) => {
    if ('path' in installed) return [{ name, run: (round: number) => run(installed.path, round) }];
    process.stderr.write(`${work}: ${name} is skipped, because ${installed.missing}.\n`);
    return [];
  });
  const all = [{ name: 'ours', run: ours }, ...present];
  const taken = new Map<string, Took[]>(all.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1)
    for (const { name, run } of all) taken.get(name)?.push(await run(round));
  const oursTook = taken.get('ours') ?? [];
  return all.map(({ name }): Measurement => {
    const took = taken.get(name) ?? [];
    const seconds = took.map((one) => one.seconds);
    if (name === 'ours')
      return {
        name: `${work}: ours`,
        unit: 's',
        value: median(seconds),
        detail: `${spreadOf(seconds)}${peakOf(took)}`,
      };
    const ratios = seconds.map((one, index) => one / (oursTook[index]?.seconds ?? Number.NaN));
    const detail = `${spreadOf(ratios)}; ${median(seconds).toFixed(2)} s${peakOf(took)}`;
    return { name: `${work}: ${name} ÷ ours`, value: median(ratios), detail };
  });
}

function peakOf(took: readonly Took[]): string {
  const rssMb = Math.max(...took.map((one) => one.rssMb));
  return Number.isNaN(rssMb) ? '' : `, peak ${rssMb} MB`;
}

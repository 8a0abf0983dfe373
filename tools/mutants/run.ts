/**
 * Puts small faults into the heart of the code, one at a time, and runs the tests nearby: a fault that they do not notice is a
 * sentence that the specification lacks. Works on a copy of this checkout, uncommitted changes included.
 *
 *     npm run test:mutants                              # a sample of 100 faults of the whole heart
 *     npm run test:mutants -- src/ledger --sample 60 --seed 2
 *     npm run test:mutants -- src/ledger/claim.ts --sample all
 *     npm run test:mutants -- src/ledger --list         # only lists the faults
 *
 * --tests N      test files at most for each fault (14): those of the mirrored folder first, then the nearest ones
 * --threshold P  exits with 1 if less than P percent are noticed (90)
 * --json         prints one JSON object: a count for each file, and the survivors
 *
 * Faults that change nothing are listed in equivalents.yaml, with the reason; they are not tried.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readModules } from '../../test/support/read-modules.ts';
import { readEquivalents } from './equivalents.ts';
import { findTests } from './find-tests.ts';
import { listMutants, type Mutant } from './list-mutants.ts';
import { sampleOf } from './sample.ts';
import { openTestRunner, type Stage, type TestRunner } from './test-runner.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

/** Where a fault costs money: what is posted, when, to whom, how much, and who is written to. */
const HEART = [
  'src/ledger',
  'src/delivery',
  'src/schedule',
  'src/model/money.ts',
  'src/earnings',
  'src/map/values',
  'src/map/customers',
  'src/intake/customers',
  'src/attribute',
];

type Tried = Mutant & {
  /** What noticed it; null if nothing did. */
  readonly noticedBy: string | null;
};

const { positionals, values: flags } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '14' },
    threshold: { type: 'string', default: '90' },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const paths = positionals.length > 0 ? positionals : HEART;
const files = paths.flatMap((path) => {
  const kind = statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (kind === undefined)
    throw new Error(`there is no ${path} in this checkout: name a folder or a file of src/ or jobs/`);
  return kind.isDirectory() ? globSync(`${path}/**/*.ts`, { cwd: ROOT }).sort() : [path];
});
const all = files.flatMap((file) => listMutants(file, readFileSync(join(ROOT, file), 'utf8')));
const { accepted, outdated } = readEquivalents(ROOT, all, files);
const possible = all.filter((mutant) => !accepted.has(mutant));
const chosen =
  flags.sample === 'all'
    ? possible
    : sampleOf(possible, { size: Number(flags.sample), seed: Number(flags.seed) });

function show({ file, line, change }: Mutant): string {
  return `${file}:${line}  ${change}`;
}

function say(text: string): void {
  (flags.json ? process.stderr : process.stdout).write(`${text}\n`);
}

/** A busy machine is not a hang. */
const SLACK_MS = 20_000;

/** How long the tests of other folders may take together: what the nearest ones do not notice, the others rarely do. */
const ELSEWHERE_MS = 20_000;

/**
 * The tests for each file, the quick ones first: those that mirror its folder, and then the others. Leaves out those that fail
 * without a fault.
 */
async function prepareStages(runner: TestRunner): Promise<ReadonlyMap<string, readonly Stage[]>> {
  const modules = readModules('src', 'jobs', 'test');
  const testsOf = new Map(
    chosen.map(({ file }) => [file, findTests(file, { modules, most: Number(flags.tests) })]),
  );
  const durations = new Map<string, number>();
  const tests = new Set([...testsOf.values()].flatMap(({ beside, elsewhere }) => [...beside, ...elsewhere]));
  for (const test of tests) {
    const { failed, durations: took } = await runner.run([test]);
    if (failed === null) durations.set(test, took[test] ?? 0);
    else say(`left out, because it fails without a fault: ${failed}`);
  }
  const timeOf = (test: string) => durations.get(test) ?? 0;
  const stageOf = (found: readonly string[], mostMs: number): readonly Stage[] => {
    let totalMs = 0;
    const taken = found.filter((test) => {
      if (totalMs + timeOf(test) > mostMs || !durations.has(test)) return false;
      totalMs += timeOf(test);
      return true;
    });
    const quickFirst = taken.sort((one, other) => timeOf(one) - timeOf(other));
    return taken.length === 0 ? [] : [{ tests: quickFirst, limitMs: SLACK_MS + 3 * totalMs }];
  };
  return new Map(
    [...testsOf].map(([file, { beside, elsewhere }]) => [
      file,
      [...stageOf(beside, Number.POSITIVE_INFINITY), ...stageOf(elsewhere, ELSEWHERE_MS)],
    ]),
  );
}

async function tryAll(runner: TestRunner): Promise<readonly Tried[]> {
  const stages = await prepareStages(runner);
  const tried: Tried[] = [];
  for (const mutant of chosen) {
    const begunAt = performance.now();
    const noticedBy = await runner.tryMutant(mutant, stages.get(mutant.file) ?? []);
    tried.push({ ...mutant, noticedBy });
    const seconds = Math.round((performance.now() - begunAt) / 1000);
    const result = noticedBy === null ? 'SURVIVED' : 'noticed ';
    say(`${tried.length}/${chosen.length} ${result} ${show(mutant)} (${seconds} s) ${noticedBy ?? ''}`);
  }
  return tried;
}

function countsOf(tried: readonly Tried[]) {
  return files.flatMap((file) => {
    const ofFile = tried.filter((mutant) => mutant.file === file);
    if (ofFile.length === 0) return [];
    const noticed = ofFile.filter(({ noticedBy }) => noticedBy !== null).length;
    return [{ file, tried: ofFile.length, noticed }];
  });
}

function report(tried: readonly Tried[]): number {
  const noticed = tried.filter(({ noticedBy }) => noticedBy !== null).length;
  const percent = tried.length === 0 ? 100 : (100 * noticed) / tried.length;
  const survivors = tried.filter(({ noticedBy }) => noticedBy === null);
  const counts = countsOf(tried);
  if (flags.json) {
    const { sample, seed } = flags;
    const sums = { faults: all.length, equivalent: accepted.size, tried: tried.length, noticed, percent };
    const listed = survivors.map(({ file, line, change }) => ({ file, line, change }));
    process.stdout.write(
      `${JSON.stringify({ paths, sample, seed, ...sums, files: counts, survivors: listed })}\n`,
    );
  } else {
    say('\n| File | Tried | Noticed |\n|---|---|---|');
    for (const one of counts) say(`| ${one.file} | ${one.tried} | ${one.noticed} |`);
    if (survivors.length > 0) say(`\nNo test noticed:\n${survivors.map(show).join('\n')}`);
    say(
      `\n${noticed} of ${tried.length} faults were noticed: ${percent.toFixed(1)} % (of ${all.length} possible; ${accepted.size} more change nothing)`,
    );
  }
  return percent;
}

for (const { file, change } of outdated)
  say(`equivalents.yaml names a fault that no longer exists: ${file}  ${change}`);
if (flags.list) {
  for (const mutant of chosen) say(show(mutant));
} else {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const runner = openTestRunner(ROOT);
  const stop = () => void runner.close().then(() => process.exit(130));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const percent = report(await tryAll(runner).finally(() => runner.close()));
  if (percent < Number(flags.threshold)) process.exitCode = 1;
}

/**
 * Puts small faults into the heart of the code, one at a time, and runs the tests nearby: a fault that they do not notice is a
 * sentence that the specification lacks. Works on a copy of this checkout, uncommitted changes included.
 *
 *     npm run test:mutants                              # a sample of 100 faults of the whole heart
 *     npm run test:mutants -- src/ledger --sample 60 --seed 2
 *     npm run test:mutants -- src/ledger/claim.ts --sample all
 *     npm run test:mutants -- src/ledger/claim.ts:79    # those of one line
 *     npm run test:mutants -- src/ledger --list         # only lists the faults
 *
 * --tests N      test files at most for each fault (14): those of the mirrored folder first (its long ones, too, if they end
 *                within 30 s without a fault), then the nearest ones
 * --beside       only the tests of the mirrored folder
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
import { findTests, isLong, withMigrations } from './find-tests.ts';
import { listMutants, type Mutant } from './list-mutants.ts';
import type { FileRun } from './run-tests-process.ts';
import { sampleOf } from './sample.ts';
import { openTestRunner, type Stage, type TestRunner } from './test-runner.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

/** Where a fault costs money: what is posted, when, to whom, how much, and who is written to. */
const HEART = [
  'src/ledger',
  'src/ops',
  'src/core/money.ts',
  'src/money',
  'src/intake/values',
  'src/intake/customers',
  'src/intake/orders',
  'src/codes',
  'jobs/attribute-orders',
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
    beside: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const paths = positionals.length > 0 ? positionals : HEART;
/** The lines that are asked for, by file; a file that is not in it is meant as a whole. */
const lines = new Map<string, number[]>();
const files = [...new Set(paths.flatMap(filesOf))];
const listed = files.flatMap((file) => listMutants(file, readFileSync(join(ROOT, file), 'utf8')));
const { accepted, outdated } = readEquivalents(ROOT, listed, files);
const all = listed.filter(({ file, line }) => lines.get(file)?.includes(line) !== false);
function filesOf(asked: string): readonly string[] {
  const [, path = asked, line] = /^(.*):(\d+)$/.exec(asked) ?? [];
  if (line !== undefined) lines.set(path, [...(lines.get(path) ?? []), Number(line)]);
  const kind = statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (kind === undefined)
    throw new Error(`there is no ${path} in this checkout: name a folder or a file of src/ or jobs/`);
  return kind.isDirectory() ? globSync(`${path}/**/*.ts`, { cwd: ROOT }).sort() : [path];
}
const possible = all.filter((mutant) => !accepted.has(mutant));
const chosen =
  flags.sample === 'all' || lines.size > 0
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

/** How long tests may take without a fault, however busy the machine is: a group of files, and each test. */
const BASELINE = { limitMs: 600_000, testTimeoutMs: 180_000 };

/** How long the tests of other folders may take together: what the nearest ones do not notice, the others rarely do. */
const ELSEWHERE_MS = 60_000;

/** How many test files are tried without a fault at a time. */
const BASELINE_FILES = 6;

/** Within what time a long test has to end without a fault, so that faults are shown to it. */
const LONG_MS = 30_000;

/** Runs the tests without a fault. Leaves out those that fail, and the long ones that are not quick enough. */
async function runBaseline(
  runner: TestRunner,
  tests: readonly string[],
): Promise<ReadonlyMap<string, FileRun>> {
  const passed = new Map<string, FileRun>();
  let left = [...tests.filter((test) => !isLong(test)), ...tests.filter(isLong)];
  while (left.length > 0) {
    const quick = left.filter((test) => !isLong(test)).slice(0, BASELINE_FILES);
    const group = quick.length > 0 ? quick : left.slice(0, 1);
    const limitMs = quick.length > 0 ? BASELINE.limitMs : LONG_MS;
    const answer = await runner.run(group, { ...BASELINE, limitMs, recordsCalls: true });
    if (answer === null && quick.length === 0) {
      say(`left out, because it takes longer than ${LONG_MS / 1000} s: ${group[0]}`);
      left = left.slice(1);
    } else if (answer === null)
      throw new Error(`${group.join(', ')}: no end without a fault; run them first`);
    else if (answer.failed === null) {
      for (const [test, run] of Object.entries(answer.files)) passed.set(test, run);
      left = left.slice(group.length);
    } else {
      say(`left out, because it fails without a fault: ${answer.failed}`);
      const failed = group.find((test) => answer.failed?.startsWith(test)) ?? group[0];
      left = left.filter((test) => test !== failed);
    }
    say(`${passed.size} of ${tests.length} test files have run without a fault`);
  }
  return passed;
}

/**
 * The tests for each fault: those that call the function around it, the quick ones first; those that mirror its folder, and then
 * the others.
 */
async function prepareStages(runner: TestRunner): Promise<(mutant: Mutant) => readonly Stage[]> {
  const modules = withMigrations(readModules('src', 'jobs', 'test'), {
    migrations: files.filter((file) => file.endsWith('.sql')),
    textOf: (path) => readFileSync(join(ROOT, path), 'utf8'),
  });
  const testsOf = new Map(
    chosen.map(({ file }) => {
      const { beside, elsewhere } = findTests(file, { modules, most: Number(flags.tests) });
      return [file, { beside, elsewhere: flags.beside && beside.length > 0 ? [] : elsewhere }];
    }),
  );
  const tests = new Set([...testsOf.values()].flatMap(({ beside, elsewhere }) => [...beside, ...elsewhere]));
  const runs = await runBaseline(runner, [...tests]);
  const timeOf = (test: string) => runs.get(test)?.durationMs ?? 0;
  const stageOf = ({ file, within }: Mutant, found: readonly string[], mostMs: number): readonly Stage[] => {
    let totalMs = 0;
    const taken = found.filter((test) => {
      const called = file.endsWith('.sql') ? [] : runs.get(test)?.calls[file];
      const isCalled = within === null ? called !== undefined : called?.includes(within) === true;
      if (!isCalled || totalMs + timeOf(test) > mostMs) return false;
      totalMs += timeOf(test);
      return true;
    });
    const quickFirst = taken.sort((one, other) => timeOf(one) - timeOf(other));
    const passed = taken.reduce((sum, test) => sum + (runs.get(test)?.passed ?? 0), 0);
    const slowestMs = Math.max(...taken.map((test) => runs.get(test)?.slowestMs ?? 0));
    const limits = { limitMs: SLACK_MS + 3 * totalMs, testTimeoutMs: SLACK_MS / 2 + 3 * slowestMs };
    return taken.length === 0 ? [] : [{ tests: quickFirst, passed, ...limits }];
  };
  return (mutant) => {
    const { beside, elsewhere } = testsOf.get(mutant.file) ?? { beside: [], elsewhere: [] };
    return [
      ...stageOf(mutant, beside, Number.POSITIVE_INFINITY),
      ...stageOf(mutant, elsewhere, ELSEWHERE_MS),
    ];
  };
}

/**
 * Tries a fault. If a test took too long, its file runs without the fault: if that does not pass in the same time either, the
 * machine was busy, and the fault is tried once more with more time. A fault that is still undecided counts as not noticed.
 */
async function tryFairly(
  runner: TestRunner,
  mutant: Mutant,
  stages: readonly Stage[],
): Promise<string | null> {
  for (const patience of [1, 4]) {
    const patient = stages.map(({ limitMs, testTimeoutMs, ...stage }) => ({
      ...stage,
      limitMs: patience * limitMs,
      testTimeoutMs: patience * testTimeoutMs,
    }));
    const { by, late } = await runner.tryMutant(mutant, patient);
    if (late === null) return by;
    const { tests, limitMs, testTimeoutMs } = late;
    const fair = await runner.run(tests, { limitMs, testTimeoutMs, recordsCalls: false });
    if (fair?.failed === null) return by;
    say(`the machine is busy: ${by}`);
  }
  return null;
}

async function tryAll(runner: TestRunner): Promise<readonly Tried[]> {
  const stagesOf = await prepareStages(runner);
  const tried: Tried[] = [];
  for (const mutant of chosen) {
    const begunAt = performance.now();
    const stages = stagesOf(mutant);
    const noticedBy = await tryFairly(runner, mutant, stages);
    tried.push({ ...mutant, noticedBy });
    const seconds = Math.round((performance.now() - begunAt) / 1000);
    const result = noticedBy === null ? 'SURVIVED' : 'noticed ';
    const by = noticedBy ?? (stages.length === 0 ? 'no test nearby calls it' : '');
    say(`${tried.length}/${chosen.length} ${result} ${show(mutant)} (${seconds} s) ${by}`);
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

/**
 * A process that runs test files of its folder whenever its parent asks, with one Postgres server for all: starting Vitest and a server
 * costs seconds, a fault that is noticed costs one. It ends with its parent.
 */
import { resolve } from 'node:path';
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node';
import type { Calls } from './record-calls.ts';

export type ToRun = {
  /** Paths from the root of the checkout, in the order in which to run them. */
  readonly tests: readonly string[];
  /** Files that have changed since the last request. */
  readonly changed: readonly string[];
  /** Whether to note which functions each file calls. */
  readonly recordsCalls: boolean;
};

export type HaveRun = {
  /** The first test that failed, or the file that could not be loaded. Null if all passed. */
  readonly failed: string | null;
  /** True if that test waited in vain: for something that a fault has removed, or for a busy machine. */
  readonly isLate: boolean;
  /** The files that have run to their end. */
  readonly files: Readonly<Record<string, FileRun>>;
};

export type FileRun = { readonly hasPassed: boolean; readonly durationMs: number; readonly calls: Calls };

/** How Vitest, `expect.poll` and `waitFor` say that they have waited long enough. */
const LATE = /timed out|in time|in vain/i;

/** A test of the project that waits this long waits for something that a fault has removed. */
const TEST_TIMEOUT_MS = 30_000;

/** Keeps the order of the request: the tests that most likely fail come first. */
class AsGiven extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

const vitest = await createVitest(
  {
    configLoader: 'runner',
    watch: false,
    bail: 1,
    reporters: [{}],
    maxWorkers: 2,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
  },
  { test: { sequence: { sequencer: AsGiven }, setupFiles: ['tools/mutants/record-calls.ts'] } },
);

async function run({ tests, changed, recordsCalls }: ToRun): Promise<HaveRun> {
  for (const file of changed) vitest.invalidateFile(resolve(file));
  const [project] = vitest.projects;
  project?.provide('recordsCalls', recordsCalls);
  const files = tests.flatMap((test) => project?.createSpecification(resolve(test)) ?? []);
  const result = await vitest.runTestSpecifications(files);
  // It also has what failed in earlier requests.
  const testModules = result.testModules.filter(({ relativeModuleId }) => tests.includes(relativeModuleId));
  const broken = testModules.find((module) => module.errors().length > 0);
  const [failed] = testModules.flatMap((module) => [...module.children.allTests('failed')]);
  const unhandled = result.unhandledErrors.length > 0 ? 'an unhandled error' : null;
  return {
    failed:
      failed === undefined
        ? (broken?.relativeModuleId ?? unhandled)
        : `${failed.module.relativeModuleId}: ${failed.fullName}`,
    isLate: failed?.result().errors?.some(({ message }) => LATE.test(message)) === true,
    files: Object.fromEntries(
      testModules.map((module) => [
        module.relativeModuleId,
        {
          hasPassed: module.state() === 'passed',
          durationMs: module.diagnostic().duration,
          calls: module.meta().calls ?? {},
        },
      ]),
    ),
  };
}

process.on('message', (request: ToRun) => {
  void run(request).then((answer) => process.send?.(answer));
});
process.once('disconnect', async () => {
  await vitest.close();
  process.exit();
});

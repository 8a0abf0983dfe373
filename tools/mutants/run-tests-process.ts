/**
 * A process that runs test files of its folder whenever its parent asks, with one Postgres server for all: starting Vitest and a server
 * costs seconds, a fault that is noticed costs one. It ends with its parent.
 */
import { resolve } from 'node:path';
import { BaseSequencer, createVitest, type TestModule, type TestSpecification } from 'vitest/node';
import type { Calls } from './record-calls.ts';

export type ToRun = {
  /** Paths from the root of the checkout, in the order in which to run them. */
  readonly tests: readonly string[];
  /** Files that have changed since the last request. */
  readonly changed: readonly string[];
  /** Whether to note which functions each file calls. */
  readonly recordsCalls: boolean;
  /** A test that waits this long waits for something that a fault has removed. */
  readonly testTimeoutMs: number;
};

export type HaveRun = {
  /** The first test that failed, or the file that could not be loaded. Null if all passed. */
  readonly failed: string | null;
  /** True if that test waited in vain: for something that a fault has removed, or for a busy machine. */
  readonly isLate: boolean;
  /** The files that have run to their end. */
  readonly files: Readonly<Record<string, FileRun>>;
};

export type FileRun = {
  /** How many of its tests have passed: fewer than without a fault if the run was cancelled. */
  readonly passed: number;
  readonly durationMs: number;
  /** The time that its slowest test took. */
  readonly slowestMs: number;
  readonly calls: Calls;
};

/** How Vitest, `expect.poll` and `waitFor` say that they have waited long enough. */
const LATE = /timed out|in time|in vain/i;

/** Keeps the order of the request: the tests that most likely fail come first. */
class AsGiven extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

/** The files of this request that have run; Vitest itself also keeps the results of earlier ones. */
let testModules: TestModule[] = [];

const vitest = await createVitest(
  {
    configLoader: 'runner',
    watch: false,
    bail: 1,
    reporters: [{ onTestModuleEnd: (module) => void testModules.push(module) }],
    // A second one would still send results, and cancel, when the next request runs.
    maxWorkers: 1,
  },
  { test: { sequence: { sequencer: AsGiven }, setupFiles: ['tools/mutants/record-calls.ts'] } },
);

async function run({ tests, changed, recordsCalls, testTimeoutMs }: ToRun): Promise<HaveRun> {
  for (const file of changed) vitest.invalidateFile(resolve(file));
  const [project] = vitest.projects;
  project?.provide('recordsCalls', recordsCalls);
  if (project !== undefined)
    Object.assign(project.config, { testTimeout: testTimeoutMs, hookTimeout: testTimeoutMs });
  const files = tests.flatMap((test) => project?.createSpecification(resolve(test)) ?? []);
  testModules = [];
  const result = await vitest.runTestSpecifications(files);
  await vitest.waitForTestRunEnd();
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
          passed: [...module.children.allTests('passed')].length,
          durationMs: module.diagnostic().duration,
          slowestMs: Math.max(
            0,
            ...[...module.children.allTests()].map((test) => test.diagnostic()?.duration ?? 0),
          ),
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

/**
 * A process that runs test files of its folder whenever its parent asks, with one Postgres server for all: starting Vitest and a server
 * costs seconds, a fault that is noticed costs one. It ends with its parent.
 */
import { resolve } from 'node:path';
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node';

export type ToRun = {
  /** Paths from the root of the checkout, in the order in which to run them. */
  readonly tests: readonly string[];
  /** A file that has changed since the last request; null if none has. */
  readonly changed: string | null;
};

export type HaveRun = {
  /** The first test that failed, or the file that could not be loaded. Null if all passed. */
  readonly failed: string | null;
  /** How long each file took, in milliseconds. */
  readonly durations: Readonly<Record<string, number>>;
};

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
  { test: { sequence: { sequencer: AsGiven } } },
);

async function run({ tests, changed }: ToRun): Promise<HaveRun> {
  if (changed !== null) vitest.invalidateFile(resolve(changed));
  const [project] = vitest.projects;
  const files = tests.flatMap((test) => project?.createSpecification(resolve(test)) ?? []);
  const result = await vitest.runTestSpecifications(files);
  // It also has what failed in earlier requests.
  const testModules = result.testModules.filter(({ relativeModuleId }) => tests.includes(relativeModuleId));
  const broken = testModules.find((module) => module.errors().length > 0);
  const [failed] = testModules.flatMap((module) =>
    [...module.children.allTests('failed')].map((test) => `${module.relativeModuleId}: ${test.fullName}`),
  );
  const durations = testModules.map(
    (module) => [module.relativeModuleId, module.diagnostic().duration] as const,
  );
  const unhandled = result.unhandledErrors.length > 0 ? 'an unhandled error' : null;
  return {
    failed: failed ?? broken?.relativeModuleId ?? unhandled,
    durations: Object.fromEntries(durations),
  };
}

process.on('message', (request: ToRun) => {
  void run(request).then((answer) => process.send?.(answer));
});
process.once('disconnect', async () => {
  await vitest.close();
  process.exit();
});

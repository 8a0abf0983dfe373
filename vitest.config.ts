import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { checkRowsPlugin } from './test/support/check-rows/plugin.ts';
import { ensureHome, isWritable } from './test/support/temporary-folder.ts';

ensureHome();

/** The documents' commands run one after the other, for longer than any other file: begun last, they would run alone at the end. */
class DocumentsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isOfDocuments = ({ moduleId }: TestSpecification) =>
      /\/test\/documents\/[^/]+\.long\.test\.ts$/.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isOfDocuments), ...sorted.filter((file) => !isOfDocuments(file))];
  }
}

const LONG = 'test/**/*.long.test.ts';

/** `npm test`, and with `--mode long` the files of `npm run test:long`. */
export default defineConfig(({ mode }) => ({
  plugins: [checkRowsPlugin()],
  test: {
    include: [mode === 'long' ? LONG : 'test/**/*.test.ts'],
    exclude: mode === 'long' ? [] : [LONG],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/each-file.ts',
    // A process of its own for each file would load the packages 213 times: a quarter of the time.
    isolate: false,
    sequence: { sequencer: DocumentsFirst },
    // A test may start a dozen processes on a busy machine. Campaigns raise the limit (`.ci/campaigns`).
    testTimeout: mode === 'long' ? 600_000 : 180_000,
    hookTimeout: mode === 'long' ? 600_000 : 180_000,
    // On two cores: two files at a time would leave a seventh of them unused; long tests wait for leases and timeouts as well. With
    // five of these, some waits of a test are over before what it waits for has its turn.
    maxWorkers: mode === 'long' ? 4 : 3,
    // Hundreds of files in one process leave much young garbage: with V8's 16 MB for it, a ninth of the CPU went into collecting it.
    execArgv: ['--max-semi-space-size=64'],
    // It lies in node_modules, which may be another user's.
    fsModuleCache: isWritable(() => fileURLToPath(new URL('node_modules', import.meta.url))),
  },
}));

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ensureHome, isWritable } from './test/support/temporary-folder.ts';

ensureHome();

/** The documents' commands run one after the other, for longer than any other file: begun last, they would run alone at the end. */
class DocumentsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isOfDocuments = ({ moduleId }: TestSpecification) => moduleId.endsWith('/test/readme.test.ts');
    const sorted = await super.sort(files);
    return [...sorted.filter(isOfDocuments), ...sorted.filter((file) => !isOfDocuments(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    sequence: { sequencer: DocumentsFirst },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // On two cores: two files at a time would leave a seventh of them unused.
    maxWorkers: 3,
    // It lies in node_modules, which may be another user's.
    fsModuleCache: isWritable(() => fileURLToPath(new URL('node_modules', import.meta.url))),
  },
});

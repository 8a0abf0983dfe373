import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ensureHome, isWritable } from './test/support/temporary-folder.ts';

ensureHome();

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // On two cores: two files at a time would leave a seventh of them unused.
    maxWorkers: 3,
    // It lies in node_modules, which may be another user's.
    fsModuleCache: isWritable(() => fileURLToPath(new URL('node_modules', import.meta.url))),
  },
});

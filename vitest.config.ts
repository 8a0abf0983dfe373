import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // On two cores: two files at a time would leave a seventh of them unused.
    maxWorkers: 3,
  },
});

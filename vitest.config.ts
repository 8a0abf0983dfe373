import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // On two cores: with two of them a seventh of the time passes in waiting, with four they only wait for each other.
    maxWorkers: 3,
  },
});

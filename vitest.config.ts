import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two cores: more would only wait for each other, and for Postgres.
    maxWorkers: 2,
  },
});

import { afterAll } from 'vitest';
import './check-rows/check-rows.ts';
import { replaceEnvironment } from './environment.ts';

/*
 * Test files share a process, so that imported modules are loaded once. Each file restores the environment
 * and the working folder.
 */
const before = { env: { ...process.env }, cwd: process.cwd() };

afterAll(() => {
  replaceEnvironment(before.env);
  process.chdir(before.cwd);
});

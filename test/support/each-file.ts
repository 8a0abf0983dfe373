import { afterAll } from 'vitest';
import { replaceEnvironment } from './environment.ts';

/*
 * Files of tests share a process, so that what they import is loaded once. Each leaves the environment and the folder as it found them.
 */
const before = { env: { ...process.env }, cwd: process.cwd() };

afterAll(() => {
  replaceEnvironment(before.env);
  process.chdir(before.cwd);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findJob, loadConfig } from '../../jobs/index.ts';
import { KnownError } from '../../src/core/known-error.ts';
import { makeTestFolder } from '../support/setup.ts';

function load(text: string) {
  const path = join(makeTestFolder(), 'pipeline.yaml');
  writeFileSync(path, text);
  return loadConfig(path, {});
}

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'a job that nobody configured is unknown, even %s',
  (name) => {
    const config = load('sources: {}\njobs:\n  account: {kind: mirror-account}\n');
    const find = () => findJob(config, name);
    expect(find).toThrow(KnownError);
    expect(find).toThrow(`There is no job "${name}"`);
  },
);

test('constructor is a name like any other, and __proto__ is refused instead of being left out', () => {
  const text = (name: string) => `sources: {}\njobs:\n  ${name}: {kind: mirror-account}\n`;
  expect(findJob(load(text('constructor')), 'constructor').job.name).toBe('constructor');
  const refused = () => load(text('__proto__'));
  expect(refused).toThrow(KnownError);
  try {
    refused();
  } catch (error) {
    expect(JSON.stringify((error as KnownError).details.problems)).toContain('__proto__\\" cannot be a name');
  }
});

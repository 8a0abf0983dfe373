import { chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { findConfig, requireConfigPath } from '../../../src/cli/open/find-config.ts';
import { KnownError } from '../../../src/core/known-error.ts';
import { packageFile } from '../../../src/core/package.ts';
import { makeTestFolder } from '../../support/setup.ts';

/** Writes files, empty but for what is given, and returns their folder. */
function lay(...files: readonly string[]): string {
  const folder = makeTestFolder();
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), file.endsWith('package.json') ? '{"name": "influencer-sync"}' : '');
  }
  return folder;
}

describe('a command takes', () => {
  test('what --config names, then what INFLUENCER_SYNC_CONFIG names, even if it does not exist', () => {
    const folder = lay('pipeline.yaml');
    const env = { INFLUENCER_SYNC_CONFIG: 'other.yaml' };
    expect(findConfig('named.yaml', env, folder)).toMatchObject({ path: 'named.yaml', isNamed: true });
    expect(findConfig(undefined, env, folder)).toMatchObject({ path: 'other.yaml', isNamed: true });
    const blank = findConfig(undefined, { INFLUENCER_SYNC_CONFIG: '' }, folder);
    expect(blank).toMatchObject({ path: join(folder, 'pipeline.yaml'), isNamed: false });
  });

  test('else the nearest file, in a folder before its config/, and a folder before those above it', () => {
    const folder = lay(
      'pipeline.yaml',
      'shop/config/pipeline.yaml',
      'shop/deep/er/exports.csv',
      'both/pipeline.yaml',
      'both/config/pipeline.yaml',
    );
    mkdirSync(join(folder, 'deep/pipeline.yaml'), { recursive: true });
    const foundIn = (below: string) => findConfig(undefined, {}, join(folder, below)).path;
    expect(foundIn('shop')).toBe(join(folder, 'shop/config/pipeline.yaml'));
    expect(foundIn('shop/deep/er')).toBe(join(folder, 'shop/config/pipeline.yaml'));
    expect(foundIn('both')).toBe(join(folder, 'both/pipeline.yaml'));
    expect(foundIn('deep')).toBe(join(folder, 'pipeline.yaml'));
  });

  test('a file that cannot be read, rather than another one above it', () => {
    const folder = lay('pipeline.yaml', 'shop/exports.csv');
    symlinkSync('gone.yaml', join(folder, 'shop/pipeline.yaml'));
    expect(findConfig(undefined, {}, join(folder, 'shop')).path).toBe(join(folder, 'shop/pipeline.yaml'));
  });
});

describe('no command takes by itself', () => {
  test('the sample of this clone, of another one, or of an installed package, nor the demo, nor a link to it', () => {
    const folder = lay(
      'clone/package.json',
      'clone/config/pipeline.yaml',
      'clone/config/demo/pipeline.yaml',
      'clone/my-shop/exports.csv',
    );
    symlinkSync(join(folder, 'clone/config/pipeline.yaml'), join(folder, 'clone/my-shop/pipeline.yaml'));
    for (const below of ['clone', 'clone/config', 'clone/config/demo', 'clone/my-shop']) {
      const { path, passedOver } = findConfig(undefined, {}, join(folder, below));
      expect(path, below).toBeNull();
      expect(passedOver[0]?.message, below).toMatch(/^It is a sample that comes with influencer-sync/);
    }
    const { passedOver } = findConfig(undefined, {}, fileURLToPath(packageFile('.')));
    expect(passedOver.map(({ where, help }) => [where, help])).toContainEqual([
      'config/pipeline.yaml',
      'If it is yours, name it:  --config config/pipeline.yaml',
    ]);
    writeFileSync(join(folder, 'pipeline.yaml'), '');
    expect(findConfig(undefined, {}, join(folder, 'clone')).path).toBe(join(folder, 'pipeline.yaml'));
  });

  test.runIf(process.getuid?.() === 0)('a file of another user above the current folder', () => {
    const folder = lay('pipeline.yaml', 'shop/exports.csv');
    chownSync(join(folder, 'pipeline.yaml'), 12_345, 12_345);
    const { path, passedOver } = findConfig(undefined, {}, join(folder, 'shop'));
    expect([path, passedOver[0]?.message]).toEqual([
      null,
      'It belongs to another user, so no command takes it by itself.',
    ]);
    expect(findConfig(undefined, {}, folder).path).toBe(join(folder, 'pipeline.yaml'));
  });
});

test('an error says where a command looked, and what to type', () => {
  const folder = lay('shop/exports.csv');
  const search = findConfig(undefined, {}, join(folder, 'shop'));
  expect(() => requireConfigPath(search)).toThrow(KnownError);
  try {
    requireConfigPath(search);
  } catch (error) {
    const { help } = (error as KnownError).details;
    expect(help).toContain(`pipeline.yaml and config/pipeline.yaml in ${join(folder, 'shop')}, ${folder}, `);
    expect(help).toContain('npx influencer-sync init ./exports');
    expect(help).toContain('npx influencer-sync demo');
  }
});

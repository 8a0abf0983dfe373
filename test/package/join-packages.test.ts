import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { joinPackages } from '../../tools/package/join-packages.ts';

const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  dependencies: { commander: string };
};

it.each([
  [
    'the joined files are used if the version is installed that they were made of',
    dependencies.commander,
    'function',
  ],
  ['another installed version is used itself, so that a correction has an effect', '99.0.0', 'installed'],
])('%s', async (_, version, kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-join-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const installed = join(folder, 'node_modules', 'commander');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), JSON.stringify({ version, main: 'index.js' }));
  writeFileSync(join(installed, 'index.js'), "exports.Command = 'installed';");
  await joinPackages(['commander'], join(folder, 'joined'));
  writeFileSync(join(folder, 'joined', 'package.json'), '{"type": "module"}');
  const { Command } = (await import(join(folder, 'joined', 'commander.js'))) as { Command: unknown };
  expect(typeof Command === 'function' ? 'function' : Command).toBe(kind);
  expect(readFileSync(join(folder, 'joined', 'commander.LICENSE'), 'utf8')).toContain('MIT License');
});

it('a package with dependencies is refused, since its version does not tell theirs', async () => {
  await expect(joinPackages(['pg'], tmpdir())).rejects.toThrow('pg cannot be joined: it depends on');
});

it('the joined files contain only characters of one byte, and say the same', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-join-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await joinPackages(['zod'], folder);
  expect(readFileSync(join(folder, 'zod.cjs'), 'utf8')).not.toMatch(/[\u0100-\uffff]/);
  const joined = createRequire(import.meta.url)(join(folder, 'zod.cjs')) as typeof import('zod');
  const issue = { code: 'invalid_type', expected: 'string', input: 1 } as const;
  for (const language of ['ja', 'ru', 'he'] as const)
    expect(joined.z.locales[language]().localeError(issue)).toEqual(z.locales[language]().localeError(issue));
});

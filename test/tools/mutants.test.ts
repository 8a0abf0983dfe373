import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { readEquivalents } from '../../tools/mutants/equivalents.ts';
import { findTests, withMigrations } from '../../tools/mutants/find-tests.ts';
import { listMutants } from '../../tools/mutants/list-mutants.ts';
import { sampleOf } from '../../tools/mutants/sample.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

const load = (path: string, ...loads: readonly string[]) => ({ path, loads, loadsLater: [] });

it('a fault is shown to the tests of the mirrored folder first, its long ones last, and then to the nearest ones that load its module', () => {
  const modules = [
    load('src/ledger/claim.ts'),
    load('src/runs/post.ts', 'src/ledger/claim.ts'),
    load('src/cli/run.ts', 'src/runs/post.ts'),
    load('test/ledger/story.ts', 'src/cli/run.ts'),
    load('test/ledger/story.test.ts', 'test/ledger/story.ts'),
    load('test/ledger/claim.test.ts', 'src/ledger/claim.ts'),
    load('test/ledger/claim.long.test.ts', 'src/ledger/claim.ts'),
    load('test/ledger/other.test.ts', 'src/ledger/record.ts'),
    load('test/cli/run.test.ts', 'src/cli/run.ts'),
    load('test/runs/post.test.ts', 'src/runs/post.ts'),
    load('test/runs/post.long.test.ts', 'src/runs/post.ts'),
  ];
  expect(findTests('src/ledger/claim.ts', { modules, most: 9 })).toEqual({
    beside: ['test/ledger/claim.test.ts', 'test/ledger/story.test.ts', 'test/ledger/claim.long.test.ts'],
    elsewhere: ['test/runs/post.test.ts', 'test/cli/run.test.ts'],
  });
  expect(findTests('src/ledger/claim.ts', { modules, most: 4 }).elsewhere).toEqual([
    'test/runs/post.test.ts',
  ]);
});

it('a module in a folder without tests is shown to those of the folder around it, and an import() counts too', () => {
  const modules = [
    load('src/ledger/continuity/mark.ts'),
    { ...load('src/ledger/open.ts'), loadsLater: ['src/ledger/continuity/mark.ts'] },
    load('test/ledger/open.test.ts', 'src/ledger/open.ts'),
  ];
  expect(findTests('src/ledger/continuity/mark.ts', { modules, most: 9 }).beside).toEqual([
    'test/ledger/open.test.ts',
  ]);
});

it('a migration is shown to the tests that name a table or a view of it, and then to those that load a module which does', () => {
  const texts: Record<string, string> = {
    'sql/migrations/0001_one.sql': 'create or replace view intake.states as\nselect a from intake.other;',
    'src/intake/read.ts': 'select from intake.states',
    'src/intake/write.ts': 'select from intake.other',
    'test/intake/read.test.ts': '',
    'test/intake/write.test.ts': '',
    'test/bi/states.test.ts': 'intake.states',
  };
  const modules = withMigrations(
    [
      load('src/intake/read.ts'),
      load('src/intake/write.ts'),
      load('test/intake/read.test.ts', 'src/intake/read.ts'),
      load('test/intake/write.test.ts', 'src/intake/write.ts'),
      load('test/bi/states.test.ts'),
    ],
    { migrations: ['sql/migrations/0001_one.sql'], textOf: (path) => texts[path] ?? '' },
  );
  expect(findTests('sql/migrations/0001_one.sql', { modules, most: 9 })).toEqual({
    beside: [],
    elsewhere: ['test/bi/states.test.ts', 'test/intake/read.test.ts'],
  });
});

it('a sample is the same for the same seed, and keeps the order', () => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  const sample = sampleOf(items, { size: 10, seed: 1 });
  expect(sample).toHaveLength(10);
  expect(new Set(sample).size).toBe(10);
  expect(sample).toEqual(sample.toSorted((one, other) => one - other));
  expect(sampleOf(items, { size: 10, seed: 1 })).toEqual(sample);
  expect(sampleOf(items, { size: 10, seed: 2 })).not.toEqual(sample);
  expect(sampleOf(items, { size: 1_000, seed: 1 })).toEqual(items);
});

it('each fault that equivalents.yaml accepts still exists, and says why it changes nothing', () => {
  const listed = parse(readFileSync(`${ROOT}tools/mutants/equivalents.yaml`, 'utf8')) as { file: string }[];
  const files = [...new Set(listed.map(({ file }) => file))];
  const mutants = files.flatMap((file) => listMutants(file, readFileSync(ROOT + file, 'utf8')));
  const { accepted, outdated } = readEquivalents(ROOT, mutants, files);
  expect(outdated).toEqual([]);
  expect(accepted.size).toBeGreaterThanOrEqual(listed.length);
});

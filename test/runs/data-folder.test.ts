import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { manyRows, openWorkshop, toCsv } from './workshop.ts';

it('a data folder that cannot be used is no bug: the run says which path, why, and how to fix it', async () => {
  const shop = await openWorkshop();
  shop.drop('1.csv', toCsv(manyRows(2)));
  const data = join(shop.folder, '.data');
  const journal = join(data, 'journal');
  const breaks: readonly (readonly [() => void, RegExp])[] = [
    [() => writeFileSync(data, ''), /ENOTDIR|EEXIST/],
    [
      () => {
        mkdirSync(data);
        writeFileSync(journal, '');
      },
      /ENOTDIR|EEXIST/,
    ],
  ];
  for (const [spoil, code] of breaks) {
    rmSync(data, { recursive: true, force: true });
    spoil();
    const run = await shop.cli('run', 'orders');
    expect([run.exitCode, run.stderr.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('The data folder cannot be used: a file is where a folder must be'),
    ]);
    expect(run.stderr).toMatch(code);
    expect(run.stderr).toContain('.data');
    expect(run.stderr).not.toContain('bug');
  }
  expect(await shop.posted()).toEqual([]);
  rmSync(data, { recursive: true, force: true });
  expect((await shop.run()).exitCode).toBe(0);
});

it.each(['status', 'review', 'run'])(
  'a journal that is a folder, or whose folder is a file, is no bug for %s',
  async (command) => {
    const shop = await openWorkshop();
    shop.drop('1.csv', toCsv(manyRows(2)));
    expect((await shop.run()).exitCode).toBe(0);
    const journal = join(shop.folder, '.data', 'journal');
    rmSync(journal, { recursive: true });
    const spoilt = [
      () => writeFileSync(journal, ''),
      () => mkdirSync(join(journal, '00000000-0000000000000001-00000000.ndjson'), { recursive: true }),
    ];
    for (const spoil of spoilt) {
      rmSync(journal, { recursive: true, force: true });
      spoil();
      const ended = await shop.cli(command, ...(command === 'run' ? ['orders'] : []));
      const text = ended.stderr.replace(/\s+/g, ' ');
      expect([ended.exitCode, text]).toEqual([2, expect.stringContaining('The data folder cannot be used')]);
      expect(text).toContain('journal');
      expect(text).toContain('INFLUENCER_SYNC_DATA');
      expect(text).not.toMatch(/bug|\bat .*\.ts:/);
    }
  },
);

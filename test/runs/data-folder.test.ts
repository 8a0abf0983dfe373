import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
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

it.each([
  ['is a file', (path: string) => writeFileSync(path, '')],
  ['has a folder where the id of the machine must be', (path: string) => mkdirSync(join(path, 'machine'))],
])('nothing is posted if the folder of journals %s', async (_what, spoil) => {
  const shop = await openWorkshop();
  shop.drop('1.csv', toCsv(manyRows(2)));
  const journal = join(shop.folder, '.data', 'journal');
  mkdirSync(_what === 'is a file' ? join(journal, '..') : journal, { recursive: true });
  spoil(journal);
  const run = await shop.cli('run', 'orders');
  expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining('The data folder cannot be used')]);
  expect(run.stderr).not.toContain('bug');
  expect(await shop.posted()).toEqual([]);
});

it('a mark in a folder that cannot be used stops the run before it posts, with the path and what to do', async () => {
  const shop = await openWorkshop({ markUri: './mark' });
  shop.drop('1.csv', toCsv(manyRows(2)));
  shop.write('mark', 'a file');
  for (const [exitCode, ...command] of [
    [2, 'run', 'orders'],
    [0, 'review'],
  ] as const) {
    const ended = await shop.cli(...command);
    const text = ended.stderr.replace(/\s+/g, ' ');
    expect([ended.exitCode, text]).toEqual([
      exitCode,
      expect.stringContaining('The mark of the ledger cannot be read.'),
    ]);
    expect(text).toContain('a file is where a folder must be (ENOTDIR)');
    expect(text).toContain('Let the user of influencer-sync write to the folder of ledger.mark_uri');
    expect(text).not.toMatch(/bug|s3:|\bat .*\.ts:/);
  }
  expect(await shop.posted()).toEqual([]);
});

/** Mounts a file system of 64 kB there. */
function mount(folder: string, options: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=64k${options}`, 'tmpfs', folder]).status === 0;
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'mount-'));
  const isMounted = mount(folder, '') && spawnSync('umount', [folder]).status === 0;
  rmdirSync(folder);
  return isMounted;
}

// Only the administrator may mount, and may write everywhere else.
it.skipIf(!canMount()).each([
  ['full', '', 'its file system is full'],
  ['read-only', ',ro', 'it is absent and cannot be created'],
])(
  'a data folder on a %s file system stops the run before it claims an order',
  async (_what, options, why) => {
    const shop = await openWorkshop();
    shop.drop('1.csv', toCsv(manyRows(2)));
    const data = join(shop.folder, '.data');
    mkdirSync(data, { recursive: true });
    expect(mount(data, options)).toBe(true);
    onTestFinished(() => void spawnSync('umount', [data]));
    if (options === '') {
      mkdirSync(join(data, 'journal'));
      const { bfree, bsize } = statfsSync(data);
      writeFileSync(join(data, 'large'), Buffer.alloc(bfree * bsize));
    }
    const run = await shop.cli('run', 'orders');
    expect([run.exitCode, run.stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(why)]);
    expect(run.stderr).toContain('.data');
    expect(run.stderr).not.toContain('bug');
    expect(await shop.posted()).toEqual([]);
    expect(await shop.db.selectFrom('ledger.attempts').select('entry_id').execute()).toEqual([]);
  },
);

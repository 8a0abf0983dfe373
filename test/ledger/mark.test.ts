import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { KnownError } from '../../src/core/known-error.ts';
import type { FileStore } from '../../src/core/source.ts';
import { closedName, partName } from '../../src/ledger/continuity/journal-names.ts';
import { createMark } from '../../src/ledger/continuity/mark.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { makeTestFolder } from '../support/setup.ts';

const [LEDGER, OTHER] = ['aaaaaaaa-0000-4000-8000-000000000000', 'bbbbbbbb-0000-4000-8000-000000000000'];
const NOW = new Date('2026-05-01T10:00Z');
const daysAgo = (days: number) => new Date(NOW.getTime() - days * 86_400_000);

/** A mark whose store is a map, and the journals of this machine. */
function openMark(contents: Readonly<Record<string, Date>> = {}) {
  const files = new Map(Object.entries(contents));
  const journals = join(makeTestFolder(), 'journals');
  mkdirSync(journals);
  let closings = 0;
  let failure: Error | null = null;
  let isRefused = false;
  const answer = async <Of>(work: () => Of): Promise<Of> => {
    if (failure !== null) throw failure;
    return work();
  };
  const put = (name: string) => answer(() => void files.set(name, NOW));
  const store: FileStore = {
    list: () => answer(() => [...files].map(([name, modifiedAt]) => ({ name, modifiedAt }))),
    download: (name, path) =>
      isRefused ? Promise.reject(new Error('access denied')) : answer(() => writeFileSync(path, name)),
    write: put,
    upload: put,
    remove: (name) => answer(() => void files.delete(name)),
    close() {
      closings += 1;
    },
  };
  return {
    mark: createMark({ store, uri: 's3://mark', journals }),
    journals,
    names: () => [...files.keys()].sort(),
    closings: () => closings,
    refuse: () => {
      isRefused = true;
    },
    fail: () => {
      failure = new Error('no access');
    },
  };
}

it('a closed journal replaces the noted claims of its process, and of no other', async () => {
  const [owner, other] = [randomUUID(), randomUUID()];
  const { mark, names, closings } = openMark({ 'readme.txt': NOW });
  for (const [process, newest] of [
    [owner, '1'],
    [owner, '2'],
    [other, '3'],
  ] as const)
    await mark.note({ owner: process, newest, text: '' });
  const closed = closedName(LEDGER, '2', owner);
  await mark.keep({ owner, path: '/x', name: closed });
  expect(names()).toEqual([closed, partName(other, '3'), 'readme.txt'].sort());
  expect(closings(), 'its connections do not keep the process alive').toBe(1);
});

it('a comparison needs the newest closed journal of each ledger and all noted claims, except those of this machine', async () => {
  const [one, two, three, local] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const newest = closedName(LEDGER, '20', one);
  const part = partName(three, '30');
  const older = closedName(LEDGER, '10', two);
  const ofOther = closedName(OTHER, '5', two);
  const unknown = 'of-a-later-version.ndjson';
  const { mark, journals, closings } = openMark(
    Object.fromEntries(
      [newest, part, older, ofOther, unknown, partName(local, '40'), 'readme.txt'].map((name) => [name, NOW]),
    ),
  );
  writeFileSync(join(journals, partName(local, '40')), '');
  const folder = await mark.fetch({ all: false });
  expect(readdirSync(folder).sort(), 'what it cannot name says itself what it is').toEqual(
    [newest, ofOther, part, unknown].sort(),
  );
  expect(readFileSync(join(folder, part), 'utf8')).toBe(part);
  expect(await mark.fetch({ all: true }), 'what was downloaded stays').toBe(folder);
  expect(readdirSync(folder).sort()).toEqual([newest, older, ofOther, part, unknown].sort());
  expect(closings()).toBe(2);
});

it('a journal of the mark that cannot be downloaded stops what needs it', async () => {
  const { mark, refuse } = openMark({ [partName(randomUUID(), '1')]: NOW });
  refuse();
  await expect(mark.fetch({ all: false })).rejects.toMatchObject({
    message: 'The mark of the ledger cannot be read. access denied',
    details: { code: 'mark_unavailable', safe: 'Nothing was read or sent.', exitCode: 1 },
  });
});

it('journals older than 90 days are removed, except the newest of a ledger and claims that may be newer than it', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const old = daysAgo(91);
  const kept = [closedName(LEDGER, '20', one), closedName(OTHER, '30', two), partName(one, '20')];
  const recent = [closedName(LEDGER, '9', two), partName(two, '8')];
  const removed = [closedName(LEDGER, '10', two), closedName(OTHER, '29', one), partName(one, '19')];
  const files = [
    ...[...kept, ...removed].map((name) => [name, old] as const),
    ...recent.map((name) => [name, daysAgo(89)] as const),
  ];
  // In whatever order the store lists them.
  for (const listed of [files, files.toReversed()]) {
    const { mark, names, closings } = openMark(Object.fromEntries(listed));
    await mark.prune(NOW);
    expect(names()).toEqual([...kept, ...recent].sort());
    expect(closings()).toBe(1);
  }
});

it('claims that were noted are kept, however old, while no journal shows a newer one', async () => {
  const parts = [partName(randomUUID(), '1'), partName(randomUUID(), '2')].sort();
  const { mark, names } = openMark(Object.fromEntries(parts.map((name) => [name, daysAgo(91)])));
  await mark.prune(NOW);
  expect(names()).toEqual(parts);
});

it.each([[['s3://a']], [['s3://a', 's3://b']]])(
  'what a process downloads from marks is removed when the process ends: %o',
  (uris) => {
    const url = new URL('../../src/ledger/continuity/mark.ts', import.meta.url).href;
    const script = `
    const { createMark } = await import(${JSON.stringify(url)});
    const store = { list: async () => [], close() {} };
    for (const uri of ${JSON.stringify(uris)})
      console.log(await createMark({ store, uri, journals: '/absent' }).fetch({ all: true }));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    const folders = stdout.trim().split('\n');
    expect(folders).toHaveLength(uris.length);
    for (const folder of folders) {
      expect(folder).toContain('influencer-sync-mark-');
      expect(existsSync(folder)).toBe(false);
    }
  },
);

it('a mark that cannot be reached stops what needs it; closing and pruning are tried again later', async () => {
  const { mark, fail } = openMark();
  fail();
  await expect(mark.fetch({ all: false })).rejects.toMatchObject({
    details: { code: 'mark_unavailable', where: 's3://mark', safe: 'Nothing was read or sent.' },
  });
  await expect(mark.note({ owner: randomUUID(), newest: '1', text: '' })).rejects.toMatchObject({
    details: { code: 'mark_unavailable', safe: 'Claims that are not in the mark were not sent.' },
  });
  await mark.keep({ owner: randomUUID(), path: '/x', name: 'x' });
  await mark.prune(NOW);
});

it('a mark says what its store says of itself, and which rights it needs', async () => {
  const failing = (cause: unknown, uri: string) => {
    const store = { list: () => Promise.reject(cause), close() {} } as unknown as FileStore;
    return createMark({ store, uri, journals: '/absent' }).fetch({ all: false });
  };
  const needs =
    'The credentials need s3:ListBucket on the bucket of ledger.mark_uri, and s3:GetObject, s3:PutObject and s3:DeleteObject below it. Nothing is posted without the mark, because it shows whether the database was restored.';
  const known = new KnownError({
    code: 'bucket_refused',
    message: 'No access.',
    help: 'Ask for it.',
    exitCode: 4,
  });
  await expect(failing(known, 'S3://mark')).rejects.toMatchObject({
    message: 'The mark of the ledger cannot be read. No access.',
    details: { code: 'mark_unavailable', help: `Ask for it.\n${needs}`, exitCode: 4 },
  });
  await expect(failing('gone', 's3://mark')).rejects.toMatchObject({
    message: 'The mark of the ledger cannot be read. gone',
    details: { help: needs, exitCode: 1 },
  });
});

it('a mark in a folder that cannot be used says which path, why, and what to do, and nothing is sent', async () => {
  const folder = makeTestFolder();
  const owner = randomUUID();
  const at = (uri: string) =>
    createMark({ store: openFileStore({ uri } as never), uri, journals: join(folder, 'journals') });
  const partial = join(folder, `${partName(owner, '1')}.${process.pid}.partial`);
  symlinkSync('/dev/full', partial);
  const help = expect.stringMatching(/^Let the user .* write to the folder of ledger\.mark_uri(?!.*s3:)/);
  await expect(at(folder).note({ owner, newest: '1', text: 'x' })).rejects.toMatchObject({
    message: `The mark of the ledger cannot be written. ${partial}: its file system is full (ENOSPC).`,
    details: {
      code: 'mark_unavailable',
      where: folder,
      help: expect.stringMatching(/^Free space there and run the command again/),
      exitCode: 2,
    },
  });
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await expect(at(file).fetch({ all: false })).rejects.toMatchObject({
    message: `The mark of the ledger cannot be read. ${file}: a file is where a folder must be (ENOTDIR).`,
    details: { code: 'mark_unavailable', help, safe: 'Nothing was read or sent.', exitCode: 2 },
  });
});

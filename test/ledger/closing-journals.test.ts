import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ClaimedEntry } from '../../src/core/ledger.ts';
import type { FileStore } from '../../src/core/source.ts';
import { checkContinuity } from '../../src/ledger/continuity/check-continuity.ts';
import { isDead, lockJournal, openJournal } from '../../src/ledger/continuity/journal.ts';
import {
  eachJournal,
  isOutdated,
  listJournals,
  readEdges,
  removeOldJournals,
} from '../../src/ledger/continuity/journal-folder.ts';
import type { ClaimedAttempt } from '../../src/ledger/continuity/journal-lines.ts';
import { closedName, parseJournalName, partName } from '../../src/ledger/continuity/journal-names.ts';
import { createMark, type Mark } from '../../src/ledger/continuity/mark.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { makeTestFolder, setup } from '../support/setup.ts';

const LEDGER = { ledgerId: randomUUID(), accountId: 'account', mark: null };

function openNew(folder: string) {
  return openJournal({ ...LEDGER, folder, owner: randomUUID() });
}

function claim(claimNo: number): ClaimedAttempt {
  const hash = createHash('sha256').update(String(claimNo)).digest('hex');
  const { ledgerId, accountId } = LEDGER;
  return {
    claim: {
      ledgerId,
      accountId,
      claimNo: String(claimNo),
      claimId: randomUUID(),
      effect: 'referral',
      keyHash: hash,
      bodyHash: hash,
      amount: '1.00',
      currency: 'EUR',
    },
    entryId: String(claimNo),
    attempt: 1,
  };
}

/** @returns null if the file was closed in the meantime. */
function readFileLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

it('a journal that its process closes while all are read is read under its new name', async () => {
  const folder = makeTestFolder();
  const journals = [openNew(folder), openNew(folder), openNew(folder)];
  for (const [index, journal] of journals.entries()) await journal.claimed([claim(index + 1)]);
  const read: string[] = [];
  await eachJournal(folder, async ({ name, isOpen, path }) => {
    if (isOpen) for (const journal of journals) await journal.close();
    readFileSync(path);
    read.push(name);
  });
  expect(read.sort()).toEqual(readdirSync(folder).sort());
  expect(read).toHaveLength(3);
});

it('each journal is listed once: the open ones first, then the closed ones by ledger and newest claim', () => {
  const folder = makeTestFolder();
  const [one, other] = ['aaaaaaaa-0000', 'bbbbbbbb-0000'];
  const owner = randomUUID();
  const names = [closedName(one, '9', owner), closedName(one, '10', owner), closedName(other, '2', owner)];
  const open = partName(randomUUID(), '1');
  for (const name of [...names, open, 'machine', `${open}.lock`]) writeFileSync(join(folder, name), '');
  expect(listJournals(folder).map(({ name, isOpen }) => [name, isOpen])).toEqual([
    [open, true],
    ...names.map((name) => [name, false]),
  ]);
});

it('no journals are in a folder that does not exist; one that cannot be listed is an error', () => {
  const folder = makeTestFolder();
  expect(listJournals(join(folder, 'none'))).toEqual([]);
  writeFileSync(join(folder, 'file'), '');
  expect(() => listJournals(join(folder, 'file'))).toThrow('ENOTDIR');
});

it('a name says of which process, ledger and newest claim a journal is, and nothing if it is none', () => {
  const [ledger, owner] = ['aaaaaaaa-0000-4000-8000-000000000000', 'bbbbbbbb-1111-4000-8000-000000000000'];
  expect([closedName(ledger, '7', owner), partName(owner, '9223372036854775807')]).toEqual([
    'aaaaaaaa-0000000000000007-bbbbbbbb.ndjson',
    `${owner}-9223372036854775807.open.ndjson`,
  ]);
  const of = (name: string) => {
    const parsed = parseJournalName(name);
    return parsed && [parsed.ledger, parsed.newest, parsed.owner];
  };
  expect(of('aaaaaaaa-0000000000000007-bbbbbbbb.ndjson')).toEqual(['aaaaaaaa', 7n, 'bbbbbbbb']);
  expect(of(`${owner}-9223372036854775807.open.ndjson`)).toEqual([null, 9223372036854775807n, 'bbbbbbbb']);
  expect(of(`${owner}.open.ndjson`)).toEqual([null, null, 'bbbbbbbb']);
  for (const name of [
    ...['readme.txt', 'aaaaaaaa-7-bbbbbbbb.ndjson', 'AAAAAAAA-0000000000000007-bbbbbbbb.ndjson'],
    ...[`${owner}.ndjson`, `${owner}-7.open.ndjson`, `${owner}.open.ndjson.lock`, `x${owner}.open.ndjson`],
  ])
    expect(of(name), name).toBeNull();
});

it('a journal that was compared is not kept open', async () => {
  const folder = makeTestFolder();
  const journal = openNew(folder);
  await journal.claimed([claim(1)]);
  await journal.close();
  const [name = ''] = readdirSync(folder);
  const path = join(folder, name);
  expect(readEdges(path)).toMatchObject({ head: { ledger: LEDGER.ledgerId }, last: { entryId: '1' } });
  const open = readdirSync('/proc/self/fd').map((file) => readFileLink(`/proc/self/fd/${file}`));
  expect(open).not.toContain(path);
});

it('a journal is read whole if its edges do not show its newest claim', async () => {
  const folder = makeTestFolder();
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return readEdges(join(folder, name));
  };
  expect(write('not-closed', '{"journal":1}\n{"writing":1}\n')).toBeNull();
  expect(write('cut', '{"journal":1}\n{"closed":tr')).toBeNull();
  expect(write('empty', '')).toBeNull();
  expect(write('without-claims', '{"journal":1,"ledger":"L"}\n{"closed":true,"last":null}\n')).toEqual({
    head: { journal: 1, ledger: 'L' },
    last: null,
  });
});

it('an error of reading a journal that is still there is thrown', async () => {
  const folder = makeTestFolder();
  await openNew(folder).claimed([claim(1)]);
  const failing = eachJournal(folder, async () => {
    throw new Error('unreadable');
  });
  await expect(failing).rejects.toThrow('unreadable');
});

it('the ledger can be compared while other processes open and close their journals', async () => {
  const { db } = await setup();
  const folder = makeTestFolder();
  const options = { folders: [folder], accountId: null, machineId: null, isShared: true };
  let open = 4;
  async function openAndClose(first: number): Promise<void> {
    for (let claimNo = first; claimNo < first + 30; claimNo += 1) {
      const journal = openNew(folder);
      await journal.claimed([claim(claimNo)]);
      await new Promise(setImmediate);
      await journal.close();
      await new Promise(setImmediate);
    }
    open -= 1;
  }
  const others = [1, 101, 201, 301].map(openAndClose);
  while (open > 0) await checkContinuity(db, options);
  await Promise.all(others);
  // The database has none of these claims.
  expect((await checkContinuity(db, options)).kind).toBe('went_back');
});

it('a journal that is closed while those of the mark are downloaded is downloaded whole', async () => {
  const store = openFileStore({
    uri: makeTestFolder(),
    endpoint: null,
    region: null,
    profile: null,
    forcePathStyle: false,
  });
  const owner = randomUUID();
  const closed = closedName(LEDGER.ledgerId, '1', owner);
  await store.write(partName(owner, '1'), 'a part');
  const closing: FileStore = {
    ...store,
    async download(name, path) {
      if (name === partName(owner, '1')) {
        await store.write(closed, 'all of it');
        await store.remove(name);
      }
      await store.download(name, path);
    },
  };
  const mark = createMark({ store: closing, uri: 'file:', journals: makeTestFolder() });
  expect(readdirSync(await mark.fetch({ all: true }))).toEqual([closed]);
});

it('the lock file of a journal stays until the journal is closed, so that all who lock it exclude each other', () => {
  const path = join(makeTestFolder(), `${randomUUID()}.open.ndjson`);
  writeFileSync(path, '');
  expect(isDead(path)).toBe(true);
  const unlock = lockJournal(path);
  expect(isDead(path)).toBe(false);
  unlock?.();
  expect(existsSync(`${path}.lock`)).toBe(true);
  const unlockClosed = lockJournal(path);
  renameSync(path, path.replace('.open', ''));
  unlockClosed?.();
  expect(existsSync(`${path}.lock`)).toBe(false);
});

it('claims that the mark could not record are not sent, nor any after them', async () => {
  const mark: Mark = {
    note: () => Promise.reject(new Error('no access')),
    keep: async () => {},
    fetch: async () => '',
    prune: async () => {},
  };
  const journal = openJournal({ ...LEDGER, mark, folder: makeTestFolder(), owner: randomUUID() });
  const entry = { ...claim(1), effect: 'referral', body: '{}' } as unknown as ClaimedEntry;
  await journal.claimed([entry]);
  await expect(journal.writing(entry)).rejects.toThrow('no access');
  await journal.close();
});

it('closed journals older than 90 days are removed, except the newest of a ledger and those that are open', () => {
  const folder = makeTestFolder();
  const now = new Date('2026-05-01T10:00Z');
  const [owner, other] = [randomUUID(), randomUUID()];
  const kept = [
    closedName(LEDGER.ledgerId, '9', owner),
    closedName(other, '2', owner),
    `${owner}.open.ndjson`,
  ];
  const removed = [closedName(LEDGER.ledgerId, '8', owner), closedName(other, '1', owner)];
  const recent = closedName(LEDGER.ledgerId, '7', other);
  for (const name of [...kept, ...removed, recent]) {
    writeFileSync(join(folder, name), '');
    const at = new Date(now.getTime() - (name === recent ? 89 : 91) * 86_400_000);
    utimesSync(join(folder, name), at, at);
  }
  // Another process has removed it since it was listed.
  const gone = closedName(LEDGER.ledgerId, '6', owner);
  symlinkSync(join(folder, 'gone'), join(folder, gone));
  removeOldJournals(folder, now);
  expect(readdirSync(folder).sort()).toEqual([...kept, recent, gone].sort());
});

it('a journal may be needed for 90 days, to the millisecond', () => {
  const now = new Date('2026-05-01T10:00Z');
  const closed = (milliseconds: number) => new Date(now.getTime() - 90 * 86_400_000 + milliseconds);
  expect([closed(-1), closed(0), closed(1)].map((at) => isOutdated(at, now))).toEqual([true, false, false]);
});

it('a journal is kept in the mark when it is closed, under its new name, and one without claims is not', async () => {
  const folder = makeTestFolder();
  const kept: string[] = [];
  const mark = {
    note: async () => {},
    keep: async ({ path, name }: { path: string; name: string }) => {
      expect(existsSync(path)).toBe(true);
      kept.push(name);
    },
  } as unknown as Mark;
  const owner = randomUUID();
  const journal = openJournal({ ...LEDGER, mark, folder, owner });
  await journal.claimed([claim(5)]);
  await journal.close();
  await openJournal({ ...LEDGER, mark, folder, owner: randomUUID() }).close();
  expect(kept).toEqual([closedName(LEDGER.ledgerId, '5', owner)]);
  expect(readdirSync(folder)).toEqual(kept);
});

it('a journal that another process has open cannot be opened, so that nothing is sent without one', async () => {
  const folder = makeTestFolder();
  const owner = randomUUID();
  const first = openJournal({ ...LEDGER, folder, owner });
  expect(() => openJournal({ ...LEDGER, folder, owner })).toThrow('another process has this journal open');
  const entry = { ...claim(1), effect: 'referral', body: '{}' } as unknown as ClaimedEntry;
  await first.claimed([entry]);
  await first.writing(entry);
  expect(first.last()).toMatchObject({ entryId: '1' });
  const [head = ''] = readFileSync(join(folder, `${owner}.open.ndjson`), 'utf8').split('\n');
  expect(JSON.parse(head)).toMatchObject({ owner, boot: expect.stringMatching(/^\S+$/) });
  await first.close();
});

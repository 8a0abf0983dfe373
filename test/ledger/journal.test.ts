import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ClaimedEntry, Outcome } from '../../src/core/ledger.ts';
import { isDead, openJournal } from '../../src/ledger/continuity/journal.ts';
import { linesOf } from '../../src/ledger/continuity/journal-folder.ts';
import { type ClaimedAttempt, readJournal } from '../../src/ledger/continuity/journal-lines.ts';
import { closedName } from '../../src/ledger/continuity/journal-names.ts';
import { readLineCount } from '../../src/ledger/continuity/line-count.ts';
import type { NotedClaims } from '../../src/ledger/continuity/mark.ts';
import { explainFolder } from '../../src/runs/explain-folder.ts';
import { makeTestFolder } from '../support/setup.ts';

const LEDGER = { ledgerId: randomUUID(), accountId: 'A1', mark: null };
const ACCEPTED: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null };

function place(claimNo: number): ClaimedAttempt & ClaimedEntry {
  const hash = createHash('sha256').update(String(claimNo)).digest('hex');
  const { ledgerId, accountId } = LEDGER;
  const claim = {
    ledgerId,
    accountId,
    claimNo: String(claimNo),
    claimId: randomUUID(),
    effect: 'referral',
    keyHash: hash,
    bodyHash: hash,
    amount: '1.00',
    currency: 'EUR',
  };
  return { claim, entryId: String(claimNo), attempt: 1 } as unknown as ClaimedAttempt & ClaimedEntry;
}

const read = (path: string) => readJournal(linesOf(path), async () => {});

it('an open journal shows at once what was claimed and written; answers follow in the same turn', async () => {
  const folder = join(makeTestFolder(), 'journals');
  const owner = randomUUID();
  const journal = openJournal({ ...LEDGER, folder, owner });
  const path = join(folder, `${owner}.open.ndjson`);
  expect(await read(path)).toMatchObject({ head: { owner, pid: process.pid }, last: null, open: [] });
  expect([statSync(folder).mode & 0o777, statSync(path).mode & 0o777], 'only its user reads it').toEqual([
    ...[0o700, 0o600],
  ]);
  const [one, two] = [place(1), place(2)];
  await journal.claimed([one, two]);
  expect(journal.last()).toBe(two);
  expect((await read(path))?.open).toMatchObject([{ isWriting: false }, { isWriting: false }]);
  await Promise.all([journal.writing(one), journal.writing(two)]);
  expect((await read(path))?.open).toMatchObject([{ isWriting: true }, { isWriting: true }]);
  journal.answered(one, ACCEPTED);
  await new Promise((resolve) => setImmediate(resolve));
  expect((await read(path))?.open).toMatchObject([{ entryId: '2' }]);
  expect(readLineCount(owner)?.lines).toBe(6);
  expect(isDead(path)).toBe(false);
  journal.answered(two, ACCEPTED);
  await journal.close();
  const closed = join(folder, closedName(LEDGER.ledgerId, '2', owner));
  expect(await read(closed)).toMatchObject({ isClosed: true, isDamaged: false, open: [] });
  expect(readdirSync(folder), 'nothing else is left').toEqual([closedName(LEDGER.ledgerId, '2', owner)]);
});

it('nothing is sent by a process whose journal is closed or cannot be written; it stays open for the next one', async () => {
  const folder = makeTestFolder();
  const owner = randomUUID();
  const journal = openJournal({ ...LEDGER, folder, owner });
  await journal.claimed([place(1)]);
  await journal.close();
  await expect(journal.writing(place(1))).rejects.toThrow('the journal is closed');
  journal.answered(place(1), ACCEPTED);
  await journal.close();
  expect(readdirSync(folder)).toEqual([closedName(LEDGER.ledgerId, '1', owner)]);

  writeFileSync(join(folder, 'no folder'), '');
  expect(() => openJournal({ ...LEDGER, folder: join(folder, 'no folder'), owner: randomUUID() })).toThrow(
    /ENOTDIR|EEXIST/,
  );
});

it('a journal that cannot be opened in one of its places is left in none, and names the path', () => {
  const [folder, copyFolder] = [makeTestFolder(), makeTestFolder()];
  const owner = randomUUID();
  const open = join(copyFolder, `${owner}.open.ndjson`);
  symlinkSync('/dev/full', open);
  const failure = (() => {
    try {
      openJournal({ ...LEDGER, folder, copyFolder, owner });
    } catch (error) {
      return error;
    }
    return null;
  })();
  expect(failure).toMatchObject({ code: 'ENOSPC', path: open });
  expect(readdirSync(folder)).toEqual([]);
  const config = { database: { dataFolder: folder }, ledger: { stateFolder: copyFolder } };
  expect(explainFolder(failure, config as never)?.details).toMatchObject({
    code: 'state_folder_unusable',
    message: 'The state folder cannot be used: its file system is full (ENOSPC).',
    where: open,
    help: expect.stringContaining('XDG_STATE_HOME'),
    exitCode: 2,
  });
});

it('a journal in two places is written in both, closed in both, and only then known to be whole without its count', async () => {
  const [folder, copyFolder] = [makeTestFolder(), makeTestFolder()];
  const owner = randomUUID();
  const journal = openJournal({ ...LEDGER, folder, copyFolder, owner });
  await journal.claimed([place(1)]);
  const text = readFileSync(join(folder, `${owner}.open.ndjson`), 'utf8');
  expect(readFileSync(join(copyFolder, `${owner}.open.ndjson`), 'utf8')).toBe(text);
  // Another folder is in the way of its closed name.
  const name = closedName(LEDGER.ledgerId, '1', owner);
  mkdirSync(join(copyFolder, name));
  await journal.close();
  expect(existsSync(join(folder, name))).toBe(true);
  expect(existsSync(join(copyFolder, `${owner}.open.ndjson`))).toBe(true);
  expect(isDead(join(copyFolder, `${owner}.open.ndjson`)), 'another process can close it').toBe(true);
  expect(readLineCount(owner)).not.toBeNull();
});

it('the mark gets the claims of each commit as a journal of their own, before any of them may be sent', async () => {
  const noted: NotedClaims[] = [];
  const mark = {
    note: async (claims: NotedClaims) => void noted.push(claims),
    keep: async () => {},
  } as unknown as NonNullable<Parameters<typeof openJournal>[0]['mark']>;
  const folder = makeTestFolder();
  const owner = randomUUID();
  const journal = openJournal({ ...LEDGER, mark, folder, owner });
  await journal.claimed([]);
  expect([noted, journal.last()]).toEqual([[], null]);
  await journal.claimed([place(1), place(2)]);
  await journal.claimed([place(3)]);
  await journal.claimed([]);
  await journal.close();
  expect(noted.slice(0, 2).map(({ newest }) => newest)).toEqual(['2', '3']);
  const [first] = noted;
  writeFileSync(join(folder, 'part'), first?.text ?? '');
  expect(await read(join(folder, 'part'))).toMatchObject({
    head: { owner, ledger: LEDGER.ledgerId },
    isDamaged: false,
    open: [{ entryId: '1' }, { entryId: '2' }],
  });
});

it('a process whose claims the mark did not get sends none of them, and leaves its journal open for the next one', async () => {
  const kept: unknown[] = [];
  const mark = {
    note: async () => {
      throw new Error('the mark cannot be written');
    },
    keep: async (journal: unknown) => void kept.push(journal),
  } as unknown as NonNullable<Parameters<typeof openJournal>[0]['mark']>;
  const folder = makeTestFolder();
  const owner = randomUUID();
  const journal = openJournal({ ...LEDGER, mark, folder, owner });
  await journal.claimed([place(1)]);
  await expect(journal.writing(place(1))).rejects.toThrow('the mark cannot be written');
  await journal.close();
  expect(readdirSync(folder).filter((name) => !name.includes('lock'))).toEqual([`${owner}.open.ndjson`]);
  expect(isDead(join(folder, `${owner}.open.ndjson`))).toBe(true);
  expect(await read(join(folder, `${owner}.open.ndjson`))).toMatchObject({
    isClosed: false,
    open: [{ entryId: '1' }],
  });
  expect([kept, readLineCount(owner)?.lines]).toEqual([[], 2]);
});

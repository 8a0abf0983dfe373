import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openJournal } from '../../src/ledger/continuity/journal.ts';
import { linesOf } from '../../src/ledger/continuity/journal-folder.ts';
import { type ClaimedAttempt, readJournal } from '../../src/ledger/continuity/journal-lines.ts';
import { openLineCount, readLineCount, removeLineCount } from '../../src/ledger/continuity/line-count.ts';
import { hasLostLines, isWhole } from '../../src/ledger/continuity/whole-journal.ts';
import { setup } from '../support/setup.ts';

const PLACE: ClaimedAttempt = {
  claim: {
    ledgerId: randomUUID(),
    claimNo: '1',
    claimId: randomUUID(),
    accountId: 'A1',
    effect: 'referral',
    keyHash: 'k',
    bodyHash: 'b',
    amount: '1.00',
    currency: 'EUR',
  },
  entryId: '1',
  attempt: 1,
};

/** The journal of a process that has made a claim and has not closed it. */
async function leaveOpen() {
  const { db, folder } = await setup();
  const owner = randomUUID();
  const { ledgerId } = PLACE.claim;
  const journal = openJournal({ folder, ledgerId, accountId: 'A1', owner, mark: null });
  await journal.claimed([PLACE]);
  const path = join(folder, `${owner}.open.ndjson`);
  const ask = async () => {
    const summary = await readJournal(linesOf(path), async () => {});
    if (summary === null) throw new Error('it has no head');
    return [await isWhole(db, { path, owner, summary }), hasLostLines(owner, summary)];
  };
  return { journal, owner, path, ask };
}

it('a journal is whole if it reaches as far as its process has counted its lines, or further', async () => {
  const { owner, path, ask } = await leaveOpen();
  expect(readLineCount(owner)).toMatchObject({ lines: 2 });
  expect(await ask()).toEqual([true, false]);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, text.indexOf('\n') + 1));
  expect(await ask(), 'it ends before').toEqual([false, true]);
  writeFileSync(path, text.replace('"1.00"', '"9.00"'));
  expect(await ask(), 'its last line was replaced').toEqual([false, true]);
  writeFileSync(path, `${text}{"claim":`);
  expect(await ask(), 'its process was killed while it wrote more').toEqual([true, false]);
});

it('a journal whose count did not survive proves nothing, but is not known to have lost lines', async () => {
  const { owner, ask } = await leaveOpen();
  removeLineCount(owner);
  expect(readLineCount(owner)).toBeNull();
  expect(await ask()).toEqual([false, false]);
});

it('a count that can no longer be written is removed: an old one would prove too much', () => {
  const owner = randomUUID();
  const url = new URL('../../src/ledger/continuity/line-count.ts', import.meta.url).href;
  const script = `
    const { openLineCount } = await import(${JSON.stringify(url)});
    openLineCount('${owner}').note({ lines: 1, sum: 7 });`;
  // No file may be longer than 0 bytes, as on a full file system.
  const { status } = spawnSync(
    'sh',
    ['-c', 'trap "" XFSZ; ulimit -f 0; exec "$0" --input-type=module -e "$1"', process.execPath, script],
    { encoding: 'utf8' },
  );
  expect(status).toBe(0);
  expect(existsSync(`/dev/shm/influencer-sync-${owner}`)).toBe(false);
});

it('the count is removed when the journal is closed', async () => {
  const { journal, owner } = await leaveOpen();
  await journal.close();
  expect(readLineCount(owner)).toBeNull();
});

it('a count is one only as it was written by this user, and is not shared by two processes', () => {
  const owner = randomUUID();
  onTestFinished(() => removeLineCount(owner));
  const path = `/dev/shm/influencer-sync-${owner}`;
  const read = (text: string) => {
    writeFileSync(path, text);
    return readLineCount(owner);
  };
  expect(read('12 345      ')).toEqual({ lines: 12, sum: 345 });
  expect(['', '12', 'x 1', '1 2 3', '-1 2', '1 2x'].map(read)).toEqual(Array(6).fill(null));
  read('12 345');
  const second = openLineCount(owner);
  second.note({ lines: 99, sum: 1 });
  expect(readLineCount(owner), 'the file of the first one stays').toEqual({ lines: 12, sum: 345 });
  second.remove();
  expect(existsSync(path)).toBe(false);
  const count = openLineCount(owner);
  count.note({ lines: 1_000, sum: 4_294_967_295 });
  count.note({ lines: 2, sum: 0 });
  expect([readLineCount(owner), statSync(path).size, statSync(path).mode & 0o777]).toEqual([
    ...[{ lines: 2, sum: 0 }, 40, 0o600],
  ]);
  count.remove();
  count.remove();
  count.note({ lines: 3, sum: 0 });
  expect(existsSync(path)).toBe(false);
  if (process.getuid?.() !== 0) return;
  read('12 345');
  chownSync(path, 1, 1);
  expect(readLineCount(owner), 'of another user').toBeNull();
});

import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { KnownError } from '../../src/core/known-error.ts';
import type { Claim, ClaimedEntry, Outcome } from '../../src/core/ledger.ts';
import type { Database } from '../../src/db/connect.ts';
import { addUp, checkContinuity } from '../../src/ledger/continuity/check-continuity.ts';
import { ensureLedgerId } from '../../src/ledger/continuity/identity.ts';
import { openJournal } from '../../src/ledger/continuity/journal.ts';
import { claimLine } from '../../src/ledger/continuity/journal-lines.ts';
import { closedName, partName } from '../../src/ledger/continuity/journal-names.ts';
import { keepLedgerLocation } from '../../src/ledger/continuity/machines.ts';
import { setup } from '../support/setup.ts';
import { ACCOUNT, insertEntry, mustClaim, startWorker } from './entries.ts';

/** A ledger of two orders, 1.00 and 2.00, claimed one after the other by a process that has ended. */
async function openPosted() {
  const { db, folder } = await setup();
  const ledgerId = await ensureLedgerId(db);
  const owner = crypto.randomUUID();
  const journal = openJournal({ folder, ledgerId, accountId: ACCOUNT, owner, mark: null });
  const worker = await startWorker(db, { journal });
  const entryIds: string[] = [];
  for (const amount of ['1.00', '2.00']) {
    const entryId = await insertEntry(db, { runId: worker.runId, orderId: amount, amount });
    await mustClaim(worker, entryId);
    entryIds.push(entryId);
  }
  await journal.close();
  await keepLedgerLocation(db);
  const options = { folders: [folder], accountId: ACCOUNT, machineId: null, isShared: true };
  const [older = '', newest = ''] = entryIds;
  return { db, folder, ledgerId, older, newest, options };
}

/** Loses the claim of an entry, as a restore or a failover does. */
async function loseClaim(db: Database, entryId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`delete from ledger.attempts where entry_id = ${entryId}::bigint`.execute(trx);
  });
}

async function move(db: Database): Promise<void> {
  await sql`update ledger.identity set place = 'where it was before'`.execute(db);
}

it('a database that has every journalled claim is continuous, and the next claim names the newest one and the place', async () => {
  const { db, newest, options } = await openPosted();
  const { rows } = await sql<{ place: string }>`select ledger.place() as place`.execute(db);
  expect(await checkContinuity(db, options)).toEqual({
    kind: 'continuous',
    heads: [expect.objectContaining({ entryId: newest, attempt: 1 })],
    place: rows[0]?.place,
  });
});

it('of the journals that their processes have closed only the newest is compared, and what is missing is dated from the first to the last claim', async () => {
  const { db, folder, ledgerId, options } = await openPosted();
  const journal = openJournal({
    folder,
    ledgerId,
    accountId: ACCOUNT,
    owner: crypto.randomUUID(),
    mark: null,
  });
  const worker = await startWorker(db, { journal });
  const later = await insertEntry(db, { runId: worker.runId, orderId: 'later' });
  const { claim } = await mustClaim(worker, later);
  await journal.close();
  expect(await checkContinuity(db, options)).toMatchObject({
    kind: 'continuous',
    heads: [{ entryId: later }],
  });
  // The claims of a process that was killed, by a clock that was set back.
  const head = {
    journal: 1,
    ledger: ledgerId,
    account: ACCOUNT,
    owner: 'o',
    boot: null,
    file: '',
    host: 'here',
    pid: 1,
    at: '',
  };
  const lines = [2_000, 1_000, 3_000, 1_500].map((at, index) =>
    claimLine(
      {
        claim: {
          ...claim,
          claimNo: String(10 + index),
          claimId: crypto.randomUUID(),
          keyHash: String(index).repeat(64),
        },
        entryId: '99',
        attempt: 1,
      },
      at,
    ),
  );
  writeFileSync(
    join(folder, `${crypto.randomUUID()}.open.ndjson`),
    [JSON.stringify(head), ...lines].map((line) => `${line}\n`).join(''),
  );
  expect(await checkContinuity(db, options)).toMatchObject({
    kind: 'went_back',
    mark: { claimNo: '13' },
    missing: { entries: 4, from: new Date(1_000), to: new Date(3_000) },
  });
});

it('a database that lacks the newest claim went back, wherever it is; what is missing is added up', async () => {
  const { db, newest, options, ledgerId } = await openPosted();
  await loseClaim(db, newest);
  for (const isShared of [true, false])
    expect(await checkContinuity(db, { ...options, isShared })).toMatchObject({
      kind: 'went_back',
      isOther: false,
      ledgerId,
      markedLedgerId: ledgerId,
      missing: { entries: 1, accepted: 0, amounts: [{ currency: 'EUR', amount: '2.0000' }] },
      newest: { claimNo: '1', claims: 1 },
      mark: { claimNo: '2' },
    });
});

it('a database that has moved went back if it lacks any claim of the journals, even an older one', async () => {
  const { db, older, options } = await openPosted();
  await loseClaim(db, older);
  await move(db);
  expect(await checkContinuity(db, options)).toMatchObject({
    kind: 'went_back',
    missing: { entries: 1, amounts: [{ currency: 'EUR', amount: '1.0000' }] },
    mark: { claimNo: '1' },
  });
});

it('a database that has moved and lacks nothing is continuous only if the journals are those of every machine', async () => {
  const { db, options } = await openPosted();
  await move(db);
  expect((await checkContinuity(db, options)).kind).toBe('continuous');
  expect(await checkContinuity(db, { ...options, isShared: false })).toEqual({
    kind: 'moved',
    others: [],
    isUnmarked: false,
  });
});

it('without a journal, a database is unmarked where it was, and one with claims that moved must be compared elsewhere', async () => {
  const { db, options } = await openPosted();
  const none = { ...options, folders: [] };
  expect(await checkContinuity(db, none)).toEqual({ kind: 'unmarked', hasClaims: true });
  // A database that does not exist yet lacks every claim of the journals.
  expect(await checkContinuity(null, none)).toEqual({ kind: 'unmarked', hasClaims: false });
  expect(await checkContinuity(null, options)).toMatchObject({ kind: 'went_back', mark: { claimNo: '2' } });
  await move(db);
  expect(await checkContinuity(db, none)).toEqual({ kind: 'moved', others: [], isUnmarked: true });
});

it('a recovered ledger is incomplete while a single claim is missing that no journal describes, with a journal or without', async () => {
  const { db, options } = await openPosted();
  await sql`
    insert into ledger.recoveries (kind, decided_by, reason, ranges)
    values ('recover', 'ada', 'restored', ${JSON.stringify([{ ledger_id: crypto.randomUUID(), above: 4, up_to: 5 }])}::jsonb)`.execute(
    db,
  );
  for (const folders of [options.folders, []])
    expect(await checkContinuity(db, { ...options, folders })).toEqual({ kind: 'undescribed', claims: 1 });
});

it('a ledger that lacks a claim of a journal went back, whatever else is missing that no journal describes', async () => {
  const { db, newest, options } = await openPosted();
  await sql`
    insert into ledger.recoveries (kind, decided_by, reason, ranges)
    values ('recover', 'ada', 'restored', ${JSON.stringify([{ ledger_id: crypto.randomUUID(), above: 4, up_to: 6 }])}::jsonb)`.execute(
    db,
  );
  await loseClaim(db, newest);
  expect(await checkContinuity(db, options)).toMatchObject({
    kind: 'went_back',
    missing: { entries: 1, amounts: [{ currency: 'EUR', amount: '2.0000' }] },
  });
});

it('what is missing counts each entry once: as accepted if any of its claims was, and not if it was surely not processed', async () => {
  const { db, folder, ledgerId, options } = await openPosted();
  const owner = crypto.randomUUID();
  const journal = openJournal({ folder, ledgerId, accountId: ACCOUNT, owner, mark: null });
  const claim = (claimNo: number, key: string, amount: string) => ({
    claim: {
      ledgerId,
      claimNo: String(claimNo),
      claimId: crypto.randomUUID(),
      accountId: ACCOUNT,
      effect: 'referral' as const,
      keyHash: key.repeat(64),
      bodyHash: 'b'.repeat(64),
      amount,
      currency: 'EUR',
    },
    entryId: '99',
    attempt: claimNo,
  });
  const [accepted, again, refused] = [claim(11, 'a', '4.00'), claim(12, 'a', '4.00'), claim(13, 'c', '8.00')];
  const answer = (place: typeof accepted, outcome: Outcome) =>
    journal.answered(place as unknown as ClaimedEntry, outcome);
  await journal.claimed([accepted, again, refused]);
  answer(accepted, { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null });
  answer(again, { kind: 'in_doubt', httpStatus: 502, reason: 'HTTP 502' });
  answer(refused, { kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false });
  await journal.close();
  expect(await checkContinuity(db, options)).toMatchObject({
    kind: 'went_back',
    missing: { entries: 1, accepted: 1, amounts: [{ currency: 'EUR', amount: '4.0000' }] },
    mark: { claimNo: '13' },
  });
});

it('a journal whose head or newest claim cannot be read at its edges is read whole', async () => {
  const { db, folder, newest, options } = await openPosted();
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.ndjson'));
  const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
  // The disk lost the closing line.
  writeFileSync(join(folder, name), `${lines.slice(0, -1).join('\n')}\n`);
  expect(await checkContinuity(db, options)).toMatchObject({
    kind: 'continuous',
    heads: [{ entryId: newest }],
  });
  await loseClaim(db, newest);
  expect(await checkContinuity(db, options)).toMatchObject({
    kind: 'went_back',
    mark: { claimNo: '2', file: name },
  });
});

it('of several processes each one’s newest claim is compared, and the newest missing one is named with its journal', async () => {
  const { db, folder, ledgerId, newest, options } = await openPosted();
  const owner = crypto.randomUUID();
  const journal = openJournal({ folder, ledgerId, accountId: ACCOUNT, owner, mark: null });
  const worker = await startWorker(db, { journal });
  const later = await insertEntry(db, { runId: worker.runId, orderId: 'later', amount: '4.00' });
  await mustClaim(worker, later);
  const closed = readdirSync(folder).filter((file) => file.endsWith('.ndjson') && !file.includes('.open.'));
  expect(closed).toHaveLength(1);
  // It was killed: its journal stays open.
  copyFileSync(join(folder, `${owner}.open.ndjson`), join(folder, `${crypto.randomUUID()}.open.ndjson`));
  expect(await checkContinuity(db, options)).toMatchObject({
    heads: expect.arrayContaining([
      expect.objectContaining({ entryId: newest }),
      expect.objectContaining({ entryId: later }),
    ]),
  });
  await loseClaim(db, later);
  await loseClaim(db, newest);
  expect(await checkContinuity(db, options)).toMatchObject({
    kind: 'went_back',
    mark: { claimNo: '3', file: expect.stringContaining('.open.') },
  });
  await journal.close();
});

it('journals of another account are not compared; all are while the account is not known', async () => {
  const { db, newest, options } = await openPosted();
  await loseClaim(db, newest);
  expect((await checkContinuity(db, { ...options, accountId: 'A2' })).kind).toBe('unmarked');
  expect((await checkContinuity(db, { ...options, accountId: null })).kind).toBe('went_back');
});

it('what is missing are the claims of the account, or of all while it is not known, from the first to the last', async () => {
  const { db, folder, older, newest, options } = await openPosted();
  const owner = crypto.randomUUID();
  const ledgerId = crypto.randomUUID();
  const journal = openJournal({ folder, ledgerId, accountId: 'A2', owner, mark: null });
  const worker = await startWorker(db, { journal, accountId: 'A2' });
  const other = await insertEntry(db, { runId: worker.runId, orderId: 'other', accountId: 'A2' });
  await mustClaim(worker, other);
  await journal.close();
  const { rows } = await sql<{ at: Date }>`
    select claimed_at as at from ledger.attempts order by claim_no`.execute(db);
  for (const entryId of [older, newest, other]) await loseClaim(db, entryId);
  const missing = async (accountId: string | null) => {
    const continuity = await checkContinuity(db, { ...options, accountId });
    return continuity.kind === 'went_back' ? continuity.missing : null;
  };
  expect(await missing(ACCOUNT)).toMatchObject({ entries: 2, from: expect.any(Date), to: expect.any(Date) });
  expect(await missing(null)).toMatchObject({ entries: 3 });
  const { from = null, to = null } = (await missing(null)) ?? {};
  expect(from?.getTime()).toBeLessThan(to?.getTime() ?? 0);
  // A claim is in the journal once it is committed.
  expect(to?.getTime()).toBeGreaterThanOrEqual(rows.at(-1)?.at.getTime() ?? Number.NaN);
});

it('a journal of a process that is alive, or was killed before its first claim, is not compared', async () => {
  const { db, folder, ledgerId, newest, options } = await openPosted();
  await loseClaim(db, newest);
  rmSync(folder, { recursive: true });
  const open = () =>
    openJournal({ folder, ledgerId, accountId: ACCOUNT, owner: crypto.randomUUID(), mark: null });
  const living = open();
  const worker = await startWorker(db, { journal: living });
  const entryId = await insertEntry(db, { runId: worker.runId, orderId: 'living' });
  await mustClaim(worker, entryId);
  await loseClaim(db, entryId);
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.ndjson'));
  const [head = ''] = readFileSync(join(folder, name), 'utf8').split('\n');
  writeFileSync(join(folder, `${crypto.randomUUID()}.open.ndjson`), `${head}\n`);
  expect(await checkContinuity(db, options)).toMatchObject({ kind: 'unmarked' });
  await living.close();
  expect(await checkContinuity(db, options)).toMatchObject({ kind: 'went_back' });
});

it('amounts are added up by currency; a claim without an amount adds nothing', () => {
  const claims = [
    ['2.10', 'USD'],
    [null, null],
    ['1.00', 'EUR'],
    ['0.05', 'EUR'],
  ].map(([amount = null, currency = null]) => ({ claim: { amount, currency } as Claim }));
  expect(addUp(claims)).toEqual([
    { currency: 'EUR', amount: '1.0500' },
    { currency: 'USD', amount: '2.1000' },
  ]);
});

it('a journal whose process was killed is compared like a closed one', async () => {
  const { db, folder, newest, options } = await openPosted();
  const [closed = ''] = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
  renameSync(join(folder, closed), join(folder, `${crypto.randomUUID()}.open.ndjson`));
  expect((await checkContinuity(db, options)).kind).toBe('continuous');
  await loseClaim(db, newest);
  expect((await checkContinuity(db, options)).kind).toBe('went_back');
});

it('a journal that was written as a whole and cannot be read to the claim that its name states stops every comparison', async () => {
  const { db, folder, ledgerId, newest, options } = await openPosted();
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.ndjson'));
  const text = readFileSync(join(folder, name), 'utf8');
  const lines = text.trimEnd().split('\n');
  const problem = async (file: string, content: string) => {
    writeFileSync(join(folder, file), content);
    const error = await checkContinuity(db, options).catch((thrown: unknown) => thrown);
    rmSync(join(folder, file));
    return error instanceof KnownError ? { ...error.details, message: error.message } : error;
  };
  const unreadable = (file: string, what: string) => ({
    code: 'journal_unreadable',
    message: `The journal ${file} of the ledger cannot be read${what}.`,
    help: 'Restore that file where the journals are kept: in the data folder, or below ledger.mark_uri. If no copy of it exists, and the database was never restored or failed over since the file was written, remove it.',
    safe: 'Nothing was read or sent. Without the file, orders that only it describes could be posted twice.',
    exitCode: 7,
  });
  const cut = `${lines.slice(0, 2).join('\n')}\n`;
  expect(await problem(name, cut)).toEqual(unreadable(name, ' to its end: it lacks claims up to 2'));
  expect(await problem(name, `${lines[0]}\n`)).toEqual(
    unreadable(name, ' to its end: it lacks claims up to 2'),
  );
  expect(await problem(name, 'no journal')).toEqual(unreadable(name, ''));
  const part = partName(crypto.randomUUID(), '2');
  expect(await problem(part, cut)).toEqual(unreadable(part, ' to its end: it lacks claims up to 2'));
  expect(await problem('of-a-later-version.ndjson', 'no journal')).toEqual(
    unreadable('of-a-later-version.ndjson', ''),
  );
  // The journal of a process that was killed may be cut, or lack its head.
  const killed = `${crypto.randomUUID()}.open.ndjson`;
  expect(await problem(killed, 'no jour')).toEqual({ kind: 'unmarked', hasClaims: true });
  expect(await problem(killed, cut)).toMatchObject({ kind: 'continuous', heads: [{ attempt: 1 }] });
  // What a later version calls otherwise is compared by what it contains.
  expect(await problem('of-a-later-version.ndjson', cut)).toMatchObject({ kind: 'continuous' });
  expect(await problem(part, `${lines.slice(0, 3).join('\n')}\n`)).toMatchObject({
    kind: 'continuous',
    heads: [{ entryId: newest, claim: { ledgerId } }],
  });
  writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, closedName(ledgerId, '9', crypto.randomUUID())));
  await expect(checkContinuity(db, options), 'a folder is no journal').rejects.toThrow('EISDIR');
});

import { randomUUID } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/core/ledger.ts';
import { ensureLedgerId } from '../../src/ledger/continuity/identity.ts';
import { openJournal } from '../../src/ledger/continuity/journal.ts';
import { closedName, partName } from '../../src/ledger/continuity/journal-names.ts';
import { countUndescribed, readNewestClaim } from '../../src/ledger/continuity/known-claims.ts';
import { readLedgerLocation } from '../../src/ledger/continuity/machines.ts';
import { beginNewLedger, recoverLedger } from '../../src/ledger/continuity/recover.ts';
import { settleJournals } from '../../src/ledger/continuity/settle-journals.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { setup } from '../support/setup.ts';
import { ACCOUNT, insertEntry, mustClaim, readFacts, startWorker } from './entries.ts';

const ACCEPTED: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null };

/**
 * A process that has ended and left its journal open. Of its claims, one was never written, one was written, one was answered, and one
 * was also recorded.
 */
async function leaveJournal() {
  const { db, folder } = await setup();
  const ledgerId = await ensureLedgerId(db);
  const owner = randomUUID();
  const journal = openJournal({ folder, ledgerId, accountId: ACCOUNT, owner, mark: null });
  const worker = await startWorker(db, { journal, name: `job:${owner}` });
  const claim = async (orderId: string, amount: string) =>
    mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId, amount }));
  const unsent = await claim('unsent', '1.00');
  const written = await claim('written', '2.00');
  const answered = await claim('answered', '4.00');
  const recorded = await claim('recorded', '8.00');
  for (const entry of [written, answered, recorded]) await journal.writing(entry);
  for (const entry of [answered, recorded]) journal.answered(entry, ACCEPTED);
  const { entryId, attempt } = recorded;
  await recordAnswers(db, [{ entryId, attempt, outcome: ACCEPTED, backoffMs: 0 }], 'direct');
  await journal.close();
  const [closed = ''] = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
  // The file is the same one: it was never closed.
  const open = join(folder, `${worker.owner}.open.ndjson`);
  renameSync(join(folder, closed), open);
  const settle = (ledger = ledgerId) => settleJournals(db, { folder, ledgerId: ledger, now: new Date() });
  const states = async () => {
    const facts = [unsent, written, answered, recorded].map((entry) => readFacts(db, entry.entryId));
    return (await Promise.all(facts)).map(({ state }) => state);
  };
  /** Loses all claims and entries, as a restore of an older backup does. */
  const restore = () =>
    db.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      for (const table of ['answers', 'attempts', 'entries'])
        await sql`delete from ${sql.table(`ledger.${table}`)}`.execute(trx);
    });
  const options = { folders: [folder], accountId: ACCOUNT, machineId: null, isShared: true };
  const claims = { unsent, answered, recorded };
  return { db, folder, ledgerId, open, settle, states, restore, options, runId: worker.runId, ...claims };
}

describe('the journal of a process that has ended', () => {
  it('settles what it knows: a claim that was never written is ready again, an answer is recorded, any other stays', async () => {
    const { db, folder, open, settle, states, unsent, answered, recorded } = await leaveJournal();
    expect(await settle()).toMatchObject({ answered: 1, neverSent: 1, unreadable: [], closed: [{}] });
    expect(await states()).toEqual(['ready', 'sending', 'accepted', 'accepted']);
    const answers = await db
      .selectFrom('ledger.answers')
      .select(['entry_id', 'kind', 'via'])
      .orderBy('entry_id')
      .execute();
    expect(answers, 'one that was recorded is not recorded again').toEqual([
      { entry_id: unsent.entryId, kind: 'not_written', via: 'journal' },
      { entry_id: answered.entryId, kind: 'accepted', via: 'journal' },
      { entry_id: recorded.entryId, kind: 'accepted', via: 'direct' },
    ]);
    expect(readdirSync(folder).filter((name) => open.endsWith(name))).toEqual([]);
    expect(await settle(), 'it is closed').toMatchObject({ answered: 0, neverSent: 0, closed: [] });
  });

  it.each([
    ['is a copy', (text: string) => text],
    ['was begun before a restart', (text: string) => text.replace(/"boot":"[^"]*"/, '"boot":"before"')],
    ['is damaged', (text: string) => text.replace('{"writing":', '{"writ\n{"writing":')],
  ])('that %s proves no request unwritten, but its answers count', async (what, change) => {
    const { open, settle, states } = await leaveJournal();
    const text = change(readFileSync(open, 'utf8'));
    if (what === 'is a copy') renameSync(open, `${open}.old`);
    writeFileSync(open, text);
    const { answered, neverSent, unreadable } = await settle();
    expect({ answered, neverSent, unreadable: unreadable.length }).toEqual({
      answered: 1,
      neverSent: 0,
      unreadable: what === 'is damaged' ? 1 : 0,
    });
    expect(await states()).toEqual(['sending', 'sending', 'accepted', 'accepted']);
  });

  it('of version 0.2, without numbers, proves a request unwritten only if it has every claim of the process that the database has', async () => {
    const plain = (text: string) => text.replace(/,"n":\d+,"sum":\d+\}$/gm, '}');
    const whole = await leaveJournal();
    writeFileSync(whole.open, plain(readFileSync(whole.open, 'utf8')));
    expect(await whole.settle()).toMatchObject({ answered: 1, neverSent: 1, unreadable: [] });
    expect(await whole.states()).toEqual(['ready', 'sending', 'accepted', 'accepted']);

    const cut = await leaveJournal();
    const lines = plain(readFileSync(cut.open, 'utf8')).split('\n');
    // The claim that was recorded, and all that came after it, are lost.
    writeFileSync(cut.open, `${lines.slice(0, 4).join('\n')}\n`);
    expect(await cut.settle()).toMatchObject({ answered: 0, neverSent: 0, unreadable: [] });
    expect(await cut.states()).toEqual(['sending', 'sending', 'sending', 'accepted']);
  });

  it.each([
    ['the closing line', (lines: readonly string[]) => lines.slice(0, -1)],
    ['lines in its midst', (lines: readonly string[]) => [...lines.slice(0, 5), ...lines.slice(-1)]],
    [
      'a line that was replaced by another',
      (lines: readonly string[]) => lines.map((line) => line.replace('"writing":2', '"writing":3')),
    ],
  ])('that lost %s proves no request unwritten', async (_what, change) => {
    const { open, settle, states } = await leaveJournal();
    const lines = change(readFileSync(open, 'utf8').trimEnd().split('\n'));
    writeFileSync(open, `${lines.join('\n')}\n`);
    expect(await settle()).toMatchObject({ neverSent: 0 });
    expect((await states())[0]).toBe('sending');
  });

  it('is settled while that of a living process is left to it', async () => {
    const { db, folder, ledgerId, settle, states } = await leaveJournal();
    const owner = randomUUID();
    const living = openJournal({ folder, ledgerId, accountId: ACCOUNT, owner, mark: null });
    const worker = await startWorker(db, { journal: living });
    const entry = await mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId: 'living' }));
    expect(await settle()).toMatchObject({ answered: 1, neverSent: 1, closed: [{}] });
    expect(await states()).toEqual(['ready', 'sending', 'accepted', 'accepted']);
    expect((await readFacts(db, entry.entryId)).state).toBe('sending');
    await living.writing(entry);
    await living.close();
  });

  it('changes only the entries that still wait for what it says', async () => {
    const { db, settle, states, unsent, answered } = await leaveJournal();
    for (const { entryId } of [unsent, answered])
      await recordAnswers(
        db,
        [{ entryId, attempt: 1, outcome: { kind: 'not_written', reason: 'refused' }, backoffMs: 0 }],
        'direct',
      );
    expect(await settle()).toMatchObject({ answered: 0, neverSent: 0, closed: [{}] });
    expect(await states()).toEqual(['ready', 'sending', 'ready', 'accepted']);
  });

  it('does not count what another process has settled since it was looked up', async () => {
    const { db, folder, ledgerId, states, unsent, answered } = await leaveJournal();
    const waiting = new Map<string, () => Promise<unknown>>();
    const record = ({ entryId }: { readonly entryId: string }, outcome: Outcome) =>
      recordAnswers(db, [{ entryId, attempt: 1, outcome, backoffMs: 0 }], 'direct');
    waiting.set('claimId', () => record(unsent, { kind: 'not_written', reason: 'refused' }));
    waiting.set('isUnsettled', () => record(answered, ACCEPTED));
    const slow = db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        for (const [column, settle] of waiting)
          if (result.rows.some((row) => column in row) && waiting.delete(column)) await settle();
        return result;
      },
    });
    expect(await settleJournals(slow, { folder, ledgerId, now: new Date() })).toMatchObject({
      answered: 0,
      neverSent: 0,
      closed: [{}],
    });
    expect(await states()).toEqual(['ready', 'sending', 'accepted', 'accepted']);
  });

  it('without a claim is closed as one, and so are its lines counted no more', async () => {
    const { db, folder, ledgerId, settle } = await leaveJournal();
    await settle();
    const owner = randomUUID();
    const journal = openJournal({ folder, ledgerId, accountId: ACCOUNT, owner, mark: null });
    const text = readFileSync(join(folder, `${owner}.open.ndjson`), 'utf8');
    await journal.close();
    writeFileSync(join(folder, `${owner}.open.ndjson`), text);
    const name = closedName(ledgerId, '0', owner);
    expect(await settleJournals(db, { folder, ledgerId, now: new Date() })).toEqual({
      answered: 0,
      neverSent: 0,
      unreadable: [],
      closed: [{ owner, name, path: join(folder, name) }],
    });
    expect(readdirSync(folder)).toContain(name);
  });

  it('that was closed since it was listed is left alone', async () => {
    const { folder, settle } = await leaveJournal();
    await settle();
    // A name without a file, as between the listing and the lock.
    symlinkSync(join(folder, 'gone'), join(folder, `${randomUUID()}.open.ndjson`));
    expect(await settle()).toEqual({ answered: 0, neverSent: 0, unreadable: [], closed: [] });
  });

  it('of another ledger is left alone, and one without a head is reported', async () => {
    const { open, settle, states } = await leaveJournal();
    const before = await states();
    const text = readFileSync(open, 'utf8');
    writeFileSync(open, text.replace(/"ledger":"[^"]*"/, `"ledger":"${randomUUID()}"`));
    expect(await settle()).toMatchObject({ unreadable: [], closed: [] });
    writeFileSync(open, 'no journal\n');
    expect(await settle()).toMatchObject({ unreadable: [expect.any(String)], closed: [] });
    expect((await states()).slice(0, 2)).toEqual(before.slice(0, 2));
  });
});

describe('a restored database', () => {
  const decision = { reason: 'restored', decidedBy: 'ada' };

  it('takes the claims that it lacks from the journals, and numbers the next ones above them', async () => {
    const { db, restore, options, runId } = await leaveJournal();
    await restore();
    expect(await readNewestClaim(db)).toBeNull();
    await sql`select setval('ledger.claim_numbers', 1, false)`.execute(db);
    const recover = () => recoverLedger(db, { ...options, ...decision, acceptsUndescribed: false });
    expect(await recover()).toEqual({
      claims: 4,
      accepted: 2,
      inDoubt: 1,
      notProcessed: 1,
      undescribed: 0,
      amounts: [{ currency: 'EUR', amount: '14.0000' }],
    });
    expect(await recover(), 'a second time').toMatchObject({ claims: 0 });
    const { rows } = await sql<{ next: string }>`select nextval('ledger.claim_numbers') as next`.execute(db);
    expect(Number(rows[0]?.next)).toBeGreaterThan(4);
    const entryId = await insertEntry(db, { runId, orderId: 'unsent', amount: '1.00' });
    expect(await mustClaim(await startWorker(db), entryId)).toMatchObject({ attempt: 1 });
  });

  it('takes the answer of a claim that another copy of its journal has without one, whichever is read first', async () => {
    for (const isAnsweredFirst of [true, false]) {
      const { db, folder, open, restore, options } = await leaveJournal();
      const copies = join(folder, 'copies');
      mkdirSync(copies);
      const [head = '', ...lines] = readFileSync(open, 'utf8').trimEnd().split('\n');
      const claimed = [head, ...lines.filter((line) => line.startsWith('{"claim"'))];
      writeFileSync(join(copies, partName(randomUUID(), '4')), claimed.map((line) => `${line}\n`).join(''));
      await restore();
      const folders = isAnsweredFirst ? [folder, copies] : [copies, folder];
      const given = { ...options, ...decision, folders, acceptsUndescribed: false };
      expect(await recoverLedger(db, given)).toMatchObject({
        claims: 4,
        accepted: 2,
        inDoubt: 1,
        notProcessed: 1,
      });
    }
  });

  it('holds a claim without an answer as a doubt if the journal lost lines, or has no numbers and claims that the database lacks', async () => {
    for (const change of [
      (text: string) => text.replace(/\{"closed".*\n/, ''),
      (text: string) => text.replace(/,"n":\d+,"sum":\d+\}$/gm, '}'),
    ]) {
      const { db, restore, options, open } = await leaveJournal();
      writeFileSync(open, change(readFileSync(open, 'utf8')));
      await restore();
      expect(await recoverLedger(db, { ...options, ...decision, acceptsUndescribed: false })).toMatchObject({
        accepted: 2,
        inDoubt: 2,
        notProcessed: 0,
      });
    }
  });

  it.each([
    ['no other machine has posted to it', { others: 0, isShared: false, accepts: false }, true],
    ['the journals are those of every machine', { others: 1, isShared: true, accepts: false }, true],
    ['a person gives up what others may know', { others: 1, isShared: false, accepts: true }, true],
    ['another machine has not compared it', { others: 1, isShared: false, accepts: false }, false],
  ])(
    'that has moved and of which %s counts as complete where it is now: %o → %s',
    async (_, given, isComplete) => {
      const { db, options } = await leaveJournal();
      await sql`update ledger.identity set place = 'where it was before'`.execute(db);
      await sql`
      insert into ledger.machines (machine_id, host) select gen_random_uuid(), 'other' from generate_series(1, ${given.others}::integer)`.execute(
        db,
      );
      const { isShared, accepts: acceptsUndescribed } = given;
      await recoverLedger(db, { ...options, ...decision, isShared, acceptsUndescribed });
      expect((await readLedgerLocation(db, null)).isSame).toBe(isComplete);
    },
  );

  it('counts the claims that no journal describes from the newest claim that it has of the same ledger', async () => {
    const { db, folder, ledgerId, options, runId } = await leaveJournal();
    rmSync(folder, { recursive: true });
    const note = async (ledger: string, claimNo: number) => {
      const owner = randomUUID();
      const journal = openJournal({ folder, ledgerId: ledger, accountId: ACCOUNT, owner, mark: null });
      const [hash, claimId] = ['a'.repeat(64), randomUUID()];
      const claim = {
        ledgerId: ledger,
        accountId: ACCOUNT,
        claimNo: String(claimNo),
        claimId,
        effect: 'referral' as const,
      };
      const sum = { keyHash: hash, bodyHash: hash, amount: '1.00', currency: 'EUR' };
      await journal.claimed([{ claim: { ...claim, ...sum }, entryId: '99', attempt: 1 }]);
      await journal.close();
    };
    // It has claims 1 to 4, and one that was made after the restore.
    await note(ledgerId, 7);
    await note(randomUUID(), 3);
    await sql`select setval('ledger.claim_numbers', 8)`.execute(db);
    await mustClaim(await startWorker(db), await insertEntry(db, { runId, orderId: 'after' }));
    const recovered = await recoverLedger(db, { ...options, ...decision, acceptsUndescribed: false });
    expect(recovered).toMatchObject({ claims: 2, undescribed: 2 + 2 });
    const { rows } = await sql`select ranges from ledger.recoveries`.execute(db);
    expect(rows).toEqual([
      {
        ranges: expect.arrayContaining([
          { ledger_id: ledgerId, above: '4', up_to: '7' },
          expect.objectContaining({ above: '0', up_to: '3' }),
        ]),
      },
    ]);
    // Another journal describes one of them: nothing beyond it is missing.
    await note(ledgerId, 6);
    expect(await recoverLedger(db, { ...options, ...decision, acceptsUndescribed: false })).toMatchObject({
      claims: 1,
      undescribed: 1 + 2,
    });
    const { rows: both } = await sql`select ranges from ledger.recoveries order by recovery_id`.execute(db);
    expect(both[1]).toEqual({ ranges: [] });
  });

  it('disregards them if a person begins a new ledger', async () => {
    const { db, restore, options, runId } = await leaveJournal();
    await restore();
    expect(await beginNewLedger(db, { ...options, ...decision })).toBe(4);
    const { rows } =
      await sql`select kind, lost_claims, accepts_undescribed, decided_by from ledger.recoveries`.execute(db);
    expect(rows).toEqual([
      { kind: 'new_ledger', lost_claims: '4', accepts_undescribed: true, decided_by: 'ada' },
    ]);
    const entryId = await insertEntry(db, { runId, orderId: 'answered', amount: '4.00' });
    expect((await readFacts(db, entryId)).state).toBe('ready');
    expect(await mustClaim(await startWorker(db), entryId)).toMatchObject({ attempt: 1 });
  });

  it('knows some claims only by their numbers: those of a range that no journal describes, until a person gives them up', async () => {
    const { db } = await setup();
    const [mine, other] = [randomUUID(), randomUUID()];
    const recovery = (ranges: readonly object[], accepts = false) =>
      sql`
        insert into ledger.recoveries (kind, decided_by, reason, ranges, accepts_undescribed)
        values ('recover', 'ada', 'restored', ${JSON.stringify(ranges)}::jsonb, ${accepts})`.execute(db);
    const describe = (ledger: string, claimNo: number) =>
      sql`
        insert into ledger.lost_claims (ledger_id, claim_no, claim_id, account_id, effect, key_hash, body_hash, disposition)
        values (${ledger}::uuid, ${claimNo}, gen_random_uuid(), 'A1', 'referral', 'k', 'b', 'in_doubt')`.execute(
        db,
      );
    expect(await countUndescribed(db)).toBe(0);
    await recovery([], true);
    await recovery([
      { ledger_id: mine, above: 2, up_to: 5 },
      { ledger_id: other, above: 0, up_to: 1 },
    ]);
    expect(await countUndescribed(db)).toBe(4);
    for (const claimNo of [2, 3, 6]) await describe(mine, claimNo);
    await describe(other, 4);
    expect(await countUndescribed(db)).toBe(3);
    await describe(mine, 3);
    await describe(mine, 5);
    expect(await countUndescribed(db)).toBe(2);
    await recovery([], true);
    expect(await countUndescribed(db)).toBe(0);
  });
});

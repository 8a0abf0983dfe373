import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { ClaimedEntry } from '../../src/core/ledger.ts';
import type { Database } from '../../src/db/connect.ts';
import type { ClaimedAttempt } from '../../src/ledger/continuity/journal-lines.ts';
import { storeLostClaims } from '../../src/ledger/continuity/lost-claims.ts';
import { reapLost } from '../../src/ledger/reap.ts';
import { type Answer, LedgerWentBack } from '../../src/ledger/record.ts';
import { setup } from '../support/setup.ts';
import { insertEntry, mustClaim, readFacts, startWorker, type Worker } from './entries.ts';

function accepted({ entryId, attempt, claim }: ClaimedEntry): Answer {
  const outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null } as const;
  return { entryId, attempt, outcome, backoffMs: 0, claim };
}

/** Claims one entry, whose answer is then known. */
async function claimOne(db: Database) {
  const worker = await startWorker(db);
  const sent = await mustClaim(
    worker,
    await insertEntry(db, { runId: worker.runId, orderId: String(Math.random()) }),
  );
  return { worker, sent, next: await insertEntry(db, { runId: worker.runId, orderId: 'next' }) };
}

it('claims and answers that wait at the same time share one commit', async () => {
  const { db } = await setup();
  const { worker, sent, next } = await claimOne(db);
  const [claimed, state] = await Promise.all([worker.claim(next), worker.record(accepted(sent))]);
  expect(claimed).toMatchObject({ entryId: next, attempt: 1 });
  expect(state).toBe('accepted');
  const { rows } = await sql<{ shared: boolean }>`
    select a.xmin = t.xmin as shared from ledger.answers a, ledger.attempts t where t.entry_id = ${next}::bigint`.execute(
    db,
  );
  expect(rows).toEqual([{ shared: true }]);
  const { rows: noted } = await sql`select entry_id from reporting.changed_earnings`.execute(db);
  expect(noted).toEqual([{ entry_id: sent.entryId }]);
});

it('of the answers beside a claim each has its own result: one changes its entry, one comes too late, and one belongs to an earlier attempt', async () => {
  const { db } = await setup();
  const { worker, sent, next } = await claimOne(db);
  const late = await mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId: 'late' }));
  const twice = await mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId: 'twice' }));
  await worker.record(accepted(late));
  await worker.record({ ...accepted(twice), outcome: { kind: 'not_written', reason: 'refused' } });
  const again = await mustClaim(worker, twice.entryId);
  const refused = { kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false } as const;
  const results = await Promise.all([
    worker.claim(next),
    ...[accepted(sent), accepted(late), accepted(twice), { ...accepted(again), outcome: refused }].map(
      worker.record,
    ),
  ]);
  expect(results).toEqual([
    expect.objectContaining({ entryId: next }),
    ...['accepted', null, null, 'rejected'],
  ]);
});

it('nothing is claimed if the database is no longer where it was when it was found complete', async () => {
  const { db } = await setup();
  const { rows } = await sql<{ place: string }>`select ledger.place() as place`.execute(db);
  const worker = await startWorker(db, { place: 'another cluster' });
  const entryId = await insertEntry(db, { runId: worker.runId, orderId: '1' });
  await expect(worker.claim(entryId)).rejects.toBeInstanceOf(LedgerWentBack);
  expect((await readFacts(db, entryId)).state).toBe('ready');
  const there = await startWorker(db, { place: rows[0]?.place ?? '' });
  expect(await there.claim(entryId)).toMatchObject({ entryId });
});

it('an answer is recorded although the claims beside it are refused, because the database lacks an earlier one', async () => {
  const { db } = await setup();
  const { sent, next } = await claimOne(db);
  const lost: ClaimedAttempt = { ...sent, claim: { ...sent.claim, claimId: randomUUID() } };
  const { claim, record } = await startWorker(db, { heads: [lost] });
  const [claimed, recorded] = await Promise.allSettled([claim(next), record(accepted(sent))]);
  expect(claimed).toMatchObject({ status: 'rejected', reason: expect.any(LedgerWentBack) });
  expect(recorded).toEqual({ status: 'fulfilled', value: 'accepted' });
  expect((await readFacts(db, next)).state).toBe('ready');
});

it('a claim before it that the database lost but knows from a journal is enough; another claim of its number is not', async () => {
  const { db } = await setup();
  const { sent, next } = await claimOne(db);
  const claimId = randomUUID();
  const lost: ClaimedAttempt = { ...sent, claim: { ...sent.claim, claimId } };
  const outcome = { kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false } as const;
  const store = (claim: ClaimedAttempt['claim']) =>
    storeLostClaims(db, [{ claim, outcome, disposition: 'not_processed', claimedAt: null }]);
  const { claim } = await startWorker(db, { heads: [lost] });
  await store({ ...lost.claim, claimId: randomUUID() });
  await store({ ...lost.claim, claimNo: '99' });
  await expect(claim(next)).rejects.toBeInstanceOf(LedgerWentBack);
  await store(lost.claim);
  expect(await claim(next)).toMatchObject({ entryId: next });
});

it('claims succeed although an answer beside them is refused, because the database lacks its claim', async () => {
  const { db } = await setup();
  const { worker, sent, next } = await claimOne(db);
  const lost = { ...accepted(sent), claim: { ...sent.claim, claimId: randomUUID() } };
  const [claimed, recorded] = await Promise.allSettled([worker.claim(next), worker.record(lost)]);
  expect(claimed).toMatchObject({ status: 'fulfilled', value: { entryId: next } });
  expect(recorded).toMatchObject({ status: 'rejected', reason: expect.any(LedgerWentBack) });
  expect((await readFacts(db, sent.entryId)).state).toBe('sending');
});

it('an answer is recorded by a statement of its own if the one that it shares with claims fails', async () => {
  const { db } = await setup();
  const { worker, sent, next } = await claimOne(db);
  // The database refuses a second attempt that nobody has approved.
  await sql`update ledger.entries set attempt = 1 where entry_id = ${next}::bigint`.execute(db);
  const [claimed, recorded] = await Promise.allSettled([worker.claim(next), worker.record(accepted(sent))]);
  expect(claimed).toMatchObject({ status: 'rejected', reason: { constraint: 'sends_are_approved' } });
  expect(recorded).toEqual({ status: 'fulfilled', value: 'accepted' });
  expect((await readFacts(db, next)).state).toBe('ready');
});

it('claims wait until the claims before them are in the journal; answers do not', async () => {
  const { db } = await setup();
  const { sent, next } = await claimOne(db);
  const noting = Promise.withResolvers<void>();
  const groups: string[][] = [];
  const worker = await startWorker(db, {
    journal: {
      async claimed(claims) {
        groups.push(claims.map(({ entryId }) => entryId));
        if (groups.length === 1) await noting.promise;
      },
    },
  });
  const last = await insertEntry(db, { runId: worker.runId, orderId: 'last' });
  const first = worker.claim(next);
  await expect.poll(() => groups).toEqual([[next]]);
  const second = worker.claim(last);
  expect(await worker.record(accepted(sent))).toBe('accepted');
  expect((await readFacts(db, last)).state).toBe('ready');
  noting.resolve();
  expect(await Promise.all([first, second])).toMatchObject([{ entryId: next }, { entryId: last }]);
  expect(groups).toEqual([[next], [last]]);
});

/** Loses the claims of these entries, as a failover to a standby that lags does. */
async function loseClaims(db: Database, entryIds: readonly string[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`delete from ledger.attempts where entry_id = any(${entryIds}::bigint[])`.execute(trx);
  });
}

it('each claim names the newest one before it: once the database has lost that, the process claims nothing more', async () => {
  const { db } = await setup();
  const worker = await startWorker(db);
  const orders = ['1', '2', '3', '4', '5'];
  const ids = await Promise.all(orders.map((orderId) => insertEntry(db, { runId: worker.runId, orderId })));
  const [one = '', two = '', three = '', four = '', five = ''] = ids;
  await mustClaim(worker, one);
  await Promise.all([mustClaim(worker, two), mustClaim(worker, three)]);
  // Older ones need not be there: the newest was committed after them.
  await loseClaims(db, [one]);
  await mustClaim(worker, four);
  await loseClaims(db, [four]);
  await expect(worker.claim(five)).rejects.toBeInstanceOf(LedgerWentBack);
  expect((await readFacts(db, five)).state).toBe('ready');
});

describe('a commit that the database does not acknowledge', () => {
  /** A process whose next statement that claims is committed, but its result is lost; `then` is what happens before it notices. */
  async function loseNextClaim(then: (db: Database, worker: Worker) => Promise<void> = async () => {}) {
    const { db } = await setup();
    const noted: string[] = [];
    let isLost = false;
    const lossy = db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (!isLost) return result;
        isLost = false;
        await then(db, worker);
        throw new Error('the connection was lost');
      },
    });
    const worker = await startWorker(lossy, {
      journal: { claimed: async (claims) => void noted.push(...claims.map(({ entryId }) => entryId)) },
    });
    const [one, other] = [
      await insertEntry(db, { runId: worker.runId, orderId: '1' }),
      await insertEntry(db, { runId: worker.runId, orderId: '2' }),
    ];
    const sent = await mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId: '3' }));
    noted.length = 0;
    isLost = true;
    return { db, worker, one, other, sent, noted };
  }

  it('is read back: its claims are those of the process, and are noted; its answers are recorded again', async () => {
    const { db, worker, one, other, sent, noted } = await loseNextClaim();
    const [first, second, state] = await Promise.all([
      worker.claim(one),
      worker.claim(other),
      worker.record(accepted(sent)),
    ]);
    expect([first, second]).toMatchObject([
      { entryId: one, attempt: 1, effect: 'referral', body: expect.stringContaining('"order_id":"1"') },
      { entryId: other, attempt: 1 },
    ]);
    const attempts = await db
      .selectFrom('ledger.attempts')
      .select(['claim_id', 'claim_no', 'body_hash'])
      .where('entry_id', '=', one)
      .execute();
    const { claimId, claimNo, bodyHash, keyHash, amount, currency } = first?.claim ?? {};
    expect(attempts).toEqual([{ claim_id: claimId, claim_no: String(claimNo), body_hash: bodyHash }]);
    expect([keyHash?.length, amount, currency]).toEqual([32, '10.0000', 'EUR']);
    expect(noted).toEqual([one, other]);
    // The first statement has recorded it: the second one changes nothing.
    expect(state).toBeNull();
    expect((await readFacts(db, sent.entryId)).state).toBe('accepted');
  });

  it('gives the process no claim that is in doubt by now', async () => {
    const { db, worker, one } = await loseNextClaim(async (direct, { owner }) => {
      await direct
        .updateTable('ops.leases')
        .set({ expires_at: new Date(0) })
        .where('owner', '=', owner)
        .execute();
      await reapLost(direct);
    });
    await expect(worker.claim(one)).rejects.toThrow('the connection was lost');
    expect((await readFacts(db, one)).state).toBe('in_doubt');
  });
});

import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import {
  applyEvidence,
  applyEvidences,
  type OrderEvidence,
  settleByEvidence,
} from '../../src/ledger/apply-evidence.ts';
import { reapLost } from '../../src/ledger/reap.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { approveResend } from '../../src/ledger/resolve.ts';
import { applyEvent } from '../../src/ledger/states.ts';
import { setup } from '../support/setup.ts';
import { endLeases, insertEntry, mustClaim, readFacts, startWorker, type Worker } from './entries.ts';

const EVIDENCE: OrderEvidence = {
  orderId: '1',
  orderPlatform: 'shopify',
  dealId: 'D1',
  collabId: 'C1',
  amount: '10.00',
  currency: 'EUR',
  bodySha256: 'a',
};

function tell(db: Database, change: Partial<OrderEvidence> = {}) {
  return db.transaction().execute((trx) => applyEvidence(trx, { ...EVIDENCE, ...change }));
}

/** Creates an entry whose request may have been processed. */
async function makeDoubt(db: Database, worker: Worker, orderId = '1'): Promise<string> {
  const entryId = await insertEntry(db, { runId: worker.runId, orderId });
  await mustClaim(worker, entryId);
  const outcome = { kind: 'in_doubt', httpStatus: null, reason: 'timeout' } as const;
  await recordAnswers(db, [{ entryId, attempt: 1, outcome, backoffMs: 0 }], 'direct');
  return entryId;
}

describe('an event that names an order', () => {
  it('settles a doubt about it as accepted, with the deal that was credited', async () => {
    const { db } = await setup();
    const entryId = await makeDoubt(db, await startWorker(db));
    const before = await readFacts(db, entryId);
    expect(await tell(db)).toEqual({ entryId, state: 'accepted' });
    expect(await readFacts(db, entryId)).toEqual(applyEvent(before, { kind: 'evidenced' }));
    const { rows } =
      await sql`select e.deal_id, e.collab_id, v.entry_id from ledger.entries e, ledger.evidence v`.execute(
        db,
      );
    expect(rows).toEqual([{ deal_id: 'D1', collab_id: 'C1', entry_id: entryId }]);
  });

  it('counts once, even if it arrives several times', async () => {
    const { db } = await setup();
    await makeDoubt(db, await startWorker(db));
    await tell(db);
    expect(await tell(db)).toBeNull();
    expect((await sql`select from ledger.evidence`.execute(db)).rows).toHaveLength(1);
  });

  it('settles an entry after an approved re-send, so that it is not sent again', async () => {
    const { db } = await setup();
    const worker = await startWorker(db);
    const entryId = await makeDoubt(db, worker);
    await approveResend(db, { entryId, reason: 'not in the dashboard', decidedBy: 'test' });
    expect(await tell(db)).toEqual({ entryId, state: 'accepted' });
    expect(await worker.claim(entryId)).toBeNull();
  });

  it('holds an order that was not sent yet, because another party has credited it', async () => {
    const { db } = await setup();
    const worker = await startWorker(db);
    const entryId = await insertEntry(db, { runId: worker.runId, orderId: '1' });
    const before = await readFacts(db, entryId);
    expect(await tell(db, { dealId: 'D9' })).toEqual({ entryId, state: 'held' });
    expect(await readFacts(db, entryId)).toEqual(applyEvent(before, { kind: 'evidenced' }));
    expect(await worker.claim(entryId)).toBeNull();
  });

  it('leaves an order with a request in flight to its answer, and settles it if that is lost', async () => {
    const { db } = await setup();
    const worker = await startWorker(db);
    const entryId = await insertEntry(db, { runId: worker.runId, orderId: '1' });
    await mustClaim(worker, entryId);
    expect(await tell(db)).toEqual({ entryId, state: 'sending' });
    expect(await settleByEvidence(db)).toBe(0);
    await endLeases(db, worker);
    await reapLost(db);
    expect(await settleByEvidence(db)).toBe(1);
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'accepted', attempt: 1 });
  });

  it('does not change a settled entry', async () => {
    const { db } = await setup();
    const worker = await startWorker(db);
    const entryId = await insertEntry(db, { runId: worker.runId, orderId: '1' });
    await mustClaim(worker, entryId);
    const outcome = { kind: 'rejected', httpStatus: 400, message: 'no', stopsGate: false } as const;
    await recordAnswers(db, [{ entryId, attempt: 1, outcome, backoffMs: 0 }], 'direct');
    expect(await tell(db)).toEqual({ entryId, state: 'rejected' });
  });

  it('is stored if the entry does not exist yet', async () => {
    const { db } = await setup();
    expect(await tell(db)).toBeNull();
    expect((await sql`select entry_id, order_id from ledger.evidence`.execute(db)).rows).toEqual([
      { entry_id: null, order_id: '1' },
    ]);
  });

  it.each([
    ['another order', { orderId: '2' }],
    ['another platform', { orderPlatform: 'woocommerce' }],
  ])('does not settle a doubt when it names %s', async (_what, change) => {
    const { db } = await setup();
    const entryId = await makeDoubt(db, await startWorker(db));
    await tell(db, change);
    expect(await settleByEvidence(db)).toBe(0);
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'in_doubt' });
  });

  it('says nothing about another effect that concerns the order, such as a note', async () => {
    const { db } = await setup();
    const entryId = await makeDoubt(db, await startWorker(db));
    await sql`update ledger.entries set effect = 'note'`.execute(db);
    expect(await tell(db)).toBeNull();
    expect(await settleByEvidence(db)).toBe(0);
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'in_doubt' });
  });

  it('does not settle a doubt if another deal was credited, or if it names no platform and two shops have the order ID', async () => {
    const { db } = await setup();
    const worker = await startWorker(db);
    const entryId = await makeDoubt(db, worker);
    await sql`update ledger.entries set body = '{"deal_id":"https://app.example.test/deal/D2"}'`.execute(db);
    await tell(db, { dealId: 'D1' });
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'in_doubt' });
    await sql`insert into ledger.entries (effect, account_id, key, state, body, body_hash, job, order_platform, order_id, run_id)
      values ('referral', 'A1', 'k', 'ready', '{}', 'h', 'j', 'etsy', '1', ${worker.runId})`.execute(db);
    await tell(db, { orderPlatform: null, dealId: 'D2', bodySha256: 'b' });
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'in_doubt' });
    await tell(db, { orderPlatform: 'Shopify', dealId: 'D2', bodySha256: 'c' });
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'accepted' });
  });
});

it.each([
  ['names no collaboration', 'accepted', { collabId: null }],
  ['names no deal', 'accepted', { dealId: null }],
  ['names another collaboration', 'in_doubt', { collabId: 'C2' }],
  ['names no platform', 'accepted', { orderPlatform: null }],
] as const)('an order in doubt, of which an event %s, is %s', async (_, state, change) => {
  const { db } = await setup();
  const entryId = await makeDoubt(db, await startWorker(db));
  await sql`update ledger.entries set body = '{"deal_id":"https://x.test/deal/D1?a","collab_id":"C1"}'`.execute(
    db,
  );
  await tell(db, change);
  expect((await readFacts(db, entryId)).state).toBe(state);
});

it('of several events those about orders that the ledger has are applied, and the others are stored for later', async () => {
  const { db } = await setup();
  const entryId = await makeDoubt(db, await startWorker(db));
  const unknown = { ...EVIDENCE, orderId: '7', bodySha256: 'b' };
  await db.transaction().execute((trx) => applyEvidences(trx, [unknown, EVIDENCE, unknown]));
  expect((await readFacts(db, entryId)).state).toBe('accepted');
  const { rows } = await sql`select order_id, entry_id from ledger.evidence order by order_id`.execute(db);
  expect(rows).toEqual([
    { order_id: '1', entry_id: entryId },
    { order_id: '7', entry_id: null },
  ]);
});

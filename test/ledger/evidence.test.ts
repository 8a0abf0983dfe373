import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import {
  applyEvidences,
  type OrderEvidence,
  settleByEvidence,
} from '../../src/ledger/evidence/apply-evidence.ts';
import { reapLost } from '../../src/ledger/reap.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { decideEntry } from '../../src/ledger/resolve.ts';
import { seedLedger } from '../../src/ledger/seed.ts';
import { setup } from '../support/setup.ts';
import { countBlocked, waitFor } from '../support/wait-for.ts';
import {
  ageEntries,
  changedEntries,
  endLeases,
  factsOf,
  insertEntry,
  insertSituation,
  mustClaim,
  readFacts,
  setupEntry,
  startWorker,
  type Worker,
} from './entries.ts';
import { applyEvent, SITUATIONS } from './states.ts';

const EVIDENCE: OrderEvidence = {
  isCredit: true,
  isLegible: true,
  orderId: '1',
  orderPlatform: 'shopify',
  dealId: 'D1',
  collabId: 'C1',
  amount: '10.00',
  currency: 'EUR',
  bodySha256: 'a',
};

function tell(db: Database, ...changes: readonly Partial<OrderEvidence>[]): Promise<void> {
  const events = (changes.length === 0 ? [{}] : changes).map((change) => ({ ...EVIDENCE, ...change }));
  return db.transaction().execute((trx) => applyEvidences(trx, events));
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
    await ageEntries(db);
    await tell(db);
    expect(await readFacts(db, entryId)).toEqual(applyEvent(before, { kind: 'evidenced' }));
    expect(await changedEntries(db)).toEqual([entryId]);
    const { rows } =
      await sql`select e.deal_id, e.collab_id, v.entry_id from ledger.entries e, ledger.evidence v`.execute(
        db,
      );
    expect(rows).toEqual([{ deal_id: 'D1', collab_id: 'C1', entry_id: entryId }]);
  });

  it('counts once, even if it arrives several times', async () => {
    const { db } = await setup();
    await makeDoubt(db, await startWorker(db));
    await tell(db, {}, {});
    await tell(db);
    expect((await sql`select from ledger.evidence`.execute(db)).rows).toHaveLength(1);
  });

  it('settles an entry after an approved re-send, so that it is not sent again', async () => {
    const { db } = await setup();
    const worker = await startWorker(db);
    const entryId = await makeDoubt(db, worker);
    await decideEntry(db, { decision: 'resend', entryId, reason: 'not in the dashboard', decidedBy: 'test' });
    await tell(db);
    expect((await readFacts(db, entryId)).state).toBe('accepted');
    expect(await worker.claim(entryId)).toBeNull();
  });

  it.each([
    ['another amount', { amount: '9.00' }],
    ['another currency', { currency: 'USD' }],
    ['another deal', { dealId: 'D9' }],
    ['an amount that cannot be read and no other', { amount: null, isLegible: false }],
  ])(
    'with %s than was sent settles no doubt, and what was to be sent again waits for a person',
    async (_what, change) => {
      const { db } = await setup();
      const worker = await startWorker(db);
      const entryId = await makeDoubt(db, worker);
      await sql`update ledger.entries set body = '{"deal_id":"D1"}'`.execute(db);
      const before = await readFacts(db, entryId);
      await tell(db, change);
      expect(await settleByEvidence(db)).toBe(0);
      expect(await readFacts(db, entryId)).toEqual(before);
      await decideEntry(db, { decision: 'resend', entryId, reason: 'seen by nobody', decidedBy: 'test' });
      const approved = await readFacts(db, entryId);
      await tell(db, { ...change, bodySha256: 'b' });
      expect(await readFacts(db, entryId)).toEqual(applyEvent(approved, { kind: 'withdrawn' }));
      expect(await worker.claim(entryId)).toBeNull();
      const { rows } = await sql<{
        reason: string;
      }>`select state_reason as reason from ledger.entries`.execute(db);
      expect(rows).toEqual([
        { reason: expect.stringContaining('names the order otherwise than it was sent') },
      ]);
      // What agrees settles it, also if it says less.
      await tell(db, { amount: '10', currency: null, bodySha256: 'c' });
      expect((await readFacts(db, entryId)).state).toBe('accepted');
    },
  );

  it('holds an order that was not sent yet, because another party has credited it', async () => {
    const { db, worker, entryId } = await setupEntry();
    const before = await readFacts(db, entryId);
    await ageEntries(db);
    await tell(db, { dealId: 'D9' });
    expect(await readFacts(db, entryId)).toEqual(applyEvent(before, { kind: 'evidenced' }));
    expect(await changedEntries(db)).toEqual([entryId]);
    expect(await worker.claim(entryId)).toBeNull();
    const other = await insertEntry(db, { runId: worker.runId, orderId: '2' });
    await tell(db, { orderId: '2', isCredit: false, isLegible: true, bodySha256: 'b' });
    expect((await readFacts(db, other)).state, 'named by an event of an unknown kind').toBe('held');
  });

  it('leaves an order with a request in flight to its answer, and settles it if that is lost', async () => {
    const { db, worker, entryId } = await setupEntry();
    await mustClaim(worker, entryId);
    await tell(db);
    expect((await readFacts(db, entryId)).state).toBe('sending');
    expect(await settleByEvidence(db)).toBe(0);
    await endLeases(db, worker);
    await reapLost(db);
    expect(await settleByEvidence(db)).toBe(1);
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'accepted', attempt: 1 });
  });

  it('does not change a settled entry', async () => {
    const { db, worker, entryId } = await setupEntry();
    await mustClaim(worker, entryId);
    const outcome = { kind: 'rejected', httpStatus: 400, message: 'no', stopsGate: false } as const;
    await recordAnswers(db, [{ entryId, attempt: 1, outcome, backoffMs: 0 }], 'direct');
    await tell(db);
    expect((await readFacts(db, entryId)).state).toBe('rejected');
  });

  it('is stored if the entry does not exist yet', async () => {
    const { db } = await setup();
    await tell(db);
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
    await tell(db);
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

it('an event, and one that was stored before, take an entry in any situation where the state machine says', async () => {
  const { db } = await setup();
  const { runId } = await startWorker(db);
  const situations = Object.keys(SITUATIONS);
  // The first entry is about no event.
  for (const orderId of ['unnamed', ...situations])
    await insertSituation(db, { runId, orderId, situation: orderId === 'unnamed' ? 'in doubt' : orderId });
  await ageEntries(db);
  const read = () => db.selectFrom('ledger.entries').selectAll().orderBy('entry_id').execute();
  const before = await read();
  const expected = (isSettling: boolean) =>
    before.map((row) => {
      const after = row.order_id === 'unnamed' ? null : applyEvent(factsOf(row), { kind: 'evidenced' });
      if (after === null || (isSettling && after.state !== 'accepted')) return row;
      const reason =
        after.state === 'accepted' ? 'an event of the service names the order' : 'evidence_of_another_poster';
      return {
        ...row,
        state: after.state,
        state_reason: reason,
        deal_id: `D ${row.order_id}`,
        collab_id: null,
        is_settled: after.state === 'accepted',
        state_changed_at: expect.any(Date),
      };
    });
  const events = situations.map((orderId) => ({
    orderId,
    dealId: `D ${orderId}`,
    collabId: null,
    bodySha256: orderId,
  }));
  await tell(db, ...events);
  expect(await read()).toEqual(expected(false));
  expect(await changedEntries(db)).toHaveLength(6);
  // As if each event had been there before the entry was in its situation.
  const { rows } = await sql<{ said: string }>`
    select v.order_id || ' ' || e.order_id as said from ledger.evidence v join ledger.entries e using (entry_id) order by evidence_id`.execute(
    db,
  );
  expect(
    rows.map(({ said }) => said),
    'each is linked to its entry',
  ).toEqual(situations.map((id) => `${id} ${id}`));
  for (const { entry_id, state, state_reason, deal_id, collab_id, owner, state_changed_at } of before)
    await db
      .updateTable('ledger.entries')
      .set({ state, state_reason, deal_id, collab_id, owner, state_changed_at })
      .where('entry_id', '=', entry_id)
      .execute();
  // An event about another order changes none of them.
  await insertEntry(db, { runId, orderId: 'another' });
  await tell(db, { orderId: 'another', bodySha256: 'another' });
  expect((await read()).slice(0, -1)).toEqual(before);
  expect(await settleByEvidence(db)).toBe(4);
  expect((await read()).slice(0, -1)).toEqual(expected(true));
});

it.each([
  ['names no collaboration', 'accepted', { collabId: null }],
  ['names no deal', 'accepted', { dealId: null }],
  ['names another collaboration', 'in_doubt', { collabId: 'C2' }],
  ['names no platform', 'accepted', { orderPlatform: null }],
  ['names no amount', 'accepted', { amount: null, currency: null }],
  ['names another amount', 'in_doubt', { amount: '1.00' }],
  ['names a refund', 'in_doubt', { amount: '-10.00' }],
  ['names another currency', 'in_doubt', { currency: 'USD' }],
  ['is of an unknown kind', 'in_doubt', { isCredit: false }],
] as const)('an order in doubt, of which an event %s, is %s', async (_, state, change) => {
  const { db } = await setup();
  const entryId = await makeDoubt(db, await startWorker(db));
  // Another order does not matter.
  await insertEntry(db, { runId: (await startWorker(db)).runId, orderId: 'another' });
  await sql`update ledger.entries set body = '{"deal_id":"https://x.test/deal/D1?a","collab_id":"C1"}'`.execute(
    db,
  );
  await tell(db, change);
  expect((await readFacts(db, entryId)).state).toBe(state);
});

it('of several events those about orders that the ledger has are applied, and the others are stored for later', async () => {
  const { db } = await setup();
  const entryId = await makeDoubt(db, await startWorker(db));
  const unknown = { orderId: '7', bodySha256: 'b' };
  await tell(db, unknown, {}, unknown);
  expect((await readFacts(db, entryId)).state).toBe('accepted');
  const { rows } = await sql`select order_id, entry_id from ledger.evidence order by order_id`.execute(db);
  expect(rows).toEqual([
    { order_id: '1', entry_id: entryId },
    { order_id: '7', entry_id: null },
  ]);
});

describe('an event that was stored before the doubt', () => {
  /** Orders that an event names while their requests are in flight, and whose answers are then lost. */
  async function loseAnswers(orderIds: readonly string[]) {
    const { db } = await setup();
    const worker = await startWorker(db);
    const entryIds: string[] = [];
    for (const orderId of orderIds) {
      const entryId = await insertEntry(db, { runId: worker.runId, orderId });
      await mustClaim(worker, entryId);
      entryIds.push(entryId);
    }
    return { db, worker, entryIds };
  }

  it('settles that doubt with the deal and the collaboration that it names, and no other doubt', async () => {
    const { db, worker, entryIds } = await loseAnswers(['1', '2', '3']);
    for (const orderId of ['1', '2'])
      await tell(db, { orderId, dealId: `D${orderId}`, collabId: `C${orderId}`, bodySha256: orderId });
    await endLeases(db, worker);
    await reapLost(db);
    await ageEntries(db);
    expect(await settleByEvidence(db)).toBe(2);
    const entries = await db
      .selectFrom('ledger.entries')
      .select(['order_id', 'state', 'state_reason', 'deal_id', 'collab_id'])
      .orderBy('entry_id')
      .execute();
    const accepted = { state: 'accepted', state_reason: 'an event of the service names the order' };
    expect(entries).toEqual([
      { order_id: '1', deal_id: 'D1', collab_id: 'C1', ...accepted },
      { order_id: '2', deal_id: 'D2', collab_id: 'C2', ...accepted },
      expect.objectContaining({ order_id: '3', state: 'in_doubt', deal_id: null, collab_id: null }),
    ]);
    expect(await changedEntries(db)).toEqual(entryIds.slice(0, 2));
  });

  it('settles a doubt also after a re-send was approved, but not while that is being sent', async () => {
    const { db, worker, entryIds } = await loseAnswers(['1']);
    const [entryId = ''] = entryIds;
    await tell(db);
    await endLeases(db, worker);
    await reapLost(db);
    await decideEntry(db, { decision: 'resend', entryId, reason: 'not in the dashboard', decidedBy: 'ada' });
    // Another process claims the entry, and has not committed that yet.
    const claiming = await db.startTransaction().execute();
    await sql`update ledger.entries set state = 'sending', owner = gen_random_uuid(), attempt = 2`.execute(
      claiming,
    );
    let isDone = false;
    const settling = settleByEvidence(db).finally(() => {
      isDone = true;
    });
    await waitFor(async () => isDone || (await countBlocked(db)) > 0);
    await claiming.commit().execute();
    expect(await settling).toBe(0);
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'sending', attempt: 2 });
    await sql`update ledger.entries set state = 'ready', owner = null, not_sent = 1`.execute(db);
    expect(await settleByEvidence(db)).toBe(1);
    expect((await readFacts(db, entryId)).state).toBe('accepted');
  });

  it('is no list of orders that were credited elsewhere: that settles no doubt', async () => {
    const { db, worker, entryIds } = await loseAnswers(['1']);
    const row = { line: 2, orderPlatform: 'shopify', orderId: '1', amount: null, currency: null };
    await seedLedger(db, {
      fileName: 'seed.csv',
      fileSha256: 'a',
      reason: 'elsewhere',
      seededBy: 'ada',
      rows: [{ ...row, dealId: null, collabId: null, reason: null }],
    });
    await endLeases(db, worker);
    await reapLost(db);
    expect(await settleByEvidence(db)).toBe(0);
    expect((await readFacts(db, entryIds[0] ?? '')).state).toBe('in_doubt');
  });
});

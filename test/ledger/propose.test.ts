import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { EntryState, Outcome } from '../../src/core/ledger.ts';
import type { Database } from '../../src/db/connect.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { setup } from '../support/setup.ts';
import { insertEntry, mustClaim, proposeBody, startWorker } from './entries.ts';

const OTHER = '{"influencer_handle":"mia.test","order_id":"1","order_revenue":7.00}';

async function openLedger(entry: { readonly state?: EntryState; readonly reason?: string } = {}) {
  const { db } = await setup();
  const worker = await startWorker(db);
  const { runId } = worker;
  const entryId = await insertEntry(db, { runId, orderId: '1', ...entry });
  const first = (await readEntry(db)).body;
  const record = (attempt: number, outcome: Outcome, backoffMs = 0) =>
    recordAnswers(db, [{ entryId, attempt, outcome, backoffMs }], 'direct');
  return { db, worker, runId, entryId, first, record };
}

async function readEntry(db: Database) {
  return db.selectFrom('ledger.entries').select(['state', 'state_reason', 'body']).executeTakeFirstOrThrow();
}

/** Leaves the posting of the entry to a backfill. */
async function giveToBackfill(db: Database, entryId: string): Promise<void> {
  await sql`
    with b as (
      insert into ops.backfills (job, state, from_day, to_day, time_zone, plan_hash, plan, run_id, approved_by, approved_at)
      select job, 'running', '2024-01-01', '2024-12-31', 'UTC', '', '{}', run_id, 'ada', now() from ledger.entries
      where entry_id = ${entryId}::bigint returning backfill_id)
    update ledger.entries set backfill_id = b.backfill_id from b where entry_id = ${entryId}::bigint`.execute(
    db,
  );
}

async function readAdjustments(db: Database) {
  return db
    .selectFrom('ledger.adjustments')
    .select(['kind', 'old_amount', 'new_amount', 'old_body_hash', 'new_body_hash', 'detail'])
    .orderBy('adjustment_id')
    .execute();
}

describe('an entry that was not sent', () => {
  it('gets the changed body and is sent with it', async () => {
    const { db, worker, runId, entryId } = await openLedger();
    expect(await proposeBody(db, { runId, entryId, body: OTHER })).toEqual({
      created: 0,
      replaced: 1,
      withdrawn: 0,
      adjustments: 0,
    });
    expect(await readEntry(db)).toEqual({ state: 'ready', state_reason: null, body: OTHER });
    expect((await mustClaim(worker, entryId)).body).toContain('"order_revenue":7.00');
  });

  it('that was withdrawn may be stated by another source, which is no adjustment', async () => {
    const { db, runId, entryId } = await openLedger({ state: 'held', reason: 'no_longer_attributed' });
    expect(await proposeBody(db, { runId, entryId, body: OTHER, source: 'new shop' })).toMatchObject({
      replaced: 1,
      adjustments: 0,
    });
    expect(await readEntry(db)).toEqual({ state: 'ready', state_reason: null, body: OTHER });
  });

  it('keeps its backoff if nothing changes, and loses it with another body', async () => {
    const { db, worker, runId, entryId, first, record } = await openLedger();
    const { attempt } = await mustClaim(worker, entryId);
    await record(attempt, { kind: 'not_written', reason: 'refused' }, 60_000);
    expect(await proposeBody(db, { runId, entryId, body: first })).toMatchObject({ replaced: 0 });
    expect(await worker.claim(entryId)).toBeNull();
    await proposeBody(db, { runId, entryId, body: OTHER });
    expect(await worker.claim(entryId)).toMatchObject({ attempt: 2 });
  });

  it('and that was held for a reason of its own stays held for it, with the changed body', async () => {
    const { db, worker, runId, entryId } = await openLedger({ state: 'held', reason: 'credited_elsewhere' });
    expect(await proposeBody(db, { runId, entryId, body: OTHER })).toMatchObject({ replaced: 1 });
    expect(await readEntry(db)).toEqual({ state: 'held', state_reason: 'credited_elsewhere', body: OTHER });
    expect(await worker.claim(entryId)).toBeNull();
  });

  it('is held while it is not desired, and ready again when it is, as it was or with another body', async () => {
    const { db, runId, entryId, first } = await openLedger();
    for (const body of [first, OTHER]) {
      expect(await proposeBody(db, { runId, entryId, body: null })).toMatchObject({ withdrawn: 1 });
      expect(await readEntry(db)).toMatchObject({ state: 'held', state_reason: 'no_longer_attributed' });
      expect(await proposeBody(db, { runId, entryId, body: null })).toMatchObject({ withdrawn: 0 });
      expect(await proposeBody(db, { runId, entryId, body })).toMatchObject({ replaced: 1 });
      expect(await readEntry(db)).toEqual({ state: 'ready', state_reason: null, body });
    }
    expect(await readAdjustments(db)).toEqual([]);
  });

  it('is left to the source that stated it first: another source neither changes nor withdraws it', async () => {
    const { db, runId, entryId, first } = await openLedger();
    for (const body of [OTHER, null]) {
      expect(await proposeBody(db, { runId, entryId, body, source: 'other' })).toMatchObject({
        replaced: 0,
        withdrawn: 0,
      });
      expect(await readEntry(db)).toEqual({ state: 'ready', state_reason: null, body: first });
    }
    expect(await readAdjustments(db)).toMatchObject([
      { kind: 'changed', new_body_hash: OTHER, detail: 'Source other states the order otherwise.' },
    ]);
  });

  it('is left to the job that stated it first', async () => {
    const { db, runId, entryId, first } = await openLedger();
    for (const body of [OTHER, null])
      expect(await proposeBody(db, { runId, entryId, body, job: 'other' })).toMatchObject({
        replaced: 0,
        withdrawn: 0,
      });
    expect(await readEntry(db)).toEqual({ state: 'ready', state_reason: null, body: first });
  });

  it('by its backfill is held if its body changes, because the backfill posts only what was approved', async () => {
    const { db, runId, entryId, first } = await openLedger();
    await giveToBackfill(db, entryId);
    expect(await proposeBody(db, { runId, entryId, body: first })).toMatchObject({ replaced: 0 });
    expect(await readEntry(db)).toMatchObject({ state: 'ready' });
    await proposeBody(db, { runId, entryId, body: OTHER });
    expect(await readEntry(db)).toEqual({
      state: 'held',
      state_reason: 'changed_since_the_plan',
      body: OTHER,
    });
  });

  it('by its backfill is ready again if it is withdrawn and then desired as it was approved', async () => {
    const { db, runId, entryId, first } = await openLedger();
    await giveToBackfill(db, entryId);
    await proposeBody(db, { runId, entryId, body: null });
    await proposeBody(db, { runId, entryId, body: first });
    expect(await readEntry(db)).toEqual({ state: 'ready', state_reason: null, body: first });
  });
});

describe('an entry that the service rejected', () => {
  const rejected = { kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false } as const;

  it('is sent again without an approval if its body changes, and not otherwise', async () => {
    const { db, worker, runId, entryId, first, record } = await openLedger();
    await mustClaim(worker, entryId);
    await record(1, rejected);
    await proposeBody(db, { runId, entryId, body: first });
    await proposeBody(db, { runId, entryId, body: null });
    expect(await readEntry(db)).toMatchObject({ state: 'rejected', body: first });
    expect(await readAdjustments(db)).toEqual([]);
    expect(await proposeBody(db, { runId, entryId, body: OTHER })).toMatchObject({ replaced: 1 });
    expect(await worker.claim(entryId)).toMatchObject({ attempt: 2 });
  });

  it('may be corrected by another source of its job, once the job no longer reads the one that stated it', async () => {
    const { db, worker, runId, entryId, record } = await openLedger();
    await db.updateTable('ledger.entries').set({ source: 'gone' }).execute();
    await mustClaim(worker, entryId);
    await record(1, rejected);
    const corrected = { runId, entryId, body: OTHER, source: 'new' };
    const both = { ...corrected, sourcesOfJob: ['gone', 'new'] };
    for (const proposal of [corrected, both])
      expect(await proposeBody(db, proposal)).toMatchObject({ replaced: 0 });
    expect(await proposeBody(db, { ...corrected, sourcesOfJob: ['new'] })).toMatchObject({ replaced: 1 });
    expect(await readEntry(db)).toMatchObject({ state: 'ready', body: OTHER });
  });
});

describe('an entry that was sent, or perhaps sent', () => {
  it.each([
    ['accepted', { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null }],
    ['in_doubt', { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' }],
  ] as const)(
    '(%s) never changes: each difference is recorded once as an adjustment',
    async (state, outcome) => {
      const { db, worker, runId, entryId, first, record } = await openLedger();
      await mustClaim(worker, entryId);
      await record(1, outcome);
      const lower = { runId, entryId, body: OTHER, amount: '7.00' };
      expect(await proposeBody(db, { runId, entryId, body: first })).toMatchObject({ adjustments: 0 });
      expect(await proposeBody(db, lower)).toEqual({ created: 0, replaced: 0, withdrawn: 0, adjustments: 1 });
      expect(await proposeBody(db, lower)).toMatchObject({ adjustments: 0 });
      expect(await proposeBody(db, { runId, entryId, body: null })).toMatchObject({ adjustments: 1 });
      expect(await proposeBody(db, { runId, entryId, body: null })).toMatchObject({ adjustments: 0 });
      expect(await proposeBody(db, { runId, entryId, body: first })).toMatchObject({ adjustments: 1 });
      expect(await proposeBody(db, { runId, entryId, body: first })).toMatchObject({ adjustments: 0 });
      expect(await readEntry(db)).toMatchObject({ state, body: first });
      const hashes = { old_amount: '10.0000', old_body_hash: first };
      expect(await readAdjustments(db)).toEqual([
        { ...hashes, kind: 'changed', new_amount: '7.0000', new_body_hash: OTHER, detail: null },
        {
          ...hashes,
          kind: 'excluded',
          new_amount: null,
          new_body_hash: null,
          detail: 'No longer credited: test.',
        },
        {
          ...hashes,
          kind: 'changed',
          new_amount: '10.0000',
          new_body_hash: first,
          detail: 'As it was sent, again.',
        },
      ]);
    },
  );

  it('is adjusted as reattributed if another influencer is to be credited', async () => {
    const { db, worker, runId, entryId, record } = await openLedger();
    await mustClaim(worker, entryId);
    await record(1, { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null });
    for (const body of [
      OTHER.replace('mia.test', 'ben.test'),
      OTHER.replace('"order_id"', '"deal_id":"D2","order_id"'),
      OTHER.replace('"order_id"', '"collab_id":"C2","order_id"'),
    ])
      await proposeBody(db, { runId, entryId, body });
    expect((await readAdjustments(db)).map(({ kind }) => kind)).toEqual(Array(3).fill('reattributed'));
  });

  it('is not withdrawn while a doubt about it stands, even if a re-send was approved', async () => {
    const { db, worker, runId, entryId, record } = await openLedger();
    await mustClaim(worker, entryId);
    await record(1, { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' });
    await sql`update ledger.entries set state = 'ready', resends_approved = 1`.execute(db);
    expect(await proposeBody(db, { runId, entryId, body: null })).toMatchObject({
      withdrawn: 0,
      adjustments: 1,
    });
    expect(await proposeBody(db, { runId, entryId, body: OTHER })).toMatchObject({ replaced: 0 });
    expect(await readEntry(db)).toMatchObject({ state: 'ready' });
  });
});

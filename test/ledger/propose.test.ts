import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { EntryState, Outcome } from '../../src/core/ledger.ts';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { createDesiredEntries, inDecision, isOwnAdjustment, propose } from '../../src/ledger/propose.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { setup } from '../support/setup.ts';
import { countBlocked, waitFor } from '../support/wait-for.ts';
import {
  ACCOUNT,
  ageEntries,
  changedEntries,
  insertEntry,
  mustClaim,
  proposeBody,
  startWorker,
} from './entries.ts';

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
  return db
    .selectFrom('ledger.entries')
    .select(['state', 'state_reason', 'body'])
    .where('order_id', '=', '1')
    .executeTakeFirstOrThrow();
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
    expect(await db.selectFrom('ledger.entries').select('source').execute()).toEqual([
      { source: 'new shop' },
    ]);
  });

  it('states all that is decided now, and the run that decided it', async () => {
    const { db, runId, entryId } = await openLedger();
    const { runId: later } = await startWorker(db);
    await db.updateTable('ledger.entries').set({ source: 'shop' }).execute();
    await ageEntries(db);
    await proposeBody(db, {
      runId: later,
      entryId,
      body: OTHER,
      source: 'shop',
      amount: '7.00',
      currency: 'USD',
      brandId: 'B2',
      details: { code: 'MIA10' },
    });
    expect(Number(later)).toBeGreaterThan(Number(runId));
    expect(
      await db
        .selectFrom('ledger.entries')
        .select(['body_hash', 'source', 'brand_id', 'amount', 'currency', 'details', 'run_id'])
        .execute(),
    ).toEqual([
      {
        body_hash: OTHER,
        source: 'shop',
        brand_id: 'B2',
        amount: '7.0000',
        currency: 'USD',
        details: { code: 'MIA10' },
        run_id: later,
      },
    ]);
    expect(await changedEntries(db)).toEqual([entryId]);
  });

  it('may be stated by another job after it was withdrawn, which then posts it', async () => {
    const { db, runId, entryId } = await openLedger({ state: 'held', reason: 'no_longer_attributed' });
    expect(await proposeBody(db, { runId, entryId, body: OTHER, job: 'other' })).toMatchObject({
      replaced: 1,
    });
    expect(await db.selectFrom('ledger.entries').select(['job', 'state']).execute()).toEqual([
      { job: 'other', state: 'ready' },
    ]);
  });

  it('is withdrawn by another source of its job, once the job no longer reads the one that stated it', async () => {
    const { db, runId, entryId } = await openLedger();
    await db.updateTable('ledger.entries').set({ source: 'gone' }).execute();
    const undesired = { runId, entryId, body: null, source: 'new' };
    for (const sourcesOfJob of [[], ['gone', 'new']])
      expect(await proposeBody(db, { ...undesired, sourcesOfJob })).toMatchObject({ withdrawn: 0 });
    await ageEntries(db);
    expect(await proposeBody(db, { ...undesired, sourcesOfJob: ['new'] })).toMatchObject({ withdrawn: 1 });
    expect(await readEntry(db)).toMatchObject({ state: 'held', state_reason: 'no_longer_attributed' });
    expect(await changedEntries(db)).toEqual([entryId]);
    expect(await readAdjustments(db)).toEqual([]);
    // One that no source has stated has no successor.
    await db
      .updateTable('ledger.entries')
      .set({ source: null, state: 'ready', state_reason: null })
      .execute();
    expect(await proposeBody(db, { ...undesired, sourcesOfJob: ['new'] })).toMatchObject({ withdrawn: 0 });
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
    const { db, worker, runId, entryId, first } = await openLedger({
      state: 'held',
      reason: 'credited_elsewhere',
    });
    expect(await proposeBody(db, { runId, entryId, body: first })).toMatchObject({ replaced: 0 });
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
      for (const more of [{}, { source: 'new', sourcesOfJob: ['new'] }])
        expect(await proposeBody(db, { runId, entryId, body, job: 'other', ...more })).toMatchObject({
          replaced: 0,
          withdrawn: 0,
        });
    expect(await readEntry(db)).toEqual({ state: 'ready', state_reason: null, body: first });
  });

  it('is known from another job to a job that desires exactly the same', async () => {
    const { db, runId } = await openLedger();
    const compare = async (job: string, source: string | null) => {
      const { rows } = await inTransaction(db, async (trx) => {
        await createDesiredEntries(trx);
        await sql`
          insert into desired_entries (key, body, body_hash, source)
          select key, body, body_hash, ${source}::text from ledger.entries`.execute(trx);
        await propose(trx, { effect: 'referral', job, runId, accountId: ACCOUNT });
        return sql`select is_own, is_same_job from compared_entries`.execute(trx);
      });
      return rows;
    };
    expect(await compare('other', null)).toEqual([{ is_own: false, is_same_job: false }]);
    expect(await compare('attribute-orders', 'other'), 'so is one of another source').toEqual([
      { is_own: false, is_same_job: true },
    ]);
    expect(await compare('attribute-orders', null), 'nothing differs').toEqual([]);
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

describe('an order without an entry', () => {
  /** Proposes one body for each order, decided in this order of versions. */
  function proposeOrders(db: Database, runId: string, orders: readonly (readonly [string, number])[]) {
    return inTransaction(db, async (trx) => {
      await createDesiredEntries(trx);
      for (const [orderId, versionId] of orders)
        await sql`
          insert into desired_entries (key, body, body_hash, source, brand_id, amount, currency, details, order_platform, order_id, version_id)
          values (${JSON.stringify(['shopify', orderId])}, ${OTHER}, ${OTHER}, 'shop', 'B1', 7.00, 'EUR', '{"code":"MIA10"}', 'shopify', ${orderId},
            ${versionId})`.execute(trx);
      return propose(trx, { effect: 'referral', job: 'attribute-orders', runId, accountId: ACCOUNT });
    });
  }

  it('gets one that is ready, in the order in which the orders were read; an undesired order gets none', async () => {
    const { db } = await setup();
    const { runId } = await startWorker(db);
    expect(
      await proposeOrders(db, runId, [
        ['newer', 2],
        ['older', 1],
      ]),
    ).toEqual({ created: 2, replaced: 0, withdrawn: 0, adjustments: 0 });
    const created = { state: 'ready', attempt: 0, body: OTHER, body_hash: OTHER, job: 'attribute-orders' };
    const stated = { source: 'shop', brand_id: 'B1', amount: '7.0000', currency: 'EUR', run_id: runId };
    expect(await db.selectFrom('ledger.entries').selectAll().orderBy('entry_id').execute()).toMatchObject(
      ['older', 'newer'].map((order_id) => ({
        ...created,
        ...stated,
        account_id: ACCOUNT,
        order_platform: 'shopify',
        order_id,
        details: { code: 'MIA10' },
      })),
    );
    expect(
      await inTransaction(db, async (trx) => {
        await createDesiredEntries(trx);
        await sql`insert into desired_entries (key, undesired_as) values ('none', 'excluded')`.execute(trx);
        return propose(trx, { effect: 'referral', job: 'attribute-orders', runId, accountId: ACCOUNT });
      }),
    ).toMatchObject({ created: 0 });
  });

  it('gets one although another account, or another effect, has an entry of that key; those do not change', async () => {
    const { db, runId, entryId } = await openLedger();
    const others = [
      await insertEntry(db, { runId, orderId: '2', accountId: 'A2' }),
      await insertEntry(db, { runId, orderId: '3' }),
    ];
    await sql`update ledger.entries set effect = 'note' where order_id = '3'`.execute(db);
    const orders = [
      ['2', 1],
      ['3', 2],
    ] as const;
    expect(await proposeOrders(db, runId, orders)).toMatchObject({ created: 2, replaced: 0 });
    expect(await proposeOrders(db, runId, orders)).toMatchObject({ created: 0, replaced: 0, adjustments: 0 });
    const unchanged = await db
      .selectFrom('ledger.entries')
      .select('entry_id')
      .where('body', '<>', OTHER)
      .orderBy('entry_id')
      .execute();
    expect(unchanged.map(({ entry_id }) => entry_id)).toEqual([entryId, ...others]);
  });
});

it('an order gets the key of its folded spelling, whatever key the entry of another account or effect has', async () => {
  const { db, runId } = await openLedger();
  const orders = ['2', '3', '4'].map((orderId) => ({
    orderId,
    // One of them is spelled otherwise than its entry.
    stated: orderId === '4' ? '４' : orderId,
    key: JSON.stringify(['shopify', orderId]),
  }));
  for (const { orderId, key } of orders) {
    const accountId = orderId === '2' ? 'A2' : ACCOUNT;
    await insertEntry(db, { runId, orderId, accountId });
    // An earlier version made it.
    await sql`
      update ledger.entries set key = ${`earlier ${orderId}`}, order_key = ${key}, effect = ${orderId === '3' ? 'note' : 'referral'}
      where order_id = ${orderId}`.execute(db);
  }
  const proposed = await inTransaction(db, async (trx) => {
    await createDesiredEntries(trx);
    for (const { key, stated } of orders)
      await sql`
        insert into desired_entries (key, body, body_hash, amount, currency, order_platform, order_id)
        values (${key}, ${OTHER.replace('"1"', JSON.stringify(stated))}, ${OTHER}, 7.00, 'EUR', 'shopify', ${stated})`.execute(
        trx,
      );
    return propose(trx, { effect: 'referral', job: 'attribute-orders', runId, accountId: ACCOUNT });
  });
  expect(proposed).toMatchObject({ created: 2, replaced: 1 });
  const { rows } = await sql`
    select order_id, key, body_hash = encode(sha256(convert_to(body, 'UTF8')), 'hex') as is_adopted from ledger.entries
    where account_id = ${ACCOUNT} and effect = 'referral' and order_id <> '1' order by order_id, entry_id`.execute(
    db,
  );
  expect(rows).toEqual([
    { order_id: '2', key: orders[0]?.key, is_adopted: false },
    { order_id: '3', key: orders[1]?.key, is_adopted: false },
    { order_id: '4', key: 'earlier 4', is_adopted: true },
  ]);
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

  it('is not taken for one that was withdrawn, whatever the service says', async () => {
    const { db, worker, runId, entryId, first, record } = await openLedger();
    await mustClaim(worker, entryId);
    await record(1, { ...rejected, message: 'no_longer_attributed' });
    expect(await proposeBody(db, { runId, entryId, body: first, source: 'other' })).toMatchObject({
      replaced: 0,
    });
    expect(await readEntry(db)).toMatchObject({ state: 'rejected', state_reason: 'no_longer_attributed' });
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

  it('is adjusted as held if an influencer is named, and who has the deal that was sent is not known', async () => {
    const { db, worker, runId, entryId, record } = await openLedger();
    await proposeBody(db, {
      runId,
      entryId,
      body: OTHER.replace('influencer_handle":"mia.test', 'deal_id":"D1'),
    });
    await mustClaim(worker, entryId);
    await record(1, { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null });
    await proposeBody(db, { runId, entryId, body: OTHER });
    expect(await readAdjustments(db)).toMatchObject([
      {
        kind: 'held',
        detail:
          'It names mia.test instead of deal D1; who has it is not known. Name both in one row of codes.csv.',
      },
    ]);
  });

  it('is in doubt again if a re-send was approved of what is no longer desired', async () => {
    const { db, worker, runId, entryId, record } = await openLedger();
    await mustClaim(worker, entryId);
    await record(1, { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' });
    await sql`update ledger.entries set state = 'ready', resends_approved = 1`.execute(db);
    expect(await proposeBody(db, { runId, entryId, body: null })).toMatchObject({
      withdrawn: 1,
      adjustments: 1,
    });
    expect(await proposeBody(db, { runId, entryId, body: OTHER })).toMatchObject({ replaced: 0 });
    expect(await readEntry(db)).toMatchObject({ state: 'in_doubt' });
  });

  describe('and whose order now differs', () => {
    /** The adjustments after an order of 10.00 EUR was accepted and these proposals were made, one after the other. */
    async function adjust(
      ...proposals: readonly (Partial<Parameters<typeof proposeBody>[1]> & { readonly body: string | null })[]
    ) {
      const { db, worker, runId, entryId, first, record } = await openLedger();
      // What becomes of another order does not matter.
      const another = await insertEntry(db, { runId, orderId: 'another', amount: '99.00' });
      await db.updateTable('ledger.entries').set({ source: 'shop' }).execute();
      await mustClaim(worker, entryId);
      await record(1, { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null });
      for (const proposal of proposals) {
        await proposeBody(db, { source: 'shop', ...proposal, runId, entryId });
        await sql`
          insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, new_body_hash, is_elsewhere, run_id)
          select ${another}::bigint, 'changed', 99, 98, 'EUR', 'sent', 'now', is_elsewhere, ${runId}::bigint
          from unnest(array[true, false]) as is_elsewhere`.execute(db);
      }
      expect(await readEntry(db)).toMatchObject({ state: 'accepted', body: first });
      const rows = await db
        .selectFrom('ledger.adjustments')
        .select(['kind', 'new_amount', 'currency', 'detail', 'is_elsewhere', 'run_id', 'order_version_id'])
        .where('entry_id', '=', entryId)
        .where('old_amount', '=', '10.0000')
        .orderBy('adjustment_id')
        .execute();
      return rows.map(({ run_id, ...row }) => {
        expect(run_id).toBe(runId);
        return row;
      });
    }
    const stated = { currency: 'EUR', detail: null, is_elsewhere: false, order_version_id: null };

    it('in its currency: no difference can be computed, so it is held', async () => {
      expect(await adjust({ body: OTHER, amount: '15000', currency: 'JPY', versionId: '7' })).toEqual([
        {
          ...stated,
          kind: 'held',
          new_amount: null,
          order_version_id: '7',
          detail: 'Source shop states 15000 JPY; it was sent in EUR.',
        },
      ]);
    });

    it('in its amount: a smaller one is called what was decided, a greater one or the same is a change', async () => {
      expect(
        await adjust(
          { body: '{"influencer_handle":"mia.test","v":1}', amount: '9.99', loweredAs: 'refunded' },
          { body: '{"influencer_handle":"mia.test","v":2}', amount: '9.98' },
          { body: '{"influencer_handle":"mia.test","v":3}', amount: '10.00', loweredAs: 'refunded' },
          { body: '{"influencer_handle":"mia.test","v":4}', amount: '10.01', loweredAs: 'refunded' },
        ),
      ).toEqual(
        [
          ['refunded', '9.9900'],
          ['changed', '9.9800'],
          ['changed', '10.0000'],
          ['changed', '10.0100'],
        ].map(([kind, new_amount]) => ({ ...stated, kind, new_amount })),
      );
    });

    it('in whether it may be credited: held keeps what it comes to, excluded does not, and each is recorded once', async () => {
      const held = { body: null, undesiredAs: 'held', undesiredBecause: 'its status is unknown' };
      const excluded = { body: null, undesiredAs: 'excluded', undesiredBecause: 'it is a test' };
      expect(await adjust(held, held, excluded, excluded, held)).toEqual(
        [
          ['held', '10.0000', 'Held: its status is unknown.'],
          ['excluded', null, 'No longer credited: it is a test.'],
          ['held', '10.0000', 'Held: its status is unknown.'],
        ].map(([kind, new_amount, detail]) => ({ ...stated, kind, new_amount, detail })),
      );
    });

    it('according to another source: that is recorded beside what its own source states, and only as long as it credits the order', async () => {
      const elsewhere = { source: 'other', body: OTHER, amount: '7.00' };
      expect(
        await adjust(
          elsewhere,
          { body: null },
          elsewhere,
          { source: 'other', body: null },
          { body: null },
          { ...elsewhere, body: '{"influencer_handle":"mia.test"}', job: 'other' },
        ),
      ).toEqual([
        {
          ...stated,
          kind: 'changed',
          new_amount: '7.0000',
          is_elsewhere: true,
          detail: 'Source other states the order otherwise.',
        },
        { ...stated, kind: 'excluded', new_amount: null, detail: 'No longer credited: test.' },
        {
          ...stated,
          kind: 'changed',
          new_amount: '7.0000',
          is_elsewhere: true,
          detail: 'Source other states the order otherwise.',
        },
      ]);
    });

    it('according to two sources in place of the one that stated it: of both the least is recorded last, and counts', async () => {
      const { db, worker, runId, entryId, record } = await openLedger();
      await db.updateTable('ledger.entries').set({ source: 'gone' }).execute();
      await mustClaim(worker, entryId);
      await record(1, { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null });
      await inTransaction(db, async (trx) => {
        await createDesiredEntries(trx);
        await sql`
          insert into desired_entries (key, body, body_hash, source, amount, currency, undesired_as, undesired_because)
          select e.key, v.body, v.body, v.source, v.amount, 'EUR', 'excluded', 'test' from ledger.entries e, (values
            ('none', null, null), ('less', '{"v":1}', 7.00), ('more', '{"v":2}', 8.00)) as v(source, body, amount)`.execute(
          trx,
        );
        const job = { effect: 'referral', job: 'attribute-orders', runId, accountId: ACCOUNT } as const;
        await propose(trx, { ...job, sourcesOfJob: ['none', 'less', 'more'] });
      });
      expect((await readAdjustments(db)).map(({ new_amount }) => new_amount)).toEqual([
        ...['8.0000', '7.0000', null],
      ]);
    });

    it('according to the source that the job reads in place of the one that stated it', async () => {
      const successor = { source: 'new', sourcesOfJob: ['new'] };
      expect(
        await adjust(
          { ...successor, body: OTHER, amount: '7.00' },
          { ...successor, body: OTHER, amount: '7.00' },
          { ...successor, body: null },
          { ...successor, body: null },
        ),
      ).toEqual([
        {
          ...stated,
          kind: 'changed',
          new_amount: '7.0000',
          detail: 'Source new states the order in place of shop.',
        },
        { ...stated, kind: 'excluded', new_amount: null, detail: 'No longer credited: test.' },
      ]);
    });
  });
});

it('an adjustment is of the source that is responsible, if it is not said to be of another; earlier versions said so in words, and less counts all the same', async () => {
  const { db } = await setup();
  const { rows } = await sql<{ title: string }>`
    select title from (values
      ('own', false, null, 5, 10), ('own, with a reason', false, 'No longer credited: test.', null, 10),
      ('elsewhere', true, null, 5, 10), ('elsewhere, in words', false, 'Source other states the order otherwise.', 12, 10),
      ('elsewhere, in words, and gone', false, 'Source other states the order otherwise.', null, 10),
      ('elsewhere, in words, and less', false, 'Source other states the order otherwise.', 5, 10)
    ) as d(title, is_elsewhere, detail, new_amount, old_amount) where ${isOwnAdjustment('d')}`.execute(db);
  expect(rows.map(({ title }) => title)).toEqual([
    ...['own', 'own, with a reason', 'elsewhere, in words, and less'],
  ]);
});

it('decisions about a job are made one after the other; those about another job do not wait for them', async () => {
  const { db } = await setup();
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const steps: string[] = [];
  await inDecision(db, ['orders'], async () => {});
  const first = inDecision(db, ['orders'], async () => {
    begun.resolve();
    await end.promise;
    steps.push('first');
  });
  await begun.promise;
  const second = inDecision(db, ['orders'], async () => void steps.push('second'));
  await inDecision(db, ['other'], async () => void steps.push('of another job'));
  await waitFor(async () => (await countBlocked(db)) > 0 || steps.includes('second'));
  end.resolve();
  await Promise.all([first, second]);
  expect(steps).toEqual(['of another job', 'first', 'second']);
});

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { giveBack, holdForBackfill, takeForBackfill } from '../../src/ledger/backfill-entries.ts';
import { createDesiredEntries } from '../../src/ledger/propose.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { setup } from '../support/setup.ts';
import {
  ACCOUNT,
  ageEntries,
  changedEntries,
  insertEntry,
  mustClaim,
  readFacts,
  startWorker,
} from './entries.ts';

const BODY = '{"influencer_handle":"mia.test","order_id":"new","order_revenue":5.00}';

/** A running backfill, and a process that posts its entries. */
async function openBackfill() {
  const { db } = await setup();
  const runs = await startWorker(db);
  const { rows } = await sql<{ backfill_id: string }>`
    insert into ops.backfills (job, state, from_day, to_day, time_zone, plan_hash, plan, run_id, approved_by, approved_at)
    values ('attribute-orders', 'running', '2024-01-01', '2024-12-31', 'UTC', '', '{}', ${runs.runId}::bigint, 'ada', now())
    returning backfill_id`.execute(db);
  const backfillId = rows[0]?.backfill_id ?? '';
  const worker = await startWorker(db, { backfillId });
  return { db, runs, worker, backfillId };
}

/** Takes orders for the backfill: new ones (null), and some that were held before. */
function take(
  db: Database,
  options: { runId: string; backfillId: string; linkedIds: readonly (string | null)[] },
): Promise<void> {
  const { runId, backfillId, linkedIds } = options;
  return inTransaction(db, async (trx) => {
    await createDesiredEntries(trx);
    for (const [place, linkedId] of linkedIds.entries())
      await sql`
        insert into desired_entries (key, body, body_hash, source, brand_id, amount, currency, details, order_platform, order_id, linked_id,
          version_id)
        values (${`new ${place}`}, ${BODY}, ${`hash ${place}`}, 'shop', 'B2', 5.00, 'EUR', '{"code":"MIA10"}', 'shopify', ${`new ${place}`},
          ${linkedId}::bigint, ${-place})`.execute(trx);
    await takeForBackfill(trx, {
      effect: 'referral',
      job: 'attribute-orders',
      runId,
      accountId: ACCOUNT,
      backfillId,
    });
  });
}

async function readEntries(db: Database) {
  return db
    .selectFrom('ledger.entries')
    .select(['entry_id', 'state', 'state_reason', 'body', 'backfill_id'])
    .orderBy('entry_id')
    .execute();
}

it('an order of a plan becomes a new entry, or a held one with the body of the plan, which only the backfill posts', async () => {
  const { db, runs, worker, backfillId } = await openBackfill();
  const held = await insertEntry(db, {
    runId: runs.runId,
    orderId: '1',
    state: 'held',
    reason: 'no_longer_attributed',
  });
  const other = await insertEntry(db, {
    runId: runs.runId,
    orderId: '2',
    state: 'held',
    reason: 'no_longer_attributed',
  });
  const second = await insertEntry(db, {
    runId: runs.runId,
    orderId: '3',
    state: 'held',
    reason: 'no_longer_attributed',
  });
  await sql`update ledger.entries set job = 'before', not_before = now() + interval '1 hour'`.execute(db);
  await ageEntries(db);
  await take(db, { runId: worker.runId, backfillId, linkedIds: [null, held, null, second] });
  const taken = {
    state: 'ready',
    state_reason: null,
    body: BODY,
    backfill_id: backfillId,
    not_before: null,
    job: 'attribute-orders',
    source: 'shop',
    brand_id: 'B2',
    amount: '5.0000',
    currency: 'EUR',
    details: { code: 'MIA10' },
    run_id: worker.runId,
  };
  const entries = await db.selectFrom('ledger.entries').selectAll().orderBy('entry_id').execute();
  expect(entries).toMatchObject([
    { ...taken, entry_id: held, body_hash: 'hash 1', order_id: '1' },
    { entry_id: other, state: 'held', backfill_id: null, job: 'before' },
    { ...taken, entry_id: second, body_hash: 'hash 3', order_id: '3' },
    // In the order of their versions.
    { ...taken, body_hash: 'hash 2', order_id: 'new 2' },
    { ...taken, body_hash: 'hash 0', order_id: 'new 0' },
  ]);
  expect(await changedEntries(db)).not.toContain(other);
  expect(await changedEntries(db)).toHaveLength(4);
  expect(await runs.claim(held)).toBeNull();
  expect(await worker.claim(held)).toMatchObject({ attempt: 1 });
});

it.each([
  ['is not held', sql`state = 'ready', state_reason = null`],
  ['may have been sent', sql`attempt = 1`],
])('a plan is refused as a whole if one of its entries %s any more', async (_, change) => {
  const { db, runs, backfillId } = await openBackfill();
  const held = await insertEntry(db, {
    runId: runs.runId,
    orderId: '1',
    state: 'held',
    reason: 'no_longer_attributed',
  });
  await sql`update ledger.entries set ${change}`.execute(db);
  await expect(take(db, { runId: runs.runId, backfillId, linkedIds: [held] })).rejects.toThrow(
    '1 entries of the plan could not be made',
  );
  expect(await readEntries(db)).toMatchObject([{ backfill_id: null }]);
});

it('a cancelled backfill holds its entries that were never sent, and gives all back but those that are being sent', async () => {
  const { db, runs, worker, backfillId } = await openBackfill();
  const ofRuns = await insertEntry(db, { runId: runs.runId, orderId: 'of the runs' });
  const ids: string[] = [];
  for (const orderId of ['unsent', 'again', 'sending']) {
    const entryId = await insertEntry(db, { runId: runs.runId, orderId });
    await sql`update ledger.entries set backfill_id = ${backfillId}::bigint where entry_id = ${entryId}::bigint`.execute(
      db,
    );
    ids.push(entryId);
  }
  const [unsent = '', again = '', sending = ''] = ids;
  await mustClaim(worker, again);
  const doubt = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' } as const;
  await recordAnswers(db, [{ entryId: again, attempt: 1, outcome: doubt, backoffMs: 0 }], 'direct');
  await sql`update ledger.entries set state = 'ready', resends_approved = 1 where entry_id = ${again}::bigint`.execute(
    db,
  );
  await mustClaim(worker, sending);
  await ageEntries(db);
  await inTransaction(db, (trx) => holdForBackfill(trx, backfillId));
  expect(await changedEntries(db)).toEqual([unsent]);
  expect((await readEntries(db)).find(({ entry_id }) => entry_id === unsent)).toMatchObject({
    state: 'held',
    state_reason: 'backfill_cancelled',
  });
  for (const entryId of [ofRuns, again]) expect((await readFacts(db, entryId)).state).toBe('ready');
  await inTransaction(db, (trx) => giveBack(trx, String(Number(backfillId) + 1)));
  expect((await readEntries(db)).filter(({ backfill_id }) => backfill_id === backfillId)).toHaveLength(3);
  await inTransaction(db, (trx) => giveBack(trx, backfillId));
  const kept = (await readEntries(db)).filter(({ backfill_id }) => backfill_id !== null);
  expect(kept.map(({ entry_id }) => entry_id)).toEqual([sending]);
});

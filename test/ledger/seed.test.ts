import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { listSeeds, seedLedger, undoSeed } from '../../src/ledger/seed.ts';
import { setup } from '../support/setup.ts';
import { insertEntry, mustClaim, startWorker } from './entries.ts';

/** Seeds orders of a platform. The name of the file is also its digest. */
function seed(db: Database, fileName: string, orderIds: readonly string[], orderPlatform = 'shopify') {
  const rows = orderIds.map((orderId, index) => ({
    ...{ line: index + 2, orderPlatform, orderId, amount: '10.00', currency: 'EUR' },
    ...{ dealId: null, collabId: null, reason: null },
  }));
  return seedLedger(db, { fileName, fileSha256: fileName, reason: 'before', seededBy: 'ada', rows });
}

async function statesOf(db: Database) {
  const rows = await db
    .selectFrom('ledger.entries')
    .select(['order_id', 'state', 'state_reason'])
    .orderBy('entry_id')
    .execute();
  return rows.map(({ order_id, state, state_reason }) => `${order_id} ${state} ${state_reason ?? '-'}`);
}

it('a seed holds the entries of its orders that were never sent, and names those that it leaves as they are', async () => {
  const { db } = await setup();
  const worker = await startWorker(db);
  const add = (orderId: string) => insertEntry(db, { runId: worker.runId, orderId });
  await add('ready');
  const sent = await add('sent');
  const { attempt } = await mustClaim(worker, sent);
  const outcome = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' } as const;
  await recordAnswers(db, [{ entryId: sent, attempt, outcome, backoffMs: 0 }], 'direct');
  await mustClaim(worker, await add('sending'));
  await add('other');
  expect(await seed(db, 'elsewhere', ['other'], 'woocommerce')).toMatchObject({ heldBack: 0, untouched: [] });
  expect(await seed(db, 'a.csv', ['ready', 'sent', 'sending', 'unknown'])).toEqual({
    seedId: '2',
    orders: 4,
    heldBack: 1,
    untouched: [
      { state: 'in_doubt', orders: 1, examples: ['sent'] },
      { state: 'sending', orders: 1, examples: ['sending'] },
    ],
  });
  expect(await statesOf(db)).toEqual([
    'ready held credited_elsewhere',
    'sent in_doubt HTTP 500',
    'sending sending -',
    'other ready -',
  ]);
});

it('a file is seeded once, unless its seed was undone; undoing releases the orders that no other seed names', async () => {
  const { db } = await setup();
  const { runId } = await startWorker(db);
  for (const orderId of ['both', 'one', 'other reason']) await insertEntry(db, { runId, orderId });
  await db
    .updateTable('ledger.entries')
    .set({ state: 'held', state_reason: 'evidence_of_another_poster' })
    .where('order_id', '=', 'other reason')
    .execute();
  const first = await seed(db, 'a.csv', ['both', 'one', 'other reason']);
  const second = await seed(db, 'b.csv', ['both']);
  expect(await seed(db, 'a.csv', ['both']), 'the same file').toBeNull();
  const undo = (seedId = '') => undoSeed(db, { seedId, reason: 'a wrong file', undoneBy: 'bob' });
  expect(await undo('99')).toEqual({ kind: 'unknown' });
  expect(await undo(first?.seedId)).toEqual({ kind: 'undone', orders: 3 });
  expect(await undo(first?.seedId)).toEqual({ kind: 'undone_before' });
  expect(await statesOf(db)).toEqual([
    'both held credited_elsewhere',
    'one held no_longer_attributed',
    'other reason held evidence_of_another_poster',
  ]);
  expect(await undo(second?.seedId)).toMatchObject({ kind: 'undone' });
  expect((await statesOf(db))[0]).toBe('both held no_longer_attributed');
  expect((await seed(db, 'a.csv', ['both']))?.orders).toBe(1);
  const seeds = await listSeeds(db);
  expect(seeds.map(({ seedId, fileName, orders, undoneBy }) => [seedId, fileName, orders, undoneBy])).toEqual(
    [
      ['3', 'a.csv', 1, null],
      ['2', 'b.csv', 1, 'bob'],
      ['1', 'a.csv', 3, 'bob'],
    ],
  );
});

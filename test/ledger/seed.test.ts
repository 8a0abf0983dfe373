import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { applyEvidences } from '../../src/ledger/evidence/apply-evidence.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { decideEntry } from '../../src/ledger/resolve.ts';
import { listSeeds, seedLedger, spellSeeds, undoSeed } from '../../src/ledger/seed.ts';
import { setup } from '../support/setup.ts';
import { ageEntries, changedEntries, insertEntry, mustClaim, startWorker } from './entries.ts';

/** Seeds orders of a platform. The name of the file is also its digest. */
function seed(db: Database, fileName: string, orderIds: readonly string[], orderPlatform = 'shopify') {
  const rows = orderIds.map((orderId, index) => ({
    line: index + 2,
    orderPlatform,
    orderId,
    amount: '10.00',
    currency: 'EUR',
    dealId: null,
    collabId: null,
    reason: null,
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
  const ready = await add('ready');
  const outcome = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' } as const;
  for (const orderId of ['sent', 'approved']) {
    const entryId = await add(orderId);
    const { attempt } = await mustClaim(worker, entryId);
    await recordAnswers(db, [{ entryId, attempt, outcome, backoffMs: 0 }], 'direct');
    if (orderId === 'approved')
      await decideEntry(db, {
        decision: 'resend',
        entryId,
        reason: 'not in the dashboard',
        decidedBy: 'ada',
      });
  }
  await mustClaim(worker, await add('sending'));
  await add('other');
  expect(await seed(db, 'elsewhere', ['other'], 'woocommerce')).toMatchObject({ heldBack: 0, untouched: [] });
  await db
    .updateTable('ledger.entries')
    .set({ effect: 'note' })
    .where('entry_id', '=', await add('note'))
    .execute();
  await ageEntries(db);
  expect(await seed(db, 'a.csv', ['ready', 'sent', 'approved', 'sending', 'note', 'unknown'])).toEqual({
    seedId: '2',
    isKnown: false,
    orders: 6,
    heldBack: 1,
    untouched: [
      { state: 'in_doubt', orders: 1, examples: ['sent'] },
      { state: 'ready', orders: 1, examples: ['approved'] },
      { state: 'sending', orders: 1, examples: ['sending'] },
    ],
  });
  expect(await statesOf(db)).toEqual([
    'ready held credited_elsewhere',
    'sent in_doubt HTTP 500',
    'approved ready -',
    'sending sending -',
    'other ready -',
    'note ready -',
  ]);
  expect(await changedEntries(db)).toEqual([ready]);
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
  expect(await seed(db, 'a.csv', ['both']), 'the same file').toMatchObject({
    seedId: first.seedId,
    isKnown: true,
    orders: 3,
    heldBack: 0,
  });
  const undo = (seedId = '') => undoSeed(db, { seedId, reason: 'a wrong file', undoneBy: 'bob' });
  expect(await undo('99')).toEqual({ kind: 'unknown' });
  await ageEntries(db);
  expect(await undo(first.seedId)).toEqual({ kind: 'undone', orders: 3 });
  expect(await changedEntries(db)).toHaveLength(1);
  expect(await undo(first.seedId)).toEqual({ kind: 'undone_before' });
  expect(await seed(db, 'b.csv', ['both']), 'only another seed was undone').toMatchObject({ isKnown: true });
  expect(await statesOf(db)).toEqual([
    'both held credited_elsewhere',
    'one held no_longer_attributed',
    'other reason held evidence_of_another_poster',
  ]);
  expect(await undo(second.seedId)).toMatchObject({ kind: 'undone' });
  expect((await statesOf(db))[0]).toBe('both held no_longer_attributed');
  // What a seed named that was undone is no business of the next one.
  await db
    .updateTable('ledger.entries')
    .set({ state: 'ready', state_reason: null })
    .where('order_id', '=', 'one')
    .execute();
  expect((await seed(db, 'a.csv', ['both']))?.orders).toBe(1);
  expect((await statesOf(db))[1]).toBe('one ready -');
  const linked = await db
    .selectFrom('ledger.evidence as v')
    .innerJoin('ledger.entries as e', 'e.entry_id', 'v.entry_id')
    .select(['v.order_id as seeded', 'e.order_id'])
    .orderBy('evidence_id')
    .execute();
  expect(linked.map(({ seeded, order_id }) => [seeded, order_id])).toEqual(
    ['both', 'one', 'other reason', 'both', 'both'].map((id) => [id, id]),
  );
  const seeds = await listSeeds(db);
  expect(seeds[2]).toEqual({
    seedId: '1',
    fileName: 'a.csv',
    orders: 3,
    reason: 'before',
    seededBy: 'ada',
    undoneBy: 'bob',
    seededAt: expect.any(Date),
    undoneAt: expect.any(Date),
  });
  const evidence = await db
    .selectFrom('ledger.evidence')
    .selectAll()
    .orderBy('evidence_id')
    .executeTakeFirst();
  expect(evidence).toMatchObject({
    kind: 'seeded',
    seed_id: '1',
    order_platform: 'shopify',
    order_id: 'both',
    entry_id: '1',
    deal_id: null,
    collab_id: null,
    amount: '10.0000',
    currency: 'EUR',
    reason: null,
  });
  expect(seeds.map(({ seedId, fileName, orders, undoneBy }) => [seedId, fileName, orders, undoneBy])).toEqual(
    [
      ['3', 'a.csv', 1, null],
      ['2', 'b.csv', 1, 'bob'],
      ['1', 'a.csv', 3, 'bob'],
    ],
  );
});

it('undoing a seed releases an order that a seed names on another platform only, and none that may have been sent', async () => {
  const { db } = await setup();
  const { runId } = await startWorker(db);
  for (const orderId of ['1', 'perhaps sent']) await insertEntry(db, { runId, orderId });
  const { seedId } = await seed(db, 'a.csv', ['1', 'perhaps sent']);
  await seed(db, 'b.csv', ['1'], 'woocommerce');
  await db.updateTable('ledger.entries').set({ attempt: 1 }).where('order_id', '=', 'perhaps sent').execute();
  await undoSeed(db, { seedId, reason: 'a wrong file', undoneBy: 'ada' });
  expect(await statesOf(db)).toEqual(['1 held no_longer_attributed', 'perhaps sent held credited_elsewhere']);
});

it('a seed of many orders is stored whole, and names three of those that it leaves as they are', async () => {
  const { db } = await setup();
  const worker = await startWorker(db);
  const orderIds = Array.from({ length: 5_001 }, (_, index) => String(index));
  for (const orderId of ['0', '1', '2', '5000'])
    await mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId }));
  expect(await seed(db, 'many.csv', orderIds)).toMatchObject({
    orders: 5_001,
    untouched: [{ state: 'sending', orders: 4, examples: ['0', '1', '2'] }],
  });
  const { stored } = await db
    .selectFrom('ledger.evidence')
    .select(({ fn }) => fn.countAll<string>().as('stored'))
    .executeTakeFirstOrThrow();
  expect(Number(stored)).toBe(5_001);
});

it('of seeded orders whose ids may be spelled otherwise the loose form is known, of all that count or of one seed', async () => {
  const { db } = await setup();
  const first = await seed(db, 'a.csv', ['1000', '#1000', 'Order 7', '0'], 'Shopify');
  const undone = await seed(db, 'b.csv', ['#8', '010'], 'woo');
  await undoSeed(db, { seedId: undone.seedId, reason: 'a wrong file', undoneBy: 'ada' });
  await db
    .transaction()
    .execute((trx) =>
      applyEvidences(trx, [
        {
          isCredit: true,
          isLegible: true,
          orderId: '#9',
          orderPlatform: 'shopify',
          dealId: null,
          collabId: null,
          amount: null,
          currency: null,
          bodySha256: 'a',
        },
      ]),
    );
  const spelled = (seedId: string | null) =>
    db.transaction().execute(async (trx) => {
      await spellSeeds(trx, '0');
      await spellSeeds(trx, seedId);
      const { rows } = await sql<{ said: string }>`
        select concat_ws(' ', id, '→', loose, 'of', order_platform) as said from seeded_spellings order by id`.execute(
        trx,
      );
      return rows.map(({ said }) => said);
    });
  const all = await spelled(null);
  expect(all).toEqual(['#1000 → 1000 of Shopify', 'Order 7 → 7 of Shopify']);
  expect(await spelled(first.seedId)).toEqual(all);
  expect(await spelled(undone.seedId), 'also of one that was undone').toEqual([
    ...['#8 → 8 of woo', '010 → 10 of woo'],
  ]);
});

import { sql, type Transaction } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import type { DB } from '../../src/db/tables.ts';
import { applyEvidences } from '../../src/ledger/evidence/apply-evidence.ts';
import { holdCreditedElsewhere } from '../../src/ledger/evidence/hold-credited-elsewhere.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { decideEntry } from '../../src/ledger/resolve.ts';
import { listSeeds, seedLedger, undoSeed } from '../../src/ledger/seed.ts';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';
import { ageEntries, changedEntries, insertEntry, mustClaim, startWorker } from './entries.ts';

const JOB = { job: 'attribute-orders', accountId: 'A1' };

/** Applies evidence from an event about an order in a transaction that is not yet committed. */
function tellOf(trx: Transaction<DB>, orderId: string): Promise<void> {
  const said = {
    isCredit: true,
    isLegible: true,
    orderId,
    orderPlatform: 'shopify',
    dealId: 'D9',
    collabId: null,
  };
  return applyEvidences(trx, [{ ...said, amount: null, currency: null, bodySha256: orderId }]);
}

async function seed(trx: Transaction<DB>, orderId: string): Promise<void> {
  const row = { line: 2, orderPlatform: 'shopify', orderId, amount: null, currency: null };
  const rows = [{ ...row, dealId: null, collabId: null, reason: null }];
  const file = { fileName: 'seed.csv', fileSha256: orderId, reason: 'elsewhere', seededBy: 'test' };
  await seedLedger(trx, { ...file, rows });
}

/** Returns true if a session is waiting to write evidence. */
async function isWaiting(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks where relation = 'ledger.evidence_lock'::regclass and not granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows.length > 0;
}

it('evidence holds an order that waits to be sent, and none that may have been sent or is held for another reason', async () => {
  const { db } = await setup();
  const worker = await startWorker(db);
  const ids = ['waiting', 'sending', 'approved', 'held'];
  await db.transaction().execute(async (trx) => {
    for (const orderId of ids) await tellOf(trx, orderId);
  });
  const [waiting = '', sending = '', approved = '', held = ''] = await Promise.all(
    ids.map((orderId) =>
      insertEntry(db, {
        runId: worker.runId,
        orderId,
        ...(orderId === 'held' ? { state: 'held', reason: 'not_eligible' } : {}),
      }),
    ),
  );
  await mustClaim(worker, sending);
  await mustClaim(worker, approved);
  const doubt = { kind: 'in_doubt', httpStatus: null, reason: 'timeout' } as const;
  await recordAnswers(db, [{ entryId: approved, attempt: 1, outcome: doubt, backoffMs: 0 }], 'direct');
  await decideEntry(db, {
    decision: 'resend',
    entryId: approved,
    reason: 'not in the dashboard',
    decidedBy: 'ada',
  });
  expect(await holdCreditedElsewhere(db, JOB)).toBe(1);
  const { rows } = await sql<{ entry_id: string; state: string; state_reason: string | null }>`
    select entry_id, state, state_reason from ledger.entries`.execute(db);
  const stateOf = (entryId: string) => {
    const row = rows.find(({ entry_id }) => entry_id === entryId);
    return [row?.state, row?.state_reason];
  };
  expect(stateOf(waiting)).toEqual(['held', 'evidence_of_another_poster']);
  expect(stateOf(held)).toEqual(['held', 'not_eligible']);
  expect([stateOf(sending)[0], stateOf(approved)[0]]).toEqual(['sending', 'ready']);
});

it('of the orders that wait only those of the job and of its account are held, each for what names it', async () => {
  const { db } = await setup();
  const worker = await startWorker(db);
  const told = ['by event', 'other job', 'other account', 'other effect'];
  await db.transaction().execute(async (trx) => {
    for (const orderId of told) await tellOf(trx, orderId);
    await seed(trx, 'by seed');
    await seed(trx, 'undone');
  });
  const seeds = await listSeeds(db);
  await undoSeed(db, { seedId: seeds[0]?.seedId ?? '', reason: 'a wrong file', undoneBy: 'ada' });
  const ids: string[] = [];
  for (const orderId of [...told, 'by seed', 'undone', 'unnamed'])
    ids.push(
      await insertEntry(db, {
        runId: worker.runId,
        orderId,
        ...(orderId === 'other account' ? { accountId: 'A2' } : {}),
      }),
    );
  await sql`update ledger.entries set job = 'other' where order_id = 'other job'`.execute(db);
  await sql`update ledger.entries set effect = 'note' where order_id = 'other effect'`.execute(db);
  await ageEntries(db);
  expect(await holdCreditedElsewhere(db, JOB)).toBe(2);
  const held = await db
    .selectFrom('ledger.entries')
    .select(['order_id', 'state_reason'])
    .where('state', '=', 'held')
    .orderBy('entry_id')
    .execute();
  expect(held).toEqual([
    { order_id: 'by event', state_reason: 'evidence_of_another_poster' },
    { order_id: 'by seed', state_reason: 'credited_elsewhere' },
  ]);
  expect(await changedEntries(db)).toEqual([ids[0], ids[4]]);
});

describe('evidence that is written while entries are created', () => {
  it.each([
    ['an event', tellOf, 'evidence_of_another_poster'],
    ['a seed', seed, 'credited_elsewhere'],
  ] as const)(
    '(%s) holds an entry that it did not see, even if it commits after the entry',
    async (_, tell, reason) => {
      const { db } = await setup();
      const worker = await startWorker(db);
      const writing = await db.startTransaction().execute();
      await tell(writing, '1');
      const entryId = await insertEntry(db, { runId: worker.runId, orderId: '1' });
      let isDone = false;
      const held = holdCreditedElsewhere(db, JOB).finally(() => {
        isDone = true;
      });
      await waitFor(async () => isDone || (await isWaiting(db)));
      await writing.commit().execute();
      expect(await held).toBe(1);
      expect(await worker.claim(entryId)).toBeNull();
      const { rows } = await sql`select state, state_reason from ledger.entries`.execute(db);
      expect(rows).toEqual([{ state: 'held', state_reason: reason }]);
    },
  );

  it('is awaited only until a limit, and then nothing is posted', async () => {
    const { db } = await setup();
    const writing = await db.startTransaction().execute();
    await tellOf(writing, '1');
    const outcome = await holdCreditedElsewhere(db, { ...JOB, waitMs: 50 }).catch((error: unknown) => error);
    await writing.rollback().execute();
    expect(outcome).toMatchObject({
      message: expect.stringMatching(
        /^For more than 0\.05 s another session has been recording orders that were credited elsewhere(?: \((?!undefined).+\))?\.$/,
      ),
      details: { code: 'evidence_busy', exitCode: 1 },
    });
    expect(await holdCreditedElsewhere(db, JOB)).toBe(0);
    // In a plan nothing is posted, so nothing is awaited.
    const again = await db.startTransaction().execute();
    await tellOf(again, '1');
    const plan = db.transaction().execute((trx) => holdCreditedElsewhere(trx, { ...JOB, waitMs: 1 }));
    expect(await plan).toBe(0);
    await again.rollback().execute();
    await sql`drop table ledger.evidence_lock`.execute(db);
    await expect(holdCreditedElsewhere(db, JOB), 'another error is not that').rejects.toThrow(
      'does not exist',
    );
  });

  it('keeps a run from posting the order, whenever it commits', { timeout: 120_000 }, async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv([{ id: 'o1' }, { id: 'o2' }]));
    const writing = await shop.db.startTransaction().execute();
    await tellOf(writing, 'o1');
    const run = shop.start('run', 'orders', '--json');
    let hasEnded = false;
    void run.ended.then(() => {
      hasEnded = true;
    });
    await waitFor(async () => hasEnded || (await isWaiting(shop.db)));
    await writing.commit().execute();
    expect(await run.ended).toMatchObject({ exitCode: 3 });
    expect(await shop.posted()).toEqual(['o2']);
  });
});

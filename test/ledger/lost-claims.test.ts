import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { EntryState, Outcome } from '../../src/core/ledger.ts';
import type { Database } from '../../src/db/connect.ts';
import { applyLostClaims, dispositionOf, storeLostClaims } from '../../src/ledger/continuity/lost-claims.ts';
import { applyEvidences } from '../../src/ledger/evidence/apply-evidence.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { decideEntry } from '../../src/ledger/resolve.ts';
import { seedLedger, undoSeed } from '../../src/ledger/seed.ts';
import { setup } from '../support/setup.ts';
import {
  ACCOUNT,
  ageEntries,
  changedEntries,
  insertEntry,
  insertSituation,
  mustClaim,
  readFacts,
  startWorker,
  type Worker,
} from './entries.ts';
import { SITUATIONS } from './states.ts';

const ACCEPTED: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: 'C1' };
const UNNAMED: Outcome = {
  kind: 'accepted',
  httpStatus: 200,
  dealId: null,
  collabId: null,
  message: 'created',
};
const DOUBT: Outcome = { kind: 'in_doubt', httpStatus: 502, reason: 'HTTP 502' };
const REFUSED: Outcome = { kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false };
const CLAIMED_AT = new Date('2026-05-01T10:00Z');

let claims = 0;

/** Stores a claim of an order that this database has lost. @returns how many were new. */
async function lose(
  db: Database,
  orderId: string,
  options: {
    readonly outcome?: Outcome | null;
    readonly accountId?: string;
    readonly claimId?: string;
    readonly claimedAt?: Date | null;
  } = {},
): Promise<number> {
  const { outcome = null, accountId = ACCOUNT, claimId = randomUUID(), claimedAt = CLAIMED_AT } = options;
  const key = JSON.stringify(['shopify', orderId]);
  const { rows } = await sql<{ hash: string }>`
    select ledger.key_hash(${accountId}, 'referral', ${key}) as hash`.execute(db);
  claims += 1;
  const claim = {
    ledgerId: randomUUID(),
    claimNo: String(claims),
    claimId,
    accountId,
    effect: 'referral' as const,
    keyHash: rows[0]?.hash ?? '',
    bodyHash: 'sent',
    amount: '10.00',
    currency: 'EUR',
  };
  return storeLostClaims(db, [{ claim, outcome, disposition: dispositionOf(outcome), claimedAt }]);
}

/** An entry that was sent, and got this answer. */
async function answered(db: Database, worker: Worker, orderId: string, outcome: Outcome): Promise<string> {
  const entryId = await insertEntry(db, { runId: worker.runId, orderId });
  await mustClaim(worker, entryId);
  await recordAnswers(db, [{ entryId, attempt: 1, outcome, backoffMs: 0 }], 'direct');
  return entryId;
}

async function readEntry(db: Database, entryId: string) {
  const entry = await db
    .selectFrom('ledger.entries')
    .select(['state', 'attempt', 'state_reason', 'deal_id', 'collab_id', 'doubtful_attempt', 'doubted_at'])
    .where('entry_id', '=', entryId)
    .executeTakeFirstOrThrow();
  return { ...entry, state: entry.state as EntryState };
}

describe('an order that is ready, and whose claim was lost', () => {
  it('is accepted or in doubt, as its claim was, with an attempt and an answer in the history', async () => {
    const { db } = await setup();
    const { runId } = await startWorker(db);
    const entry = (orderId: string) => insertEntry(db, { runId, orderId });
    const [named, unnamed, doubtful] = [
      await entry('named'),
      await entry('unnamed'),
      await entry('doubtful'),
    ];
    const [unknown, refused, other] = [await entry('unknown'), await entry('refused'), await entry('other')];
    const claimId = randomUUID();
    expect(await lose(db, 'named', { outcome: ACCEPTED, claimId })).toBe(1);
    await lose(db, 'unnamed', { outcome: UNNAMED });
    await lose(db, 'doubtful', { outcome: DOUBT });
    await lose(db, 'unknown');
    await lose(db, 'refused', { outcome: REFUSED });
    await lose(db, 'other', { outcome: ACCEPTED, accountId: 'A2' });
    const settled = { doubtful_attempt: null, doubted_at: null };
    const none = { deal_id: null, collab_id: null };
    const doubt = { state: 'in_doubt', attempt: 1, doubtful_attempt: 1, doubted_at: CLAIMED_AT, ...none };
    expect(await readEntry(db, named)).toEqual({
      state: 'accepted',
      attempt: 1,
      state_reason: null,
      deal_id: 'D1',
      collab_id: 'C1',
      ...settled,
    });
    expect(await readEntry(db, unnamed)).toEqual({
      state: 'accepted',
      attempt: 1,
      state_reason: 'created',
      ...none,
      ...settled,
    });
    expect(await readEntry(db, doubtful)).toEqual({ ...doubt, state_reason: 'HTTP 502' });
    expect(await readEntry(db, unknown)).toEqual({
      ...doubt,
      state_reason: 'it was sent before the database lost its claim, and no answer is known',
    });
    for (const entryId of [refused, other])
      expect(await readEntry(db, entryId)).toMatchObject({ state: 'ready', attempt: 0 });
    const { rows } = await sql`
      select t.claim_id, t.body_hash, t.claimed_at, a.kind, a.http_status, a.deal_id, a.via, a.applied
      from ledger.attempts t join ledger.answers a using (entry_id, attempt) where t.entry_id = ${named}::bigint`.execute(
      db,
    );
    expect(rows).toEqual([
      {
        claim_id: claimId,
        body_hash: 'sent',
        claimed_at: CLAIMED_AT,
        kind: 'accepted',
        http_status: 200,
        deal_id: 'D1',
        via: 'lost_claim',
        applied: true,
      },
    ]);
    expect(await db.transaction().execute(applyLostClaims), 'each claim is applied once').toBe(0);
  });

  it('is accepted although no answer is known, if a file of the service names it on its platform and was not undone', async () => {
    const { db } = await setup();
    const { runId } = await startWorker(db);
    const [named, elsewhere, undone] = [
      await insertEntry(db, { runId, orderId: 'named' }),
      await insertEntry(db, { runId, orderId: 'elsewhere' }),
      await insertEntry(db, { runId, orderId: 'undone' }),
    ];
    const seed = (orderId: string, orderPlatform: string) => {
      const row = {
        line: 2,
        orderId,
        orderPlatform,
        amount: null,
        currency: null,
        dealId: null,
        collabId: null,
      };
      const file = { fileName: 's.csv', fileSha256: orderId, reason: 'x', seededBy: 'ada' };
      return seedLedger(db, { ...file, rows: [{ ...row, reason: null }] });
    };
    await seed('elsewhere', 'woocommerce');
    const seeded = await seed('undone', 'shopify');
    await undoSeed(db, { seedId: seeded?.seedId ?? '', reason: 'a wrong file', undoneBy: 'ada' });
    await seed('named', 'shopify');
    await sql`update ledger.entries set state = 'ready', state_reason = null`.execute(db);
    for (const orderId of ['named', 'elsewhere', 'undone']) await lose(db, orderId);
    expect(await readEntry(db, named)).toMatchObject({
      state: 'accepted',
      state_reason: 'a file of the service names the order',
    });
    for (const entryId of [elsewhere, undone]) expect((await readEntry(db, entryId)).state).toBe('in_doubt');
  });

  it('is in doubt although an event names it: only a list of the service says that this claim was processed', async () => {
    const { db } = await setup();
    const { runId } = await startWorker(db);
    await db
      .transaction()
      .execute((trx) =>
        applyEvidences(trx, [
          {
            isCredit: true,
            isLegible: true,
            orderId: 'named',
            orderPlatform: 'shopify',
            dealId: 'D9',
            collabId: null,
            amount: null,
            currency: null,
            bodySha256: 'a',
          },
        ]),
      );
    const entryId = await insertEntry(db, { runId, orderId: 'named' });
    await lose(db, 'named');
    expect(await readEntry(db, entryId)).toMatchObject({ state: 'in_doubt' });
  });

  it('is accepted if any of its lost claims was, also if a newer one is in doubt', async () => {
    const { db } = await setup();
    const { runId } = await startWorker(db);
    const entryId = await insertEntry(db, {
      runId,
      orderId: '1',
      state: 'held',
      reason: 'evidence_of_another_poster',
    });
    await lose(db, '1', { outcome: ACCEPTED });
    await lose(db, '1', { outcome: DOUBT });
    expect((await readEntry(db, entryId)).state, 'it waits while its order is held').toBe('held');
    await sql`update ledger.entries set state = 'ready', state_reason = null`.execute(db);
    expect(await db.transaction().execute(applyLostClaims)).toBe(1);
    expect(await readEntry(db, entryId)).toMatchObject({ state: 'accepted', attempt: 1 });
  });
});

it.each([
  ['the deal', { dealId: 'D1', collabId: null }],
  ['the collaboration', { dealId: null, collabId: 'C1' }],
])(
  'an order whose lost claim was accepted for %s alone is accepted for that, without another reason',
  async (_, credited) => {
    const { db } = await setup();
    const { runId } = await startWorker(db);
    const entryId = await insertEntry(db, { runId, orderId: '1' });
    await lose(db, '1', { outcome: { kind: 'accepted', httpStatus: 200, ...credited } });
    expect(await readEntry(db, entryId)).toMatchObject({
      state: 'accepted',
      state_reason: null,
      deal_id: credited.dealId,
      collab_id: credited.collabId,
    });
  },
);

it('a lost claim takes an entry in any situation to what is known of it, if it is ready or its doubt is over by it', async () => {
  const { db } = await setup();
  const { runId } = await startWorker(db);
  const outcomes = { accepted: ACCEPTED, in_doubt: DOUBT, refused: REFUSED } as const;
  const cases = Object.keys(SITUATIONS).flatMap((situation) =>
    Object.entries(outcomes).map(([known, outcome]) => ({
      situation,
      outcome,
      orderId: `${known} when ${situation}`,
    })),
  );
  for (const { orderId, situation } of cases) await insertSituation(db, { runId, orderId, situation });
  await ageEntries(db);
  const read = () => db.selectFrom('ledger.entries').selectAll().orderBy('entry_id').execute();
  const before = await read();
  for (const { orderId, outcome } of cases) await lose(db, orderId, { outcome });
  const found = await read();
  const expected = before.map((row, place) => {
    const { outcome = REFUSED } = cases[place] ?? {};
    const isReady = row.state === 'ready' && outcome.kind !== 'rejected';
    if (!isReady && !(row.state === 'in_doubt' && outcome.kind === 'accepted')) return row;
    const changed = {
      ...row,
      state: outcome.kind,
      attempt: isReady ? 3 : 2,
      not_before: null,
      state_changed_at: expect.any(Date),
      is_settled: outcome.kind === 'accepted',
    };
    return outcome.kind === 'accepted'
      ? { ...changed, deal_id: 'D1', collab_id: 'C1', state_reason: null }
      : {
          ...changed,
          doubtful_attempt: row.doubtful_attempt ?? 3,
          state_reason: 'HTTP 502',
          doubted_at: row.doubted_at ?? CLAIMED_AT,
        };
  });
  expect(found).toEqual(expected);
  expect(await changedEntries(db)).toHaveLength(10);
  const { rows } = await sql<{ said: string }>`
    select e.order_id || ': ' || r.attempt as said from ledger.recovered_claims r join ledger.entries e using (entry_id)
    order by entry_id`.execute(db);
  const linked = cases.flatMap(({ situation, orderId, outcome }) => {
    if (outcome.kind === 'rejected' || ['held', 'rejected'].includes(situation)) return [];
    return [`${orderId}: ${/^(ready|approved)/.test(situation) ? 3 : 2}`];
  });
  expect(
    rows.map(({ said }) => said),
    'those of other entries stay open',
  ).toEqual(linked);
});

it('a lost claim is in the history of its entry and linked to it, from now on if its time is not known', async () => {
  const { db } = await setup();
  const { runId } = await startWorker(db);
  const entryId = await insertEntry(db, { runId, orderId: '1' });
  const unchanged = await insertEntry(db, { runId, orderId: '2' });
  await sql`update ledger.entries set not_before = now() + interval '1 hour'`.execute(db);
  await ageEntries(db);
  await lose(db, '1', { claimedAt: null });
  expect(await changedEntries(db)).toEqual([entryId]);
  const { rows } = await sql`
    select e.entry_id, e.not_before, r.attempt, r.lost_claim_id = l.lost_claim_id as is_linked,
      t.claimed_at > now() - interval '1 hour' as is_claimed_now, e.doubted_at > now() - interval '1 hour' as is_doubted_now
    from ledger.entries e
      join ledger.attempts t using (entry_id, attempt) join ledger.recovered_claims r using (entry_id, attempt), ledger.lost_claims l`.execute(
    db,
  );
  expect(rows).toEqual([
    {
      entry_id: entryId,
      not_before: null,
      attempt: 1,
      is_linked: true,
      is_claimed_now: true,
      is_doubted_now: true,
    },
  ]);
  expect((await readFacts(db, unchanged)).state).toBe('ready');
  expect(await storeLostClaims(db, [])).toBe(0);
});

it('a lost claim of an order that is being sent or was written off changes nothing, and is known as one of its own', async () => {
  const { db } = await setup();
  const worker = await startWorker(db);
  const sending = await insertEntry(db, { runId: worker.runId, orderId: 'sending' });
  await mustClaim(worker, sending);
  const writtenOff = await answered(db, worker, 'written off', DOUBT);
  await decideEntry(db, {
    decision: 'write_off',
    entryId: writtenOff,
    reason: 'not worth it',
    decidedBy: 'ada',
  });
  const refused = await answered(db, worker, 'refused', REFUSED);
  const before = await Promise.all([sending, writtenOff, refused].map((entryId) => readEntry(db, entryId)));
  for (const orderId of ['sending', 'written off', 'refused']) await lose(db, orderId, { outcome: ACCEPTED });
  expect(await Promise.all([sending, writtenOff, refused].map((entryId) => readEntry(db, entryId)))).toEqual(
    before,
  );
  const { rows } = await sql`
    select entry_id, attempt from ledger.recovered_claims order by entry_id`.execute(db);
  expect(rows).toEqual([sending, writtenOff].map((entry_id) => ({ entry_id, attempt: 1 })));
});

it('an order that was sent changes by a lost claim only from in doubt to accepted; one accepted twice is a double credit', async () => {
  const { db } = await setup();
  const worker = await startWorker(db);
  const [settled, kept, accepted] = [
    await answered(db, worker, 'settled', DOUBT),
    await answered(db, worker, 'kept', DOUBT),
    await answered(db, worker, 'accepted', { ...ACCEPTED, dealId: 'D2' }),
  ];
  const before = await readEntry(db, kept);
  const again = await answered(db, worker, 'again', DOUBT);
  await decideEntry(db, {
    decision: 'resend',
    entryId: again,
    reason: 'not in the dashboard',
    decidedBy: 'ada',
  });
  const { doubted_at } = await readEntry(db, again);
  await lose(db, 'again', { outcome: DOUBT });
  expect(await readEntry(db, again), 'it is in doubt since its first doubtful claim').toMatchObject({
    state: 'in_doubt',
    attempt: 2,
    doubtful_attempt: 1,
    doubted_at,
  });
  for (const orderId of ['settled', 'accepted']) await lose(db, orderId, { outcome: ACCEPTED });
  await lose(db, 'kept', { outcome: { ...DOUBT, reason: 'later' } });
  expect(await readEntry(db, settled)).toMatchObject({ state: 'accepted', attempt: 1, deal_id: 'D1' });
  expect(await readEntry(db, kept)).toEqual(before);
  expect(await readEntry(db, accepted)).toMatchObject({ state: 'accepted', attempt: 1, deal_id: 'D2' });
  const { rows } = await sql`
    select credits from ledger.double_credits where entry_id = ${accepted}::bigint`.execute(db);
  expect(rows).toEqual([{ credits: '2' }]);
  expect((await readFacts(db, kept)).doubtfulAttempt).toBe(1);
});

describe('a double credit', () => {
  const REFUSED_AGAIN = { ...REFUSED, message: 'it is closed' };

  /** An entry whose first answer was lost, and which a person approved to be sent once more. @returns the first claim, too. */
  async function sentAgain(db: Database, orderId: string, outcome: Outcome) {
    const worker = await startWorker(db);
    const entryId = await answered(db, worker, orderId, DOUBT);
    await decideEntry(db, { decision: 'resend', entryId, reason: 'not in the dashboard', decidedBy: 'ada' });
    await mustClaim(worker, entryId);
    await recordAnswers(db, [{ entryId, attempt: 2, outcome, backoffMs: 0 }], 'direct');
    const { claim_id: claimId } = await db
      .selectFrom('ledger.attempts')
      .select('claim_id')
      .where('entry_id', '=', entryId)
      .where('attempt', '=', 1)
      .executeTakeFirstOrThrow();
    return { entryId, claimId };
  }

  const creditsOf = async (db: Database) => {
    const { rows } = await sql<{ order_id: string; credits: string }>`
      select order_id, credits from ledger.double_credits order by order_id`.execute(db);
    return Object.fromEntries(rows.map(({ order_id, credits }) => [order_id, Number(credits)]));
  };

  it('is counted by requests that were accepted, however often and wherever each is known', async () => {
    const { db } = await setup();
    const { entryId, claimId } = await sentAgain(db, 'twice', ACCEPTED);
    await recordAnswers(db, [{ entryId, attempt: 1, outcome: ACCEPTED, backoffMs: 0 }], 'spool');
    expect(await creditsOf(db)).toEqual({ twice: 2 });
    await lose(db, 'twice', { outcome: ACCEPTED, claimId });
    expect(await creditsOf(db), 'the same request').toEqual({ twice: 2 });
    await lose(db, 'twice', { outcome: DOUBT });
    expect(await creditsOf(db), 'a doubt is none').toEqual({ twice: 2 });
    await lose(db, 'twice', { outcome: ACCEPTED });
    expect(await creditsOf(db)).toEqual({ twice: 3 });
  });

  it('is none if of several requests one was accepted, and the others were refused, lost their answer, or were settled by a person', async () => {
    const { db } = await setup();
    const refused = await sentAgain(db, 'refused', REFUSED_AGAIN);
    await lose(db, 'refused', { outcome: ACCEPTED, claimId: refused.claimId });
    await sentAgain(db, 'refused elsewhere', REFUSED_AGAIN);
    await lose(db, 'refused elsewhere', { outcome: ACCEPTED });
    const worker = await startWorker(db);
    await answered(db, worker, 'lost', DOUBT);
    await lose(db, 'lost', { outcome: ACCEPTED });
    const decided = await answered(db, worker, 'decided', DOUBT);
    const accept = { entryId: decided, decision: 'accept', decidedBy: 'ada', reason: 'listed' } as const;
    await sql`select ledger.decide(${accept.entryId}::bigint, ${accept.decision}, null, null, ${accept.decidedBy}, ${accept.reason}, 'D1', null)`.execute(
      db,
    );
    await recordAnswers(db, [{ entryId: decided, attempt: 1, outcome: ACCEPTED, backoffMs: 0 }], 'spool');
    for (const { entryId } of [refused]) expect((await readEntry(db, entryId)).state).toBe('accepted');
    expect((await readEntry(db, decided)).state).toBe('accepted');
    expect(await creditsOf(db)).toEqual({});
  });

  it('does not arise if a person approved to send an order again, and the answer of its first request is found before', async () => {
    const { db } = await setup();
    const worker = await startWorker(db);
    const entryId = await answered(db, worker, 'found', DOUBT);
    await decideEntry(db, { decision: 'resend', entryId, reason: 'not in the dashboard', decidedBy: 'ada' });
    await recordAnswers(db, [{ entryId, attempt: 1, outcome: ACCEPTED, backoffMs: 0 }], 'spool');
    expect(await worker.claim(entryId)).toBeNull();
    expect(await readEntry(db, entryId)).toMatchObject({ state: 'accepted', attempt: 1, deal_id: 'D1' });
    expect(await creditsOf(db)).toEqual({});
  });

  it('is shown again after it was acknowledged if one more request turns out to be accepted', async () => {
    const { db } = await setup();
    const { entryId } = await sentAgain(db, 'thrice', ACCEPTED);
    await lose(db, 'thrice', { outcome: ACCEPTED });
    expect(await creditsOf(db)).toEqual({ thrice: 2 });
    await sql`select ledger.acknowledge_double_credit(${entryId}::bigint, 2, 'ada', 'corrected there')`.execute(
      db,
    );
    expect(await creditsOf(db)).toEqual({});
    await lose(db, 'thrice', { outcome: ACCEPTED });
    expect(await creditsOf(db)).toEqual({ thrice: 3 });
  });
});

import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/core/ledger.ts';
import type { Database } from '../../src/db/connect.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import {
  acknowledgeDoubleCredit,
  decideEntry,
  resendRestedDoubts,
  resendUnauthorised,
} from '../../src/ledger/resolve.ts';
import { setup } from '../support/setup.ts';
import {
  ageEntries,
  changedEntries,
  creditOrder,
  insertEntry,
  mustClaim,
  readFacts,
  startWorker,
  type Worker,
} from './entries.ts';

const JOB = 'attribute-orders';
const QUIET_MS = 3_600_000;

const doubt: Outcome = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' };
const rejectedBy = (httpStatus: number): Outcome => ({
  kind: 'rejected',
  httpStatus,
  message: 'no',
  stopsGate: false,
});
const accepted: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null };

async function openLedger() {
  const { db } = await setup();
  return { db, worker: await startWorker(db) };
}

/** @returns the id of an entry whose first attempt had that outcome. */
async function answer(db: Database, worker: Worker, orderId: string, outcome: Outcome): Promise<string> {
  const entryId = await insertEntry(db, { runId: worker.runId, orderId });
  const { attempt } = await mustClaim(worker, entryId);
  await recordAnswers(db, [{ entryId, attempt, outcome, backoffMs: 0 }], 'direct');
  await creditOrder(db, entryId);
  return entryId;
}

async function stateOf(db: Database, entryId: string): Promise<string> {
  return (await readFacts(db, entryId)).state;
}

/** Lets a doubt be older by some milliseconds. */
async function age(db: Database, entryId: string, ms: number): Promise<void> {
  await sql`
    update ledger.entries set state_changed_at = clock_timestamp() - ${ms} * interval '1 millisecond'
    where entry_id = ${entryId}::bigint`.execute(db);
}

async function readDecisions(db: Database) {
  return db
    .selectFrom('ledger.decisions')
    .select(['entry_id', 'decision', 'attempt', 'decided_by'])
    .orderBy('entry_id')
    .execute();
}

describe('a decision of a person', () => {
  it('is refused for an entry in any other state, and for one that has changed since it was shown', async () => {
    const { db, worker } = await openLedger();
    const settled = await answer(db, worker, '1', accepted);
    const refused = await answer(db, worker, '2', rejectedBy(404));
    const doubtful = await answer(db, worker, '3', doubt);
    const by = { reason: 'looked up', decidedBy: 'ada' };
    const accept = (entryId: string) =>
      decideEntry(db, { decision: 'accept', ...by, entryId, dealId: 'D2', collabId: null });
    expect(await accept(settled)).toEqual({ done: false, state: 'accepted' });
    expect(await accept(refused)).toEqual({ done: false, state: 'rejected' });
    expect(await decideEntry(db, { decision: 'write_off', ...by, entryId: refused })).toEqual({
      done: false,
      state: 'rejected',
    });
    expect(await decideEntry(db, { decision: 'resend', ...by, entryId: settled })).toEqual({
      done: false,
      state: 'accepted',
    });
    expect(await accept('999')).toEqual({ done: false, state: null });
    for (const shown of [
      { state: 'in_doubt', attempt: 2 },
      { state: 'sending', attempt: 1 },
    ] as const)
      expect(await decideEntry(db, { decision: 'resend', ...by, entryId: doubtful, shown })).toEqual({
        done: false,
        state: 'in_doubt',
      });
    expect(await readDecisions(db)).toEqual([]);
    const shown = { state: 'in_doubt', attempt: 1 } as const;
    expect(await decideEntry(db, { decision: 'resend', ...by, entryId: doubtful, shown })).toEqual({
      done: true,
      state: 'ready',
    });
    expect(await readDecisions(db)).toEqual([
      { entry_id: doubtful, decision: 'resend', attempt: 1, decided_by: 'ada' },
    ]);
  });

  it('that writes a doubt off is stored with its reason, and the entry is not sent again', async () => {
    const { db, worker } = await openLedger();
    const entryId = await answer(db, worker, '1', doubt);
    const by = { reason: '4 euros, not worth it', decidedBy: 'ada' };
    expect(await decideEntry(db, { decision: 'write_off', ...by, entryId })).toMatchObject({ done: true });
    const { rows } = await sql`select decision, attempt, decided_by, reason from ledger.decisions`.execute(
      db,
    );
    expect(rows).toEqual([
      { decision: 'write_off', attempt: 1, decided_by: by.decidedBy, reason: by.reason },
    ]);
    expect((await readFacts(db, entryId)).state).toBe('written_off');
    expect(await worker.claim(entryId)).toBeNull();
    // Nor does an answer that is found after all change it.
    for (const outcome of [accepted, rejectedBy(404), doubt])
      expect(await recordAnswers(db, [{ entryId, attempt: 1, outcome, backoffMs: 0 }], 'journal')).toEqual([
        null,
      ]);
    expect((await readFacts(db, entryId)).state).toBe('written_off');
  });

  it('that accepts a doubt stores the deal and the collaboration that are known, and keeps what was', async () => {
    const { db, worker } = await openLedger();
    const entryId = await answer(db, worker, '1', doubt);
    await sql`update ledger.entries set collab_id = 'C1'`.execute(db);
    await decideEntry(db, {
      decision: 'accept',
      entryId,
      reason: 'seen',
      decidedBy: 'ada',
      dealId: 'D2',
      collabId: null,
    });
    expect(await db.selectFrom('ledger.entries').select(['state', 'deal_id', 'collab_id']).execute()).toEqual(
      [{ state: 'accepted', deal_id: 'D2', collab_id: 'C1' }],
    );
  });

  it('acknowledges a double credit once, as it was shown; the entry does not change', async () => {
    const { db, worker } = await openLedger();
    const single = await answer(db, worker, '1', accepted);
    const entryId = await answer(db, worker, '2', doubt);
    await decideEntry(db, { decision: 'resend', entryId, reason: 'not there', decidedBy: 'ada' });
    const { attempt } = await mustClaim(worker, entryId);
    for (const each of [attempt, 1])
      await recordAnswers(db, [{ entryId, attempt: each, outcome: accepted, backoffMs: 0 }], 'direct');
    const acknowledge = (id: string, credits?: number) =>
      acknowledgeDoubleCredit(db, { entryId: id, reason: 'one was deleted', decidedBy: 'ada', credits });
    expect(await acknowledge(single)).toEqual({ done: false, state: null });
    expect(await acknowledge(entryId, 3)).toEqual({ done: false, state: null });
    expect(await acknowledge(entryId, 2)).toEqual({ done: true, state: 'accepted' });
    expect(await acknowledge(entryId, 2)).toEqual({ done: false, state: null });
    expect(await stateOf(db, entryId)).toBe('accepted');
  });
});

describe('a doubt that the service is declared to ignore twice', () => {
  it('is sent again after the quiet period, if it is a referral of the job, with a decision that says so', async () => {
    const { db, worker } = await openLedger();
    const rested = await answer(db, worker, '1', doubt);
    const fresh = await answer(db, worker, '2', doubt);
    const ofOther = await answer(db, worker, '3', doubt);
    const click = await answer(db, worker, '4', doubt);
    const refused = await answer(db, worker, '5', rejectedBy(404));
    for (const entryId of [rested, ofOther, click, refused]) await age(db, entryId, QUIET_MS + 1_000);
    await age(db, fresh, QUIET_MS - 60_000);
    await sql`update ledger.entries set job = 'other' where entry_id = ${ofOther}::bigint`.execute(db);
    await sql`update ledger.entries set effect = 'click' where entry_id = ${click}::bigint`.execute(db);
    expect(await resendRestedDoubts(db, { job: JOB, quietPeriodMs: QUIET_MS })).toBe(1);
    expect(await readFacts(db, rested)).toMatchObject({
      state: 'ready',
      resendsApproved: 1,
      doubtfulAttempt: 1,
    });
    for (const entryId of [fresh, ofOther, click]) expect(await stateOf(db, entryId)).toBe('in_doubt');
    expect(await stateOf(db, refused)).toBe('rejected');
    expect(await readDecisions(db)).toEqual([
      { entry_id: rested, decision: 'resend', attempt: 1, decided_by: 'duplicate_orders: ignored' },
    ]);
    expect(await worker.claim(rested)).toMatchObject({ attempt: 2 });
  });
});

describe('an entry that was rejected for the API key', () => {
  it('is sent again once the key is accepted; one that was rejected for itself, or by another job, is not', async () => {
    const { db, worker } = await openLedger();
    const unauthorised = await answer(db, worker, '1', rejectedBy(401));
    const forbidden = await answer(db, worker, '2', rejectedBy(403));
    const missing = await answer(db, worker, '3', rejectedBy(404));
    const ofOther = await answer(db, worker, '4', rejectedBy(401));
    const [undecided, click] = [
      await answer(db, worker, '5', rejectedBy(401)),
      await answer(db, worker, '6', rejectedBy(401)),
    ];
    await sql`update ledger.entries set job = 'other' where entry_id = ${ofOther}::bigint`.execute(db);
    // What no decision credits is not sent again; no decision is about a click.
    await sql`delete from intake.attributions where entry_id in (${undecided}, ${click})`.execute(db);
    await sql`update ledger.entries set effect = 'click' where entry_id = ${click}::bigint`.execute(db);
    await ageEntries(db);
    expect(await resendUnauthorised(db, { job: JOB })).toBe(3);
    expect(await changedEntries(db)).toEqual([unauthorised, forbidden, click]);
    expect(
      await db.selectFrom('ledger.entries').select('state_reason').where('state', '=', 'ready').execute(),
    ).toEqual(Array(3).fill({ state_reason: null }));
    for (const entryId of [unauthorised, forbidden, click]) expect(await stateOf(db, entryId)).toBe('ready');
    for (const entryId of [missing, ofOther, undecided]) expect(await stateOf(db, entryId)).toBe('rejected');
    expect((await readDecisions(db)).map(({ decided_by }) => decided_by)).toEqual(
      Array(3).fill('key accepted again'),
    );
    const { attempt } = await mustClaim(worker, unauthorised);
    await recordAnswers(
      db,
      [{ entryId: unauthorised, attempt, outcome: rejectedBy(404), backoffMs: 0 }],
      'direct',
    );
    expect(await resendUnauthorised(db, { job: JOB }), 'its last attempt was refused for itself').toBe(0);
  });
});

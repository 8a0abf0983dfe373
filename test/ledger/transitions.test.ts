import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/core/ledger.ts';
import type { Database } from '../../src/db/connect.ts';
import { reapLost } from '../../src/ledger/reap.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { decideEntry } from '../../src/ledger/resolve.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { rowsRead } from '../support/rows-read.ts';
import { setup } from '../support/setup.ts';
import {
  ageEntries,
  changedEntries,
  endLeases,
  factsOf,
  insertEntry,
  insertSituation,
  mustClaim,
  proposeBody,
  readFacts,
  setupEntry,
  startWorker,
  type Worker,
} from './entries.ts';
import {
  applyEvent,
  type EntryFacts,
  foldEvents,
  isUnsent,
  type LedgerEvent,
  newEntry,
  SITUATIONS,
} from './states.ts';

const outcomes: Record<Outcome['kind'], Outcome> = {
  accepted: { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: 'C1' },
  rejected: { kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false },
  not_written: { kind: 'not_written', reason: 'refused' },
  throttled: { kind: 'throttled', httpStatus: 429, retryAfterMs: 0 },
  in_doubt: { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' },
};

/** What the deciding stage currently wants from the entry: this request, or none. */
type Proposal = { readonly kind: 'proposed'; readonly body: string | null };
type Step = LedgerEvent | Proposal;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('proposed' as const),
      body: fc.constantFrom('{"order_id":"one"}', '{"order_id":"two"}', null),
    }),
  },
  { weight: 4, arbitrary: fc.constant<LedgerEvent>({ kind: 'claimed' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('answered' as const),
      attempt: fc.integer({ min: 1, max: 4 }),
      answer: fc.constantFrom('accepted', 'rejected', 'not_written', 'throttled', 'in_doubt', 'lease_over'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('accept', 'write_off', 'resend')
      .map((decision) => ({ kind: 'decided' as const, decision })),
  },
);

/**
 * Returns the ledger event that a proposal corresponds to. A request that was sent, or may have been sent,
 * stays unchanged.
 */
function eventOf({ body }: Proposal, entry: EntryFacts, before: string): LedgerEvent | null {
  if (entry.state === 'held') return body === null ? null : { kind: 'released' };
  if (body === null && entry.state === 'rejected') return null;
  if (body === null) return { kind: isUnsent(entry) ? 'held' : 'withdrawn' };
  return body === before ? null : { kind: 'replaced' };
}

/** Performs the step in SQL that `applyEvent` describes. */
async function play(db: Database, worker: Worker, entryId: string, step: Step): Promise<void> {
  const resolution = { entryId, reason: 'test', decidedBy: 'test' };
  if (step.kind === 'proposed') {
    await proposeBody(db, { runId: worker.runId, entryId, body: step.body });
  } else if (step.kind === 'claimed') {
    await db
      .updateTable('ledger.entries')
      .set({ not_before: null })
      .where('entry_id', '=', entryId)
      .execute();
    await worker.claim(entryId);
  } else if (step.kind === 'answered' && step.answer === 'lease_over') {
    // The reaper does not know attempt numbers: it takes every entry in sending whose owner is gone.
    const current = await readFacts(db, entryId);
    if (current.attempt !== step.attempt) return;
    await sql`update ledger.entries set owner = gen_random_uuid() where entry_id = ${entryId} and state = 'sending'`.execute(
      db,
    );
    await reapLost(db);
  } else if (step.kind === 'answered' && step.answer !== 'lease_over') {
    if ((await readFacts(db, entryId)).attempt < step.attempt) return;
    await recordAnswers(
      db,
      [{ entryId, attempt: step.attempt, outcome: outcomes[step.answer], backoffMs: 0 }],
      'direct',
    );
  } else if (step.kind === 'decided') {
    if (step.decision === 'accept')
      await decideEntry(db, { decision: 'accept', ...resolution, dealId: 'D1', collabId: null });
    if (step.decision === 'write_off') await decideEntry(db, { decision: 'write_off', ...resolution });
    if (step.decision === 'resend') await decideEntry(db, { decision: 'resend', ...resolution });
  }
}

async function readRow(db: Database, entryId: string): Promise<{ body: string; changedAt: string }> {
  const { rows } = await sql<{ body: string; changedAt: string }>`
    select body, state_changed_at::text as "changedAt" from ledger.entries where entry_id = ${entryId}::bigint`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no entry ${entryId}`);
  return row;
}

/**
 * Returns whether the entry is in doubt since the claim of its first doubtful attempt: later than the attempt
 * before it was claimed. Without a doubtful attempt, it must have no such time.
 */
async function isDatedByDoubtfulClaim(db: Database, entryId: string): Promise<boolean> {
  const { rows } = await sql<{ dated: boolean }>`
    select case when e.doubtful_attempt is null then e.doubted_at is null
      else e.doubted_at <= (select claimed_at from ledger.attempts t where t.entry_id = e.entry_id and t.attempt = e.doubtful_attempt)
        and e.doubted_at > coalesce((
          select claimed_at from ledger.attempts t where t.entry_id = e.entry_id and t.attempt = e.doubtful_attempt - 1), '-infinity') end as dated
    from ledger.entries e where e.entry_id = ${entryId}`.execute(db);
  return rows[0]?.dated === true;
}

/** Returns the history of the entry from the append-only tables, in chronological order. */
async function readHistory(db: Database, entryId: string): Promise<LedgerEvent[]> {
  const { rows } = await sql<{ event: LedgerEvent }>`
    select event from (
      select claimed_at as at, 0 as rank, jsonb_build_object('kind', 'claimed') as event from ledger.attempts where entry_id = ${entryId}
      union all
      select answered_at, 1, jsonb_build_object('kind', 'answered', 'attempt', attempt, 'answer', kind) from ledger.answers where entry_id = ${entryId}
      union all
      select decided_at, 2, jsonb_build_object('kind', 'decided', 'decision', decision) from ledger.decisions where entry_id = ${entryId}
      union all
      select changed_at, 3, jsonb_build_object('kind', kind) from ledger.changes where entry_id = ${entryId}
    ) history order by at, rank`.execute(db);
  return rows.map((row) => row.event);
}

it('a late refusal settles the doubt about its own attempt, and none about an earlier one', () => {
  const sent: readonly LedgerEvent[] = [
    { kind: 'claimed' },
    { kind: 'answered', attempt: 1, answer: 'in_doubt' },
  ];
  const refused = (attempt: number) => ({ kind: 'answered', attempt, answer: 'rejected' }) as const;
  expect(foldEvents([...sent, refused(1)])).toMatchObject({ state: 'rejected', doubtfulAttempt: null });
  const again = [...sent, { kind: 'decided', decision: 'resend' }, { kind: 'claimed' }] as const;
  expect(foldEvents([...again, refused(2)])).toMatchObject({ state: 'in_doubt', doubtfulAttempt: 1 });
});

describe('a ledger entry in Postgres', () => {
  it('follows the state machine for any sequence of events, and its history folds to its state; a doubt is as old as its first doubtful claim, and a state as its change', async () => {
    const { db } = await setup();
    // The campaign `properties` takes longer than a lease, which no run renews here.
    const worker = await startWorker(db, { ttlMs: 3_600_000 });
    let orders = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        orders += 1;
        const entryId = await insertEntry(db, { runId: worker.runId, orderId: String(orders) });
        let expected: EntryFacts = newEntry;
        let { body, changedAt } = await readRow(db, entryId);
        for (const step of steps) {
          const event = step.kind === 'proposed' ? eventOf(step, expected, body) : step;
          const after = event === null ? null : applyEvent(expected, event);
          if (step.kind === 'proposed' && after !== null) body = step.body ?? body;
          const before = { state: expected.state, changedAt };
          expected = after ?? expected;
          await play(db, worker, entryId, step);
          expect(await readFacts(db, entryId)).toEqual(expected);
          const row = await readRow(db, entryId);
          expect(row.body).toBe(body);
          changedAt = row.changedAt;
          if (expected.state !== before.state) expect(changedAt).not.toBe(before.changedAt);
          expect(await isDatedByDoubtfulClaim(db, entryId)).toBe(true);
        }
        expect(foldEvents(await readHistory(db, entryId))).toEqual(expected);
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it('takes each answer to its last claim or to one before it as the state machine says, and else only keeps it', async () => {
    const { db } = await setup();
    const { runId } = await startWorker(db);
    const cases = Object.keys(SITUATIONS).flatMap((situation) =>
      Object.values(outcomes).flatMap((outcome) =>
        [1, 2].map((attempt) => ({
          situation,
          outcome,
          attempt,
          title: `${outcome.kind} ${attempt} when ${situation}`,
        })),
      ),
    );
    const entryIds: string[] = [];
    for (const { situation, title } of cases)
      entryIds.push(await insertSituation(db, { runId, orderId: title, situation }));
    await ageEntries(db);
    const read = () => db.selectFrom('ledger.entries').selectAll().orderBy('entry_id').execute();
    const before = await read();
    const answers = cases.map(({ outcome, attempt }, place) => ({
      entryId: entryIds[place] ?? '',
      attempt,
      outcome,
      backoffMs: 60_000,
    }));
    const states = await recordAnswers(db, answers, 'direct');
    const expected = cases.map(({ outcome, attempt, title }, place) => {
      const row = before[place];
      if (row === undefined) throw new Error('it was not inserted');
      const after = applyEvent(factsOf(row), { kind: 'answered', attempt, answer: outcome.kind });
      if (after === null)
        return { title, row: { ...row, recorded: null, not_before: row.not_before !== null } };
      const isUnsent = outcome.kind === 'not_written' || outcome.kind === 'throttled';
      const changed = {
        recorded: after.state,
        owner: null,
        not_before: isUnsent,
        state_changed_at: expect.any(Date),
        state: after.state,
        attempt: after.attempt,
        not_sent: after.notSent,
        doubtful_attempt: after.doubtfulAttempt,
        is_settled: ['accepted', 'rejected', 'written_off'].includes(after.state),
        doubted_at: after.doubtfulAttempt === null ? null : (row.doubted_at ?? row.state_changed_at),
        deal_id: outcome.kind === 'accepted' ? 'D1' : 'D0',
        collab_id: outcome.kind === 'accepted' ? 'C1' : 'C0',
        state_reason:
          'reason' in outcome ? outcome.reason : outcome.kind === 'rejected' ? outcome.message : null,
      };
      return { title, row: { ...row, ...changed } };
    });
    const found = (await read()).map((row, place) => ({
      title: cases[place]?.title,
      row: { ...row, recorded: states[place], not_before: row.not_before !== null },
    }));
    expect(found).toEqual(expected);
    const changedIds = before.flatMap(({ entry_id }, place) => (states[place] === null ? [] : [entry_id]));
    expect(await changedEntries(db)).toEqual(changedIds);
    const applied = await db
      .selectFrom('ledger.answers')
      .select('entry_id')
      .where('applied', '=', true)
      .execute();
    expect(applied.map(({ entry_id }) => entry_id).toSorted()).toEqual(changedIds.toSorted());
    expect(await db.selectFrom('ledger.answers').select('entry_id').execute()).toHaveLength(cases.length);
  });

  it('is claimed by only one of two concurrent processes', async () => {
    const { db } = await setup();
    const [one, other] = [await startWorker(db), await startWorker(db)];
    const entryIds = await Promise.all(
      Array.from({ length: 40 }, (_, index) => insertEntry(db, { runId: one.runId, orderId: String(index) })),
    );
    const claims = await Promise.all(
      entryIds.flatMap((entryId) => [one.claim(entryId), other.claim(entryId)]),
    );
    expect(claims.filter((entry) => entry !== null)).toHaveLength(40);
    expect(await db.selectFrom('ledger.attempts').select('entry_id').execute()).toHaveLength(40);
  });

  it('is not claimed by a process whose lease has expired', async () => {
    const { db, worker, entryId } = await setupEntry();
    await endLeases(db, worker);
    // That of another process is in force.
    await startWorker(db);
    expect(await worker.claim(entryId)).toBeNull();
  });

  it('is not claimed with the API key of another account', async () => {
    const { db } = await setup();
    const worker = await startWorker(db, { accountId: 'A2' });
    expect(await worker.claim(await insertEntry(db, { runId: worker.runId, orderId: '1' }))).toBeNull();
  });

  it('is not claimed during its backoff', async () => {
    const { db, worker, entryId } = await setupEntry();
    const { attempt } = await mustClaim(worker, entryId);
    await recordAnswers(
      db,
      [{ entryId, attempt, outcome: outcomes.not_written, backoffMs: 60_000 }],
      'direct',
    );
    expect(await worker.claim(entryId)).toBeNull();
  });

  it('becomes in doubt, not ready, if its sending process is gone; a late answer of that process still settles it', async () => {
    const { db, worker, entryId } = await setupEntry();
    const { attempt } = await mustClaim(worker, entryId);
    expect(await reapLost(db)).toBe(0);
    await endLeases(db, worker);
    expect(await reapLost(db)).toBe(1);
    expect((await readFacts(db, entryId)).state).toBe('in_doubt');
    await recordAnswers(db, [{ entryId, attempt, outcome: outcomes.accepted, backoffMs: 0 }], 'direct');
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'accepted', doubtfulAttempt: null });
  });

  it('that was not sent is ready again once its backoff is over, and so states why it waited, and until when', async () => {
    const { db, worker, entryId } = await setupEntry();
    const rest = () =>
      db
        .selectFrom('ledger.entries')
        .select(['state', 'state_reason', 'owner', 'not_before'])
        .executeTakeFirstOrThrow();
    await mustClaim(worker, entryId);
    expect(await rest()).toMatchObject({ state: 'sending', state_reason: null, owner: worker.owner });
    const before = Date.now();
    const [state] = await recordAnswers(
      db,
      [{ entryId, attempt: 1, outcome: outcomes.not_written, backoffMs: 60_000 }],
      'direct',
    );
    expect(state).toBe('ready');
    const { not_before, ...waiting } = await rest();
    expect(waiting).toEqual({ state: 'ready', state_reason: 'refused', owner: null });
    expect(Math.abs((not_before?.getTime() ?? 0) - before - 60_000)).toBeLessThan(30_000);
    await sql`update ledger.entries set not_before = clock_timestamp() - interval '1 millisecond'`.execute(
      db,
    );
    await mustClaim(worker, entryId);
    expect(await rest()).toMatchObject({ state_reason: null, not_before: null });
    await recordAnswers(db, [{ entryId, attempt: 2, outcome: outcomes.accepted, backoffMs: 0 }], 'direct');
    expect(await rest()).toMatchObject({
      state: 'accepted',
      state_reason: null,
      owner: null,
      not_before: null,
    });
  });

  it('keeps every answer as it was given, also one that comes too late to change it', async () => {
    const { db, worker, entryId } = await setupEntry();
    await mustClaim(worker, entryId);
    const throttled = { kind: 'throttled', httpStatus: 429, retryAfterMs: 7_000 } as const;
    const record = (outcome: Outcome, via: 'direct' | 'spool') =>
      recordAnswers(db, [{ entryId, attempt: 1, outcome, backoffMs: 0 }], via);
    expect(await record(throttled, 'direct')).toEqual(['ready']);
    expect(await record(outcomes.in_doubt, 'spool')).toEqual([null]);
    await mustClaim(worker, entryId);
    const both = [outcomes.in_doubt, outcomes.accepted].map((outcome, index) => ({
      entryId,
      attempt: index + 1,
      outcome,
      backoffMs: 0,
    }));
    expect(await recordAnswers(db, both, 'journal'), 'each is about its own attempt').toEqual([
      null,
      'accepted',
    ]);
    const answers = await db
      .selectFrom('ledger.answers')
      .select(['attempt', 'kind', 'http_status', 'message', 'retry_after_ms', 'via', 'applied'])
      .orderBy('answer_id')
      .execute();
    expect(answers).toEqual([
      {
        attempt: 1,
        kind: 'throttled',
        http_status: 429,
        message: null,
        retry_after_ms: '7000',
        via: 'direct',
        applied: true,
      },
      {
        attempt: 1,
        kind: 'in_doubt',
        http_status: 500,
        message: 'HTTP 500',
        retry_after_ms: null,
        via: 'spool',
        applied: false,
      },
      expect.objectContaining({ attempt: 1, kind: 'in_doubt', via: 'journal', applied: false }),
      expect.objectContaining({ attempt: 2, kind: 'accepted', via: 'journal', applied: true }),
    ]);
  });

  it('keeps an earlier doubt if a re-send is rejected', async () => {
    const { db, worker, entryId } = await setupEntry();
    await mustClaim(worker, entryId);
    await recordAnswers(db, [{ entryId, attempt: 1, outcome: outcomes.in_doubt, backoffMs: 0 }], 'direct');
    await decideEntry(db, { decision: 'resend', entryId, reason: 'not in the dashboard', decidedBy: 'ada' });
    await mustClaim(worker, entryId);
    await recordAnswers(db, [{ entryId, attempt: 2, outcome: outcomes.rejected, backoffMs: 0 }], 'direct');
    expect(await readFacts(db, entryId)).toMatchObject({ state: 'in_doubt', doubtfulAttempt: 1 });
  });

  it.each(['rejected', 'not_written', 'throttled'] as const)(
    'is in doubt since its first doubtful claim if a re-send is %s',
    async (answer) => {
      const { db, worker, entryId } = await setupEntry();
      const doubtedAt = async () =>
        (await db.selectFrom('ledger.entries').select('doubted_at').executeTakeFirstOrThrow()).doubted_at;
      const record = async (attempt: number, outcome: Outcome) =>
        recordAnswers(db, [{ entryId, attempt, outcome, backoffMs: 0 }], 'direct');
      await mustClaim(worker, entryId);
      await record(1, outcomes.in_doubt);
      const first = await doubtedAt();
      await decideEntry(db, {
        decision: 'resend',
        entryId,
        reason: 'not in the dashboard',
        decidedBy: 'ada',
      });
      await mustClaim(worker, entryId);
      await record(2, outcomes[answer]);
      expect(first).toBeInstanceOf(Date);
      expect(await doubtedAt()).toEqual(first);
    },
  );

  it('keeps the deal and the collaboration that its answer names', async () => {
    const { db, worker, entryId } = await setupEntry();
    await mustClaim(worker, entryId);
    const accepted = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: 'C1' } as const;
    await recordAnswers(db, [{ entryId, attempt: 1, outcome: accepted, backoffMs: 0 }], 'direct');
    const named = () => db.selectFrom('ledger.entries').select(['deal_id', 'collab_id']).execute();
    expect(await named()).toEqual([{ deal_id: 'D1', collab_id: 'C1' }]);
    const { rows } = await sql`select deal_id, collab_id, applied from ledger.answers`.execute(db);
    expect(rows).toEqual([{ deal_id: 'D1', collab_id: 'C1', applied: true }]);
  });

  it.each(['attempts', 'answers', 'decisions', 'changes'])(
    'keeps ledger.%s append-only for every role',
    async (table) => {
      const { db } = await setup();
      for (const statement of [`delete from ledger.${table}`, `truncate ledger.${table} cascade`]) {
        await expect(sql.raw(statement).execute(db)).rejects.toThrow('append-only');
      }
    },
  );

  it('stores the digest of the sent bytes of each attempt, including its reference', async () => {
    const { db, worker, entryId } = await setupEntry();
    const { body, claim } = await mustClaim(worker, entryId);
    const digest = createHash('sha256').update(body).digest('hex');
    expect(JSON.parse(body)).toMatchObject({
      order_id: '1',
      order_notes: `influencer-sync ${claim.ledgerId.slice(0, 8)}.e${entryId}.a1`,
    });
    expect(claim.bodyHash).toBe(digest);
    const attempts = await db.selectFrom('ledger.attempts').select('body_hash').execute();
    expect(attempts).toEqual([{ body_hash: digest }]);
  });

  it('is answered without reading the claims of other entries, even while there are few', async () => {
    const { db, worker, entryId } = await setupEntry();
    const { attempt, claim } = await mustClaim(worker, entryId);
    await sql`
      insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash)
      select 1000 + n, 1, gen_random_uuid(), ${worker.owner}::uuid, ${worker.runId}::bigint, '' from generate_series(1, 2000) n`.execute(
      db,
    );
    const answer = { entryId, attempt, outcome: outcomes.accepted, backoffMs: 0, claim };
    const recorded = await rowsRead(db, (trx) => recordAnswers(trx, [answer], 'direct'));
    expect(recorded.result).toEqual(['accepted']);
    expect(recorded.of('ledger.attempts')).toBe(1);
  });

  it('cannot be sent more often than approved, even by a statement that skips the check', async () => {
    const { db, entryId } = await setupEntry();
    const cheat = sql`update ledger.entries set state = 'sending', owner = gen_random_uuid(), attempt = 2 where entry_id = ${entryId}`;
    await expect(cheat.execute(db)).rejects.toThrow('sends_are_approved');
  });
});

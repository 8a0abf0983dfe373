import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { createBackfillRateLimiter, createSharedRateLimiter } from '../../src/ops/shared-rate-limiter.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

async function nextTurnAt(db: Database): Promise<number> {
  const { next_turn_at: at } = await db
    .selectFrom('ops.request_turns')
    .select('next_turn_at')
    .executeTakeFirstOrThrow();
  return at.getTime();
}

const never = new AbortController().signal;

async function line(db: Database): Promise<{ aheadMs: number; backfillAt: Date | null }> {
  const { rows } = await sql<{ ahead_ms: string; backfill_at: Date | null }>`
    select extract(epoch from next_turn_at - clock_timestamp()) * 1000 as ahead_ms, backfill_turn_at as backfill_at
    from ops.request_turns`.execute(db);
  return { aheadMs: Number(rows[0]?.ahead_ms), backfillAt: rows[0]?.backfill_at ?? null };
}

describe('the turns of a rate limit', () => {
  it('are spaced across all processes', async () => {
    const { db } = await setup();
    const perSecond = 40;
    const processes = [1, 2, 3].map(() =>
      createSharedRateLimiter(db, { requestsPerSecond: perSecond, priority: 'run' }),
    );
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
    const beganAt = rows[0]?.now ?? new Date();
    const turnsEach = 5;
    for (let turn = 0; turn < turnsEach; turn += 1)
      await Promise.all(processes.map((takeTurn) => takeTurn(never)));
    const next = await db.selectFrom('ops.request_turns').select('next_turn_at').executeTakeFirstOrThrow();
    // However fast the processes were, this many turns need this much time on the database's clock.
    const takenMs = next.next_turn_at.getTime() - beganAt.getTime();
    expect(takenMs).toBeGreaterThanOrEqual((turnsEach * processes.length * 1_000) / perSecond);
  });

  it('are spaced within a process as well, which takes several at a time', async () => {
    const { db } = await setup();
    // Ten of them are a batch, at a distance of 5 ms.
    const takeTurn = createSharedRateLimiter(db, { requestsPerSecond: 200, priority: 'run' });
    const beganAt = performance.now();
    const turns = Array.from({ length: 10 }, async () => {
      const waitMs = await takeTurn(never);
      return performance.now() + waitMs;
    });
    expect((await Promise.all(turns)).at(-1)).toBeGreaterThanOrEqual(beganAt + 9 * 5);
  });

  it('are taken for the requests that wait, and for no others', async () => {
    const { db } = await setup();
    // A batch of 50 ms has ten of them.
    const open = () => createSharedRateLimiter(db, { requestsPerSecond: 200, priority: 'run' });
    const takeTurn = open();
    const taken = async (requests: number, of = takeTurn): Promise<number> => {
      await sql`insert into ops.request_turns (next_turn_at) select clock_timestamp() + interval '30 seconds'
        on conflict (only_row) do update set next_turn_at = excluded.next_turn_at`.execute(db);
      const giveUp = new AbortController();
      const before = await nextTurnAt(db);
      const turns = Array.from({ length: requests }, () => of(giveUp.signal));
      await turns[0];
      giveUp.abort();
      await Promise.all(turns);
      return Math.round(((await nextTurnAt(db)) - before) / 5);
    };
    expect(await taken(1)).toBe(1);
    expect(await taken(3)).toBe(3);
    expect(await taken(30, open()), 'a batch at a time').toBe(10);
  });

  it('are given to a run without delay while a backfill waits', async () => {
    const { db } = await setup();
    // One turn every 10 seconds.
    const limit = { requestsPerSecond: 0.1 } as const;
    const run = createSharedRateLimiter(db, { ...limit, priority: 'run' });
    const backfill = createSharedRateLimiter(db, { ...limit, priority: 'backfill' });
    expect(await run(never)).toBe(0);
    expect((await line(db)).aheadMs, 'the first turn ever takes its time, too').toBeGreaterThan(5_000);
    await sql`update ops.request_turns set next_turn_at = clock_timestamp(), backfill_turn_at = clock_timestamp()`.execute(
      db,
    );
    const before = await line(db);
    const giveUp = new AbortController();
    const refused = backfill(giveUp.signal);
    // It keeps asking; meanwhile the run gets its turn immediately.
    const other = createSharedRateLimiter(db, { ...limit, priority: 'run' });
    expect(await other(never)).toBe(0);
    giveUp.abort();
    expect(await refused).toBe(0);
    expect((await line(db)).backfillAt).toEqual(before.backfillAt);
    // No run has asked for a while.
    await sql`update ops.request_turns set run_turn_at = clock_timestamp() - interval '1 minute'`.execute(db);
    await createSharedRateLimiter(db, { ...limit, priority: 'backfill' })(never);
    expect((await line(db)).backfillAt).not.toEqual(before.backfillAt);
  });

  it('are given to a backfill as long as no run has taken one for two seconds, else one in ten', async () => {
    const { db } = await setup();
    // A turn every 10 seconds: a backfill gets one every 100 while a run is active.
    const limit = { requestsPerSecond: 0.1, priority: 'backfill' } as const;
    const isGiven = async (runAgo: string | null, backfillAgo: string | null): Promise<boolean> => {
      await sql`
        insert into ops.request_turns (next_turn_at, run_turn_at, backfill_turn_at)
        values (clock_timestamp(), clock_timestamp() - ${runAgo}::interval, clock_timestamp() - ${backfillAgo}::interval)
        on conflict (only_row) do update set next_turn_at = excluded.next_turn_at, run_turn_at = excluded.run_turn_at,
          backfill_turn_at = excluded.backfill_turn_at`.execute(db);
      const before = await nextTurnAt(db);
      const giveUp = new AbortController();
      const turn = createSharedRateLimiter(db, limit)(giveUp.signal);
      // It has asked, and does not ask again.
      await new Promise(setImmediate);
      giveUp.abort();
      await turn;
      return (await nextTurnAt(db)) > before;
    };
    expect(await isGiven(null, '1 second')).toBe(true);
    expect(await isGiven('2.1 seconds', '1 second')).toBe(true);
    expect(await isGiven('1 second', null)).toBe(true);
    expect(await isGiven('1 second', '101 seconds')).toBe(true);
    expect(await isGiven('1 second', '98 seconds')).toBe(false);
  });

  it('follow a long line, which a slow limit makes: a hundred turns, and at least a minute', async () => {
    const { db } = await setup();
    const waitFor = async (requestsPerSecond: number, aheadSeconds: number): Promise<number> => {
      await sql`
        insert into ops.request_turns (next_turn_at) select clock_timestamp() + ${aheadSeconds} * interval '1 second'
        on conflict (only_row) do update set next_turn_at = excluded.next_turn_at`.execute(db);
      const giveUp = new AbortController();
      const waitMs = await createSharedRateLimiter(db, { requestsPerSecond, priority: 'run' })(giveUp.signal);
      giveUp.abort();
      return waitMs / 1_000;
    };
    expect(await waitFor(0.1, 990)).toBeGreaterThan(900);
    expect(await waitFor(0.1, 1_010)).toBe(0);
    expect(await waitFor(100, 55)).toBeGreaterThan(45);
    expect(await waitFor(100, 70)).toBe(0);
  });

  it('say who took the last one: a run or a backfill', async () => {
    const { db } = await setup();
    const takers = () =>
      sql`select run_turn_at is not null as run, backfill_turn_at is not null as backfill from ops.request_turns`.execute(
        db,
      );
    for (const [priority, run, backfill] of [
      ['backfill', false, true],
      ['run', true, true],
    ] as const) {
      await createSharedRateLimiter(db, { requestsPerSecond: 1_000, priority })(never);
      expect((await takers()).rows).toEqual([{ run, backfill }]);
    }
    await sql`delete from ops.request_turns`.execute(db);
    await createSharedRateLimiter(db, { requestsPerSecond: 1_000, priority: 'run' })(never);
    expect((await takers()).rows).toEqual([{ run: true, backfill: false }]);
  });

  it('are delayed only briefly after the clock of the database was set back', async () => {
    const { db } = await setup();
    const takeTurn = createSharedRateLimiter(db, { requestsPerSecond: 1, priority: 'run' });
    await takeTurn(never);
    await sql`update ops.request_turns set next_turn_at = clock_timestamp() + interval '2 hours'`.execute(db);
    await createSharedRateLimiter(db, { requestsPerSecond: 1, priority: 'run' })(never);
    expect((await line(db)).aheadMs).toBeLessThanOrEqual(1_000);
  });

  it('need no database without a limit, and keep their pace when the database fails', async () => {
    const { db } = await setup();
    expect(await createSharedRateLimiter(db, { requestsPerSecond: 0, priority: 'run' })(never)).toBe(0);
    const { rows } = await sql`select from ops.request_turns`.execute(db);
    expect(rows).toEqual([]);
    await sql`drop table ops.request_turns`.execute(db);
    expect(
      await createSharedRateLimiter(db, { requestsPerSecond: 10, priority: 'run' })(never),
    ).toBeGreaterThan(0);
  });
});

describe('the turns of a backfill', () => {
  it('keep its own limit and that of the account across all processes', async () => {
    const { db } = await setup();
    const backfillId = await addBackfill(db);
    const limits = { backfillId, requestsPerSecond: 40, accountRequestsPerSecond: 1_000 };
    const processes = [1, 2, 3].map(() => createBackfillRateLimiter(db, limits));
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
    const beganAt = rows[0]?.now ?? new Date();
    const turnsEach = 5;
    for (let turn = 0; turn < turnsEach; turn += 1)
      await Promise.all(processes.map((takeTurn) => takeTurn(never)));
    const next = await db.selectFrom('ops.backfill_turns').select('next_turn_at').executeTakeFirstOrThrow();
    const takenMs = next.next_turn_at.getTime() - beganAt.getTime();
    expect(takenMs).toBeGreaterThanOrEqual((turnsEach * processes.length * 1_000) / 40);
    expect((await line(db)).backfillAt).not.toBeNull();
  });

  it('begin at once, also with a limit of its own that is slow', async () => {
    const { db } = await setup();
    const backfillId = await addBackfill(db);
    const limits = { backfillId, requestsPerSecond: 0.01, accountRequestsPerSecond: 1_000 };
    expect(await createBackfillRateLimiter(db, limits)(never)).toBe(0);
    const seconds = async (): Promise<number> => {
      const { rows } = await sql<{ seconds: string }>`
        select extract(epoch from next_turn_at - clock_timestamp()) as seconds from ops.backfill_turns`.execute(
        db,
      );
      return Number(rows[0]?.seconds);
    };
    expect(await seconds()).toBeGreaterThan(50);
    // The next one waits for its own turn, and takes none of the account before.
    const before = await line(db);
    const giveUp = new AbortController();
    const next = createBackfillRateLimiter(db, limits)(giveUp.signal);
    await waitFor(async () => (await seconds()) > 150);
    giveUp.abort();
    await next;
    expect((await line(db)).backfillAt).toEqual(before.backfillAt);
  });

  it('need no row of its own without a limit of its own', async () => {
    const { db } = await setup();
    const backfillId = await addBackfill(db);
    const limits = { backfillId, requestsPerSecond: 0, accountRequestsPerSecond: 1_000 };
    await createBackfillRateLimiter(db, limits)(never);
    expect((await sql`select from ops.backfill_turns`.execute(db)).rows).toEqual([]);
    expect((await line(db)).backfillAt).not.toBeNull();
  });
});

async function addBackfill(db: Database): Promise<string> {
  const runId = await beginRun(db, { job: 'backfill:orders', kind: 'backfill' });
  const { rows } = await sql<{ id: string }>`
    insert into ops.backfills (job, state, from_day, to_day, time_zone, plan_hash, plan, run_id)
    values ('orders', 'planned', '2023-01-01', '2023-12-31', 'UTC', '', '{}', ${runId}::bigint) returning backfill_id as id`.execute(
    db,
  );
  return rows[0]?.id ?? '';
}

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { acquireLease } from '../../src/ops/lease.ts';
import { beginRun, endRun, GONE, PROCESS_GONE } from '../../src/ops/run-record.ts';
import { openCalendar } from '../../src/ops/schedule/calendar.ts';
import { pollSchedule } from '../../src/ops/schedule/poll-schedule.ts';
import { claimSlot, noteRun, releaseLostSlots, settleWaiting } from '../../src/ops/schedule/slots.ts';
import { setup } from '../support/setup.ts';
import { countBlocked, waitFor } from '../support/wait-for.ts';

const SLOT = new Date('2026-05-01T10:05Z');
const later = (minutes: number) => new Date(SLOT.getTime() + 60_000 * minutes);

/** @returns an owner with a lease in force. */
async function hold(db: Database, name?: string): Promise<string> {
  const owner = randomUUID();
  await acquireLease(db, { name: name ?? `serve:${owner}`, owner, host: 'h', pid: 1, ttlMs: 60_000 });
  return owner;
}

async function expire(db: Database, owner: string): Promise<void> {
  await sql`update ops.leases set expires_at = clock_timestamp() where owner = ${owner}::uuid`.execute(db);
}

/** Lets a process claim the slot of a job, and begin a run of it unless that is `none`. */
async function claimFor(db: Database, job: string, owner: string, run: 'begun' | 'none' = 'begun') {
  await db.insertInto('ops.slots').values({ job, slot: SLOT, state: 'due' }).execute();
  const claimed = await claimSlot(db, { job, owner, now: SLOT, leases: [] });
  if (claimed === null) throw new Error(`the slot of ${job} could not be claimed`);
  if (run === 'none') return '';
  const runId = await beginRun(db, { job, kind: 'test' });
  await noteRun(db, claimed, runId);
  return runId;
}

async function slotsOf(db: Database): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('ops.slots')
    .select(['job', 'state', 'losses', 'reason'])
    .orderBy('job')
    .orderBy('slot')
    .execute();
  return rows.map(({ job, state, losses, reason }) => `${job} ${state} ${losses} ${reason ?? '-'}`);
}

describe('the slots of a process that is gone', () => {
  it('get the result of the run of each; without one they are due again, or fail if they were lost five times', async () => {
    const { db } = await setup();
    const [gone, alive] = [await hold(db), await hold(db)];
    const end = async (job: string, status: 'ok' | 'issues' | 'failed', problem: string | null = null) =>
      endRun(db, {
        runId: await claimFor(db, job, gone),
        status,
        exitCode: 0,
        report: null,
        problem,
        problemCode: null,
      });
    await end('a-ok', 'ok');
    await end('b-issues', 'issues');
    await end('c-failed', 'failed', 'no such bucket');
    await end('d-failed', 'failed');
    await claimFor(db, 'e-begun', gone);
    await claimFor(db, 'f-claimed', gone, 'none');
    await claimFor(db, 'g-lost', gone);
    await sql`update ops.slots set attempts = 5, losses = 4 where job = 'g-lost'`.execute(db);
    await claimFor(db, 'h-alive', alive);
    await db.insertInto('ops.slots').values({ job: 'i-due', slot: SLOT, state: 'due' }).execute();
    await expire(db, gone);
    const released = await releaseLostSlots(db);
    expect(
      released
        .map(({ job }) => job.slice(0, 1))
        .sort()
        .join(''),
    ).toBe('abcdefg');
    expect(await slotsOf(db)).toEqual([
      'a-ok done 1 -',
      'b-issues done 1 -',
      'c-failed failed 1 no such bucket',
      'd-failed failed 1 its run failed',
      `e-begun due 1 ${GONE}`,
      `f-claimed due 1 ${GONE}`,
      `g-lost failed 5 ${GONE}`,
      'h-alive running 0 -',
      'i-due due 0 -',
    ]);
    const runs = await db
      .selectFrom('ops.runs')
      .select(['job', 'status', 'problem', 'problem_code'])
      .orderBy('run_id')
      .execute();
    expect(runs.map(({ job, status }) => `${job} ${status}`)).toEqual([
      'a-ok ok',
      'b-issues issues',
      'c-failed failed',
      'd-failed failed',
      'e-begun interrupted',
      'g-lost interrupted',
      'h-alive running',
    ]);
    expect(runs[4]).toMatchObject({ problem: GONE, problem_code: PROCESS_GONE });
  });

  it('stay while a run of their own job holds its lease, and not that of another job', async () => {
    const { db } = await setup();
    const [gone, run] = [await hold(db), await hold(db, 'job:orders')];
    await claimFor(db, 'orders', gone);
    await claimFor(db, 'other', gone);
    await expire(db, gone);
    expect(await releaseLostSlots(db)).toMatchObject([{ job: 'other', state: 'due' }]);
    await expire(db, run);
    expect(await releaseLostSlots(db)).toMatchObject([{ job: 'orders', state: 'due' }]);
  });
});

describe('a slot that waits for the job before it', () => {
  /** A slot of `report` that waits for that of `orders`, which is done. */
  async function wait() {
    const { db } = await setup();
    const owner = await hold(db);
    await claimFor(db, 'orders', owner);
    await sql`
      insert into ops.slots (job, slot, state) values ('report', ${SLOT}, 'waiting'), ('mail', ${SLOT}, 'waiting'),
        ('report', ${later(60)}, 'waiting'), ('orders', ${later(60)}, 'due')`.execute(db);
    const settle = (overlap: 'skip' | 'queue' = 'skip') =>
      settleWaiting(db, { job: 'report', after: 'orders', overlap });
    const done = () =>
      sql`update ops.slots set state = 'done', owner = null, settled_at = clock_timestamp() where state = 'running' and job = 'orders'`.execute(
        db,
      );
    return { db, owner, settle, done };
  }

  it('is due once that job is done at the same time, and no other slot with it', async () => {
    const { db, owner, settle, done } = await wait();
    expect(await settle()).toEqual([]);
    await done();
    await claimFor(db, 'other', owner);
    await hold(db, 'job:other');
    await expire(db, await hold(db, 'job:report'));
    await db.insertInto('ops.paused_jobs').values({ job: 'other', paused_by: 'ada', reason: 'x' }).execute();
    expect(await settle()).toEqual([{ job: 'report', slot: SLOT, state: 'due', reason: null }]);
    expect((await slotsOf(db)).filter((slot) => / (due|waiting) /.test(slot))).toEqual([
      'mail waiting 0 -',
      'orders due 0 -',
      'report due 0 -',
      'report waiting 0 -',
    ]);
    expect(await settle(), 'it is settled once').toEqual([]);
  });

  it.each(['lease', 'slot'])(
    'is skipped while its own job runs, known by its %s, unless the job queues',
    async (by) => {
      const { db, owner, settle, done } = await wait();
      await done();
      if (by === 'lease') await hold(db, 'job:report');
      else {
        await sql`update ops.slots set state = 'running', owner = ${owner}::uuid, attempts = 1, started_at = clock_timestamp()
        where job = 'report' and slot = ${later(60)}`.execute(db);
      }
      const why = 'the job was still running (overlap: skip)';
      expect(await settle()).toEqual([{ job: 'report', slot: SLOT, state: 'skipped', reason: why }]);
      await sql`update ops.slots set state = 'waiting', settled_at = null, reason = null where state = 'skipped'`.execute(
        db,
      );
      expect(await settle('queue')).toMatchObject([{ state: 'due', reason: null }]);
    },
  );

  it('is left to the process that has made it due and runs it, although another one settles it at the same time', async () => {
    const { db, owner, settle, done } = await wait();
    await done();
    const running = await db.startTransaction().execute();
    await sql`update ops.slots set state = 'running', owner = ${owner}::uuid, attempts = 1, started_at = clock_timestamp()
      where job = 'report' and slot = ${SLOT}`.execute(running);
    let isDone = false;
    const settling = settle('queue').finally(() => {
      isDone = true;
    });
    await waitFor(async () => isDone || (await countBlocked(db)) > 0);
    await running.commit().execute();
    expect(await settling).toEqual([]);
    expect(await slotsOf(db)).toContain('report running 0 -');
  });

  it('is skipped while its job is paused, and if the job before it is', async () => {
    const { db, settle, done } = await wait();
    await done();
    await db.insertInto('ops.paused_jobs').values({ job: 'report', paused_by: 'ada', reason: 'x' }).execute();
    expect(await settle('queue')).toMatchObject([{ state: 'skipped', reason: 'the job is paused' }]);
    await sql`update ops.slots set state = 'skipped', reason = 'x', settled_at = clock_timestamp()
      where job = 'orders' and state = 'due'`.execute(db);
    expect(await settle()).toMatchObject([
      { slot: later(60), state: 'skipped', reason: 'the slot of orders that it follows was skipped' },
    ]);
  });
});

describe('a poll', () => {
  const head = (followers: readonly string[] = []) => ({
    job: 'orders',
    followers,
    timing: { catchUp: 'all', overlap: 'skip' } as const,
    calendar: openCalendar({ schedule: '5 * * * *', timeZone: 'UTC' }),
  });
  const lookedUntil = async (db: Database) =>
    (
      await db
        .selectFrom('ops.schedules')
        .select('looked_until')
        .where('job', '=', 'orders')
        .executeTakeFirst()
    )?.looked_until;

  it('writes how far it has looked only when a slot has come, or a minute later', async () => {
    const { db } = await setup();
    const start = later(1);
    expect(await pollSchedule(db, head(), start)).toEqual([]);
    expect(await lookedUntil(db)).toEqual(start);
    await sql`insert into ops.schedules (job, looked_until) values ('other', ${start})`.execute(db);
    await pollSchedule(db, head(), new Date(start.getTime() + 59_999));
    expect(await lookedUntil(db)).toEqual(start);
    await pollSchedule(db, head(), later(2));
    expect(await lookedUntil(db)).toEqual(later(2));
    // The clock of the database went back a little, by a minute at most: slots that have come are not looked for twice.
    for (const minutes of [1.5, 1]) expect(await pollSchedule(db, head(), later(minutes))).toEqual([]);
    expect(await lookedUntil(db)).toEqual(later(2));
    expect(await pollSchedule(db, head(), later(59.5))).toEqual([]);
    expect(await pollSchedule(db, head(), later(60)), 'at the very time of the slot').toEqual([
      { slot: later(60), state: 'due', reason: null },
    ]);
    const { rows } = await sql`select looked_until from ops.schedules where job = 'other'`.execute(db);
    expect(rows).toEqual([{ looked_until: start }]);
  });

  it('skips a slot while a run of its job holds its lease or its slot, and not for another job', async () => {
    const { db } = await setup();
    await pollSchedule(db, head(), later(1));
    const owner = await hold(db, 'job:other');
    await claimFor(db, 'other', owner);
    await db.insertInto('ops.paused_jobs').values({ job: 'other', paused_by: 'ada', reason: 'x' }).execute();
    await expire(db, await hold(db, 'job:orders'));
    expect(await pollSchedule(db, head(), later(60))).toMatchObject([{ state: 'due' }]);
    const run = await hold(db, 'job:orders');
    expect(await pollSchedule(db, head(), later(120))).toMatchObject([{ state: 'skipped' }]);
    await expire(db, run);
    await claimSlot(db, { job: 'orders', owner, now: later(120), leases: [] });
    expect(await pollSchedule(db, head(), later(180))).toMatchObject([{ state: 'skipped' }]);
  });

  it('gives a follower its slots although a process without it recorded those of the job before', async () => {
    const { db } = await setup();
    const slotsOf = async (job: string) =>
      (
        await sql<{ slot: Date }>`select slot from ops.slots where job = ${job} order by slot`.execute(db)
      ).rows.map(({ slot }) => slot);
    await pollSchedule(db, head(), later(-120));
    await pollSchedule(db, head(), later(0));
    // The follower is new: earlier slots are not due.
    await pollSchedule(db, head(['report']), later(1));
    await pollSchedule(db, head(), later(60));
    await sql`insert into ops.slots (job, slot, state, requested_by) values ('orders', ${later(60.5)}, 'due', 'ann')`.execute(
      db,
    );
    await pollSchedule(db, head(['report']), later(61));
    await pollSchedule(db, head(['report']), later(62));
    expect(await slotsOf('report')).toEqual([later(60)]);
    // Removed for some hours, and added again: what came meanwhile is not run one after the other.
    for (const minutes of [120, 180, 240]) await pollSchedule(db, head(), later(minutes));
    await sql`insert into ops.schedules (job, looked_until) values ('other', ${later(0)})`.execute(db);
    await pollSchedule(db, head(['report']), later(299));
    expect(await slotsOf('report')).toEqual([later(60)]);
    const { rows: others } = await sql`select looked_until from ops.schedules where job = 'other'`.execute(
      db,
    );
    expect(others, 'that of a job whose slots are still looked for').toEqual([{ looked_until: later(0) }]);
    await pollSchedule(db, head(), later(300));
    await pollSchedule(db, head(['report']), later(301));
    expect(await slotsOf('report')).toEqual([later(60), later(300)]);
  });

  it('after the clock was ahead forgets slots that were recorded too early: of its job and its followers, if not begun', async () => {
    const { db } = await setup();
    await pollSchedule(db, head(['report']), later(1));
    await pollSchedule(db, head(['report']), later(120));
    const owner = await hold(db);
    await claimSlot(db, { job: 'orders', owner, now: later(120), leases: [] });
    await sql`insert into ops.slots (job, slot, state) values ('other', ${later(120)}, 'due')`.execute(db);
    await claimFor(db, 'third', owner);
    await sql`update ops.slots set slot = ${later(120)} where job = 'third'`.execute(db);
    expect(await slotsOf(db)).toEqual([
      'orders running 0 -',
      'orders due 0 -',
      'other due 0 -',
      'report waiting 0 -',
      'report waiting 0 -',
      'third running 0 -',
    ]);
    await pollSchedule(db, head(['report']), later(60));
    expect(await slotsOf(db)).toEqual([
      'orders running 0 -',
      'other due 0 -',
      'report waiting 0 -',
      'third running 0 -',
    ]);
  });
});

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { UnitEnd, UnitPayload } from '../../../src/core/work.ts';
import type { Database } from '../../../src/db/connect.ts';
import { acquireLease } from '../../../src/ops/lease.ts';
import { beginRun } from '../../../src/ops/run-record.ts';
import { listGivenUpUnits, listWorkers } from '../../../src/reports/runs/read-units.ts';
import { createSpread } from '../../../src/runs/workers/spread-units.ts';
import {
  type StartedWorker,
  startWorker,
  type WorkerOptions,
} from '../../../src/runs/workers/start-worker.ts';
import {
  addUnits,
  beginUnit,
  cancelUnits,
  clearUnits,
  endUnit,
  keepUnit,
  readUnits,
} from '../../../src/runs/workers/units.ts';
import { createWorkQueue } from '../../../src/runs/workers/work-queue.ts';
import { setup } from '../../support/setup.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Number of units that the worker of these tests does at a time. */
const PLACES = 2;
const DONE = { state: 'done', outcome: { notes: [] } } as const;

describe('a unit of work', () => {
  it('is ended only by its last attempt, and an earlier worker cannot change it', async () => {
    const { db, run } = await openRun();
    const [unitId = ''] = await add(db, run, [{ source: 'shop' }]);
    const [first, second] = [randomUUID(), randomUUID()];
    expect(await beginUnit(db, { unitId, workerId: first })).toMatchObject({
      attempt: 1,
      unit: { job: 'orders', kind: 'read-source', payload: { source: 'shop' } },
    });
    expect(await beginUnit(db, { unitId, workerId: second })).toMatchObject({ attempt: 2 });
    expect(await keepUnit(db, { unitId, attempt: 1, done: 5 })).toBeNull();
    await endUnit(db, { unitId, attempt: 1, done: 5, ...DONE });
    expect((await readUnits(db, [unitId]))[0]).toMatchObject({ end: null, done: 0 });
    expect(await keepUnit(db, { unitId, attempt: 2, done: 7 })).toBeGreaterThan(50_000);
    await endUnit(db, { unitId, attempt: 2, done: 9, ...DONE });
    expect((await readUnits(db, [unitId]))[0]).toMatchObject({ end: { kind: 'done' }, done: 9 });
    expect(await beginUnit(db, { unitId, workerId: first })).toBeNull();
  });

  it('is given up at the fourth attempt, and a returned attempt does not count', async () => {
    const { db, run } = await openRun();
    const [unitId = ''] = await add(db, run, [{}]);
    const workerId = randomUUID();
    expect(await beginUnit(db, { unitId, workerId })).toMatchObject({ attempt: 1 });
    await endUnit(db, { unitId, attempt: 1, done: 0, state: 'returned', outcome: null });
    for (const attempt of [1, 2, 3])
      expect(await beginUnit(db, { unitId, workerId })).toMatchObject({ attempt });
    expect(await beginUnit(db, { unitId, workerId })).toBeNull();
    expect((await readUnits(db, [unitId]))[0]?.end).toMatchObject({ kind: 'given_up' });
  });

  it('is started and continued only while the process of its run is alive', async () => {
    const { db, run } = await openRun();
    const [begun = '', waiting = ''] = await add(db, run, [{}, {}]);
    await beginUnit(db, { unitId: begun, workerId: randomUUID() });
    await sql`update ops.leases set expires_at = clock_timestamp()`.execute(db);
    expect(await keepUnit(db, { unitId: begun, attempt: 1, done: 1 })).toBeNull();
    expect(await beginUnit(db, { unitId: waiting, workerId: randomUUID() })).toBeNull();
    await clearUnits(db);
    expect((await readUnits(db, [begun, waiting])).map(({ isOver }) => isOver)).toEqual([true, true]);
  });

  it('ends at once when it is cancelled before it starts, and otherwise when its worker ends it', async () => {
    const { db, run } = await openRun();
    const [begun = '', waiting = ''] = await add(db, run, [{}, {}]);
    await beginUnit(db, { unitId: begun, workerId: randomUUID() });
    await cancelUnits(db, [begun, waiting]);
    expect(await keepUnit(db, { unitId: begun, attempt: 1, done: 1 })).toBeNull();
    const over = async () =>
      Object.fromEntries((await readUnits(db, [begun, waiting])).map((u) => [u.unitId, u.isOver]));
    expect(await over()).toEqual({ [begun]: false, [waiting]: true });
    await endUnit(db, { unitId: begun, attempt: 1, done: 1, state: 'returned', outcome: null });
    expect(await over()).toEqual({ [begun]: true, [waiting]: true });
  });
});

describe('the units of a run', () => {
  it('are processed in parallel, return in the order of their payloads, and fail independently', async () => {
    const { db, run } = await openRun();
    const begun: string[] = [];
    await work(db, async ({ unit, advance }) => {
      begun.push(String(unit.payload.number));
      if (unit.payload.number === 2) throw new Error('poison');
      advance(10);
      return { state: 'done', outcome: { notes: [], number: unit.payload.number } };
    });
    let progressed = 0;
    const ends = await spread(db, run, {
      payloads: [1, 2, 3, 4].map((number) => ({ number })),
      onProgress: (count) => {
        progressed += count;
      },
    });
    expect(ends).toMatchObject([
      { kind: 'done', result: { number: 1 } },
      { kind: 'given_up' },
      { kind: 'done', result: { number: 3 } },
      { kind: 'done', result: { number: 4 } },
    ]);
    expect(progressed).toBe(30);
    expect(begun.filter((number) => number === '2')).toHaveLength(3);
  });

  it('of another run begin after at most two units in each place, however many units the first run has', async () => {
    const { db, run } = await openRun();
    const other = { runId: '2', owner: randomUUID(), job: 'others' };
    await acquireLease(db, { name: 'job:others', owner: other.owner, host: 'test', pid: 1, ttlMs: 60_000 });
    let isOver = false;
    await work(db, async () => DONE);
    const long = spread(db, run, {
      payloads: Array.from({ length: 200 }, (): UnitPayload => ({})),
      onEnd: () => isOver,
    });
    await waitFor(
      async () => (await sql`select from ops.work_units where state = 'done'`.execute(db)).rows.length > 1,
    );
    expect(await spread(db, other, { payloads: [{}, {}] })).toMatchObject([
      { kind: 'done' },
      { kind: 'done' },
    ]);
    isOver = true;
    await long;
    const { rows } = await sql<{ before: number }>`
      select count(*)::integer as before from ops.work_units u,
        (select min(created_at) as queued, min(begun_at) as begun from ops.work_units where job = 'others') o
      where u.job = 'orders' and u.begun_at between o.queued and o.begun`.execute(db);
    expect(rows[0]?.before).toBeLessThanOrEqual(2 * PLACES);
  });

  it('are left without waiting if the run has lost its lease', async () => {
    const { db, run } = await openRun();
    await work(db, async () => DONE);
    await sql`update ops.leases set expires_at = clock_timestamp()`.execute(db);
    let looks = 0;
    const ends = await spread(db, run, { payloads: [{}, {}], isLeaseHeld: () => looks++ < 2 });
    expect(ends).toEqual([{ kind: 'left' }, { kind: 'left' }]);
  });

  it('are distributed only if there are a worker and several units, and no more of them after one asks to stop', async () => {
    const { db, run } = await openRun();
    expect(await spread(db, run, { payloads: [{}, {}] })).toBeNull();
    const worker = await work(db, async () => DONE);
    expect(await spread(db, run, { payloads: [{}] })).toBeNull();
    const payloads = Array.from({ length: 40 }, (): UnitPayload => ({}));
    const ends = await spread(db, run, { payloads, onEnd: () => true });
    const kinds = ends?.map(({ kind }) => kind) ?? [];
    expect(kinds.filter((kind) => kind === 'done').length).toBeGreaterThan(0);
    expect(kinds.filter((kind) => kind === 'left').length).toBeGreaterThan(20);
    expect(await listWorkers(db)).toMatchObject([{ version: '1.2.3', concurrency: 2, units: 0 }]);
    await worker.stop();
    expect(await listWorkers(db)).toEqual([]);
  });
});

describe('units that no worker could do', () => {
  it('are listed until the next run of the job, or the next backfill, has done their work', async () => {
    const { db } = await setup();
    const run = await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
    const backfill = await beginRun(db, { job: 'backfill:orders', kind: 'backfill' });
    for (const [runId, kind] of [
      [run, 'post-share'],
      [backfill, 'post-backfill'],
    ])
      await sql`
        insert into ops.work_units (run_id, run_owner, job, kind, payload, state, ended_at)
        values (${runId}::bigint, ${randomUUID()}::uuid, 'orders', ${kind}, '{}', 'given_up', now())`.execute(
        db,
      );
    const listed = async () => (await listGivenUpUnits(db)).map(({ kind }) => kind).toSorted();
    expect(await listed()).toEqual(['post-backfill', 'post-share']);
    await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
    expect(await listed()).toEqual(['post-backfill']);
    await beginRun(db, { job: 'backfill:orders', kind: 'backfill' });
    expect(await listed()).toEqual([]);
  });
});

type RunOf = { readonly runId: string; readonly owner: string; readonly job: string };

/** Opens a run whose process is alive. */
async function openRun(): Promise<{ readonly db: Database; readonly run: RunOf }> {
  const { db } = await setup();
  const run = { runId: '1', owner: randomUUID(), job: 'orders' };
  await acquireLease(db, { name: 'job:orders', owner: run.owner, host: 'test', pid: 1, ttlMs: 60_000 });
  return { db, run };
}

function add(db: Database, run: RunOf, payloads: readonly UnitPayload[]): Promise<readonly string[]> {
  return db.transaction().execute((trx) => addUnits(trx, run, { kind: 'read-source', payloads }));
}

async function work(db: Database, perform: WorkerOptions['perform']): Promise<StartedWorker> {
  const queue = createWorkQueue(db, fail);
  const worker = await startWorker(db, {
    queue,
    worker: {
      workerId: randomUUID(),
      host: 'test',
      pid: process.pid,
      version: '1.2.3',
      kinds: ['read-source'],
      concurrency: PLACES,
    },
    perform,
    onEnded: () => {},
    onTrouble: fail,
  });
  onTestFinished(async () => {
    await worker.stop();
    await queue.close();
  });
  return worker;
}

async function spread(
  db: Database,
  run: RunOf,
  options: {
    readonly payloads: readonly UnitPayload[];
    readonly onProgress?: (count: number) => void;
    readonly onEnd?: (end: UnitEnd) => boolean;
    readonly isLeaseHeld?: () => boolean;
  },
): Promise<readonly UnitEnd[] | null> {
  const queue = createWorkQueue(db, fail);
  onTestFinished(() => queue.close());
  const { payloads, ...given } = options;
  return createSpread(db, { queue, ...run })({
    kind: 'read-source',
    cut: async () => payloads,
    onProgress: () => {},
    onEnd: () => false,
    signal: new AbortController().signal,
    isLeaseHeld: () => true,
    ...given,
  });
}

function fail(error: unknown): void {
  throw error;
}

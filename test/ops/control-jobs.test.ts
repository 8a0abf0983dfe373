import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readDatabaseClock } from '../../src/db/clock.ts';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { pauseJob, requestRun, resumeJob } from '../../src/ops/schedule/control-jobs.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';
import { job, openStation } from './station.ts';

const ask = (db: Database, name = 'orders') =>
  inTransaction(db, (trx) => requestRun(trx, { job: name, requestedBy: 'ann' }));
const pause = (db: Database, name = 'orders') =>
  inTransaction(db, (trx) => pauseJob(trx, { job: name, pausedBy: 'ann', reason: 'the shop moves' }));
const resume = (db: Database, name = 'orders') => inTransaction(db, (trx) => resumeJob(trx, name));

describe('a requested run', () => {
  it('is a slot that starts once, at the next poll', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], (await readDatabaseClock(db)).toISOString());
    const workers = [station.hire(), station.hire()];
    await Promise.all(workers.map((worker) => worker.look()));
    const asked = await Promise.all([ask(db), ask(db), ask(db)]);
    expect(asked.map(({ kind }) => kind).sort()).toEqual(['requested', 'under_way', 'under_way']);
    station.now = await readDatabaseClock(db);
    await Promise.all(workers.map((worker) => worker.look()));
    expect(station.ran).toHaveLength(1);
    const { rows } = await sql`select state, requested_by from ops.slots`.execute(db);
    expect(rows).toEqual([{ state: 'done', requested_by: 'ann' }]);
    expect((await ask(db)).kind).toBe('requested');
  });

  it('is rejected while the job runs and when no process serves', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], (await readDatabaseClock(db)).toISOString());
    expect((await ask(db)).kind).toBe('nobody_serves');
    const worker = station.hire();
    await worker.look();
    worker.next = 'begun';
    await ask(db);
    station.now = await readDatabaseClock(db);
    await worker.look();
    expect((await ask(db)).kind).toBe('under_way');
    await worker.die();
    const lease = { owner: randomUUID(), host: 'test', pid: 1, expires_at: new Date(Date.now() + 60_000) };
    await db
      .insertInto('ops.leases')
      .values({ ...lease, name: 'serve:living' })
      .execute();
    await db
      .insertInto('ops.leases')
      .values({ ...lease, name: 'job:other', expires_at: new Date(0) })
      .execute();
    expect((await ask(db, 'other')).kind, 'its lease is over').toBe('requested');
    await db
      .insertInto('ops.leases')
      .values({ ...lease, name: 'job:fourth' })
      .execute();
    expect((await ask(db, 'fourth')).kind, 'a command runs it').toBe('under_way');
    await db
      .updateTable('ops.leases')
      .set({ expires_at: new Date(0) })
      .execute();
    expect((await ask(db, 'third')).kind, 'whoever served is gone').toBe('nobody_serves');
  });

  it('is rejected while a slot of its job is due, and not while one waits for the job before it', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], (await readDatabaseClock(db)).toISOString());
    await station.hire().look();
    await sql`insert into ops.slots (job, slot, state) values ('report', '2026-05-01T10:05Z', 'waiting')`.execute(
      db,
    );
    expect((await ask(db, 'report')).kind).toBe('requested');
    expect((await ask(db, 'report')).kind, 'it is due now').toBe('under_way');
    expect((await ask(db, 'orders')).kind, 'that of another job').toBe('requested');
  });

  it('triggers no dependent jobs, which wait for scheduled slots', async () => {
    const { db } = await setup();
    const jobs = [job(), job({ name: 'report', schedule: null, after: 'orders' })];
    const station = openStation(db, jobs, (await readDatabaseClock(db)).toISOString());
    const worker = station.hire();
    await worker.look();
    expect((await ask(db, 'report')).kind).toBe('requested');
    station.now = await readDatabaseClock(db);
    await worker.look();
    expect(station.ran.map((line) => line.split(' ')[0])).toEqual(['report']);
  });
});

describe('a paused job', () => {
  it('is resumed alone', async () => {
    const { db } = await setup();
    for (const name of ['orders', 'report']) await pause(db, name);
    await resume(db, 'orders');
    expect(await db.selectFrom('ops.paused_jobs').select('job').execute()).toEqual([{ job: 'report' }]);
  });

  it('has its slots and those of its dependents skipped until it is resumed', async () => {
    const { db } = await setup();
    const jobs = [job(), job({ name: 'report', schedule: null, after: 'orders' })];
    const station = openStation(db, jobs, '2026-05-01T09:30Z');
    const worker = station.hire();
    await worker.look();
    expect([await pause(db), await pause(db)]).toEqual([true, false]);
    expect((await ask(db)).kind).toBe('paused');
    station.now = new Date('2026-05-01T10:05Z');
    await worker.look();
    expect([await resume(db), await resume(db)]).toEqual([true, false]);
    station.now = new Date('2026-05-01T11:05Z');
    await waitFor(async () => {
      await worker.look();
      return (await station.slots('report')).at(-1)?.endsWith('done') === true;
    });
    expect(await station.slots('orders')).toEqual(['2026-05-01T10:05 skipped', '2026-05-01T11:05 done']);
    expect(await station.slots('report')).toEqual(['2026-05-01T10:05 skipped', '2026-05-01T11:05 done']);
    expect(station.told).toEqual([
      'orders 2026-05-01T10:05 skipped: the job is paused',
      'report 2026-05-01T10:05 skipped: the slot of orders that it follows was skipped',
    ]);
  });

  it('that depends on another is skipped alone, and its due slot waits', async () => {
    const { db } = await setup();
    const jobs = [job(), job({ name: 'report', schedule: null, after: 'orders' })];
    const station = openStation(db, jobs, '2026-05-01T09:30Z');
    const worker = station.hire();
    await worker.look();
    await pause(db, 'report');
    station.now = new Date('2026-05-01T10:05Z');
    await worker.look();
    expect(await station.slots('orders')).toEqual(['2026-05-01T10:05 done']);
    expect(await station.slots('report')).toEqual(['2026-05-01T10:05 skipped']);
    await sql`insert into ops.slots (job, slot, state) values ('report', '2026-05-01T10:06Z', 'due')`.execute(
      db,
    );
    station.now = new Date('2026-05-01T10:07Z');
    await worker.look();
    expect(await station.slots('report')).toEqual(['2026-05-01T10:05 skipped', '2026-05-01T10:06 due']);
    await resume(db, 'report');
    await worker.look();
    expect(await station.slots('report')).toEqual(['2026-05-01T10:05 skipped', '2026-05-01T10:06 done']);
  });
});

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { acquireLease, releaseLeases } from '../../src/ops/lease.ts';
import { endRun } from '../../src/ops/run-record.ts';
import { createScheduler } from '../../src/ops/schedule/scheduler.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';
import { job, openStation, type Station } from './station.ts';

/** Sets the clock and lets the workers check the schedule. */
async function at(
  station: Station,
  time: string,
  ...workers: readonly { look(): Promise<void> }[]
): Promise<void> {
  station.now = new Date(time);
  await Promise.all(workers.map((worker) => worker.look()));
}

describe('a slot', () => {
  it('runs once when many processes poll at the same time', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T09:30Z');
    const workers = [station.hire(), station.hire(), station.hire(), station.hire()];
    await at(station, '2026-05-01T09:30Z', ...workers);
    for (const hour of ['10', '11', '12']) await at(station, `2026-05-01T${hour}:05Z`, ...workers);
    expect(station.ran).toEqual([
      'orders 2026-05-01T10:05',
      'orders 2026-05-01T11:05',
      'orders 2026-05-01T12:05',
    ]);
    expect(await station.slots()).toEqual([
      '2026-05-01T10:05 done',
      '2026-05-01T11:05 done',
      '2026-05-01T12:05 done',
    ]);
  });

  it('that came before the first poll of its job does not run', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T10:05:00Z');
    await station.hire().look();
    expect(await station.slots()).toEqual([]);
  });

  it('that failed is settled, and the next one runs', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T09:30Z');
    const worker = station.hire();
    await worker.look();
    worker.next = 'failed';
    await at(station, '2026-05-01T10:05Z', worker);
    await waitFor(async () => (await station.slots())[0] === '2026-05-01T10:05 failed');
    worker.next = 'bug';
    await at(station, '2026-05-01T11:05Z', worker);
    worker.next = 'done';
    await at(station, '2026-05-01T12:05Z', worker);
    expect(await station.slots()).toEqual(
      ['10:05 failed', '11:05 failed', '12:05 done'].map((slot) => `2026-05-01T${slot}`),
    );
    expect(station.told).toEqual([
      'orders 2026-05-01T10:05 failed: as the test wished',
      'orders 2026-05-01T11:05 failed: TypeError',
    ]);
  });
});

describe('a machine that slept from 09:30 to 14:20', () => {
  it.each([
    ['latest', ['10:05 missed', '11:05 missed', '12:05 missed', '13:05 missed', '14:05 done']],
    ['all', ['10:05 done', '11:05 done', '12:05 done', '13:05 done', '14:05 done']],
    ['none', ['10:05 missed', '11:05 missed', '12:05 missed', '13:05 missed', '14:05 missed']],
  ] as const)('settles its missed slots by catch_up: %s', async (catchUp, expected) => {
    const { db } = await setup();
    const station = openStation(db, [job({ catchUp })], '2026-05-01T09:30Z');
    const worker = station.hire();
    await worker.look();
    await at(station, '2026-05-01T14:20Z', worker);
    await waitFor(
      async () =>
        (await db.selectFrom('ops.slots').where('is_settled', '=', false).select('job').execute()).length ===
        0,
    );
    expect(await station.slots()).toEqual(expected.map((slot) => `2026-05-01T${slot}`));
    expect(new Set(station.ran).size).toBe(station.ran.length);
  });
});

describe('a clock that jumps', () => {
  it('back by an hour neither repeats nor omits a slot', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T09:30Z');
    const worker = station.hire();
    await worker.look();
    for (const time of ['10:05', '11:05', '10:10', '10:30', '11:05', '11:10', '12:05', '13:05'])
      await at(station, `2026-05-01T${time}Z`, worker);
    expect(station.ran).toEqual(['10', '11', '12', '13'].map((hour) => `orders 2026-05-01T${hour}:05`));
  });

  it('a day ahead and back again neither skips nor repeats the slots of that day', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T09:30Z');
    const worker = station.hire();
    await worker.look();
    await at(station, '2026-05-02T10:10Z', worker);
    expect(station.ran).toEqual(['orders 2026-05-02T10:05']);
    // Every hour from then on.
    for (
      let time = Date.parse('2026-05-01T09:35Z');
      time < Date.parse('2026-05-02T12:00Z');
      time += 3_600_000
    )
      await at(station, new Date(time).toISOString(), worker);
    const hours = Array.from(
      { length: 26 },
      (_, hour) => new Date(Date.parse('2026-05-01T10:05Z') + hour * 3_600_000),
    );
    const expected = hours.map((date) => `orders ${date.toISOString().slice(0, 16)}`);
    expect([...station.ran].sort()).toEqual(expected);
    expect(new Set((await station.slots()).map((slot) => slot.split(' ')[1]))).toEqual(new Set(['done']));
  });

  it.each([
    ['forward', '2026-03-28T12:00Z', '2026-03-29T01:30'],
    ['back', '2026-10-24T12:00Z', '2026-10-25T00:30'],
  ])(
    '%s for daylight saving runs an hourly job each hour and a nightly job once a night',
    async (_direction, from, nightly) => {
      const { db } = await setup();
      const timeZone = 'Europe/Amsterdam';
      const jobs = [job({ timeZone }), job({ name: 'nightly', schedule: '30 2 * * *', timeZone })];
      const station = openStation(db, jobs, from);
      const worker = station.hire();
      for (let hour = 0; hour <= 24; hour += 1)
        await at(station, new Date(Date.parse(from) + hour * 3_600_000).toISOString(), worker);
      const of = (name: string) =>
        station.ran.filter((run) => run.startsWith(`${name} `)).map((run) => run.split(' ')[1]);
      expect(of('orders')).toHaveLength(24);
      expect(new Set(of('orders')).size).toBe(24);
      expect(of('nightly')).toEqual([nightly]);
    },
  );
});

describe('a slot that is due while its job runs', () => {
  it('is skipped and reported', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T09:30Z');
    const [slow, other] = [station.hire(), station.hire()];
    await slow.look();
    slow.next = 'begun';
    await at(station, '2026-05-01T10:05Z', slow);
    await waitFor(async () => (await station.slots())[0] === '2026-05-01T10:05 running');
    await at(station, '2026-05-01T11:05Z', other);
    expect(await station.slots()).toEqual(['2026-05-01T10:05 running', '2026-05-01T11:05 skipped']);
    expect(station.told).toEqual([
      'orders 2026-05-01T11:05 skipped: the job was still running (overlap: skip)',
    ]);
  });

  it('waits for the previous one with overlap: queue', async () => {
    const { db } = await setup();
    const station = openStation(db, [job({ overlap: 'queue' })], '2026-05-01T09:30Z');
    const [slow, other] = [station.hire(), station.hire()];
    await slow.look();
    slow.next = 'begun';
    await at(station, '2026-05-01T10:05Z', slow);
    await waitFor(async () => (await station.slots())[0] === '2026-05-01T10:05 running');
    await at(station, '2026-05-01T11:05Z', other);
    await at(station, '2026-05-01T12:05Z', other);
    expect((await station.slots()).slice(1)).toEqual(['2026-05-01T11:05 due', '2026-05-01T12:05 due']);
    await slow.die();
    await waitFor(async () => {
      await other.look();
      return station.ran.length === 3;
    });
    expect(station.ran).toEqual(['10', '11', '12'].map((hour) => `orders 2026-05-01T${hour}:05`));
  });
});

describe('a job that depends on another', () => {
  const chain = [
    job({ name: 'mirror' }),
    job({ name: 'report', schedule: null, after: 'mirror' }),
    job({ name: 'mail', schedule: null, after: 'report' }),
  ];

  it('runs for the same slot after that job, and so on down the chain', async () => {
    const { db } = await setup();
    const station = openStation(db, [...chain].reverse(), '2026-05-01T09:30Z');
    const worker = station.hire();
    await worker.look();
    await at(station, '2026-05-01T10:05Z', worker);
    await waitFor(async () => {
      await worker.look();
      return station.ran.length === 3;
    });
    expect(station.ran).toEqual(['mirror', 'report', 'mail'].map((name) => `${name} 2026-05-01T10:05`));
  });

  it('is settled by the same poll as the jobs before it, however the jobs are ordered', async () => {
    const { db } = await setup();
    for (const jobs of [chain, [...chain].reverse()]) {
      await sql`truncate ops.slots`.execute(db);
      const station = openStation(db, jobs, '2026-05-01T09:30Z');
      const worker = station.hire();
      await worker.look();
      await sql`
        insert into ops.slots (job, slot, state, reason, settled_at)
        values ('mirror', '2026-05-01T09:05Z', 'failed', 'x', now()), ('report', '2026-05-01T09:05Z', 'waiting', null, null),
          ('mail', '2026-05-01T09:05Z', 'waiting', null, null)`.execute(db);
      await worker.scheduler.look();
      expect(await station.slots('mail')).toEqual(['2026-05-01T09:05 skipped']);
    }
  });

  it('is skipped with all of its dependents if that job fails or is missed', async () => {
    const { db } = await setup();
    const station = openStation(db, chain, '2026-05-01T09:30Z');
    const worker = station.hire();
    await worker.look();
    worker.next = 'failed';
    await at(station, '2026-05-01T11:05Z', worker);
    await waitFor(async () => {
      await worker.look();
      return (await station.slots('mail')).every((slot) => slot.endsWith('skipped'));
    });
    expect(await station.slots('mirror')).toEqual(['2026-05-01T10:05 missed', '2026-05-01T11:05 failed']);
    expect(await station.slots('report')).toEqual(['2026-05-01T10:05 skipped', '2026-05-01T11:05 skipped']);
    expect(station.told).toEqual(
      expect.arrayContaining([
        'mirror 2026-05-01T10:05 missed: no process ran at its time, and a later slot was due when a process started',
        'mirror 2026-05-01T11:05 failed: as the test wished',
        'report 2026-05-01T10:05 skipped: the slot of mirror that it follows was missed',
        'report 2026-05-01T11:05 skipped: the slot of mirror that it follows was failed',
        'mail 2026-05-01T11:05 skipped: the slot of report that it follows was skipped',
      ]),
    );
    const { reason } = await db
      .selectFrom('ops.slots')
      .select('reason')
      .where('job', '=', 'mail')
      .limit(1)
      .executeTakeFirstOrThrow();
    expect(reason).toBe('the slot of report that it follows was skipped');
  });
});

describe('a process that dies', () => {
  it.each(['claimed', 'begun'] as const)(
    'with a slot that is %s leaves it to another process, which runs it once',
    async (next) => {
      const { db } = await setup();
      const station = openStation(db, [job()], '2026-05-01T09:30Z');
      const [doomed, other] = [station.hire(), station.hire()];
      await doomed.look();
      doomed.next = next;
      await at(station, '2026-05-01T10:05Z', doomed);
      await other.look();
      expect(station.ran).toEqual([]);
      await doomed.die();
      await other.look();
      expect(station.ran).toEqual(['orders 2026-05-01T10:05']);
      expect(await station.slots()).toEqual(['2026-05-01T10:05 done']);
    },
  );

  it('after the end of its run, but before it settled the slot, causes no second run', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T09:30Z');
    const [doomed, other] = [station.hire(), station.hire()];
    await doomed.look();
    doomed.next = 'recorded';
    await at(station, '2026-05-01T10:05Z', doomed);
    await waitFor(() => station.ran.length === 1);
    await doomed.die();
    await other.look();
    expect(station.ran).toHaveLength(1);
    expect(await station.slots()).toEqual(['2026-05-01T10:05 done']);
  });

  it('keeps its slot while the lease of its run is valid', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T09:30Z');
    const [busy, other] = [station.hire(), station.hire()];
    await busy.look();
    busy.next = 'begun';
    await at(station, '2026-05-01T10:05Z', busy);
    const run = { owner: randomUUID(), host: 'host', pid: 1 };
    await acquireLease(db, { ...run, name: 'job:orders', ttlMs: 60_000 });
    await busy.die();
    await other.look();
    expect(await station.slots()).toEqual(['2026-05-01T10:05 running']);
    await releaseLeases(db, run.owner);
    await other.look();
    expect(await station.slots()).toEqual(['2026-05-01T10:05 done']);
  });

  it('five times during one slot causes no sixth attempt', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T09:30Z');
    await station.hire().look();
    for (let death = 1; death <= 5; death += 1) {
      const doomed = station.hire();
      doomed.next = 'begun';
      await at(station, '2026-05-01T10:05Z', doomed);
      await waitFor(() => doomed.scheduler.atWork().length === 1);
      await doomed.die();
    }
    await station.hire().look();
    expect(await station.slots()).toEqual(['2026-05-01T10:05 failed']);
  });

  it('only apparently, because it was suspended, does not change a slot that another process settled', async () => {
    const { db } = await setup();
    const station = openStation(db, [job()], '2026-05-01T09:30Z');
    const [paused, other] = [station.hire(), station.hire()];
    await paused.look();
    paused.next = 'begun';
    await at(station, '2026-05-01T10:05Z', paused);
    await waitFor(async () => (await station.slots())[0] === '2026-05-01T10:05 running');
    const claimed = await db.selectFrom('ops.slots').selectAll().executeTakeFirstOrThrow();
    await sql`update ops.leases set expires_at = clock_timestamp() where owner = ${paused.owner}::uuid`.execute(
      db,
    );
    await other.look();
    const { settleSlot, noteRun } = await import('../../src/ops/schedule/slots.ts');
    const stale = { job: 'orders', slot: claimed.slot, owner: paused.owner, attempt: claimed.attempts };
    expect(await noteRun(db, stale, claimed.run_id ?? '')).toBe(false);
    // The later end of its run does not complete the slot a second time.
    const late = { exitCode: 0, report: null, problem: null, problemCode: null } as const;
    await endRun(db, { runId: claimed.run_id ?? '', status: 'ok', ...late });
    const ended = await db.selectFrom('ops.runs').select(['run_id', 'status']).orderBy('run_id').execute();
    expect(ended.map(({ status }) => status)).toEqual(['interrupted', 'ok']);
    await settleSlot(db, stale, { kind: 'failed', reason: 'too late' }, station.now);
    expect(await station.slots()).toEqual(['2026-05-01T10:05 done']);
    // Nor does it begin the next one while its own work goes on.
    station.now = new Date('2026-05-01T11:05Z');
    await paused.scheduler.look();
    expect(await station.slots()).toEqual(['2026-05-01T10:05 done', '2026-05-01T11:05 due']);
  });
});

it('a process that is stopped waits for the slot that it is just claiming, reports its end, begins no other, and releases its lease', async () => {
  const { db } = await setup();
  const events: string[] = [];
  let hasEnded = false;
  let now = new Date('2026-05-01T09:30Z');
  const scheduler = createScheduler({
    db,
    owner: randomUUID(),
    jobs: [job()],
    leaseMs: 60_000,
    now: async () => now,
    work: async () => {
      // More statements than a poll executes.
      for (let count = 0; count < 100; count += 1) await sql`select`.execute(db);
      hasEnded = true;
      return { kind: 'failed', reason: 'as the test wished' };
    },
    onEvent: ({ state, reason }) => void events.push(`${state} ${reason}`),
  });
  await scheduler.look();
  now = new Date('2026-05-01T10:05Z');
  await sql`insert into ops.slots (job, slot, state) values ('orders', '2026-05-01T10:04Z', 'due'), ('orders', ${now}, 'due')`.execute(
    db,
  );
  let ended: Promise<void> | null = null;
  await db.transaction().execute(async (trx) => {
    await sql`select from ops.slots for update`.execute(trx);
    const look = scheduler.look();
    await waitFor(async () => {
      const { rows } = await sql`select from pg_locks where not granted`.execute(trx);
      return rows.length > 0;
    });
    scheduler.stop();
    ended = Promise.all([look, scheduler.ended()]).then(() => {});
  });
  await ended;
  expect(hasEnded).toBe(true);
  expect(await db.selectFrom('ops.slots').select('state').orderBy('slot').execute()).toEqual([
    { state: 'failed' },
    { state: 'due' },
  ]);
  expect(events.slice(-2)).toEqual(['running null', 'failed as the test wished']);
  expect(await db.selectFrom('ops.leases').select('name').execute()).toEqual([]);
});

it('a poll follows the one that is in progress, which may have looked too early, also if that fails', async () => {
  const { db } = await setup();
  const begun: PromiseWithResolvers<Date>[] = [];
  const scheduler = createScheduler({
    db,
    owner: randomUUID(),
    jobs: [job()],
    leaseMs: 60_000,
    onEvent: () => {},
    now: () => {
      const poll = Promise.withResolvers<Date>();
      begun.push(poll);
      return poll.promise;
    },
    work: async () => ({ kind: 'done' }),
  });
  const [first, second, third] = [scheduler.look(), scheduler.look(), scheduler.look()];
  begun[0]?.reject(new Error('no clock'));
  await expect(first).rejects.toThrow('no clock');
  await waitFor(() => begun.length > 1);
  begun[1]?.resolve(new Date('2026-05-01T09:30Z'));
  await Promise.all([second, third]);
  expect(begun, 'one poll is enough for both').toHaveLength(2);
});

it('an unavailable database makes a poll fail, and afterwards no slot is lost or repeated', async () => {
  const { db, databaseUrl } = await setup();
  const wire = await startDatabaseProxy(databaseUrl);
  const wired = await connect({ url: wire.url, embeddedFolder: '' });
  const station = openStation(wired, [job()], '2026-05-01T09:30Z');
  const worker = station.hire();
  await worker.look();
  wire.cut();
  station.now = new Date('2026-05-01T10:05Z');
  await expect(worker.scheduler.look()).rejects.toThrow();
  await expect(worker.scheduler.look()).rejects.toThrow();
  wire.restore();
  station.now = new Date('2026-05-01T10:06Z');
  await worker.look();
  expect(station.ran).toEqual(['orders 2026-05-01T10:05']);
  expect(await db.selectFrom('ops.slots').select('state').execute()).toEqual([{ state: 'done' }]);
  await wired.destroy();
  await wire.close();
});

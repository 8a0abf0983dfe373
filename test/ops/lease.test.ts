import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { ProgressStep } from '../../src/core/progress.ts';
import type { Database } from '../../src/db/connect.ts';
import {
  acquireLease,
  endLeasesBefore,
  findHolder,
  keepLease,
  releaseLease,
  releaseLeases,
  startHeartbeat,
} from '../../src/ops/lease.ts';
import { withLeases } from '../../src/ops/with-leases.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

const beat = (db: Database, lease: { readonly owner: string; readonly ttlMs: number }) =>
  startHeartbeat(db, { ...lease, leases: 1, takenAt: performance.now() });

const holder = () => ({ owner: randomUUID(), host: 'here', pid: 1 });

it('a lease is acquired by one of many concurrent owners, and the others are told its holder', async () => {
  const { db } = await setup();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => acquireLease(db, { ...holder(), name: 'job:a', ttlMs: 60_000 })),
  );
  expect(answers.filter((answer) => answer.kind === 'acquired')).toHaveLength(1);
  expect(answers.find((answer) => answer.kind === 'busy')).toMatchObject({
    holder: { host: 'here', pid: 1 },
  });
});

it('a lease can be acquired after it expires by the clock of the database, and its fence increases', async () => {
  const { db } = await setup();
  await acquireLease(db, { ...holder(), name: 'job:a', ttlMs: 1 });
  await waitFor(
    async () => (await acquireLease(db, { ...holder(), name: 'job:a', ttlMs: 60_000 })).kind === 'acquired',
  );
  expect(await db.selectFrom('ops.leases').select('fence').executeTakeFirstOrThrow()).toEqual({ fence: '2' });
});

it('of several leases, the one that ends last says who holds them; an expired one and a short read of a backfill hold nobody up', async () => {
  const { db } = await setup();
  const [mine, theirs, backfill] = [holder(), holder(), holder()];
  const names = ['job:a', 'source:s', 'source:t'];
  expect(await findHolder(db, names)).toBeNull();
  await acquireLease(db, { ...theirs, name: 'job:a', ttlMs: 60_000 });
  await db
    .updateTable('ops.leases')
    .set({ expires_at: new Date(0) })
    .execute();
  await acquireLease(db, { ...backfill, name: 'job:backfill:a', ttlMs: 90_000 });
  await acquireLease(db, { ...backfill, name: 'source:s', ttlMs: 90_000 });
  expect(await findHolder(db, names)).toBeNull();
  await acquireLease(db, { ...mine, name: 'source:t', ttlMs: 60_000 });
  expect(await findHolder(db, names)).toMatchObject({ owner: mine.owner });
  // A process that serves keeps its own lease, and no other one of its.
  await keepLease(db, { ...mine, name: 'serve:x', ttlMs: 500_000 });
  await keepLease(db, { ...mine, name: 'serve:x', ttlMs: 600_000 });
  const kept = await db
    .selectFrom('ops.leases')
    .select('name')
    .where('expires_at', '>', new Date(Date.now() + 550_000))
    .execute();
  expect(kept).toEqual([{ name: 'serve:x' }]);
});

it('a lease is extended by each heartbeat', async () => {
  const { db } = await setup();
  const mine = holder();
  await acquireLease(db, { ...mine, name: 'job:a', ttlMs: 2_000 });
  const first = await db.selectFrom('ops.leases').select('expires_at').executeTakeFirstOrThrow();
  const heartbeat = beat(db, { owner: mine.owner, ttlMs: 2_000 });
  // The first heartbeat comes after half a second.
  await waitFor(() => Date.now() > first.expires_at.getTime() + 700);
  expect(heartbeat.isHeld()).toBe(true);
  expect((await acquireLease(db, { ...holder(), name: 'job:a', ttlMs: 2_000 })).kind).toBe('busy');
  heartbeat.stop();
});

it('a lease counts as lost when another owner has acquired it', async () => {
  const { db } = await setup();
  const mine = holder();
  await acquireLease(db, { ...mine, name: 'job:a', ttlMs: 1_000 });
  const heartbeat = beat(db, { owner: mine.owner, ttlMs: 1_000 });
  await db.updateTable('ops.leases').set({ owner: randomUUID() }).execute();
  await waitFor(() => !heartbeat.isHeld());
  heartbeat.stop();
});

it('a lease counts as lost after its duration without a successful heartbeat, by the monotonic clock', async () => {
  const { db } = await setup();
  const mine = holder();
  await acquireLease(db, { ...mine, name: 'job:a', ttlMs: 200 });
  const heartbeat = beat(db, { owner: mine.owner, ttlMs: 200 });
  heartbeat.stop();
  const late = { owner: mine.owner, ttlMs: 200, leases: 1, takenAt: performance.now() - 200 };
  const taken = startHeartbeat(db, late);
  expect(taken.isHeld(), 'taken longer ago than it lasts').toBe(false);
  taken.stop();
  expect(heartbeat.isHeld()).toBe(true);
  await waitFor(() => !heartbeat.isHeld());
});

it('a lease that has expired is not revived by a heartbeat, because another process may have acted meanwhile', async () => {
  const { db } = await setup();
  const mine = holder();
  await acquireLease(db, { ...mine, name: 'job:a', ttlMs: 60_000 });
  await db
    .updateTable('ops.leases')
    .set({ expires_at: new Date(0) })
    .execute();
  const heartbeat = beat(db, { owner: mine.owner, ttlMs: 1_000 });
  await waitFor(() => !heartbeat.isHeld());
  heartbeat.stop();
  expect(await db.selectFrom('ops.leases').select('expires_at').execute()).toEqual([
    { expires_at: new Date(0) },
  ]);
});

it('a lease can be acquired at once after its release', async () => {
  const { db } = await setup();
  const mine = holder();
  await acquireLease(db, { ...mine, name: 'job:a', ttlMs: 60_000 });
  await releaseLeases(db, mine.owner);
  expect((await acquireLease(db, { ...holder(), name: 'job:a', ttlMs: 60_000 })).kind).toBe('acquired');
});

it('a lease that is busy says who holds it and for how long, and that of an expired holder passes to the next as a whole', async () => {
  const { db } = await setup();
  const first = { owner: randomUUID(), host: 'one', pid: 1 };
  const second = { owner: randomUUID(), host: 'two', pid: 2 };
  await acquireLease(db, { ...first, name: 'job:a', ttlMs: 60_000 });
  const busy = await acquireLease(db, { ...second, name: 'job:a', ttlMs: 60_000 });
  expect(busy).toMatchObject({ kind: 'busy', holder: first, isBrief: false });
  if (busy.kind !== 'busy') throw new Error('it was acquired');
  expect(busy.holder.endsInMs).toBeGreaterThan(50_000);
  expect(busy.holder.endsInMs).toBeLessThanOrEqual(60_000);
  await db
    .updateTable('ops.leases')
    .set({ expires_at: new Date(0), acquired_at: new Date(0) })
    .execute();
  expect((await acquireLease(db, { ...second, name: 'job:a', ttlMs: 60_000 })).kind).toBe('acquired');
  const taken = await acquireLease(db, { ...first, name: 'job:a', ttlMs: 60_000 });
  expect(taken).toMatchObject({ kind: 'busy', holder: second });
  expect(taken.kind === 'busy' && taken.holder.acquiredAt.getTime()).toBeGreaterThan(0);
});

it('a lease can be acquired again by its own holder, and is then extended', async () => {
  const { db } = await setup();
  const mine = { ...holder(), name: 'job:a' };
  await acquireLease(db, { ...mine, ttlMs: 1_000 });
  expect((await acquireLease(db, { ...mine, ttlMs: 60_000 })).kind).toBe('acquired');
  const busy = await acquireLease(db, { ...holder(), name: 'job:a', ttlMs: 60_000 });
  expect(busy.kind === 'busy' && busy.holder.endsInMs).toBeGreaterThan(50_000);
});

it('the lease of a source is brief only while a backfill holds it', async () => {
  const { db } = await setup();
  const [backfill, run] = [holder(), holder()];
  await acquireLease(db, { ...backfill, name: 'job:backfill:orders', ttlMs: 60_000 });
  await acquireLease(db, { ...backfill, name: 'source:shop', ttlMs: 60_000 });
  await acquireLease(db, { ...run, name: 'job:orders', ttlMs: 60_000 });
  await acquireLease(db, { ...run, name: 'source:other', ttlMs: 60_000 });
  for (const [name, isBrief] of [
    ['source:shop', true],
    ['job:backfill:orders', false],
    ['source:other', false],
  ] as const)
    expect(await acquireLease(db, { ...holder(), name, ttlMs: 60_000 })).toMatchObject({
      kind: 'busy',
      isBrief,
    });
});

it('a release ends only the named lease of that owner; a process that ends releases all of its own', async () => {
  const { db } = await setup();
  const [mine, other] = [holder(), holder()];
  for (const name of ['job:a', 'source:a', 'source:b'])
    await acquireLease(db, { ...mine, name, ttlMs: 60_000 });
  await acquireLease(db, { ...other, name: 'job:b', ttlMs: 60_000 });
  const names = async () =>
    (await db.selectFrom('ops.leases').select('name').orderBy('name').execute()).map(({ name }) => name);
  await releaseLease(db, { owner: other.owner, name: 'job:a' });
  expect(await names()).toEqual(['job:a', 'job:b', 'source:a', 'source:b']);
  await releaseLease(db, { owner: mine.owner, name: 'source:a' });
  expect(await names()).toEqual(['job:a', 'job:b', 'source:b']);
  await releaseLeases(db, mine.owner);
  expect(await names()).toEqual(['job:b']);
});

it('the lease of a scheduler is renewed even after it expired; those of schedulers that are gone for a day are deleted', async () => {
  const { db } = await setup();
  const [mine, gone, asleep] = [holder(), holder(), holder()];
  const leaseOf = (one: typeof mine) => ({ ...one, name: `serve:${one.owner}`, ttlMs: 60_000 });
  for (const one of [gone, asleep]) await keepLease(db, leaseOf(one));
  await acquireLease(db, { ...gone, name: 'job:old', ttlMs: 60_000 });
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const expire = (owner: string, expires_at: Date) =>
    db.updateTable('ops.leases').set({ expires_at }).where('owner', '=', owner).execute();
  await expire(gone.owner, ago(25));
  await expire(asleep.owner, ago(23));
  await keepLease(db, leaseOf(mine));
  const left = async () =>
    new Map(
      (await db.selectFrom('ops.leases').selectAll().execute()).map((row) => [row.name, row.expires_at]),
    );
  expect([...(await left()).keys()].sort()).toEqual(
    ['job:old', `serve:${mine.owner}`, `serve:${asleep.owner}`].sort(),
  );
  await keepLease(db, leaseOf(asleep));
  expect((await left()).get(`serve:${asleep.owner}`)?.getTime()).toBeGreaterThan(Date.now());
  const fences = await db.selectFrom('ops.leases').select('fence').execute();
  expect(new Set(fences.map(({ fence }) => fence)), 'nobody has taken one over').toEqual(new Set(['1']));
  expect((await left()).get('job:old')?.getTime(), 'no other lease is renewed').toBeLessThan(Date.now());
});

it('opening an embedded database ends the leases in force, because no other process can have it open', async () => {
  const { db } = await setup();
  await acquireLease(db, { ...holder(), name: 'job:a', ttlMs: 60_000 });
  await acquireLease(db, { ...holder(), name: 'job:b', ttlMs: 60_000 });
  const longAgo = new Date(0);
  await db.updateTable('ops.leases').set({ expires_at: longAgo }).where('name', '=', 'job:b').execute();
  await endLeasesBefore(db);
  expect((await acquireLease(db, { ...holder(), name: 'job:a', ttlMs: 60_000 })).kind).toBe('acquired');
  const { expires_at } = await db
    .selectFrom('ops.leases')
    .select('expires_at')
    .where('name', '=', 'job:b')
    .executeTakeFirstOrThrow();
  expect(expires_at, 'one that had expired keeps its time').toEqual(longAgo);
  await db.schema.dropTable('ops.leases').cascade().execute();
  await endLeasesBefore(db);
});

/** For how long each lease lasts. */
async function leftMs(db: Database): Promise<readonly (readonly [name: string, leftMs: number])[]> {
  const { rows } = await sql<{ name: string; left: string }>`
    select name, extract(epoch from expires_at - clock_timestamp()) * 1000 as left from ops.leases order by name`.execute(
    db,
  );
  return rows.map(({ name, left }) => [name, Number(left)]);
}

/** Takes a lease as a process that is not running any more, and withLeases as the next one. */
async function afterKill({ waits, ttlMs = 700 }: { readonly waits: boolean; readonly ttlMs?: number }) {
  const { db } = await setup();
  const dead = { ...holder(), host: 'gone', pid: 4711 };
  await acquireLease(db, { ...dead, name: 'job:a', ttlMs });
  const shown: string[] = [];
  const stop = new AbortController();
  const waitingIn = {
    begin: ({ label, total }: ProgressStep) => void shown.push(`${label} ${total}`),
    advance: () => {},
    note: (message: string) => void shown.push(message),
    end: () => void shown.push('ended'),
  };
  const options = {
    names: ['job:first', 'job:a'],
    ttlMs,
    draining: stop.signal,
    ...(waits ? { waitingIn } : {}),
  };
  return { db, dead, shown, stop, next: () => withLeases(db, options, async () => leftMs(db)) };
}

it('a run that may wait starts when the lease of a killed process is over, and says for whom it waits; what it had taken before the wait lasts as long as the rest', async () => {
  const { next, shown } = await afterKill({ waits: true });
  const left = await next();
  expect(left.map(([name]) => name)).toEqual(['job:a', 'job:first']);
  for (const [name, ms] of left) expect(ms, name).toBeGreaterThan(300);
  expect(shown[0]).toMatch(
    /Process 4711 on gone may still be running\. If it is gone, a run can start in 1 s/,
  );
  expect(shown.slice(1), 'no bar is left').toEqual(['Waiting to start 1', 'ended']);
});

it('a run does not wait for a process that renews its lease, and names it', async () => {
  const { db, dead, next } = await afterKill({ waits: true, ttlMs: 2_000 });
  const heartbeat = beat(db, { owner: dead.owner, ttlMs: 2_000 });
  await expect(next()).rejects.toMatchObject({
    message: expect.stringMatching(/process 4711 on gone, which keeps renewing its lease/),
    details: { code: 'already_running', exitCode: 5 },
  });
  heartbeat.stop();
});

it('the wait for a lease ends when the process is told to stop', async () => {
  const { next, stop, shown } = await afterKill({ waits: true, ttlMs: 60_000 });
  setImmediate(() => stop.abort());
  await expect(next()).rejects.toMatchObject({ details: { exitCode: 130 } });
  expect(shown.at(-1)).toBe('ended');
});

it('a run asks again for a source that a backfill holds briefly, until it is told to stop', async () => {
  const { db } = await setup();
  const backfill = holder();
  for (const name of ['job:backfill:orders', 'source:shop'])
    await acquireLease(db, { ...backfill, name, ttlMs: 60_000 });
  const stop = new AbortController();
  const next = () =>
    withLeases(db, { names: ['source:shop'], ttlMs: 60_000, draining: stop.signal }, async () => 'read');
  const waiting = next();
  await releaseLease(db, { owner: backfill.owner, name: 'source:shop' });
  expect(await waiting).toBe('read');
  await acquireLease(db, { ...backfill, name: 'source:shop', ttlMs: 60_000 });
  setImmediate(() => stop.abort());
  await expect(next()).rejects.toMatchObject({ details: { code: 'already_running' } });
});

it('a run that may not wait ends at once, and names the option', async () => {
  const { next } = await afterKill({ waits: false, ttlMs: 60_000 });
  await expect(next()).rejects.toMatchObject({
    details: { exitCode: 5, help: expect.stringContaining('`--wait` waits for it') },
  });
});

import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { acquireLease, releaseLeases, startHeartbeat } from '../../src/schedule/lease.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

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

it('a lease is extended by heartbeats beyond its first expiry', async () => {
  const { db } = await setup();
  const mine = holder();
  await acquireLease(db, { ...mine, name: 'job:a', ttlMs: 2_000 });
  const first = await db.selectFrom('ops.leases').select('expires_at').executeTakeFirstOrThrow();
  const heartbeat = startHeartbeat(db, { owner: mine.owner, ttlMs: 2_000, leases: 1 });
  await waitFor(() => Date.now() > first.expires_at.getTime() + 200);
  expect(heartbeat.isHeld()).toBe(true);
  expect((await acquireLease(db, { ...holder(), name: 'job:a', ttlMs: 2_000 })).kind).toBe('busy');
  heartbeat.stop();
});

it('a lease counts as lost when another owner has acquired it', async () => {
  const { db } = await setup();
  const mine = holder();
  await acquireLease(db, { ...mine, name: 'job:a', ttlMs: 1_000 });
  const heartbeat = startHeartbeat(db, { owner: mine.owner, ttlMs: 1_000, leases: 1 });
  await db.updateTable('ops.leases').set({ owner: randomUUID() }).execute();
  await waitFor(() => !heartbeat.isHeld());
  heartbeat.stop();
});

it('a lease counts as lost after its duration without a successful heartbeat, by the monotonic clock', async () => {
  const { db } = await setup();
  const mine = holder();
  await acquireLease(db, { ...mine, name: 'job:a', ttlMs: 200 });
  const heartbeat = startHeartbeat(db, { owner: mine.owner, ttlMs: 200, leases: 1 });
  heartbeat.stop();
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
  const heartbeat = startHeartbeat(db, { owner: mine.owner, ttlMs: 1_000, leases: 1 });
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

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { acquireLease } from '../../src/ops/lease.ts';
import { beginRun, endRun, GONE } from '../../src/ops/run-record.ts';
import {
  type ClaimedSlot,
  claimSlot,
  noteRun,
  releaseLostSlots,
  settleSlot,
} from '../../src/ops/schedule/slots.ts';
import { setup } from '../support/setup.ts';

const SLOT = new Date('2026-05-01T10:05Z');
const NEXT = new Date('2026-05-01T11:05Z');
const MINUTE_MS = 60_000;

const later = (date: Date, ms: number) => new Date(date.getTime() + ms);

/** @returns an owner whose lease is in force. */
async function startProcess(db: Database): Promise<string> {
  const owner = randomUUID();
  await acquireLease(db, { name: `serve:${owner}`, owner, host: 'h', pid: 1, ttlMs: 60_000 });
  return owner;
}

async function openSlots(...slots: readonly Date[]) {
  const { db } = await setup();
  for (const slot of slots)
    await db.insertInto('ops.slots').values({ job: 'orders', slot, state: 'due' }).execute();
  const owner = await startProcess(db);
  const claim = (now: Date, leases: readonly string[] = ['job:orders']) =>
    claimSlot(db, { job: 'orders', owner, now, leases });
  return { db, owner, claim };
}

function must(claimed: ClaimedSlot | null): ClaimedSlot {
  if (claimed === null) throw new Error('the slot could not be claimed');
  return claimed;
}

async function readSlots(db: Database) {
  return db
    .selectFrom('ops.slots')
    .select(['slot', 'state', 'attempts', 'losses', 'reason'])
    .orderBy('slot')
    .execute();
}

describe('a slot', () => {
  it('is claimed from its time on, the oldest of its job first, and the next when that has ended', async () => {
    const { db, owner, claim } = await openSlots(NEXT, SLOT);
    expect(await claim(later(SLOT, -1))).toBeNull();
    const first = must(await claim(NEXT));
    expect(first).toEqual({ job: 'orders', slot: SLOT, owner, attempt: 1 });
    expect(await claim(NEXT)).toBeNull();
    await noteRun(db, first, await beginRun(db, { job: 'orders', kind: 'test' }));
    await settleSlot(db, first, { kind: 'done' }, NEXT);
    expect(await claim(later(NEXT, -1))).toBeNull();
    expect(await claim(NEXT)).toMatchObject({ slot: NEXT });
  });

  it('that was put back is not claimed before its rest is over', async () => {
    const { claim, db } = await openSlots(SLOT);
    const again = {
      kind: 'again',
      reason: 'the database was gone',
      restMs: MINUTE_MS,
      isLoss: true,
    } as const;
    await settleSlot(db, must(await claim(SLOT)), again, SLOT);
    expect(await readSlots(db)).toEqual([
      { slot: SLOT, state: 'due', attempts: 1, losses: 1, reason: 'the database was gone' },
    ]);
    expect(await claim(later(SLOT, MINUTE_MS - 1))).toBeNull();
    expect(await claim(later(SLOT, MINUTE_MS))).toMatchObject({ attempt: 2 });
  });

  it('fails when it is put back after its fifth loss; other interruptions do not count', async () => {
    const { claim, db } = await openSlots(SLOT);
    const again = { kind: 'again', reason: 'gone', restMs: 0 } as const;
    for (const isLoss of [true, false, true, true, false, true]) {
      await settleSlot(db, must(await claim(SLOT)), { ...again, isLoss }, SLOT);
      expect(await readSlots(db)).toMatchObject([{ state: 'due' }]);
    }
    await settleSlot(db, must(await claim(SLOT)), { ...again, isLoss: true }, SLOT);
    expect(await readSlots(db)).toMatchObject([{ state: 'failed', losses: 5, reason: 'gone' }]);
    expect(await claim(SLOT)).toBeNull();
  });

  it('is not claimed by a process whose lease has expired', async () => {
    const { db, claim } = await openSlots(SLOT);
    await db
      .updateTable('ops.leases')
      .set({ expires_at: new Date(0) })
      .execute();
    await startProcess(db);
    expect(await claim(SLOT)).toBeNull();
  });

  it('is claimed and settled whatever happens to other jobs', async () => {
    const { db, owner, claim } = await openSlots(SLOT);
    const before = later(SLOT, -MINUTE_MS);
    const others = [
      { job: 'other', slot: before },
      { job: 'other', slot: SLOT },
      { job: 'third', slot: SLOT },
    ];
    await db
      .insertInto('ops.slots')
      .values(others.map((slot) => ({ ...slot, state: 'due' })))
      .execute();
    const other = must(await claimSlot(db, { job: 'other', owner, now: SLOT, leases: [] }));
    expect(other.slot).toEqual(before);
    await db
      .insertInto('ops.paused_jobs')
      .values({ job: 'other', paused_by: 'ada', reason: 'a wrong export' })
      .execute();
    const claimed = must(await claim(SLOT));
    expect(claimed).toMatchObject({ slot: SLOT, attempt: 1 });
    await settleSlot(db, claimed, { kind: 'failed', reason: 'x' }, SLOT);
    const states = async () =>
      (
        await db.selectFrom('ops.slots').select(['job', 'state']).orderBy('job').orderBy('slot').execute()
      ).map(({ job, state }) => `${job} ${state}`);
    expect(await states()).toEqual(['orders failed', 'other running', 'other due', 'third due']);
  });

  it('waits while another process holds a lease that its run needs, until that lease expires', async () => {
    const { db, claim } = await openSlots(SLOT);
    const holder = { owner: randomUUID(), host: 'h', pid: 2, ttlMs: 60_000 };
    await acquireLease(db, { ...holder, name: 'source:shop' });
    expect(await claim(SLOT, ['job:orders', 'source:shop'])).toBeNull();
    expect(await readSlots(db)).toMatchObject([{ state: 'due', attempts: 0 }]);
    await db
      .updateTable('ops.leases')
      .set({ expires_at: new Date(0) })
      .where('name', '=', 'source:shop')
      .execute();
    expect(await claim(SLOT, ['job:orders', 'source:shop'])).toMatchObject({ slot: SLOT });
  });

  it('of a paused job is not claimed', async () => {
    const { db, claim } = await openSlots(SLOT);
    const paused = { job: 'orders', paused_by: 'ada', reason: 'a wrong export' };
    await db.insertInto('ops.paused_jobs').values(paused).execute();
    expect(await claim(SLOT)).toBeNull();
    await db.deleteFrom('ops.paused_jobs').execute();
    expect(await claim(SLOT)).toMatchObject({ slot: SLOT });
  });

  it('is neither settled nor given a run by another process, an earlier attempt, or for another job or slot', async () => {
    const { db, claim } = await openSlots(SLOT);
    const claimed = must(await claim(SLOT));
    const runId = await beginRun(db, { job: 'orders', kind: 'test' });
    expect(await noteRun(db, claimed, runId)).toBe(true);
    await endRun(db, { runId, status: 'ok', exitCode: 0, report: null, problem: null, problemCode: null });
    for (const strange of [
      { owner: randomUUID() },
      { attempt: claimed.attempt - 1 },
      { job: 'other' },
      { slot: NEXT },
    ]) {
      const stranger = { ...claimed, ...strange };
      expect(await noteRun(db, stranger, runId)).toBe(false);
      for (const end of [
        { kind: 'done' },
        { kind: 'failed', reason: 'x' },
        { kind: 'again', reason: 'x', restMs: 0, isLoss: true },
      ] as const) {
        await settleSlot(db, stranger, end, SLOT);
        expect(await readSlots(db)).toMatchObject([{ state: 'running', losses: 0 }]);
      }
    }
    await settleSlot(db, claimed, { kind: 'done' }, SLOT);
    await settleSlot(db, claimed, { kind: 'failed', reason: 'too late' }, SLOT);
    expect(await readSlots(db)).toMatchObject([{ state: 'done', reason: null }]);
  });

  it('whose process is gone fails with the problem of its run, or is due again if its run did not end either', async () => {
    const { db, claim } = await openSlots(SLOT);
    const loseProcess = () =>
      db
        .updateTable('ops.leases')
        .set({ expires_at: new Date(0) })
        .execute();
    const claimed = must(await claim(SLOT));
    const runId = await beginRun(db, { job: 'orders', kind: 'test' });
    await noteRun(db, claimed, runId);
    expect(await releaseLostSlots(db), 'its process lives').toEqual([]);
    await loseProcess();
    expect(await releaseLostSlots(db)).toEqual([{ job: 'orders', slot: SLOT, state: 'due', reason: GONE }]);
    const readRun = () => db.selectFrom('ops.runs').select(['status', 'problem']).executeTakeFirstOrThrow();
    expect(await readRun()).toEqual({ status: 'interrupted', problem: GONE });
    await sql`
      update ops.runs set status = 'failed', problem = 'no such bucket'`.execute(db);
    await sql`update ops.slots set state = 'running', attempts = attempts + 1, owner = ${randomUUID()}::uuid`.execute(
      db,
    );
    expect(await releaseLostSlots(db)).toEqual([
      { job: 'orders', slot: SLOT, state: 'failed', reason: 'no such bucket' },
    ]);
  });
});

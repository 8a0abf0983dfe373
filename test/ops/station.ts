import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import { beginRun, endRun } from '../../src/ops/run-record.ts';
import { createScheduler, type ScheduledJob, type Scheduler } from '../../src/ops/schedule/scheduler.ts';
import { type ClaimedSlot, noteRun, type SlotEnd } from '../../src/ops/schedule/slots.ts';
import { DEFAULT_TIMING } from '../support/default-timing.ts';
import { waitFor } from '../support/wait-for.ts';

/** The point at which a worker hangs, like a process that is killed there. */
export type HangsAt = 'claimed' | 'begun' | 'recorded';

export type Worker = {
  readonly scheduler: Scheduler;
  readonly owner: string;
  /** Checks the schedule once and waits until everything it started has ended and is settled, or hangs. */
  look(): Promise<void>;
  /** What its next runs do: succeed, fail, end by a bug, or hang. */
  next: 'done' | 'failed' | 'bug' | HangsAt;
  /** Expires its lease, as if the process were gone. */
  die(): Promise<void>;
};

/** A scheduler in this process with a clock that the test sets. Its runs have records and do nothing. */
export type Station = {
  readonly db: Database;
  now: Date;
  hire(): Worker;
  /** Returns the slots in order, as `2026-05-01T10:05 done`. */
  slots(job?: string): Promise<readonly string[]>;
  /** Slots whose run ended successfully, including repeats, in chronological order. */
  readonly ran: string[];
  /** Events of slots that have a reason, as `orders 2026-05-01T10:05 missed: why`. */
  readonly told: string[];
};

export function openStation(db: Database, jobs: readonly ScheduledJob[], startAt: string): Station {
  const ran: string[] = [];
  const told: string[] = [];
  const station: Station = {
    db,
    now: new Date(startAt),
    ran,
    told,
    hire: () => hire(station, jobs),
    async slots(job) {
      const rows = await db
        .selectFrom('ops.slots')
        .select(['job', 'slot', 'state'])
        .$if(job !== undefined, (query) => query.where('job', '=', job ?? ''))
        .orderBy('slot')
        .orderBy('job')
        .execute();
      return rows.map(({ slot, state }) => `${minuteOf(slot)} ${state}`);
    },
  };
  return station;
}

function hire(station: Station, jobs: readonly ScheduledJob[]): Worker {
  const { db, ran, told } = station;
  const owner = randomUUID();
  let isHanging = false;
  function hang(): Promise<never> {
    isHanging = true;
    return new Promise(() => {});
  }
  async function work(claimed: ClaimedSlot): Promise<SlotEnd> {
    if (worker.next === 'claimed') return hang();
    if (worker.next === 'bug') throw new TypeError('of nothing');
    const runId = await beginRun(db, { job: claimed.job, kind: 'test' });
    if (!(await noteRun(db, claimed, runId))) throw new Error('the slot was taken over');
    if (worker.next === 'begun') return hang();
    const status = worker.next === 'failed' ? 'failed' : 'ok';
    await endRun(db, { runId, status, exitCode: 0, report: null, problem: null, problemCode: null });
    ran.push(`${claimed.job} ${minuteOf(claimed.slot)}`);
    if (worker.next === 'recorded') return hang();
    return status === 'ok' ? { kind: 'done' } : { kind: 'failed', reason: 'as the test wished' };
  }
  const scheduler = createScheduler({
    db,
    owner,
    jobs,
    leaseMs: 60_000,
    now: async () => station.now,
    work,
    onEvent({ job, slot, state, reason }) {
      if (reason !== null) told.push(`${job} ${minuteOf(slot)} ${state}: ${reason}`);
    },
  });
  const worker: Worker = {
    scheduler,
    owner,
    next: 'done',
    async look() {
      await scheduler.look();
      await waitFor(() => isHanging || scheduler.atWork().length === 0);
      if (!isHanging) await scheduler.look();
    },
    async die() {
      scheduler.stop();
      // The runs that this check started reach the point where they hang, or their end. After that, the dead
      // worker does nothing more.
      await scheduler.look();
      await waitFor(() => isHanging || scheduler.atWork().length === 0);
      await sql`update ops.leases set expires_at = clock_timestamp() where owner = ${owner}::uuid`.execute(
        db,
      );
    },
  };
  return worker;
}

export function minuteOf(date: Date): string {
  return date.toISOString().slice(0, 16);
}

/** Returns a job that runs at five past every hour, unless the changes say otherwise. */
export function job(changes: Partial<ScheduledJob> = {}): ScheduledJob {
  const name = changes.name ?? 'orders';
  return { name, leases: [`job:${name}`], ...DEFAULT_TIMING, schedule: '5 * * * *', ...changes };
}

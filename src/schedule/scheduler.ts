import { hostname } from 'node:os';
import type { Database } from '../db/connect.ts';
import type { JobTiming } from '../model/config.ts';
import { openCalendar } from './calendar.ts';
import { keepLease, releaseLeases } from './lease.ts';
import { type Head, pollSchedule } from './poll-schedule.ts';
import {
  type ClaimedSlot,
  claimSlot,
  reasonOf,
  releaseLostSlots,
  type SlotEnd,
  type SlotEvent,
  settleSlot,
  settleWaiting,
} from './slots.ts';

/** What the scheduler needs to know of a job. */
export type ScheduledJob = JobTiming & {
  readonly name: string;
  /** Leases that its run takes: while another process holds one of them, a slot waits or is skipped. */
  readonly leases: readonly string[];
};

export type SchedulerOptions = {
  readonly db: Database;
  /** Random id of this process. */
  readonly owner: string;
  readonly jobs: readonly ScheduledJob[];
  /** A process that does not look for so long has lost its slots. */
  readonly leaseMs: number;
  /** What time it is: the database's clock. */
  readonly now: (db: Database) => Promise<Date>;
  /** Does the work of a slot. A throw counts as `failed`. */
  readonly work: (claimed: ClaimedSlot) => Promise<SlotEnd>;
  readonly onEvent: (event: SlotEvent) => void;
};

export type Scheduler = {
  /**
   * One look: notes what has come, takes back what the dead held, and begins what is due. Looks that overlap are one.
   *
   * @throws what the driver throws when the database is away; the next look goes on, and nothing is lost or doubled.
   */
  look(): Promise<void>;
  /** Begins nothing any more. */
  stop(): void;
  /** Waits until what runs has ended and is settled, and gives back the lease. */
  ended(): Promise<void>;
  /** Jobs at work in this process. */
  atWork(): readonly string[];
};

/**
 * Runs each slot of each job once, however many processes do so at once: what has come, what is running and what is done stands in
 * `ops.slots`, and this holds nothing that it could not lose. Jobs run beside each other, each one slot at a time.
 */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { db, owner, jobs, leaseMs, onEvent } = options;
  const heads = findHeads(jobs);
  const works = new Map<string, Promise<void>>();
  const unsettled = new Map<ClaimedSlot, SlotEnd>();
  const lease = { name: `serve:${owner}`, owner, host: hostname(), pid: process.pid, ttlMs: leaseMs };
  let isStopped = false;
  let looking: Promise<void> | null = null;

  async function lookOnce(): Promise<void> {
    const now = await options.now(db);
    await keepLease(db, lease);
    await settleEnded(now);
    for (const lost of await releaseLostSlots(db)) onEvent(lost);
    for (const head of heads)
      for (const planned of await pollSchedule(db, head, now)) onEvent({ job: head.job, ...planned });
    for (const { name, after, overlap } of inOrder(jobs)) {
      if (after === null) continue;
      for (const settled of await settleWaiting(db, { job: name, after, overlap })) onEvent(settled);
    }
    for (const job of jobs) if (!isStopped && !works.has(job.name)) await beginDue(job, now);
  }

  async function beginDue({ name, leases }: ScheduledJob, now: Date): Promise<void> {
    const claimed = await claimSlot(db, { job: name, owner, now, leases });
    if (claimed === null) return;
    onEvent({ job: name, slot: claimed.slot, state: 'running', reason: null });
    const work = options
      .work(claimed)
      .catch(
        (error: unknown): SlotEnd => ({
          kind: 'failed',
          reason: error instanceof Error ? error.name : 'a bug',
        }),
      )
      .then(async (end) => {
        unsettled.set(claimed, end);
        works.delete(name);
        onEvent({ job: name, slot: claimed.slot, state: end.kind, reason: reasonOf(end) });
        // What follows need not wait for the next look. When the database is away, that one settles it.
        await look().catch(() => {});
      });
    works.set(name, work);
  }

  async function settleEnded(now: Date): Promise<void> {
    for (const [claimed, end] of unsettled) {
      await settleSlot(db, claimed, end, now);
      unsettled.delete(claimed);
    }
  }

  /** A look that began before the call may have missed what it is called for: another follows. */
  async function look(): Promise<void> {
    const previous = looking;
    if (previous !== null) await previous.catch(() => {});
    looking ??= lookOnce().finally(() => {
      looking = null;
    });
    await looking;
  }

  return {
    look,
    stop() {
      isStopped = true;
    },
    async ended() {
      while (works.size > 0) await Promise.all(works.values());
      await look();
      await releaseLeases(db, owner);
    },
    atWork: () => [...works.keys()],
  };
}

/** Jobs with a schedule, each with those that follow it. */
function findHeads(jobs: readonly ScheduledJob[]): readonly Head[] {
  return jobs.flatMap((job) =>
    job.schedule === null
      ? []
      : [
          {
            job: job.name,
            timing: job,
            calendar: openCalendar({ schedule: job.schedule, timeZone: job.timeZone }),
            followers: followersOf(job.name, jobs),
          },
        ],
  );
}

function followersOf(name: string, jobs: readonly ScheduledJob[]): readonly string[] {
  return jobs
    .filter(({ after }) => after === name)
    .flatMap((job) => [job.name, ...followersOf(job.name, jobs)]);
}

/** Each job behind the one that it follows, so that one look carries what was settled down the whole chain. */
function inOrder(jobs: readonly ScheduledJob[]): readonly ScheduledJob[] {
  const depth = (job: ScheduledJob): number => {
    const before = jobs.find(({ name }) => name === job.after);
    return before === undefined ? 0 : 1 + depth(before);
  };
  return [...jobs].sort((one, other) => depth(one) - depth(other));
}

import { hostname } from 'node:os';
import type { JobTiming } from '../../config/job-fields.ts';
import type { Database } from '../../db/connect.ts';
import { keepLease, releaseLeases } from '../lease.ts';
import { openCalendar } from './calendar.ts';
import { pollSchedule } from './poll-schedule.ts';
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

/** What the scheduler needs to know about a job. */
export type ScheduledJob = JobTiming & {
  readonly name: string;
  /**
   * Leases that a run of the job takes. While another process holds one of them, a slot waits or is skipped.
   */
  readonly leases: readonly string[];
};

export type SchedulerOptions = {
  readonly db: Database;
  /** Random id of this process. */
  readonly owner: string;
  readonly jobs: readonly ScheduledJob[];
  /** A process that has not polled for this time loses its slots. */
  readonly leaseMs: number;
  /** Returns the current time by the clock of the database. */
  readonly now: (db: Database) => Promise<Date>;
  /** Does the work of a slot. If it throws, the slot counts as `failed`. */
  readonly work: (claimed: ClaimedSlot) => Promise<SlotEnd>;
  readonly onEvent: (event: SlotEvent) => void;
};

export type Scheduler = {
  /**
   * Polls once: records slots that have come, releases slots of dead processes, and starts due slots.
   * Overlapping calls share a poll.
   *
   * @throws the error of the database driver if the database is unreachable. The next poll continues, and no
   * slot is lost or run twice.
   */
  look(): Promise<void>;
  /** Starts no more slots. */
  stop(): void;
  /** Waits until all active slots have ended and are settled, and releases the lease. */
  ended(): Promise<void>;
  /** Names of the jobs that are running in this process. */
  atWork(): readonly string[];
};

/**
 * Runs each slot of each job once, even if several processes run schedulers at once. The state of slots is
 * stored only in `ops.slots`, so nothing is lost if this process dies. Different jobs run in parallel; each
 * job runs one slot at a time.
 */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { db, owner, jobs, leaseMs, onEvent } = options;
  const heads = jobs.flatMap((job) =>
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
        // Poll at once, so that jobs that follow need not wait for the next tick. If the database is
        // unreachable, a later poll settles the slot.
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

  /**
   * A poll that started before the call may have missed what the caller needs, so another poll follows it.
   */
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
      // A poll that was running when the scheduler was stopped may still have claimed a slot.
      do {
        await Promise.all(works.values());
        await look();
      } while (works.size > 0 || unsettled.size > 0);
      await releaseLeases(db, owner);
    },
    atWork: () => [...works.keys()],
  };
}

function followersOf(name: string, jobs: readonly ScheduledJob[]): readonly string[] {
  return jobs
    .filter(({ after }) => after === name)
    .flatMap((job) => [job.name, ...followersOf(job.name, jobs)]);
}

/** Sorts each job after the one that it follows, so that one poll settles a whole chain. */
function inOrder(jobs: readonly ScheduledJob[]): readonly ScheduledJob[] {
  const depth = (job: ScheduledJob): number => {
    const before = jobs.find(({ name }) => name === job.after);
    return before === undefined ? 0 : 1 + depth(before);
  };
  return [...jobs].sort((one, other) => depth(one) - depth(other));
}

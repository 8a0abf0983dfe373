import type { JobTiming } from '../../config/job-fields.ts';
import type { Calendar } from './calendar.ts';

/** A slot whose time has come, and what happens to it. */
export type PlannedSlot = {
  readonly slot: Date;
  readonly state: 'due' | 'skipped' | 'missed';
  /** Why it is not run, in words. Null if it is due. */
  readonly reason: string | null;
};

export type PlanInput = {
  readonly calendar: Calendar;
  readonly timing: Pick<JobTiming, 'catchUp' | 'overlap'>;
  /** Slots up to this instant were already planned. */
  readonly lookedUntil: Date;
  readonly now: Date;
  /** Whether a run of this job is active. */
  readonly isAtWork: boolean;
  /** Whether a person has paused this job. */
  readonly isPaused: boolean;
};

/**
 * If a slot is noticed later than this, no process ran at its time. Restarting the database takes less,
 * restarting a machine takes more.
 */
export const ON_TIME_MS = 5 * 60_000;

/** How far back to look for missed slots. Longer than a month, so that a monthly job is always caught up. */
const LOOK_BACK_MS = 35 * 24 * 3_600_000;

/**
 * Decides what happens to the slots that have come since the last poll. It is a pure function, so that tests
 * can use any clock. Usually there is no slot, or one that is due. If there are several, or a late one, no
 * process ran in the meantime, and `catch_up` of the job decides. A slot that is due while the job is active
 * is skipped, unless the job queues its slots.
 */
export function planSlots({
  calendar,
  timing,
  lookedUntil,
  now,
  isAtWork,
  isPaused,
}: PlanInput): readonly PlannedSlot[] {
  const from = new Date(Math.max(lookedUntil.getTime(), now.getTime() - LOOK_BACK_MS));
  const slots = calendar.between(from, now);
  const newest = slots.at(-1);
  if (newest === undefined) return [];
  const isOnTime = now.getTime() - newest.getTime() <= ON_TIME_MS;
  return slots.map((slot): PlannedSlot => {
    const isNewest = slot === newest;
    if (timing.catchUp !== 'all' && !isNewest)
      return {
        slot,
        state: 'missed',
        reason: 'no process ran at its time, and a later slot was due when a process started',
      };
    if (timing.catchUp === 'none' && !isOnTime)
      return { slot, state: 'missed', reason: 'no process ran at its time (catch_up: none)' };
    if (isPaused) return { slot, state: 'skipped', reason: 'the job is paused' };
    if (isAtWork && timing.overlap === 'skip')
      return { slot, state: 'skipped', reason: 'the job was still running (overlap: skip)' };
    return { slot, state: 'due', reason: null };
  });
}

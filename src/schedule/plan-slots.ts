import type { JobTiming } from '../model/config.ts';
import type { Calendar } from './calendar.ts';

/** A slot that has come, and what is to become of it. */
export type PlannedSlot = {
  readonly slot: Date;
  readonly state: 'due' | 'skipped' | 'missed';
  /** Why it is not run, in words; null when it is due. */
  readonly reason: string | null;
};

export type PlanInput = {
  readonly calendar: Calendar;
  readonly timing: Pick<JobTiming, 'catchUp' | 'overlap'>;
  /** Slots up to this instant are accounted for. */
  readonly lookedUntil: Date;
  readonly now: Date;
  /** Someone runs this job now. */
  readonly isAtWork: boolean;
  /** A person has paused this job. */
  readonly isPaused: boolean;
};

/** A slot that is noticed later than this came while nothing ran: a restart of the database takes less, a restart of a machine more. */
const ON_TIME_MS = 5 * 60_000;

/** So far back slots are looked for. Longer than a month, so that a monthly one is caught up whenever it was missed. */
const LOOK_BACK_MS = 35 * 24 * 3_600_000;

/**
 * What becomes of the slots that came since the last look: pure, so that every clock can be played.
 * Usually there is none, or one that is due. More than one, or a late one, means that nothing ran meanwhile: then the job's `catch_up`
 * decides. A slot that is due while the job is at work is skipped, unless the job queues.
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

import type { JobSettings } from '../../../config/job-fields.ts';
import type { Finding } from '../../../core/finding.ts';
import { type Calendar, openCalendar } from '../../../ops/schedule/calendar.ts';
import { listRuns } from '../../../reports/runs/list-runs.ts';
import type { Check, Patient } from '../../../runs/doctor-check.ts';

/** Number of recent runs that are used to estimate how long a run takes. */
const RUNS_LOOKED_AT = 5;
/** Number of future slots that are examined for the shortest interval: a week of an hourly job. */
const SLOTS_LOOKED_AT = 168;
/** A job that has missed this number of slots is reported as not running. */
const SLOTS_MISSED = 3;
const DAY_MS = 86_400_000;

/** Checks whether scheduled jobs run, and whether they finish before the next slot. */
export const schedules: Check = {
  name: 'schedule',
  async look(patient) {
    const findings: Finding[] = [];
    for (const job of Object.values(patient.config.jobs)) findings.push(...(await lookAtJob(patient, job)));
    return findings;
  },
};

async function lookAtJob(patient: Patient, job: JobSettings): Promise<readonly Finding[]> {
  const about = `schedule of ${job.name}`;
  const { schedule, timeZone } = job;
  if (schedule === null) {
    const what =
      job.after === null ? 'None: the job runs only when you start it.' : `It follows ${job.after}.`;
    return [{ status: 'ok', about, what }];
  }
  const slots = nextSlots(openCalendar({ schedule, timeZone }), patient.now());
  const [next] = slots;
  if (next === undefined) {
    const what = `"${schedule}" never fires.`;
    const fix = 'Correct the expression: its day and month exclude each other.';
    return [{ status: 'problem', about, what, why: 'serve would never run the job.', fix }];
  }
  const intervalMs = shortestGapMs(slots);
  const late = await isLate(patient, { job, about, intervalMs });
  if (late !== null) return [late];
  return [{ status: 'ok', about, what: `Next at ${next.toISOString().slice(0, 16).replace('T', ' ')} UTC.` }];
}

async function isLate(
  { db, hasTables, now, kinds }: Patient,
  { job, about, intervalMs }: { job: JobSettings; about: string; intervalMs: number },
): Promise<Finding | null> {
  if (db === null || !hasTables) return null;
  const ran = await listRuns(db, { job: job.name, limit: RUNS_LOOKED_AT });
  const [last] = ran;
  if (last === undefined) return null;
  const restedMs = now().getTime() - new Date(last.startedAt).getTime();
  if (restedMs > SLOTS_MISSED * intervalMs) {
    return {
      status: 'warning',
      about,
      what: `It last ran ${Math.round(restedMs / 3_600_000)} hours ago, more than ${SLOTS_MISSED} slots.`,
      why: `${itemsOf(kinds, job)} wait.`,
      fix: 'Check that `npx influencer-sync serve` runs with this configuration.',
    };
  }
  const longestS = Math.max(...ran.map(({ seconds }) => seconds));
  if (longestS * 1_000 < intervalMs) return null;
  return {
    status: 'warning',
    about,
    what: `A run took ${Math.round(longestS / 60)} minutes, and slots are ${Math.round(intervalMs / 60_000)} minutes apart.`,
    why: 'Slots that are due during a run are skipped, or queue up.',
    fix: 'Run it less often, raise api.requests_per_second if your plan allows it, or credit past orders with `backfill`.',
  };
}

/** For example `Orders`, to begin a sentence. */
function itemsOf(kinds: Patient['kinds'], job: JobSettings): string {
  const { items } = kinds.find(({ kind }) => kind === job.kind)?.nouns ?? { items: 'files' };
  return items.charAt(0).toUpperCase() + items.slice(1);
}

/**
 * Lists future slots, one day at a time starting at the next slot. So it is fast both for a slot per minute
 * and for a slot per leap year.
 */
function nextSlots(calendar: Calendar, after: Date): readonly Date[] {
  const slots: Date[] = [];
  let lookedUntil = after;
  while (slots.length < SLOTS_LOOKED_AT) {
    const next = calendar.next(lookedUntil);
    if (next === null) break;
    const until = new Date(next.getTime() + DAY_MS);
    slots.push(...calendar.between(lookedUntil, until));
    lookedUntil = until;
  }
  return slots.slice(0, SLOTS_LOOKED_AT);
}

function shortestGapMs(slots: readonly Date[]): number {
  const gaps = slots.slice(1).map((slot, index) => slot.getTime() - (slots[index]?.getTime() ?? 0));
  return Math.min(...gaps);
}

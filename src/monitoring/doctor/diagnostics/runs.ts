import type { JobSettings } from '../../../config/job-fields.ts';
import type { SourceSettings } from '../../../config/source-fields.ts';
import { type Finding, ok, problem, warning } from '../../../core/finding.ts';
import { KnownError } from '../../../core/known-error.ts';
import { formatMinute } from '../../../core/text/format-instant.ts';
import { plural } from '../../../core/text/plural.ts';
import { DAY_MS } from '../../../core/time/day.ts';
import { findHolder } from '../../../ops/lease.ts';
import { type Calendar, openCalendar } from '../../../ops/schedule/calendar.ts';
import { listChannelTroubles } from '../../../reports/notices/list-notices.ts';
import { listRuns } from '../../../reports/runs/list-runs.ts';
import type { Diagnostic, Patient } from '../../../runs/runnable-kind.ts';
import { leaseNames } from '../../../runs/runnable-kind.ts';
import { openQueue } from '../../../store/queue/open-queue.ts';
import { readQueueState } from '../../../store/queue/take-events.ts';

/** Number of recent runs that are used to estimate how long a run takes. */
const RUNS_LOOKED_AT = 5;
/** Number of future slots that are examined for the shortest interval: a week of an hourly job. */
const SLOTS_LOOKED_AT = 168;
/** A job that has missed this number of slots is reported as not running. */
const SLOTS_MISSED = 3;

/** Checks whether another process holds what a run of a job would take first. */
export const leases: Diagnostic = {
  name: 'run',
  async look({ db, hasTables, config, kinds }) {
    if (db === null || !hasTables || config.database.url === '') return [];
    const findings: Finding[] = [];
    for (const job of Object.values(config.jobs)) {
      const kind = kinds.find((one) => one.kind === job.kind);
      const holder = kind === undefined ? null : await findHolder(db, leaseNames(kind, job));
      if (holder === null) continue;
      const { pid, host, acquiredAt, endsInMs } = holder;
      findings.push({
        ...warning(
          `Process ${pid} on ${host} has been at it, or at its sources, since ${formatMinute(acquiredAt)} UTC.`,
          'Another run ends with exit code 5 until that one has ended.',
          `Wait until it ends. If that process was killed, its lease is over in ${Math.ceil(endsInMs / 1_000)} s: \`run --wait\` waits for it.`,
        ),
        about: `run of ${job.name}`,
        isBusy: true,
      });
    }
    return findings;
  },
};

/** Checks whether scheduled jobs run, and whether they finish before the next slot. */
export const schedules: Diagnostic = {
  name: 'schedule',
  async look(patient) {
    const findings: Finding[] = [];
    for (const job of Object.values(patient.config.jobs))
      findings.push({ ...(await lookAtJob(patient, job)), about: `schedule of ${job.name}` });
    return findings;
  },
};

async function lookAtJob(patient: Patient, job: JobSettings): Promise<Finding> {
  const { schedule, timeZone } = job;
  if (schedule === null)
    return ok(job.after === null ? 'None: the job runs only when you start it.' : `It follows ${job.after}.`);
  const slots = nextSlots(openCalendar({ schedule, timeZone }), patient.now());
  const [next] = slots;
  if (next === undefined)
    return problem(
      `"${schedule}" never fires.`,
      'serve would never run the job.',
      'Correct the expression: its day and month exclude each other.',
    );
  const late = await isLate(patient, job, shortestGapMs(slots));
  return late ?? ok(`Next at ${formatMinute(next)} UTC.`);
}

async function isLate(
  { db, hasTables, now, kinds }: Patient,
  job: JobSettings,
  intervalMs: number,
): Promise<Finding | null> {
  if (db === null || !hasTables) return null;
  const ran = await listRuns(db, { job: job.name, limit: RUNS_LOOKED_AT });
  const [last] = ran;
  if (last === undefined) return null;
  const restedMs = now().getTime() - new Date(last.startedAt).getTime();
  if (restedMs > SLOTS_MISSED * intervalMs)
    return warning(
      `It last ran ${plural(Math.round(restedMs / 3_600_000), 'hour')} ago, more than ${SLOTS_MISSED} slots.`,
      `${itemsOf(kinds, job)} wait.`,
      'Check that `npx influencer-sync serve` runs with this configuration.',
    );
  const longestS = Math.max(...ran.map(({ seconds }) => seconds));
  if (longestS * 1_000 < intervalMs) return null;
  return warning(
    `A run took ${plural(Math.round(longestS / 60), 'minute')}, and slots are ${plural(Math.round(intervalMs / 60_000), 'minute')} apart.`,
    'Slots that are due during a run are skipped, or queue up.',
    'Run it less often, raise api.requests_per_second if your plan allows it, or credit past orders with `backfill`.',
  );
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

/** Asks the queue of each source for its state, without receiving a message. */
export const queues: Diagnostic = {
  name: 'queue',
  async look({ config }) {
    const sources = Object.values(config.sources);
    return (await Promise.all(sources.map(lookAtQueue))).flatMap((found, index) =>
      found === null ? [] : [{ ...found, about: `queue of source ${sources[index]?.name}` }],
    );
  },
};

async function lookAtQueue({ events, region, profile }: SourceSettings): Promise<Finding | null> {
  if (events === null) return null;
  try {
    const queue = await openQueue({ url: events.queue, region, profile });
    const { waiting, hasDeadLetters } = await readQueueState(queue).finally(() => queue.close());
    const count = `${waiting.toLocaleString('en')} ${waiting === 1 ? 'message waits' : 'messages wait'}`;
    if (hasDeadLetters) return ok(`${count}; all names are listed every ${events.listEveryHours} hours.`);
    return warning(
      `${count}; the queue has no dead-letter queue.`,
      'A message that is no event of S3 comes back until it expires.',
      'Give the queue a redrive policy, for example with a maxReceiveCount of 5.',
    );
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    const { message, help } = error.details;
    const why = 'Runs list all names of the source instead, which takes longer. No file is missed.';
    return warning(message, why, help);
  }
}

/** Checks whether the notification channels accept notices. */
export const notices: Diagnostic = {
  name: 'notices',
  async look({ config, db, hasTables }) {
    const names = config.notify.channels.map(({ name }) => name);
    if (names.length === 0 || db === null || !hasTables) return [];
    const troubles = (await listChannelTroubles(db)).filter(({ channel }) => names.includes(channel));
    if (troubles.length === 0) return [ok(`No channel (${names.join(', ')}) has failed lately.`)];
    return troubles.map(({ channel, failing, givenUp, lastError, since }) =>
      warning(
        `${channel} has not accepted notices since ${formatMinute(since)} UTC (${lastError}): ${failing} waiting, ${givenUp} given up.`,
        'No notice arrives through this channel. Runs are not affected.',
        `Correct notify.channels.${channel}, then:  npx influencer-sync notify test ${channel}`,
      ),
    );
  },
};

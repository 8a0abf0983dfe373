import type { JobSettings, PipelineConfig } from '../core/config.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { problemOfCron } from '../core/time/cron-pattern.ts';
import { isNamedTimeZone } from '../core/time/time-zone.ts';
import type { ConfigFinding } from './configured-kind.ts';

const FIVE_FIELDS =
  'Five fields: minute hour day month weekday, in quotes, for example "5 * * * *" for five past every hour.';

/** Checks a job's schedule and time zone, and that the job that it follows exists and is scheduled. */
export function* checkTiming(job: JobSettings, jobs: PipelineConfig['jobs']): Generator<ConfigFinding> {
  const at = (key: string) => ['jobs', job.name, key];
  const title = `jobs.${job.name}`;
  if (job.schedule !== null) {
    const problem = problemOfCron(job.schedule);
    const message = `${title}.schedule: "${job.schedule}" ${problem}.`;
    if (problem !== null) yield { path: at('schedule'), message, help: FIVE_FIELDS };
  }
  if (!isNamedTimeZone(job.timeZone)) {
    const message = `${title}.time_zone: "${job.timeZone}" is not a time zone.`;
    yield { path: at('time_zone'), message, help: helpForTimeZone(job.timeZone) };
  }
  if (job.after === null) return;
  const path = at('after');
  if (job.schedule !== null) {
    const help = 'Remove one of them: a job with `after` runs when the job that it follows is done.';
    yield { path, message: `${title} has both a schedule and after.`, help };
  } else if (jobs[job.after] === undefined) {
    const near = didYouMean(job.after, Object.keys(jobs));
    const help = near === null ? `Use one of: ${Object.keys(jobs).join(', ')}.` : `Did you mean "${near}"?`;
    yield { path, message: `${title}.after: there is no job "${job.after}".`, help };
  } else {
    const wrong = problemOfChain(job, jobs);
    if (wrong !== null) yield { path, message: `${title}.after: ${wrong.message}`, help: wrong.help };
  }
}

/** Follows `after` to the first job of the chain, which must have a schedule. */
function problemOfChain(
  job: JobSettings,
  jobs: PipelineConfig['jobs'],
): { readonly message: string; readonly help: string } | null {
  const way = [job.name];
  let head = job;
  while (head.after !== null) {
    const next = jobs[head.after];
    if (next === undefined) return null; // Reported for that job.
    way.push(next.name);
    if (next.name === job.name)
      return {
        message: `the jobs wait for each other: ${way.join(' → ')}.`,
        help: 'Give one of them a schedule instead.',
      };
    if (way.indexOf(next.name) < way.length - 1) return null; // A circle that this job is not part of.
    head = next;
  }
  if (head.schedule !== null) return null;
  return {
    message: `${head.name} has no schedule, so this job would never run.`,
    help: `Give jobs.${head.name} a schedule.`,
  };
}

/** Suggests how to write the zone that was meant. */
export function helpForTimeZone(zone: string): string {
  const near = didYouMean(zone, Intl.supportedValuesOf('timeZone'));
  return near === null
    ? 'Write an IANA name, for example Europe/Amsterdam or UTC.'
    : `Did you mean "${near}"?`;
}

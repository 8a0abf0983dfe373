import type { NotifySettings } from '../../config/notify-fields.ts';
import type { Problem } from '../../core/notify/notice.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/**
 * The channels that a problem is sent to: those of every matching route, or all channels if there are no
 * routes.
 */
export function channelsOf(
  { kind, job, severity }: Pick<Problem, 'kind' | 'job' | 'severity'>,
  { channels, routes }: Pick<NotifySettings, 'channels' | 'routes'>,
): readonly string[] {
  const all = channels.map(({ name }) => name);
  if (routes.length === 0) return all;
  const wanted = routes
    .filter(
      (route) =>
        route.severities?.includes(severity) !== false &&
        route.problems?.includes(kind) !== false &&
        // A problem of no particular job concerns every job.
        (job === null || route.jobs?.includes(job) !== false),
    )
    .flatMap((route) => route.channels);
  return all.filter((name) => wanted.includes(name));
}

/** When a notice of this severity may be sent: now, or at the end of the quiet hours for a warning. */
export function dueAt(
  { severity }: Pick<Problem, 'severity'>,
  now: Date,
  { quietHours }: Pick<NotifySettings, 'quietHours'>,
): Date {
  if (quietHours === null || severity === 'error') return now;
  const clock = zoneClock(quietHours.timeZone);
  const wallMs = clock.toWallMs(now.getTime());
  const midnightMs = Math.floor(wallMs / DAY_MS) * DAY_MS;
  const fromMs = midnightMs + minutesOf(quietHours.from) * MINUTE_MS;
  const toMs = midnightMs + minutesOf(quietHours.to) * MINUTE_MS;
  // Quiet hours that pass midnight either started today or end today.
  const endMs =
    fromMs < toMs
      ? wallMs >= fromMs && wallMs < toMs
        ? toMs
        : null
      : wallMs >= fromMs
        ? toMs + DAY_MS
        : wallMs < toMs
          ? toMs
          : null;
  return endMs === null ? now : new Date(clock.toInstantMs(endMs));
}

/** Converts `22:30` to minutes. */
export function minutesOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

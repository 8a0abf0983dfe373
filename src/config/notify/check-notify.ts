import type { PipelineConfig } from '../../core/config.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { isNamedTimeZone } from '../../core/time/time-zone.ts';
import { helpForTimeZone } from '../check-timing.ts';
import type { ConfigFinding } from '../configured-kind.ts';
import type { ConfigPath } from '../locate.ts';

/**
 * Checks that channels have valid addresses, and that routes, digest and pings name existing channels and
 * jobs.
 */
export function* checkNotify({ notify, jobs }: PipelineConfig): Generator<ConfigFinding> {
  for (const channel of [...notify.channels, ...notify.pings]) {
    const path = ['notify', 'channels', channel.name];
    if ('url' in channel) yield* checkAddress(channel.url, [...path, 'url']);
  }
  for (const { name, url, jobs: watched } of notify.pings) {
    const path = ['notify', 'channels', name];
    yield* checkNames(watched ?? [], { path: [...path, 'jobs'], what: 'job', known: Object.keys(jobs) });
    if (url.includes('{job}') || (watched ?? Object.keys(jobs)).length <= 1) continue;
    yield {
      path: [...path, 'url'],
      message: `notify.channels.${name} is one check for several jobs, so a job that runs would hide another that does not.`,
      help: 'Write {job} in url, or name one job in jobs, and add a channel for each other job.',
    };
  }
  const channels = notify.channels.map(({ name }) => name);
  for (const [index, route] of notify.routes.entries()) {
    const path = ['notify', 'routes', index];
    yield* checkNames(route.channels, { path: [...path, 'channels'], what: 'channel', known: channels });
    yield* checkNames(route.jobs ?? [], { path: [...path, 'jobs'], what: 'job', known: Object.keys(jobs) });
  }
  const { digest, quietHours } = notify;
  if (digest !== null) {
    const path = ['notify', 'digest'];
    yield* checkNames(digest.channels, { path: [...path, 'channels'], what: 'channel', known: channels });
    yield* checkZone(digest.timeZone, path);
    const pagers = notify.channels.filter(
      ({ name, kind }) => kind === 'pagerduty' && digest.channels.includes(name),
    );
    for (const { name } of pagers)
      yield {
        path: [...path, 'channels'],
        message: `notify.digest.channels: ${name} is PagerDuty, where the digest would be an alert every day.`,
        help: 'Choose channels of another kind.',
      };
  }
  if (quietHours === null) return;
  yield* checkZone(quietHours.timeZone, ['notify', 'quiet_hours']);
  if (quietHours.from !== quietHours.to) return;
  yield {
    path: ['notify', 'quiet_hours', 'to'],
    message: `notify.quiet_hours begins and ends at ${quietHours.from}.`,
    help: 'Set a different end, or remove quiet_hours.',
  };
}

/** The address is not repeated, because it may be a secret. */
function* checkAddress(address: string, path: ConfigPath): Generator<ConfigFinding> {
  if (address === '' || /^https?:$/.test(URL.parse(address)?.protocol ?? '')) return;
  yield {
    path,
    message: `${path.join('.')} is not a web address.`,
    help: 'Write it like https://example.com/path.',
  };
}

function* checkNames(
  names: readonly string[],
  options: { readonly path: ConfigPath; readonly what: string; readonly known: readonly string[] },
): Generator<ConfigFinding> {
  const { path, what, known } = options;
  for (const name of names.filter((one) => !known.includes(one))) {
    const near = didYouMean(name, known);
    const others = known.join(', ') || 'none yet';
    yield {
      path,
      message: `${path.join('.')}: there is no ${what} "${name}".`,
      help: near === null ? `Existing ${what}s: ${others}.` : `Did you mean "${near}"?`,
    };
  }
}

function* checkZone(zone: string, path: ConfigPath): Generator<ConfigFinding> {
  if (isNamedTimeZone(zone)) return;
  const message = `${path.join('.')}.time_zone: "${zone}" is not a time zone.`;
  yield { path: [...path, 'time_zone'], message, help: helpForTimeZone(zone) };
}

import { isDeepStrictEqual } from 'node:util';
import { isLoopback } from '../core/http/is-loopback.ts';
import type { Problem } from '../core/known-error.ts';
import { isBic, parseIban } from '../core/money/iban.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { problemOfCron } from '../core/time/cron-pattern.ts';
import { findDateFault, parseDatedNames } from '../core/time/dated-names.ts';
import { isNamedTimeZone } from '../core/time/time-zone.ts';
import type { ConfigFinding, ConfiguredKind } from './configured-kind.ts';
import type { JobSettings } from './job-fields.ts';
import { layoutFolders, layoutNames } from './layout-folders.ts';
import { type ConfigPath, type Positions, shortPath } from './locate.ts';
import { isSection } from './salvage.ts';
import type { PipelineConfig, PipelineFile } from './schema.ts';
import {
  isAddress,
  SETTINGS_OF_SOME_KINDS,
  type SourceSetting,
  type SourceSettings,
  sourceSchema,
} from './source-fields.ts';

/**
 * Checks what no single value shows: names that must exist, words that another authority defines, and
 * settings that must fit each other.
 *
 * @param options.sourceNames all sources in the file, including those with problems of their own.
 */
export function crossCheck(
  config: PipelineConfig,
  options: {
    readonly places: Positions;
    readonly sourceNames: readonly string[];
    readonly kinds: readonly ConfiguredKind[];
    /** The sections `sources` as written, with all defaults filled in. */
    readonly written: PipelineFile['sources'];
  },
): readonly (Problem & Pick<ConfigFinding, 'isOfFile'>)[] {
  const { places, sourceNames, kinds, written } = options;
  const findings: readonly ConfigFinding[] = [
    ...checkApi(config),
    ...checkDatabase(config),
    ...checkServe(config),
    ...checkConsole(config),
    ...checkNotify(config),
    ...checkStatements(config),
    ...Object.values(config.sources).flatMap((source) => [...checkSource(source, { config, kinds })]),
    ...Object.entries(written).flatMap(([name, source]) => [...findUnused(name, source, { config, kinds })]),
    ...checkJobs(config, sourceNames, kinds),
  ];
  return findings.map(({ path, ...finding }) => ({ where: places.where(path), ...finding }));
}

function* checkApi({ api }: PipelineConfig): Generator<ConfigFinding> {
  const path = ['api', 'url'];
  const url = api.url === '' ? null : URL.parse(api.url);
  if (
    api.url !== '' &&
    (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
  ) {
    yield {
      path,
      message: 'api.url is not a web address.',
      help: 'Write it like https://api.example.com, or leave it empty.',
    };
  } else if (url !== null && (url.username !== '' || url.password !== '')) {
    yield {
      path,
      message: 'api.url contains a user name or password.',
      help: 'Put the key into api.key, and write only the address here.',
    };
  } else if (url !== null && (url.search !== '' || url.hash !== '')) {
    yield {
      path,
      message: 'api.url contains a ? or #.',
      help: 'Write only the address, for example https://api.example.com.',
    };
  } else if (url !== null && /\/v1$/.test(url.pathname.replace(/\/+$/, ''))) {
    yield {
      path,
      message: 'api.url ends with /v1, which every operation adds already.',
      help: 'Leave /v1 out.',
    };
  }
  if (api.leaseSeconds <= api.timeoutSeconds) {
    yield {
      path: ['api', 'lease_seconds'],
      message: `api.lease_seconds (${api.leaseSeconds}) is not longer than api.timeout_seconds (${api.timeoutSeconds}): a slow answer would look like a lost process.`,
      help: 'Raise lease_seconds or lower timeout_seconds. A lease of twice the timeout is a good choice.',
    };
  }
}

function* checkServe({ api, serve }: PipelineConfig): Generator<ConfigFinding> {
  if (serve.graceSeconds > api.timeoutSeconds) return;
  yield {
    path: ['serve', 'grace_seconds'],
    message: `serve.grace_seconds (${serve.graceSeconds}) is not longer than api.timeout_seconds (${api.timeoutSeconds}): a stop could cut a request before its answer arrives.`,
    help: 'Raise grace_seconds or lower timeout_seconds.',
  };
}

/** Checks the address of the console and the settings of the OpenID Connect provider, which needs https. */
function* checkConsole({ console: { url, basePath, oidc } }: PipelineConfig): Generator<ConfigFinding> {
  const at = URL.parse(url);
  if (url !== '' && (at === null || !/^https?:$/.test(at.protocol))) {
    yield {
      path: ['console', 'url'],
      message: `console.url: "${url}" is not an address.`,
      help: 'Write it like https://ops.example.com, with console.base_path at its end where one is set.',
    };
  } else if (at !== null && at.pathname.replace(/\/$/, '') !== basePath) {
    yield {
      path: ['console', 'url'],
      message: `console.url ends with "${at.pathname}", and console.base_path is "${basePath === '' ? '/' : basePath}".`,
      help: 'Make both the same path.',
    };
  }
  if (oidc === null) return;
  const path: ConfigPath = ['console', 'auth', 'oidc'];
  if (url === '')
    yield {
      path,
      message:
        'console.auth.oidc needs console.url, to which the provider redirects people after the sign-in.',
      help: 'Add `url:` under console, for example `url: https://ops.example.com`, and register <url>/signed-in with the provider.',
    };
  if (URL.parse(oidc.issuer)?.protocol !== 'https:' && !isLoopback(oidc.issuer))
    yield {
      path: [...path, 'issuer'],
      message: `console.auth.oidc.issuer: "${oidc.issuer}" is not an https address.`,
      help: 'Write the issuer of the provider, like https://login.example.com/tenant.',
    };
  const { operators, operatorGroups, marketing, marketingGroups, viewers, viewerGroups } = oidc;
  const everybody = [operators, operatorGroups, marketing, marketingGroups, viewers, viewerGroups];
  if (everybody.every((list) => list.length === 0))
    yield {
      path,
      message: 'console.auth.oidc lets nobody in.',
      help: "List the people who may change everything in `operators` or `operator_groups`, those of marketing in `marketing` or `marketing_groups`, and those who may only look in `viewers` or `viewer_groups`; `viewers: ['*']` is everybody whom the provider signs in.",
    };
}

function* checkDatabase({ database }: PipelineConfig): Generator<ConfigFinding> {
  if (database.url === '') return;
  const { protocol, hash } = URL.parse(database.url) ?? {};
  // A # ends the address, so a password that contains one would lose its end, and the host with it.
  if (hash === '' && (protocol === 'postgres:' || protocol === 'postgresql:')) return;
  const help =
    'Write it like postgres://user:password@host:5432/name (special characters in the password %-encoded), or leave it empty.';
  yield {
    path: ['database', 'url'],
    message: 'database.url is not the address of a Postgres database.',
    help,
  };
}

function* checkJobs(
  config: PipelineConfig,
  sourceNames: readonly string[],
  kinds: readonly ConfiguredKind[],
): Generator<ConfigFinding> {
  const jobs = Object.values(config.jobs);
  for (const [index, job] of jobs.entries()) {
    const kind = kinds.find((candidate) => candidate.kind === job.kind);
    const before = jobs.slice(0, index).filter((other) => other.kind === job.kind);
    yield* checkTiming(job, config.jobs);
    yield* checkSourcesOf(job, { sourceNames, before, oneReaderHelp: kind?.oneReaderHelp ?? '' });
    yield* kind?.crossCheck?.(job, { config, before }) ?? [];
  }
}

/**
 * Checks that the sources of a job exist, that each is named once, and that no other job of its kind reads
 * them.
 */
function* checkSourcesOf(
  job: JobSettings,
  options: {
    readonly sourceNames: readonly string[];
    readonly before: readonly JobSettings[];
    readonly oneReaderHelp: string;
  },
): Generator<ConfigFinding> {
  const { sourceNames, before, oneReaderHelp: help } = options;
  const title = `jobs.${job.name}`;
  for (const [index, source] of job.sources.entries()) {
    const path = ['jobs', job.name, 'source', ...(job.sources.length > 1 ? [index] : [])];
    if (!sourceNames.includes(source)) {
      yield {
        path,
        message: `${title}.source: there is no source "${source}".`,
        help: helpForSource(source, sourceNames),
      };
    } else if (job.sources.indexOf(source) !== index) {
      yield { path, message: `${title}.source names "${source}" twice.`, help: 'Name it once.' };
    }
    const other = before.find(({ sources }) => sources.includes(source));
    if (other === undefined) continue;
    const message = `${title} reads source "${source}", which jobs.${other.name} of the same kind already reads.`;
    yield { path, message, help };
  }
}

function helpForSource(source: string, sourceNames: readonly string[]): string {
  const near = didYouMean(source, sourceNames);
  if (near !== null) return `Did you mean "${near}"?`;
  return `Add it under sources, or use one of: ${sourceNames.join(', ') || '(none yet)'}.`;
}

/** Checks the time zone of statements and the settings for the conversion of amounts. */
function* checkStatements({ statements, sources }: PipelineConfig): Generator<ConfigFinding> {
  const { timeZone, reportingCurrency, fx, customersSince } = statements;
  if (!isNamedTimeZone(timeZone)) {
    const message = `statements.time_zone: "${timeZone}" is not a time zone.`;
    yield { path: ['statements', 'time_zone'], message, help: helpForTimeZone(timeZone) };
  }
  if (fx !== null && reportingCurrency === null)
    yield {
      path: ['statements', 'fx'],
      message: 'statements.fx needs statements.reporting_currency, into which its rates convert amounts.',
      help: 'Add `reporting_currency:` under statements, for example `reporting_currency: EUR`.',
    };
  if (reportingCurrency !== null && !Intl.supportedValuesOf('currency').includes(reportingCurrency))
    yield {
      path: ['statements', 'reporting_currency'],
      message: `statements.reporting_currency: "${reportingCurrency}" is not a currency.`,
      help: 'Write its three letters, for example EUR.',
    };
  const path = ['statements', 'customers_since'];
  const declared = Object.keys(customersSince);
  const known = Object.values(sources).flatMap(({ name, customerKey }) => (customerKey ? name : []));
  for (const name of declared.filter((one) => !known.includes(one)))
    yield {
      path: [...path, name],
      message: `statements.customers_since.${name}: there is no source of that name with customer_key.`,
      help: 'Correct the name, or set  customer_key: true  on the source, so that its customers are known.',
    };
  for (const name of declared.length === 0 ? [] : known.filter((one) => !declared.includes(one)))
    yield {
      path,
      message: `statements.customers_since does not name the source ${name}, so its customers may have ordered before.`,
      help: `Add the day since when its exports have every order, for example  ${name}: 2021-03-01`,
    };
  const { iban, bic, minimum } = statements.payments;
  if (iban !== null && parseIban(iban) === null)
    yield {
      path: ['statements', 'payments', 'iban'],
      message: 'statements.payments.iban is not an IBAN, or a character of it is wrong or missing.',
      help: 'Copy it again from a statement of your bank.',
    };
  if (bic !== null && !isBic(bic))
    yield {
      path: ['statements', 'payments', 'bic'],
      message: 'statements.payments.bic is not a BIC.',
      help: 'Write its 8 or 11 characters in capitals, or leave it out: most banks need none.',
    };
  for (const currency of Object.keys(minimum))
    if (!Intl.supportedValuesOf('currency').includes(currency))
      yield {
        path: ['statements', 'payments', 'minimum', currency],
        message: `statements.payments.minimum: "${currency}" is not a currency.`,
        help: 'Write its three letters, for example EUR.',
      };
}

/**
 * Checks that channels have valid addresses, and that routes, digest and pings name existing channels and
 * jobs.
 */
function* checkNotify({ notify, jobs }: PipelineConfig): Generator<ConfigFinding> {
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

const FIVE_FIELDS =
  'Five fields: minute hour day month weekday, in quotes, for example "5 * * * *" for five past every hour.';

/** Checks a job's schedule and time zone, and that the job that it follows exists and is scheduled. */
function* checkTiming(job: JobSettings, jobs: PipelineConfig['jobs']): Generator<ConfigFinding> {
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
function helpForTimeZone(zone: string): string {
  const near = didYouMean(zone, Intl.supportedValuesOf('timeZone'));
  return near === null
    ? 'Write an IANA name, for example Europe/Amsterdam or UTC.'
    : `Did you mean "${near}"?`;
}

/**
 * Checks the settings of a source that the schema cannot check: whether the address can be listed, whether
 * names such as that of the layout exist, and values that another standard defines, such as time zones.
 */
function* checkSource(
  source: SourceSettings,
  { config, kinds }: { readonly config: PipelineConfig; readonly kinds: readonly ConfiguredKind[] },
): Generator<ConfigFinding> {
  const at = (key: string): ConfigPath => ['sources', source.name, key];
  const title = `sources.${source.name}`;
  if (isAddress(source.uri) && !/^s3:\/\/[^/]+(\/.*)?$/.test(source.uri)) {
    const help = 'Write s3://bucket/prefix/ or the path of a folder.';
    yield { path: at('uri'), message: `${title}.uri is neither an S3 address nor a folder.`, help };
  }
  yield* checkDate(source, at);
  yield* checkEvents(source, at);
  yield* checkStore(source, at);
  const layouts = layoutNames(config.path);
  if (!layouts.includes(source.layout)) {
    const near = didYouMean(source.layout, layouts);
    const folder = shortPath(layoutFolders(config.path)[0] ?? '');
    const known =
      layouts.length === 0
        ? `Put ${source.layout}.yaml into ${folder}/.`
        : `There are: ${layouts.join(', ')}. Your own go into ${folder}/.`;
    const help = near === null ? known : `Did you mean "${near}"? ${known}`;
    yield { path: at('layout'), message: `${title}.layout: there is no layout "${source.layout}".`, help };
  }
  if (source.timeZone !== null && !isNamedTimeZone(source.timeZone)) {
    yield {
      path: at('time_zone'),
      message: `${title}.time_zone: "${source.timeZone}" is not a time zone.`,
      help: helpForTimeZone(source.timeZone),
    };
  }
  const { timeZone } = source.expectations;
  if (timeZone !== source.timeZone && !isNamedTimeZone(timeZone)) {
    yield {
      path: ['sources', source.name, 'expect', 'time_zone'],
      message: `${title}.expect.time_zone: "${timeZone}" is not a time zone.`,
      help: helpForTimeZone(timeZone),
    };
  }
  if (source.currency !== null && !Intl.supportedValuesOf('currency').includes(source.currency)) {
    const near = didYouMean(source.currency, Intl.supportedValuesOf('currency'));
    const known = 'Write the three letters of ISO 4217, for example EUR.';
    const help = near === null ? known : `Did you mean "${near}"? ${known}`;
    yield {
      path: at('currency'),
      message: `${title}.currency: "${source.currency}" is not a currency.`,
      help,
    };
  }
  yield* checkPlatform(source, config, kinds);
}

/** Checks the settings that determine where a listing starts: the date in the uri, and `lookback_days`. */
function* checkDate(source: SourceSettings, at: (key: string) => ConfigPath): Generator<ConfigFinding> {
  const title = `sources.${source.name}`;
  const fault = findDateFault(source.uri);
  if (fault !== null)
    yield {
      path: at('uri'),
      message: `${title}.uri contains a date that files do not sort by.`,
      help: fault,
    };
  else if (source.lookbackDays !== null && parseDatedNames(source.uri) === null) {
    const help =
      'Write the date into the uri, for example s3://bucket/orders/dt={date}/, or remove lookback_days.';
    yield {
      path: at('lookback_days'),
      message: `${title}.lookback_days needs a date in the uri.`,
      help,
    };
  }
}

/** Checks the queue that announces the objects of a source. */
function* checkEvents(
  { name, uri, events }: SourceSettings,
  at: (key: string) => ConfigPath,
): Generator<ConfigFinding> {
  if (events === null) return;
  const title = `sources.${name}.events`;
  if (!/^s3:/i.test(uri)) {
    const help = 'Only S3 announces new objects. Remove it, or correct the uri.';
    yield { path: at('events'), message: `${title} has no meaning for a folder.`, help };
    return;
  }
  const url = URL.parse(events.queue);
  const path = [...at('events'), 'queue'];
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.pathname.length < 2) {
    const help = 'Copy the URL of the queue: https://sqs.eu-west-1.amazonaws.com/123456789012/exports.';
    yield { path, message: `${title}.queue is not the URL of a queue.`, help };
  } else if (url.username !== '' || url.password !== '') {
    const help =
      'Put credentials into the environment (AWS_ACCESS_KEY_ID) or a profile, and write only the URL here.';
    yield { path, message: `${title}.queue contains a user name or password.`, help };
  }
}

function* checkStore(source: SourceSettings, at: (key: string) => ConfigPath): Generator<ConfigFinding> {
  const title = `sources.${source.name}`;
  if (!/^s3:/i.test(source.uri)) {
    for (const key of ['endpoint', 'region', 'profile'] as const) {
      if (source[key] === null) continue;
      const help = 'It applies to s3:// addresses only. Remove it, or correct the uri.';
      yield { path: at(key), message: `${title}.${key} has no meaning for a folder.`, help };
    }
    return;
  }
  if (source.endpoint === null) return;
  const url = URL.parse(source.endpoint);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    yield {
      path: at('endpoint'),
      message: `${title}.endpoint is not a web address.`,
      help: 'Write it like https://minio.example.com:9000, without the bucket.',
    };
  } else if (url.username !== '' || url.password !== '') {
    yield {
      path: at('endpoint'),
      message: `${title}.endpoint contains a user name or password.`,
      help: 'Put credentials into the environment (AWS_ACCESS_KEY_ID) or a profile, and write only the address here.',
    };
  }
}

/**
 * Checks `order_platform`. Without it, an order has no identity at the service. A source that only other
 * kinds of jobs read does not need it.
 */
function* checkPlatform(
  source: SourceSettings,
  { jobs }: PipelineConfig,
  kinds: readonly ConfiguredKind[],
): Generator<ConfigFinding> {
  const readers = Object.values(jobs).filter((job) => job.sources.includes(source.name));
  const needsOne = kinds
    .filter(({ readsOfSource }) => readsOfSource.includes('order_platform'))
    .map(({ kind }) => kind);
  const isNeeded = readers.length === 0 || readers.some(({ kind }) => needsOne.includes(kind));
  if (source.orderPlatform !== '' || !isNeeded) return;
  yield {
    path: ['sources', source.name, 'order_platform'],
    message: `sources.${source.name}.order_platform is missing.`,
    help: 'Add the name of the shop platform, for example `order_platform: shopify`.',
  };
}

/**
 * Finds settings of a source that no job that reads it uses. A setting that has no effect was meant to have one, and
 * its absence would not be noticed.
 */
function* findUnused(
  name: string,
  written: PipelineFile['sources'][string],
  { config, kinds }: { readonly config: PipelineConfig; readonly kinds: readonly ConfiguredKind[] },
): Generator<ConfigFinding> {
  const readers = Object.values(config.jobs).filter(({ sources }) => sources.includes(name));
  // A source that no job reads yet has no reader to ask.
  if (readers.length === 0) return;
  const ofReaders = kinds.filter(({ kind }) => readers.some((job) => job.kind === kind));
  const read = new Set(ofReaders.flatMap(({ readsOfSource }) => readsOfSource));
  const usual = sourceSchema.parse({ uri: written.uri, layout: written.layout });
  for (const setting of SETTINGS_OF_SOME_KINDS) {
    if (read.has(setting) || isDeepStrictEqual(settingOf(written, setting), settingOf(usual, setting)))
      continue;
    const [path = '', value] = setting.split(': ');
    // A value that fewer kinds read than others has an entry of its own.
    const own = `${setting}: ${settingOf(written, setting)}`;
    if (value === undefined && SETTINGS_OF_SOME_KINDS.some((other) => other === own)) continue;
    const users = kinds.filter(({ readsOfSource }) => readsOfSource.includes(setting));
    const jobs = readers.map((job) => `${job.name} (${job.kind})`).join(' and ');
    yield {
      path: ['sources', name, ...path.split('.')],
      message: `sources.${name}.${setting} has no effect: ${jobs}, which ${readers.length === 1 ? 'reads' : 'read'} this source, ${readers.length === 1 ? 'does' : 'do'} not use it.`,
      help: `Remove it. Jobs of the kind ${users.map(({ kind }) => kind).join(' or ')} use it.`,
    };
  }
}

/** Returns the value of a setting. For `age: column`, whether the setting has this value. */
function settingOf(source: object, setting: SourceSetting): unknown {
  const [path = '', value] = setting.split(': ');
  const given = path
    .split('.')
    .reduce<unknown>((section, key) => (isSection(section) ? section[key] : undefined), source);
  return value === undefined ? given : given === value;
}

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

/** A problem of one setting. @param says what follows its name in the message. */
function finding(path: ConfigPath, says: string, help: string): ConfigFinding {
  return { path, message: `${path.join('.')}${says}`, help };
}

function* checkApi({ api }: PipelineConfig): Generator<ConfigFinding> {
  const path = ['api', 'url'];
  const wrong =
    problemOfUrl(api.url, {
      example: 'https://api.example.com, or leave it empty',
      secrets: 'Put the key into api.key',
    }) ?? problemOfBase(URL.parse(api.url));
  if (api.url !== '' && wrong !== null) yield finding(path, ...wrong);
  if (api.leaseSeconds > api.timeoutSeconds) return;
  yield finding(
    ['api', 'lease_seconds'],
    ` (${api.leaseSeconds}) is not longer than api.timeout_seconds (${api.timeoutSeconds}): a slow answer would look like a lost process.`,
    'Raise lease_seconds or lower timeout_seconds. A lease of twice the timeout is a good choice.',
  );
}

/** What is wrong with a setting, after its name, and how to correct it. */
type Wrong = readonly [says: string, help: string];

/** Why a text is no address of a server, or contains a secret. The text is not repeated, because it may be one. */
function problemOfUrl(
  text: string,
  { example, secrets }: { example: string; secrets?: string },
): Wrong | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    return [' is not a web address.', `Write it like ${example}.`];
  if (secrets === undefined || (url.username === '' && url.password === '')) return null;
  return [' contains a user name or password.', `${secrets}, and write only the address here.`];
}

/** Why an address cannot be the one to which every operation adds its path. */
function problemOfBase(url: URL | null): Wrong | null {
  if (url === null) return null;
  if (url.search !== '' || url.hash !== '')
    return [' contains a ? or #.', 'Write only the address, for example https://api.example.com.'];
  return /\/v1$/.test(url.pathname.replace(/\/+$/, ''))
    ? [' ends with /v1, which every operation adds already.', 'Leave /v1 out.']
    : null;
}

function* checkServe({ api, serve }: PipelineConfig): Generator<ConfigFinding> {
  if (serve.graceSeconds > api.timeoutSeconds) return;
  yield finding(
    ['serve', 'grace_seconds'],
    ` (${serve.graceSeconds}) is not longer than api.timeout_seconds (${api.timeoutSeconds}): a stop could cut a request before its answer arrives.`,
    'Raise grace_seconds or lower timeout_seconds.',
  );
}

/** Checks the address of the console and the settings of the OpenID Connect provider, which needs https. */
function* checkConsole({ console: { url, basePath, oidc } }: PipelineConfig): Generator<ConfigFinding> {
  const at = URL.parse(url);
  const ofUrl = ['console', 'url'];
  if (url !== '' && (at === null || !/^https?:$/.test(at.protocol)))
    yield finding(
      ofUrl,
      `: "${url}" is not an address.`,
      'Write it like https://ops.example.com, with console.base_path at its end where one is set.',
    );
  else if (at !== null && at.pathname.replace(/\/$/, '') !== basePath)
    yield finding(
      ofUrl,
      ` ends with "${at.pathname}", and console.base_path is "${basePath === '' ? '/' : basePath}".`,
      'Make both the same path.',
    );
  if (oidc === null) return;
  const path: ConfigPath = ['console', 'auth', 'oidc'];
  if (url === '')
    yield finding(
      path,
      ' needs console.url, to which the provider redirects people after the sign-in.',
      'Add `url:` under console, for example `url: https://ops.example.com`, and register <url>/signed-in with the provider.',
    );
  if (URL.parse(oidc.issuer)?.protocol !== 'https:' && !isLoopback(oidc.issuer))
    yield finding(
      [...path, 'issuer'],
      `: "${oidc.issuer}" is not an https address.`,
      'Write the issuer of the provider, like https://login.example.com/tenant.',
    );
  const { operators, operatorGroups, marketing, marketingGroups, viewers, viewerGroups } = oidc;
  const everybody = [operators, operatorGroups, marketing, marketingGroups, viewers, viewerGroups];
  if (everybody.every((list) => list.length === 0))
    yield finding(
      path,
      ' lets no person sign in.',
      "List the people who may change everything in `operators` or `operator_groups`, those of marketing in `marketing` or `marketing_groups`, and those who may only look in `viewers` or `viewer_groups`; `viewers: ['*']` is everybody whom the provider signs in.",
    );
}

function* checkDatabase({ database }: PipelineConfig): Generator<ConfigFinding> {
  if (database.url === '') return;
  const { protocol, hash } = URL.parse(database.url) ?? {};
  // A # ends the address, so a password that contains one would lose its end, and the host with it.
  if (hash === '' && (protocol === 'postgres:' || protocol === 'postgresql:')) return;
  yield finding(
    ['database', 'url'],
    ' is not the address of a Postgres database.',
    'Write it like postgres://user:password@host:5432/name (special characters in the password %-encoded), or leave it empty.',
  );
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
  yield* checkZone(timeZone, ['statements']);
  if (fx !== null && reportingCurrency === null)
    yield finding(
      ['statements', 'fx'],
      ' needs statements.reporting_currency, into which its rates convert amounts.',
      'Add `reporting_currency:` under statements, for example `reporting_currency: EUR`.',
    );
  yield* checkCurrency(reportingCurrency, ['statements', 'reporting_currency']);
  const path = ['statements', 'customers_since'];
  const declared = Object.keys(customersSince);
  const known = Object.values(sources).flatMap(({ name, customerKey }) => (customerKey ? name : []));
  for (const name of declared.filter((one) => !known.includes(one)))
    yield finding(
      [...path, name],
      ': there is no source of that name with customer_key.',
      'Correct the name, or set  customer_key: true  on the source, so that its customers are known.',
    );
  for (const name of declared.length === 0 ? [] : known.filter((one) => !declared.includes(one)))
    yield finding(
      path,
      ` does not name the source ${name}, so its customers may have ordered before.`,
      `Add the day since when its exports have every order, for example  ${name}: 2021-03-01`,
    );
  const { iban, bic, minimum } = statements.payments;
  const ofPayments = ['statements', 'payments'];
  if (iban !== null && parseIban(iban) === null)
    yield finding(
      [...ofPayments, 'iban'],
      ' is not an IBAN, or a character of it is wrong or missing.',
      'Copy it again from a statement of your bank.',
    );
  if (bic !== null && !isBic(bic))
    yield finding(
      [...ofPayments, 'bic'],
      ' is not a BIC.',
      'Write its 8 or 11 characters in capitals, or leave it out: most banks need none.',
    );
  for (const currency of Object.keys(minimum))
    for (const found of checkCurrency(currency, [...ofPayments, 'minimum']))
      yield { ...found, path: [...found.path, currency] };
}

/**
 * Checks that channels have valid addresses, and that routes, digest and pings name existing channels and
 * jobs.
 */
function* checkNotify({ notify, jobs }: PipelineConfig): Generator<ConfigFinding> {
  for (const channel of [...notify.channels, ...notify.pings]) {
    const path = ['notify', 'channels', channel.name];
    const url = 'url' in channel ? channel.url : '';
    const wrong = url === '' ? null : problemOfUrl(url, { example: 'https://example.com/path' });
    if (wrong !== null) yield finding([...path, 'url'], ...wrong);
  }
  for (const { name, url, jobs: watched } of notify.pings) {
    const path = ['notify', 'channels', name];
    yield* checkNames(watched ?? [], { path: [...path, 'jobs'], what: 'job', known: Object.keys(jobs) });
    if (url.includes('{job}') || (watched ?? Object.keys(jobs)).length <= 1) continue;
    yield {
      ...finding(
        path,
        ' is one check for several jobs, so a job that runs would hide another that does not.',
        'Write {job} in url, or name one job in jobs, and add a channel for each other job.',
      ),
      path: [...path, 'url'],
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
      yield finding(
        [...path, 'channels'],
        `: ${name} is PagerDuty, where the digest would be an alert every day.`,
        'Choose channels of another kind.',
      );
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

function* checkNames(
  names: readonly string[],
  options: { readonly path: ConfigPath; readonly what: string; readonly known: readonly string[] },
): Generator<ConfigFinding> {
  const { path, what, known } = options;
  for (const name of names.filter((one) => !known.includes(one))) {
    const near = didYouMean(name, known);
    const others = known.join(', ') || 'none yet';
    const help = near === null ? `Existing ${what}s: ${others}.` : `Did you mean "${near}"?`;
    yield finding(path, `: there is no ${what} "${name}".`, help);
  }
}

function* checkZone(zone: string, path: ConfigPath): Generator<ConfigFinding> {
  if (isNamedTimeZone(zone)) return;
  const near = didYouMean(zone, Intl.supportedValuesOf('timeZone'));
  const known = 'Write an IANA name, for example Europe/Amsterdam or UTC.';
  const help = near === null ? known : `Did you mean "${near}"?`;
  yield finding([...path, 'time_zone'], `: "${zone}" is not a time zone.`, help);
}

function* checkCurrency(currency: string | null, path: ConfigPath): Generator<ConfigFinding> {
  if (currency === null || Intl.supportedValuesOf('currency').includes(currency)) return;
  const near = didYouMean(currency, Intl.supportedValuesOf('currency'));
  const known = 'Write the three letters of ISO 4217, for example EUR.';
  const help = near === null ? known : `Did you mean "${near}"? ${known}`;
  yield finding(path, `: "${currency}" is not a currency.`, help);
}

const FIVE_FIELDS =
  'Five fields: minute hour day month weekday, in quotes, for example "5 * * * *" for five past every hour.';

/** Checks a job's schedule and time zone, and that the job that it follows exists and is scheduled. */
function* checkTiming(job: JobSettings, jobs: PipelineConfig['jobs']): Generator<ConfigFinding> {
  const own = ['jobs', job.name];
  const problem = job.schedule === null ? null : problemOfCron(job.schedule);
  if (problem !== null) yield finding([...own, 'schedule'], `: "${job.schedule}" ${problem}.`, FIVE_FIELDS);
  yield* checkZone(job.timeZone, own);
  if (job.after === null) return;
  const path = [...own, 'after'];
  if (job.schedule !== null) {
    const help = 'Remove one of them: a job with `after` runs when the job that it follows is done.';
    yield { ...finding(own, ' has both a schedule and after.', help), path };
  } else {
    yield* checkNames([job.after], { path, what: 'job', known: Object.keys(jobs) });
    const wrong = problemOfChain(job, jobs);
    if (wrong !== null) yield finding(path, ...wrong);
  }
}

/** Follows `after` to the first job of the chain, which must have a schedule. */
function problemOfChain(job: JobSettings, jobs: PipelineConfig['jobs']): Wrong | null {
  const way = [job.name];
  let head = job;
  while (head.after !== null) {
    const next = jobs[head.after];
    if (next === undefined) return null; // Reported by its name.
    way.push(next.name);
    if (next.name === job.name)
      return [`: the jobs wait for each other: ${way.join(' → ')}.`, 'Give one of them a schedule instead.'];
    if (way.indexOf(next.name) < way.length - 1) return null; // A circle that this job is not part of.
    head = next;
  }
  if (head.schedule !== null) return null;
  return [
    `: ${head.name} has no schedule, so this job would never run.`,
    `Give jobs.${head.name} a schedule.`,
  ];
}

/**
 * Checks the settings of a source that the schema cannot check: whether the address can be listed, whether
 * names such as that of the layout exist, and values that another standard defines, such as time zones.
 */
function* checkSource(
  source: SourceSettings,
  { config, kinds }: { config: PipelineConfig; kinds: readonly ConfiguredKind[] },
): Generator<ConfigFinding> {
  const own = ['sources', source.name];
  const at = (key: string): ConfigPath => [...own, key];
  if (isAddress(source.uri) && !/^s3:\/\/[^/]+(\/.*)?$/.test(source.uri))
    yield finding(
      at('uri'),
      ' is neither an S3 address nor a folder.',
      'Write s3://bucket/prefix/ or the path of a folder.',
    );
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
    yield finding(at('layout'), `: there is no layout "${source.layout}".`, help);
  }
  if (source.timeZone !== null) yield* checkZone(source.timeZone, own);
  const { timeZone } = source.expectations;
  if (timeZone !== source.timeZone) yield* checkZone(timeZone, at('expect'));
  yield* checkCurrency(source.currency, at('currency'));
  yield* checkPlatform(source, config, kinds);
}

/** Checks the settings that determine where a listing starts: the date in the uri, and `lookback_days`. */
function* checkDate(source: SourceSettings, at: (key: string) => ConfigPath): Generator<ConfigFinding> {
  const fault = findDateFault(source.uri);
  if (fault !== null) yield finding(at('uri'), ' contains a date that files do not sort by.', fault);
  else if (source.lookbackDays !== null && parseDatedNames(source.uri) === null)
    yield finding(
      at('lookback_days'),
      ' needs a date in the uri.',
      'Write the date into the uri, for example s3://bucket/orders/dt={date}/, or remove lookback_days.',
    );
}

/** Checks the queue that announces the objects of a source. */
function* checkEvents(
  { uri, events }: SourceSettings,
  at: (key: string) => ConfigPath,
): Generator<ConfigFinding> {
  if (events === null) return;
  if (!/^s3:/i.test(uri)) {
    const help = 'Only S3 announces new objects. Remove it, or correct the uri.';
    yield finding(at('events'), ' has no meaning for a folder.', help);
    return;
  }
  const example = 'https://sqs.eu-west-1.amazonaws.com/123456789012/exports';
  const isPath = (URL.parse(events.queue)?.pathname.length ?? 0) >= 2;
  const wrong = isPath ? problemOfUrl(events.queue, { example, secrets: AWS_SECRETS }) : NO_QUEUE;
  if (wrong !== null) yield finding([...at('events'), 'queue'], ...wrong);
}

const NO_QUEUE: Wrong = [
  ' is not the URL of a queue.',
  'Copy the URL of the queue: https://sqs.eu-west-1.amazonaws.com/123456789012/exports.',
];
const AWS_SECRETS = 'Put credentials into the environment (AWS_ACCESS_KEY_ID) or a profile';

function* checkStore(source: SourceSettings, at: (key: string) => ConfigPath): Generator<ConfigFinding> {
  if (!/^s3:/i.test(source.uri)) {
    for (const key of ['endpoint', 'region', 'profile'] as const) {
      if (source[key] === null) continue;
      const help = 'It applies to s3:// addresses only. Remove it, or correct the uri.';
      yield finding(at(key), ' has no meaning for a folder.', help);
    }
    return;
  }
  const example = 'https://minio.example.com:9000, without the bucket';
  const wrong =
    source.endpoint === null ? null : problemOfUrl(source.endpoint, { example, secrets: AWS_SECRETS });
  if (wrong !== null) yield finding(at('endpoint'), ...wrong);
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
  yield finding(
    ['sources', source.name, 'order_platform'],
    ' is missing.',
    'Add the name of the shop platform, for example `order_platform: shopify`.',
  );
}

/**
 * Finds settings of a source that no job that reads it uses. A setting that has no effect was meant to have one, and
 * its absence would not be noticed.
 */
function* findUnused(
  name: string,
  written: PipelineFile['sources'][string],
  { config, kinds }: { config: PipelineConfig; kinds: readonly ConfiguredKind[] },
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

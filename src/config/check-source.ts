import { isDeepStrictEqual } from 'node:util';
import type { PipelineConfig, SourceSettings } from '../core/config.ts';
import { findDateFault, parseDatedNames } from '../core/text/dated-names.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { isNamedTimeZone } from '../core/time/time-zone.ts';
import { helpForTimeZone } from './check-timing.ts';
import type { ConfigFinding, ConfiguredKind } from './configured-kind.ts';
import { layoutFolders, layoutNames } from './layout-folders.ts';
import { type ConfigPath, shortPath } from './locate.ts';
import { isSection } from './salvage.ts';
import type { PipelineFile } from './schema.ts';
import { SETTINGS_OF_SOME_KINDS, type SourceSetting, sourceSchema } from './source-fields.ts';

/**
 * Checks the settings of a source that the schema cannot check: whether the address can be listed, whether
 * names such as that of the layout exist, and values that another standard defines, such as time zones.
 */
export function* checkSource(
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

/** Checks the settings of a source's store. */
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
export function* findUnused(
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

/** True for an address and false for a path. `s3:/bucket` is a mistyped address, not a folder. */
export function isAddress(uri: string): boolean {
  return /^(?:s3:|[a-z][a-z0-9+.-]*:\/\/)/i.test(uri);
}

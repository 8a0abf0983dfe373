import { z } from 'zod';
import {
  CHECK_ACTIONS,
  FILE_CHECK_NAMES,
  FILE_CHECKS,
  type FileCheckName,
  HEADER_ACTIONS,
} from '../core/checks/expectations.ts';
import { MAX_LIST_EVERY_HOURS } from '../core/source.ts';
import { AGE_RULES } from '../core/time/file-age.ts';
import { anyNumber, camelCased, optional, section, text, wholeNumber, yesOrNo } from './fields.ts';
import { type ResolvePath, resolverIn } from './job-fields.ts';

const GIBIBYTE = 1024 ** 3;

/** How to reach the S3 store of an address. */
export const store = {
  endpoint: optional(text(500)).describe(
    "Address of the S3 store, for example https://minio.example.com:9000. Default: AWS_ENDPOINT_URL_S3, else Amazon's.",
  ),
  region: optional(text(60)).describe(
    'Region of the bucket. Default: AWS_REGION, else the region of the profile.',
  ),
  profile: optional(text(200)).describe(
    'Profile in ~/.aws/config with the credentials. Default: AWS_PROFILE, else the standard chain of the AWS SDK.',
  ),
  force_path_style: yesOrNo().prefault(false).describe('Path-style addresses for S3 (MinIO and others).'),
};

const limits = z.strictObject({
  max_bytes: wholeNumber(1, Number.MAX_SAFE_INTEGER)
    .prefault(64 * GIBIBYTE)
    .describe('Maximum decompressed bytes of one file.'),
  max_ratio: anyNumber(1, 1_000_000)
    .prefault(200)
    .describe('Maximum decompressed bytes for each compressed byte.'),
  max_record_bytes: wholeNumber(1_024, GIBIBYTE)
    .prefault(1024 ** 2)
    .describe('Maximum bytes of one record, which bounds an unclosed quote.'),
  idle_timeout_seconds: anyNumber(0.1, 86_400)
    .prefault(60)
    .describe('A read that receives no byte for this long is aborted.'),
  max_rejected_share: anyNumber(0, 1)
    .prefault(0.2)
    .describe('A file with a larger share of rejected rows is held; 0 to 1.'),
  max_unreadable_share: anyNumber(0, 1)
    .prefault(0.2)
    .describe(
      'A file of customers is held if a larger share of the cells is unreadable in a column that only look-ups need (orders_count, spent, currency). 1 for never: such cells then count as blank. Counts cells that are not blank, from twenty on.',
    ),
  max_cancelled_share: anyNumber(0, 1)
    .prefault(0.5)
    .describe('A file with a larger share of cancelled orders is held; 0 to 1.'),
  max_zero_revenue_share: anyNumber(0, 1)
    .prefault(0.9)
    .describe(
      'A file is held if at least this share of its orders has no revenue; 1 for never. Counts new and changed orders to be credited, from ten on.',
    ),
  max_unlisted_share: anyNumber(0, 1)
    .prefault(0.9)
    .describe(
      'A file is held if at least this share of its orders has a status that neither layout nor job names, or another currency than the source; 1 for never. Counts new and changed orders, from ten on.',
    ),
});

const events = optional(
  z.strictObject({
    queue: text(500).describe(
      'URL of a queue of SQS that receives the events s3:ObjectCreated:* of the bucket, directly, through SNS or through EventBridge. Only this tool may read it. Sources may share it.',
    ),
    list_every_hours: wholeNumber(1, MAX_LIST_EVERY_HOURS)
      .prefault(24)
      .describe(
        'A run lists all names nevertheless if the last listing is older, because an event may be lost.',
      ),
  }),
).describe(
  'A queue that announces new objects, so that runs need not list the names. Omit it to list the names in each run.',
);

/**
 * Files that tools leave next to exports: hidden files, markers of finished jobs, file lists, and files of
 * desktop systems.
 */
const DEFAULT_EXCLUDE = [
  '.*',
  '_SUCCESS',
  '_committed_*',
  '_started_*',
  'manifest.json',
  'Thumbs.db',
  'desktop.ini',
] as const;

/** A field for what to do about each check but the one of the header. */
function actions() {
  const action = ({ compares }: (typeof FILE_CHECKS)[FileCheckName]) =>
    z
      .enum(CHECK_ACTIONS)
      .default('warn')
      .describe(
        `Compares ${compares}. off: do not check; warn: report it; hold: hold the file, so that nothing in it is posted.`,
      );
  const fields = FILE_CHECK_NAMES.flatMap((name) =>
    name === 'header' ? [] : [[name, action(FILE_CHECKS[name])] as const],
  );
  return Object.fromEntries(fields) as Record<Exclude<FileCheckName, 'header'>, ReturnType<typeof action>>;
}

/** @param what happened to a column. */
function headerAction(what: string) {
  return z.enum(HEADER_ACTIONS).default('warn').describe(`A column ${what}: accept, warn, or hold the file.`);
}

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;

const freshness = optional(
  z.strictObject({
    by: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
      .describe('Time of day, in time_zone, by which a new file should have arrived, for example "06:00".'),
    on: z
      .enum(['daily', 'weekdays', ...DAYS])
      .default('daily')
      .describe('Days on which a new file should arrive: daily, weekdays, or one day of the week.'),
  }),
).describe('When a new file should have arrived. Omit it if files may arrive at any time.');

const header = section('Columns that differ from those of earlier files.', {
  new: headerAction('that earlier files do not have'),
  gone: headerAction('that earlier files have and this one does not'),
  renamed: headerAction('with another name in the same position'),
  reordered: headerAction('at another place'),
  columns: z
    .record(z.string().min(1).max(200), z.enum(HEADER_ACTIONS))
    .default({})
    .describe('What to do about any change of single columns, by column name.'),
});

const expectations = z.strictObject({
  time_zone: optional(text(100)).describe(
    'IANA zone of weekdays and deadlines. Default: time_zone of the source, else UTC.',
  ),
  floor: wholeNumber(0, 1_000_000_000)
    .prefault(10)
    .describe(
      'A number of rows or orders that differs from the usual one by no more than this is never unusual.',
    ),
  freshness,
  ...actions(),
  header,
});

/** Section `expect` of a source: what its files are usually like. docs/checks.md explains each check. */
export const expect = expectations
  .prefault({})
  .describe('What to do with a file that differs from the usual files of the source. See docs/checks.md.');

/** @param timeZone the time zone of the source. */
export function toExpectations(file: z.output<typeof expect>, timeZone: string | null) {
  const { time_zone: ownZone, floor, freshness: due, header, ...actions } = file;
  return { timeZone: ownZone ?? timeZone ?? 'UTC', floor, actions, header, freshness: toFreshness(due) };
}

/** A new file arrives by `minutes` after midnight on these days of the week (0 is Sunday). */
export type Freshness = { readonly minutes: number; readonly weekdays: readonly number[] };

function toFreshness(due: z.output<typeof freshness>): Freshness | null {
  if (due === null) return null;
  const [hours = 0, minutes = 0] = due.by.split(':').map(Number);
  return { minutes: hours * 60 + minutes, weekdays: toWeekdays(due.on) };
}

function toWeekdays(on: 'daily' | 'weekdays' | (typeof DAYS)[number]): readonly number[] {
  if (on === 'daily') return [0, 1, 2, 3, 4, 5, 6];
  return on === 'weekdays' ? [1, 2, 3, 4, 5] : [DAYS.indexOf(on)];
}

export type Expectations = ReturnType<typeof toExpectations>;

/** A source: where exports arrive, and how they are read. */
export const sourceSchema = z.strictObject({
  uri: text(2_000).describe(
    's3://bucket/prefix/ with an optional glob after the prefix, or a folder (relative to this file). It may contain a date: {date}, or {year}, {month} and {day}.',
  ),
  layout: text(60).describe(
    'Name of a file in config/layouts/ or in layouts/ next to this file, without .yaml.',
  ),
  order_platform: optional(text(100)).describe(
    'Required for a source of orders: sent with every order, and part of what keeps it from being posted twice. Never change it for a source.',
  ),
  time_zone: optional(text(100)).describe(
    'IANA zone for times without a zone, for example Europe/Amsterdam.',
  ),
  currency: optional(text(10).transform((code) => code.toUpperCase())).describe(
    'ISO 4217, for exports that have no currency column.',
  ),
  date_order: optional(z.enum(['MDY', 'DMY'])).describe(
    'Whether dates such as 4/5/2026 start with the month (MDY) or the day (DMY). Omit it if the layout says so, or the files show it.',
  ),
  decimal_mark: optional(z.enum(['.', ','])).describe(
    'The mark before the decimals of amounts, "." or ",", if the files of the shop do not show it: 1.250 is 1250 or 1.25. Omit it if they do.',
  ),
  consent: z
    .enum(['recorded', 'not_recorded'])
    .default('recorded')
    .describe(
      'not_recorded: the exports do not say who agreed, and customers who did not refuse are submitted anyway, unless the job has consent: required. Otherwise a file without a column of consent is held, and only customers who said yes are submitted.',
    ),
  customer_key: yesOrNo()
    .prefault(false)
    .describe(
      'Whether to store with each order a key of its customer, never the address: a keyed hash of the e-mail column, as identify-customers makes it. Needs customers.hash_key. See docs/customers.md.',
    ),
  own_orders: yesOrNo()
    .prefault(false)
    .describe(
      'true: no export of another platform of the brand states orders of this source, because it is another shop or till. So none is held because it looks like one of them.',
    ),
  order_lines: yesOrNo()
    .prefault(false)
    .describe('Whether to store the amounts of each order by SKU. excluded_skus in the terms need them.'),
  missing_columns: z
    .record(z.string(), text(500))
    .default({})
    .describe(
      'Columns that exports of this source may lack although their layout requires them, or an earlier file has them; with the reason why every order counts in full: { "Refunded Amount": "The shop never refunds" }. Otherwise a file without them is held.',
    ),
  encoding: optional(text(40)).describe(
    "Text encoding, if it differs from the layout's: utf-8, utf-16le, windows-1252, …",
  ),
  exclude: z
    .array(text(500))
    .default([...DEFAULT_EXCLUDE])
    .describe(
      'Patterns of names that are not exports: with a slash for the whole name below the uri, else for any part of it. Replaces the default. Empty markers are always skipped.',
    ),
  age: optional(z.enum(AGE_RULES)).describe(
    'What says which of two exports is newer, if they state an order differently: name (the date or the number in their names), modified (when they were put there), or column (orders only: each row says when its order last changed, in the column changed_at of the layout). Omit it to use the name if it says so, else the time.',
  ),
  lookback_days: optional(wholeNumber(1, 3_650)).describe(
    'For a uri with a date, such as s3://bucket/orders/dt={date}/: runs list only the days from this many before the last listing on, so that old names cost nothing. Files that arrive later than that are not read by themselves. Omit it to list all names.',
  ),
  start_after: optional(text(1_000)).describe(
    'For names that sort by time: only names below the uri that sort after this one are exports. Move it forward when older files no longer change.',
  ),
  events,
  ...store,
  follow_links: yesOrNo()
    .prefault(false)
    .describe(
      'For a folder: whether to follow links that lead out of it. Otherwise such files are held and not read.',
    ),
  etag_is_md5: yesOrNo()
    .prefault(true)
    .describe(
      'Whether an ETag of 32 hex digits is the MD5 of the content, as in S3. It is then compared with the content if the store sends no checksum. Set it to false if the ETags of the store are not MD5 digests.',
    ),
  limits: limits.prefault({}).describe('Limits at which a file is held.'),
  expect,
});

/** How every kind lists, opens and decodes files. */
const OF_EVERY_KIND = [
  'uri',
  'layout',
  'encoding',
  'exclude',
  'start_after',
  'follow_links',
  'etag_is_md5',
] as const;
const LIMITS_OF_EVERY_KIND = ['max_bytes', 'max_ratio', 'max_record_bytes', 'idle_timeout_seconds'] as const;

/**
 * A setting of a source that only some kinds of jobs read. Each kind declares which of them it reads
 * (`readsOfSource`), so that a setting without an effect is an error. `age: column` is one value of a setting that
 * more kinds read.
 */
export type SourceSetting =
  | Exclude<
      keyof typeof sourceSchema.shape,
      (typeof OF_EVERY_KIND)[number] | keyof typeof store | 'limits' | 'expect'
    >
  | 'age: column'
  | `limits.${Exclude<keyof typeof limits.shape, (typeof LIMITS_OF_EVERY_KIND)[number]>}`
  | `expect.${keyof typeof expectations.shape}`;

export const SETTINGS_OF_SOME_KINDS = [
  ...except(sourceSchema.shape, [...OF_EVERY_KIND, ...Object.keys(store), 'limits', 'expect']),
  'age: column',
  ...except(limits.shape, LIMITS_OF_EVERY_KIND).map((name) => `limits.${name}`),
  ...Object.keys(expectations.shape).map((name) => `expect.${name}`),
] as readonly SourceSetting[];

function except(shape: object, names: readonly string[]): readonly string[] {
  return Object.keys(shape).filter((name) => !names.includes(name));
}

/** What every kind reads whose runs store the rows of files: how new files are found, and the checks of each file. */
export const OF_STORED_FILES = [
  'age',
  'time_zone',
  'lookback_days',
  'events',
  'limits.max_rejected_share',
  'expect.time_zone',
  'expect.floor',
  'expect.freshness',
  ...checksOf('anything'),
  ...checksOf('columns'),
] as const satisfies readonly SourceSetting[];

/** The settings of the checks that files with such contents have. */
export function checksOf(contents: (typeof FILE_CHECKS)[FileCheckName]['of']): readonly SourceSetting[] {
  return FILE_CHECK_NAMES.flatMap((name) =>
    FILE_CHECKS[name].of === contents ? [`expect.${name}` as const] : [],
  );
}

/** A source by its name, with all defaults filled in and its folder absolute. */
export type SourceSettings = ReturnType<typeof toSource>;
export type SourceLimits = SourceSettings['limits'];

export function toSource(name: string, file: z.output<typeof sourceSchema>, resolvePath: ResolvePath) {
  const { expect: expected, limits: limitsOfFiles, events: queue, ...own } = file;
  return {
    name,
    ...camelCased(own),
    uri: toUri(file.uri, resolvePath),
    /** Empty if no orders are read. */
    orderPlatform: file.order_platform ?? '',
    events: queue === null ? null : camelCased(queue),
    limits: camelCased(limitsOfFiles),
    expectations: toExpectations(expected, file.time_zone),
  };
}

/**
 * Returns default settings for a source that is given only by its address, as if a configuration in the
 * current folder contained it.
 *
 * @param uri an S3 address, or a path.
 */
export function sourceAt(uri: string): SourceSettings {
  return toSource('', sourceSchema.parse({ uri, layout: 'unknown' }), resolverIn(process.cwd()));
}

/** An address as it is, and a folder as an absolute path. */
export function toUri(address: string, resolvePath: ResolvePath): string {
  return isAddress(address) ? address : resolvePath(address);
}

/** True for an address and false for a path. `s3:/bucket` is a mistyped address, not a folder. */
export function isAddress(uri: string): boolean {
  return /^(?:s3:|[a-z][a-z0-9+.-]*:\/\/)/i.test(uri);
}

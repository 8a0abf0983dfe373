import { z } from 'zod';
import type { ConfiguredKind, JobFields } from './configured-kind.ts';
import { expect } from './expect/expect-fields.ts';
import { anyNumber, NAME, text, textOrEmpty, wholeNumber, yesOrNo } from './fields.ts';
import { reconcileSchema, statementsSchema } from './money/money-fields.ts';
import { notifySchema } from './notify/notify-fields.ts';
import {
  consoleSchema,
  openlineageSchema,
  serveSchema,
  webhooksSchema,
  workSchema,
} from './server-fields.ts';

const GIBIBYTE = 1024 ** 3;

const api = z
  .strictObject({
    url: textOrEmpty()
      .prefault('')
      .describe(
        'Base address of the service, without /v1. Empty: `run` stops and says how to start the sandbox.',
      ),
    key: textOrEmpty()
      .prefault('')
      .describe(`API key. Use an environment variable: \${INFLUENCER_API_KEY:-}`),
    concurrency: wholeNumber(1, 256).prefault(4).describe('Maximum requests in flight.'),
    requests_per_second: anyNumber(0, 100_000)
      .prefault(4)
      .describe('Maximum requests per second; 0 for no limit.'),
    duplicate_orders: z
      .enum(['unknown', 'ignored'])
      .default('unknown')
      .describe(
        'Set "ignored" only if you know that the service ignores a repeated order id of the same platform. Orders in doubt are then sent again automatically.',
      ),
    quiet_period_minutes: anyNumber(0, 100_000)
      .prefault(60)
      .describe('With duplicate_orders "ignored": the delay before an order in doubt is sent again.'),
    lease_seconds: anyNumber(1, 3_600)
      .prefault(60)
      .describe(
        'A process without a heartbeat for this long loses its leases and claims. Must be longer than timeout_seconds.',
      ),
    timeout_seconds: anyNumber(0.1, 600)
      .prefault(30)
      .describe('Time limit of one request, from its first byte to its complete answer.'),
  })
  .prefault({})
  .describe('The influencer-marketing service.');

const database = z
  .strictObject({
    url: textOrEmpty()
      .prefault('')
      .describe(
        'postgres://user:password@host:5432/name. Empty: an embedded database in .data/ next to this file.',
      ),
    bi_url: textOrEmpty()
      .prefault('')
      .describe(
        `The same database for \`query\`, as a login that reads schema bi and nothing else (bi_reader). Use an environment variable: \${BI_DATABASE_URL:-}. Empty: \`query\` connects with \`url\`, in the role bi_reader.`,
      ),
    statement_minutes: anyNumber(0.01, 1_440)
      .prefault(15)
      .describe(
        'Time limit of one statement. At the limit, the server cancels it and the run ends with an error. Claims and answers have 30 s, migrations an hour.',
      ),
  })
  .prefault({})
  .describe('Where orders and the ledger are kept.');

/** How to reach the S3 store of an address. */
const store = {
  endpoint: text(500)
    .nullable()
    .default(null)
    .describe(
      "Address of the S3 store, for example https://minio.example.com:9000. Default: AWS_ENDPOINT_URL_S3, else Amazon's.",
    ),
  region: text(60)
    .nullable()
    .default(null)
    .describe('Region of the bucket. Default: AWS_REGION, else the region of the profile.'),
  profile: text(200)
    .nullable()
    .default(null)
    .describe(
      'Profile in ~/.aws/config with the credentials. Default: AWS_PROFILE, else the standard chain of the AWS SDK.',
    ),
  force_path_style: yesOrNo().prefault(false).describe('Path-style addresses for S3 (MinIO and others).'),
};

const ledger = z
  .strictObject({
    mark_uri: textOrEmpty()
      .prefault('')
      .describe(
        's3://bucket/prefix/, or a folder (relative to this file), that keeps a copy of the journals, so that a run detects a restored or replaced database even if the data folder does not last, as in a container. Empty: only the data folder has the journals.',
      ),
    ...store,
  })
  .prefault({})
  .describe('Keeps orders from being posted again after the database was restored or replaced.');

const customers = z
  .strictObject({
    hash_key: textOrEmpty()
      .prefault('')
      .describe(
        `Secret under which e-mail addresses are hashed, at least 32 characters; create one with \`openssl rand -hex 32\`. Use an environment variable: \${CUSTOMER_HASH_KEY:-}. To replace it, set the old one as previous_hash_key.`,
      ),
    previous_hash_key: textOrEmpty()
      .prefault('')
      .describe(
        `The key that hash_key replaces. Keep it until exports have named every customer: see docs/privacy.md. Use an environment variable: \${PREVIOUS_CUSTOMER_HASH_KEY:-}.`,
      ),
  })
  .prefault({})
  .describe('How customers are stored without their addresses.');

const limits = z
  .strictObject({
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
  })
  .prefault({})
  .describe('Limits at which a file is held.');

/** @param what the data that is kept, as the beginning of a sentence. */
function kept(what: string) {
  return anyNumber(1, 36_500)
    .nullable()
    .default(null)
    .describe(`Days. ${what} Omit it to keep them forever.`);
}

const retention = z
  .strictObject({
    order_versions: kept('Versions of orders, counted from when a later export replaced them.'),
    rejected_rows: kept('Rejected rows of files that were read, counted from when they were read.'),
    webhook_events: kept('Events of the service, except events of codes and links.'),
    run_activity: kept('Steps, messages and requests of runs. The runs themselves stay.'),
    notices: kept('Problems that are over, with their notices.'),
  })
  .prefault({})
  .describe('How long data is kept. `npx influencer-sync prune` deletes older data. See docs/privacy.md.');

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

export const sourceSchema = z.strictObject({
  uri: text(2_000).describe(
    's3://bucket/prefix/ with an optional glob after the prefix, or a folder (relative to this file).',
  ),
  layout: text(60).describe(
    'Name of a file in config/layouts/ or in layouts/ next to this file, without .yaml.',
  ),
  order_platform: text(100)
    .nullable()
    .default(null)
    .describe(
      'Required for a source of orders: sent with every order, and part of what keeps it from being posted twice. Never change it for a source.',
    ),
  time_zone: text(100)
    .nullable()
    .default(null)
    .describe('IANA zone for times without a zone, for example Europe/Amsterdam.'),
  currency: text(10)
    .transform((code) => code.toUpperCase())
    .nullable()
    .default(null)
    .describe('ISO 4217, for exports that have no currency column.'),
  date_order: z
    .enum(['MDY', 'DMY'])
    .nullable()
    .default(null)
    .describe(
      'Whether dates such as 4/5/2026 start with the month (MDY) or the day (DMY). Omit it if the layout says so, or the files show it.',
    ),
  consent: z
    .enum(['recorded', 'not_recorded'])
    .default('recorded')
    .describe(
      'not_recorded: the exports do not say who consented, and their customers are submitted anyway. Otherwise a file without a column of consent is held.',
    ),
  customer_key: yesOrNo()
    .prefault(false)
    .describe(
      'Whether to store with each order a key of its customer, never the address: a keyed hash of the e-mail column, as identify-customers makes it. Needs customers.hash_key. See docs/customers.md.',
    ),
  order_lines: yesOrNo()
    .prefault(false)
    .describe('Whether to store the amounts of each order by SKU. excluded_skus in the terms need them.'),
  encoding: text(40)
    .nullable()
    .default(null)
    .describe("Text encoding, if it differs from the layout's: utf-8, utf-16le, windows-1252, …"),
  exclude: z
    .array(text(500))
    .default([...DEFAULT_EXCLUDE])
    .describe(
      'Patterns of names that are not exports: with a slash for the whole name below the uri, else for any part of it. Replaces the default. Empty markers are always skipped.',
    ),
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
  limits,
  expect,
});

/**
 * The schema of the file for the given kinds of jobs. Every object is strict, so that no setting is silently
 * ignored.
 */
export function pipelineSchemaOf(kinds: readonly ConfiguredKind[]) {
  const [first, ...others] = kinds.map(({ fields }) => fields);
  if (first === undefined) throw new Error('there is no kind of job');
  const options: readonly [JobFields, ...JobFields[]] = [first, ...others];
  return z
    .strictObject({
      api,
      database,
      ledger,
      sources: z
        .record(z.string().regex(NAME), sourceSchema)
        .describe('Where exports arrive. Choose the names; they appear in reports.'),
      jobs: z
        .record(z.string().regex(NAME), z.discriminatedUnion('kind', options))
        .describe(
          'What runs. Choose the names; `run <name>` runs a job once, `serve` runs it on its schedule.',
        ),
      customers,
      webhooks: webhooksSchema,
      serve: serveSchema,
      work: workSchema,
      console: consoleSchema,
      notify: notifySchema,
      statements: statementsSchema,
      reconcile: reconcileSchema,
      retention,
      openlineage: openlineageSchema,
    })
    .describe(
      `influencer-sync pipeline.yaml. Any value may be \${VAR} or \${VAR:-default} from the environment.`,
    );
}

export type PipelineSchema = ReturnType<typeof pipelineSchemaOf>;
export type PipelineFile = z.output<PipelineSchema>;

import { dirname, join } from 'node:path';
import { z } from 'zod';
import { LANGUAGES } from '../core/text/language.ts';
import { isDay } from '../core/time/day.ts';
import { type ServiceDescription, serviceSchema } from '../service/description/schema.ts';
import { consoleSchema, toConsoleSettings } from './console-fields.ts';
import type { Environment } from './environment/read-variable.ts';
import {
  anyNumber,
  camelCased,
  exactNumber,
  NAME,
  optional,
  section,
  text,
  textOrEmpty,
  wholeNumber,
  yesOrNo,
} from './fields.ts';
import { type JobFields, type JobSettings, resolverIn } from './job-fields.ts';
import { notifySchema, toNotifySettings } from './notify-fields.ts';
import { sourceSchema, store, toSource, toUri } from './source-fields.ts';

const api = section('The influencer-marketing service.', {
  url: textOrEmpty().describe(
    'Base address of the service, without /v1. Empty: `run` stops and says how to start the sandbox.',
  ),
  key: textOrEmpty().describe(`API key. Use an environment variable: \${INFLUENCER_API_KEY:-}`),
  concurrency: wholeNumber(1, 256).prefault(4).describe('Maximum requests in flight.'),
  requests_per_second: anyNumber(0, 100_000)
    .prefault(4)
    .describe('Maximum requests per second; 0 for no limit.'),
  duplicate_orders: optional(z.enum(['unknown', 'ignored'])).describe(
    'Its place is service.duplicate_orders now; it is still read here.',
  ),
  quiet_period_minutes: anyNumber(0, 100_000)
    .prefault(60)
    .describe('With service.duplicate_orders "ignored": the delay before an order in doubt is sent again.'),
  lease_seconds: anyNumber(1, 3_600)
    .prefault(60)
    .describe(
      'A process without a heartbeat for this long loses its leases and claims. Must be longer than timeout_seconds.',
    ),
  timeout_seconds: anyNumber(0.1, 600)
    .prefault(30)
    .describe('Time limit of one request, from its first byte to its complete answer.'),
});

const database = section('Where orders and the ledger are kept.', {
  url: textOrEmpty().describe(
    'postgres://user:password@host:5432/name. Empty: an embedded database in .data/ next to this file.',
  ),
  bi_url: textOrEmpty().describe(
    `The same database for \`query\`, as a login that reads schema bi and nothing else (bi_reader). Use an environment variable: \${BI_DATABASE_URL:-}. Empty: \`query\` connects with \`url\`, in the role bi_reader.`,
  ),
  statement_minutes: anyNumber(0.01, 1_440)
    .prefault(15)
    .describe(
      'Time limit of one statement. At the limit, the server cancels it and the run ends with an error. Claims and answers have 30 s, migrations an hour.',
    ),
});

const ledger = section('Keeps orders from being posted again after the database was restored or replaced.', {
  mark_uri: textOrEmpty().describe(
    's3://bucket/prefix/, or a folder (relative to this file), that keeps a copy of the journals, so that a run detects a restored or replaced database even if the data folder does not last, as in a container. Empty: only the data folder has the journals.',
  ),
  ...store,
});

const customers = section('How customers are stored without their addresses.', {
  hash_key: textOrEmpty().describe(
    `Secret under which e-mail addresses are hashed, at least 32 characters; create one with \`openssl rand -hex 32\`. Use an environment variable: \${CUSTOMER_HASH_KEY:-}. To replace it, set the old one as previous_hash_key.`,
  ),
  previous_hash_key: textOrEmpty().describe(
    `The key that hash_key replaces. Keep it until exports have named every customer: see docs/privacy.md. Use an environment variable: \${PREVIOUS_CUSTOMER_HASH_KEY:-}.`,
  ),
});

/** @param what the data that is kept, as the beginning of a sentence. */
function kept(what: string) {
  return optional(anyNumber(1, 36_500)).describe(`Days. ${what} Omit it to keep them forever.`);
}

const retention = section(
  'How long data is kept. `npx influencer-sync prune` deletes older data. See docs/privacy.md.',
  {
    order_versions: kept('Versions of orders, counted from when a later export replaced them.'),
    rejected_rows: kept('Rejected rows of files that were read, counted from when they were read.'),
    webhook_events: kept('Events of the service, except events of codes, links and commissions.'),
    run_activity: kept('Steps, messages and requests of runs. The runs themselves stay.'),
    notices: kept('Problems that are over, with their notices.'),
  },
);

const webhooks = section('The receiver of events: `npx influencer-sync webhooks`.', {
  host: text(200)
    .prefault('127.0.0.1')
    .describe('Address to listen on; 0.0.0.0 behind a proxy that terminates TLS.'),
  port: wholeNumber(0, 65_535).prefault(4020).describe('Port to listen on; 0 for a free one.'),
  path: z
    .string()
    .regex(/^(\/[\w.~-]+)+$/)
    .default('/webhooks')
    .describe('Path that events are posted to; the kind of event may follow as one more segment.'),
  secret: textOrEmpty().describe(
    `Signing secret of the account. Use an environment variable: \${INFLUENCER_WEBHOOK_SECRET:-}. Empty: nothing is received.`,
  ),
  previous_secret: textOrEmpty().describe('The previous secret, also accepted while you replace it.'),
  header_prefix: optional(z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/)).describe(
    'Sets service.events.signature_header and timestamp_header to <prefix>-Signature and <prefix>-Timestamp.',
  ),
  encoding: optional(z.enum(['hex', 'base64'])).describe(
    'Its place is service.events.encoding now; it is still read here.',
  ),
  max_body_bytes: wholeNumber(1_024, 64 * 1024 ** 2)
    .prefault(1024 ** 2)
    .describe('A larger body is refused.'),
  max_connections_per_address: wholeNumber(1, 500)
    .prefault(250)
    .describe(
      'Maximum connections from one address; a further one closes the one that has waited longest for its request. Behind a proxy all connections come from its address: set it to 500, the limit for all connections, and let the proxy limit its clients.',
    ),
  max_age_seconds: wholeNumber(0, 86_400)
    .prefault(0)
    .describe('Refuse a missing timestamp and one further from now; 0: accept any. Not signed.'),
});

const serve = section('The process that runs jobs on their schedules: `npx influencer-sync serve`.', {
  host: text(200)
    .prefault('127.0.0.1')
    .describe('Address to listen on for /healthz, /readyz and /metrics; 0.0.0.0 in a container.'),
  port: wholeNumber(0, 65_535).prefault(4080).describe('Port to listen on; 0 for a free one.'),
  grace_seconds: optional(anyNumber(0.1, 3_600)).describe(
    'Time limit of a graceful stop, for requests in flight. Must be longer than api.timeout_seconds and shorter than the timeout of your supervisor. Default: api.timeout_seconds plus 20.',
  ),
});

const work = section('Who does the work of runs: the run itself, or workers (`npx influencer-sync work`).', {
  engine: z
    .enum(['in-process', 'pg-boss'])
    .default('in-process')
    .describe(
      'in-process: each run does all of its work itself. pg-boss: workers read sources, post orders and mirror deals for runs, through queues in the same database, which must be a Postgres server.',
    ),
  serve_works: yesOrNo()
    .prefault(true)
    .describe('With pg-boss: whether `serve` is a worker, too. If false, only `work` is.'),
});

const letterhead = {
  name: optional(text(200)).describe('Your name. Omit it to use the name that the account has of the brand.'),
  address: z.array(text(200)).max(8).default([]).describe('Lines of your address, below the name.'),
  logo: optional(text(500)).describe('PNG or JPEG file, at most 500 kB (relative to this file).'),
};

const statements = section('Statements of what influencers have earned: `npx influencer-sync statement`.', {
  terms: optional(text(500)).describe(
    'CSV file with rates and fees by deal or code (relative to this file). Omit it to use only the rates of the service.',
  ),
  return_window_days: wholeNumber(0, 3_650)
    .prefault(30)
    .describe('Days after which an order counts, because it can no longer be returned.'),
  margin_percent: optional(exactNumber(/^(100|[1-9]\d?(\.\d{1,4})?|0(\.0{1,4})?)$/, 'percent')).describe(
    'Share of the net revenue that remains after the cost of goods, in percent: 0, or a number from 1 to 100. bi.returns_monthly needs it for profit and return. Without it, they are unknown.',
  ),
  reporting_currency: optional(text(10).transform((code) => code.toUpperCase())).describe(
    'Currency (ISO 4217) into which amounts are converted for totals. The amounts in their own currencies remain. Omit it to convert nothing.',
  ),
  fx: optional(text(500)).describe(
    'CSV file with exchange rates by day (relative to this file): day, from, to, rate. It needs reporting_currency. An amount is converted only if the rate of its day is known.',
  ),
  time_zone: text(100).default('UTC').describe('IANA zone of days and months, for example Europe/Amsterdam.'),
  customers_since: z
    .record(z.string().regex(NAME), z.string().refine(isDay, 'Write a day such as 2021-03-01.'))
    .default({})
    .describe(
      'By source: the day since when its exports have every order of the shop, such as shop: 2021-03-01. Terms for new customers need it. A customer is new who has not ordered since then.',
    ),
  creators: optional(text(500)).describe(
    'CSV file that says to whom statements go (relative to this file): deal_id or influencer_handle, then name, address, email, language.',
  ),
  sender: section('What is at the head of a statement for a creator, and how it is sent.', {
    ...letterhead,
    brands: z
      .record(z.string(), z.strictObject(letterhead))
      .default({})
      .describe('The same by id of a brand, where a brand has its own.'),
    language: z
      .enum(LANGUAGES)
      .default('en')
      .describe('Language of statements for creators of whom no other is known.'),
    reply_to: optional(z.email().max(254)).describe(
      'Address to which creators answer. Omit it if they answer to the sender of the channel.',
    ),
    channel: optional(z.string().regex(NAME)).describe(
      'The e-mail channel of notify.channels by which statements are sent. Needed only if there are several.',
    ),
  }),
  payments: section('Payments of closed statements: `npx influencer-sync payments`.', {
    from: optional(exactNumber(/^[1-9]\d{3}-(0[1-9]|1[0-2])$/, 'month')).describe(
      'First month whose statement is paid with this tool, such as 2026-10. Statements before it were paid elsewhere, and are never proposed.',
    ),
    payees: optional(text(500)).describe(
      'CSV file with the bank data of creators (relative to this file): creator, name, iban, bic, country, currency. It is read when a payment is proposed or exported, and never stored.',
    ),
    minimum: z
      .record(z.string().regex(/^[A-Z]{3}$/), exactNumber(/^\d{1,14}(\.\d{1,4})?$/, 'amount'))
      .default({})
      .describe('Least amount of a payment by currency, such as `EUR: 25`. Less is carried forward.'),
    name: optional(text(70)).describe('Holder of the account that pays, as the bank has it.'),
    iban: optional(text(50)).describe('IBAN of the account that pays. pain.001 needs name and iban.'),
    bic: optional(text(11)).describe('BIC of its bank. Most banks need none.'),
  }),
});

const reconcile = section(
  'Comparison of the orders that were posted with those that the service counts: `npx influencer-sync reconcile`.',
  {
    orders_above: wholeNumber(0, 1_000_000)
      .prefault(0)
      .describe('Number of orders of a deal that may stay unexplained without a notice.'),
    amount_above: exactNumber(/^\d{1,14}(\.\d{1,4})?$/, 'amount')
      .default('1')
      .describe('Amount of a deal that may stay unexplained, in the currency of the account.'),
    account_currency: optional(text(10).transform((code) => code.toUpperCase())).describe(
      "Currency of the service's sums (ISO 4217). If you omit it, it comes from events of orders.",
    ),
  },
);
/**
 * The schema of the file for the given kinds of jobs. Every object is strict, so that no setting is silently
 * ignored.
 */
export function pipelineSchemaOf(kinds: readonly { readonly fields: JobFields }[]) {
  const [first, ...others] = kinds.map(({ fields }) => fields);
  if (first === undefined) throw new Error('there is no kind of job');
  const options: readonly [JobFields, ...JobFields[]] = [first, ...others];
  return z
    .strictObject({
      api,
      service: serviceSchema,
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
      webhooks,
      serve,
      work,
      console: consoleSchema,
      notify: notifySchema,
      statements,
      reconcile,
      retention,
    })
    .describe(
      `influencer-sync pipeline.yaml. Any value may be \${VAR} or \${VAR:-default} from the environment.`,
    );
}

export type PipelineSchema = ReturnType<typeof pipelineSchemaOf>;
export type PipelineFile = z.output<PipelineSchema>;

/** The validated `config/pipeline.yaml`, with all defaults filled in and all paths absolute. */
export type PipelineConfig = ReturnType<typeof toConfig>;
export type ApiSettings = PipelineConfig['api'];
export type DatabaseSettings = PipelineConfig['database'];
export type LedgerSettings = PipelineConfig['ledger'];
export type StatementSettings = PipelineConfig['statements'];
export type WebhookSettings = PipelineConfig['webhooks'];

/** After the last answer, results must still be recorded and files released. */
const GRACE_BEYOND_A_REQUEST_SECONDS = 20;

/**
 * @param path absolute path of the file.
 * @param options.variables names of the environment variables that the file refers to.
 */
export function toConfig(
  path: string,
  file: PipelineFile,
  { variables, env }: { variables: readonly string[]; env: Environment },
) {
  const folder = dirname(path);
  const resolvePath = resolverIn(folder);
  const hasCustomerKeys = (source: string): boolean => file.sources[source]?.customer_key === true;
  const description = toDescription(file);
  const { mark_uri: markUri, ...storeOfMark } = file.ledger;
  const { secret, previous_secret, header_prefix: _prefix, encoding: _encoding, ...receiver } = file.webhooks;
  const { duplicate_orders: _duplicates, ...ofApi } = file.api;
  const { grace_seconds: grace, ...listening } = file.serve;
  return {
    path,
    variables,
    /** Those of them that the environment sets to nothing. */
    blankVariables: variables.filter((name) => env[name]?.trim() === ''),
    api: { ...camelCased(ofApi), url: file.api.url.replace(/\/+$/, ''), description },
    database: {
      ...camelCased(file.database),
      /** The folder of the embedded database and of the spool. */
      dataFolder: join(folder, '.data'),
    },
    ledger: {
      /** Where a second copy of the journals is kept. Null: nowhere. */
      mark: markUri === '' ? null : { uri: toUri(markUri, resolvePath), ...camelCased(storeOfMark) },
      /**
       * Absolute path of the user's state folder, in which an embedded ledger without a mark keeps a second copy of its
       * journals. Null: nowhere. Empty: it should, but this user has no such folder.
       */
      stateFolder: null as string | null,
    },
    sources: mapValues(file.sources, (source, name) => toSource(name, source, resolvePath)),
    jobs: mapValues(
      file.jobs,
      (toSettings, name): JobSettings => toSettings({ name, resolvePath, hasCustomerKeys }),
    ),
    customers: camelCased(file.customers),
    webhooks: {
      ...camelCased(receiver),
      /** One, or two during a rotation. Without any, no event can be received. */
      secrets: [secret, previous_secret].filter((one) => one !== ''),
      events: description.events,
    },
    serve: { ...listening, graceSeconds: grace ?? file.api.timeout_seconds + GRACE_BEYOND_A_REQUEST_SECONDS },
    work: camelCased(file.work),
    console: toConsoleSettings(file.console),
    notify: toNotifySettings(file.notify),
    statements: {
      ...camelCased(file.statements),
      terms: resolvePath(file.statements.terms),
      fx: resolvePath(file.statements.fx),
      creators: resolvePath(file.statements.creators),
      payments: { ...file.statements.payments, payees: resolvePath(file.statements.payments.payees) },
      sender: {
        ...camelCased(file.statements.sender),
        logo: resolvePath(file.statements.sender.logo),
        brands: mapValues(file.statements.sender.brands, (brand) => ({
          ...brand,
          logo: resolvePath(brand.logo),
        })),
      },
    },
    retention: file.retention,
    reconcile: camelCased(file.reconcile),
  };
}

/** The description of the service, with settings that are still in their old places. */
function toDescription({ service, api, webhooks }: PipelineFile): ServiceDescription {
  const { header_prefix: prefix, encoding } = webhooks;
  return {
    ...service,
    duplicate_orders: api.duplicate_orders ?? service.duplicate_orders,
    events: {
      ...service.events,
      encoding: encoding ?? service.events.encoding,
      ...(prefix === null
        ? {}
        : { signature_header: `${prefix}-Signature`, timestamp_header: `${prefix}-Timestamp` }),
    },
  };
}

/** The result has no prototype, so that `constructor` is no name in it unless the file has it. */
function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  change: (value: In, name: string) => Out,
): Readonly<Record<string, Out>> {
  const entries = Object.entries(record).map(([name, value]) => [name, change(value, name)]);
  return Object.assign(Object.create(null) as Record<string, Out>, Object.fromEntries(entries));
}

import { z } from 'zod';
import { serviceSchema } from '../service/description/schema.ts';
import type { ConfiguredKind, JobFields } from './configured-kind.ts';
import { anyNumber, NAME, textOrEmpty, wholeNumber } from './fields.ts';
import { reconcileSchema, statementsSchema } from './money/money-fields.ts';
import { notifySchema } from './notify/notify-fields.ts';
import { consoleSchema, serveSchema, webhooksSchema, workSchema } from './server-fields.ts';
import { sourceSchema, store } from './source-fields.ts';

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
      .nullable()
      .default(null)
      .describe('Its place is service.duplicate_orders now; it is still read here.'),
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
      webhooks: webhooksSchema,
      serve: serveSchema,
      work: workSchema,
      console: consoleSchema,
      notify: notifySchema,
      statements: statementsSchema,
      reconcile: reconcileSchema,
      retention,
    })
    .describe(
      `influencer-sync pipeline.yaml. Any value may be \${VAR} or \${VAR:-default} from the environment.`,
    );
}

export type PipelineSchema = ReturnType<typeof pipelineSchemaOf>;
export type PipelineFile = z.output<PipelineSchema>;

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { jobKinds, loadConfig } from '../../jobs/index.ts';
import { requireService } from '../../src/config/require-settings.ts';
import type { PipelineConfig } from '../../src/config/schema.ts';
import { KnownError, type Problem } from '../../src/core/known-error.ts';
import { specifiedService } from '../../src/service/description/schema.ts';
import { pipelineJsonSchema, timingTable } from '../../tools/documents/settings.ts';
import { DEFAULT_TIMING } from '../support/default-timing.ts';

/** The file of the specification, verbatim. */
const SPECIFIED = `api:
  url: \${INFLUENCER_API_URL:-}        # empty: \`run\` stops with exit 2 and says how to start the sandbox; only \`demo\` starts its own
  key: \${INFLUENCER_API_KEY:-}
  concurrency: 4
  requests_per_second: 4               # 0 = no limit
  duplicate_orders: unknown            # or ignored
database:
  url: \${DATABASE_URL:-}               # empty: embedded, in .data/
sources:
  shop-orders:
    uri: s3://acme-exports/orders/     # or a folder: ./exports/orders/
    layout: shopify-orders
    order_platform: shopify
    time_zone: Europe/Amsterdam
jobs:
  attribute-orders:
    kind: attribute-orders
    schedule: "5 * * * *"
    source: shop-orders                # or a list
    brand_id: 4819
    codes: ./codes.csv                 # code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to
    revenue: total                     # or subtotal, or total_less_refunds
    include: [paid, partially_refunded]
`;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-'));
  mkdirSync(join(folder, 'layouts'));
  writeFileSync(join(folder, 'layouts', 'shopify-orders.yaml'), '');
  writeFileSync(
    join(folder, 'codes.csv'),
    'code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to\n',
  );
});

afterEach(() => rmSync(folder, { recursive: true }));

function load(text: string, env: Record<string, string> = {}): PipelineConfig {
  writeFileSync(join(folder, 'pipeline.yaml'), text);
  return loadConfig(join(folder, 'pipeline.yaml'), env);
}

function refused(run: () => unknown): KnownError['details'] {
  try {
    run();
  } catch (error) {
    if (error instanceof KnownError) return error.details;
    throw error;
  }
  throw new Error('it was accepted');
}

/** Returns the problems, with the folder's name removed from their locations. */
function problemsOf(text: string, env: Record<string, string> = {}): Problem[] {
  const { problems = [] } = refused(() => load(text, env));
  return problems.map((problem) => ({ ...problem, where: problem.where.replace(`${folder}/`, '') }));
}

/**
 * Replaces one piece of the specified file and returns the single problem that results; `at` is its location.
 */
function problemAfter(from: string | RegExp, to: string): Problem {
  const text = SPECIFIED.replace(from, to);
  expect(text).not.toBe(SPECIFIED);
  const problems = problemsOf(text);
  expect(problems).toHaveLength(1);
  return problems[0] as Problem;
}

describe('a valid configuration', () => {
  test('can be the file of the specification', () => {
    const config = load(SPECIFIED);
    expect(config.api).toEqual({
      url: '',
      key: '',
      concurrency: 4,
      requestsPerSecond: 4,
      quietPeriodMinutes: 60,
      leaseSeconds: 60,
      timeoutSeconds: 30,
      description: specifiedService,
    });
    expect(config.database).toEqual({
      url: '',
      biUrl: '',
      dataFolder: join(folder, '.data'),
      statementMinutes: 15,
    });
    expect(config.sources['shop-orders']).toMatchObject({
      name: 'shop-orders',
      uri: 's3://acme-exports/orders/',
      orderPlatform: 'shopify',
      timeZone: 'Europe/Amsterdam',
      currency: null,
      dateOrder: null,
      consent: 'recorded',
      customerKey: false,
      ownOrders: false,
      orderLines: false,
      exclude: ['.*', '_SUCCESS', '_committed_*', '_started_*', 'manifest.json', 'Thumbs.db', 'desktop.ini'],
      endpoint: null,
      region: null,
      profile: null,
      age: null,
      followLinks: false,
      forcePathStyle: false,
      etagIsMd5: true,
    });
    expect(config.jobs['attribute-orders']).toEqual({
      name: 'attribute-orders',
      kind: 'attribute-orders',
      ...DEFAULT_TIMING,
      schedule: '5 * * * *',
      sources: ['shop-orders'],
      brandId: '4819',
      codes: join(folder, 'codes.csv'),
      revenue: 'total',
      include: ['paid', 'partially_refunded'],
      attribution: 'code',
      drafts: 'exclude',
      renewals: 'credit',
      startDate: null,
      orderNotes: 'ours',
      soleChannel: false,
    });
  });

  test('receives events with default settings, and accepts two secrets during a rotation', () => {
    expect(load(SPECIFIED).webhooks).toEqual({
      host: '127.0.0.1',
      port: 4020,
      path: '/webhooks',
      secrets: [],
      events: specifiedService.events,
      maxBodyBytes: 1024 ** 2,
      maxConnectionsPerAddress: 250,
      maxAgeSeconds: 0,
    });
    const section = 'webhooks: {secret: "\u0024{NEW:-}", previous_secret: old, header_prefix: X-Acme}';
    const { webhooks } = load(`${SPECIFIED}${section}\n`, { NEW: 'new' });
    expect(webhooks).toMatchObject({
      secrets: ['new', 'old'],
      events: { signature_header: 'X-Acme-Signature', timestamp_header: 'X-Acme-Timestamp' },
    });
  });

  test('can be the file of the project', () => {
    copyFileSync(new URL('../../config/pipeline.yaml', import.meta.url), join(folder, 'shipped.yaml'));
    expect(loadConfig(join(folder, 'shipped.yaml'), {}).jobs['attribute-orders']).toMatchObject({
      brandId: '4819',
    });
  });

  test('resolves a folder and a file of codes relative to its own folder', () => {
    const config = load(SPECIFIED.replace('s3://acme-exports/orders/', './exports/orders/'));
    expect(config.sources['shop-orders']?.uri).toBe(join(folder, 'exports/orders'));
  });

  test('accepts a list of sources, and keeps every digit of IDs', () => {
    const two = SPECIFIED.replace(
      'jobs:',
      '  b:\n    uri: ./b\n    layout: shopify-orders\n    order_platform: b\njobs:',
    );
    const config = load(
      two
        .replace('source: shop-orders', 'source: [shop-orders, b]')
        .replace('4819', '0012345678901234567890'),
    );
    expect(config.jobs['attribute-orders']).toMatchObject({
      sources: ['shop-orders', 'b'],
      brandId: '0012345678901234567890',
    });
  });

  test('drops the trailing slash of an address', () => {
    expect(load(SPECIFIED, { INFLUENCER_API_URL: 'https://api.example.com/x/' }).api.url).toBe(
      'https://api.example.com/x',
    );
  });
});

describe('the environment', () => {
  test('provides values as text, whatever YAML they look like', () => {
    const { api } = load(SPECIFIED, { INFLUENCER_API_KEY: 'a: [b]\n# c' });
    expect(api.key).toBe('a: [b]\n# c');
  });

  test('can provide a number', () => {
    expect(load(SPECIFIED.replace('concurrency: 4', `concurrency: \${N:-7}`)).api.concurrency).toBe(7);
    expect(
      load(SPECIFIED.replace('concurrency: 4', `concurrency: \${N:-7}`), { N: '9' }).api.concurrency,
    ).toBe(9);
  });

  test('must contain each variable without a default, not empty; the error names variable and line', () => {
    const text = SPECIFIED.replace(`\${INFLUENCER_API_KEY:-}`, `\${MY_KEY}`);
    for (const env of [{}, { MY_KEY: '' }]) {
      expect(problemsOf(text, env)).toEqual([
        {
          where: 'pipeline.yaml:3:8',
          message: `\${MY_KEY} is used here, but the environment variable MY_KEY is not set or empty.`,
          help: `Set MY_KEY, or give a default: \${MY_KEY:-default}.`,
        },
      ]);
    }
  });

  describe('a variable with a _FILE name', () => {
    const inFile = (content: string | Buffer): Record<string, string> => {
      writeFileSync(join(folder, 'key'), content);
      return { INFLUENCER_API_KEY_FILE: join(folder, 'key') };
    };

    test.each([
      ['one line', 'planted-key\n'],
      ['no end of line', 'planted-key'],
      ['an end of line of Windows and a byte order mark', '\u{feff}planted-key\r\n'],
    ])('gets its value from the file: %s', (_, content) => {
      const config = load(SPECIFIED, inFile(content));
      expect(config.api.key).toBe('planted-key');
      expect(config.variables).toContain('INFLUENCER_API_KEY');
    });

    test('works for every setting that uses a variable, whatever its name', () => {
      writeFileSync(join(folder, 'url'), 'postgres://u:planted@h/d\n');
      const text = SPECIFIED.replace('DATABASE_URL:-', 'OUR_LEDGER');
      expect(load(text, { OUR_LEDGER_FILE: join(folder, 'url') }).database.url).toBe(
        'postgres://u:planted@h/d',
      );
    });

    test.each([
      ['is empty', '', 'is empty'],
      ['has only an end of line', '\n', 'is not one line of UTF-8 text'],
      ['has several lines', 'planted\nplanted\n', 'is not one line of UTF-8 text'],
      ['is UTF-16', Buffer.from('planted', 'utf16le'), 'is not one line of UTF-8 text'],
      ['is binary', Buffer.from([0xff, 0xfe, 0x41]), 'is not one line of UTF-8 text'],
    ])('is reported if the file %s, even with a default, without its content', (_, content, what) => {
      const problems = problemsOf(SPECIFIED, inFile(content));
      expect(problems).toEqual([
        {
          where: 'pipeline.yaml:3:8',
          message: `INFLUENCER_API_KEY_FILE names ${join(folder, 'key')}, which ${what}.`,
          help: 'It must contain the value and nothing else.',
        },
      ]);
      expect(JSON.stringify(problems)).not.toContain('planted');
    });

    test('is reported if the file does not exist or is a folder', () => {
      for (const [path, code] of [
        [join(folder, 'absent'), 'ENOENT'],
        [folder, 'EISDIR'],
      ] as const)
        expect(problemsOf(SPECIFIED, { INFLUENCER_API_KEY_FILE: path })[0]?.message).toContain(
          `which cannot be read (${code})`,
        );
    });

    test('is reported if the variable is set as well, unless that is empty', () => {
      const env = inFile('planted-key');
      expect(problemsOf(SPECIFIED, { ...env, INFLUENCER_API_KEY: 'another' })[0]?.message).toBe(
        'INFLUENCER_API_KEY and INFLUENCER_API_KEY_FILE are both set.',
      );
      expect(load(SPECIFIED, { ...env, INFLUENCER_API_KEY: '' }).api.key).toBe('planted-key');
    });
  });

  test('two dollar signs are an escape for one', () => {
    expect(load(SPECIFIED.replace(`\${INFLUENCER_API_KEY:-}`, () => `a$\${B}c`)).api.key).toBe(`a\${B}c`);
  });

  test('a nested or unterminated reference is rejected', () => {
    expect(problemAfter(`\${DATABASE_URL:-}`, `\${A:-\${B}}`).message).toContain(
      'is not a valid reference to a variable',
    );
    expect(problemAfter(`\${DATABASE_URL:-}`, `\${A`).message).toContain(
      'is not a valid reference to a variable',
    );
  });

  test('a secret never appears in a message, whichever setting contains it', () => {
    const secret = 's3cret-planted';
    const env = {
      INFLUENCER_API_URL: `https://u:${secret}@x.test`,
      DATABASE_URL: `mysql://u:${secret}@h/d`,
      INFLUENCER_API_KEY: secret,
    };
    expect(JSON.stringify(problemsOf(SPECIFIED, env))).not.toContain(secret);
    const inPlain = SPECIFIED.replace(`\${DATABASE_URL:-}`, secret).replace(
      `\${INFLUENCER_API_KEY:-}`,
      `[${secret}]`,
    );
    expect(JSON.stringify(problemsOf(inPlain))).not.toContain(secret);
  });
});

describe('problems of a configuration', () => {
  test('are all reported at once, in the order of the file', () => {
    const text = SPECIFIED.replace('concurrency: 4', 'concurency: 4')
      .replace('time_zone: Europe/Amsterdam', 'time_zone: Europe/Amsterdm')
      .replace('    order_platform: shopify\n', '')
      .replace('source: shop-orders', 'source: shop-order')
      .replace('revenue: total', 'revenue: totals');
    expect(problemsOf(text).map(({ where, message }) => `${where} ${message}`)).toEqual([
      'pipeline.yaml:4:3 api has no setting "concurency".',
      'pipeline.yaml:10:3 sources.shop-orders.order_platform is missing.',
      'pipeline.yaml:13:16 sources.shop-orders.time_zone: "Europe/Amsterdm" is not a time zone.',
      'pipeline.yaml:18:13 jobs.attribute-orders.source: there is no source "shop-order".',
      'pipeline.yaml:21:14 jobs.attribute-orders.revenue is "totals", which does not fit.',
    ]);
  });

  test('include exchange rates without a reporting currency, and an unknown currency', () => {
    const messages = (statements: string) =>
      problemsOf(`${SPECIFIED}statements: ${statements}\n`).map(({ message }) => message);
    expect(messages('{fx: ./fx.csv}')).toEqual([
      'statements.fx needs statements.reporting_currency, into which its rates convert amounts.',
    ]);
    expect(messages('{reporting_currency: euro}')).toEqual([
      'statements.reporting_currency: "EURO" is not a currency.',
    ]);
    expect(messages('{payments: {bic: INGBNL2}}')).toEqual(['statements.payments.bic is not a BIC.']);
    // Without customer_key, nobody knows the customers of a source.
    expect(messages('{customers_since: {shop-orders: 2021-03-01}}')).toEqual([
      'statements.customers_since.shop-orders: there is no source of that name with customer_key.',
    ]);
    expect(messages('{customers_since: {shop-orders: 2021-02-30}}')).toHaveLength(1);
    expect(load(`${SPECIFIED}statements: {reporting_currency: eur}\n`).statements.reportingCurrency).toBe(
      'EUR',
    );
  });

  test('suggest the settings of the kind of job for a setting of another kind', () => {
    const [problem] = problemsOf(SPECIFIED.replace('revenue: total', 'autocomplete: false'));
    expect(problem).toMatchObject({ message: 'jobs.attribute-orders has no setting "autocomplete".' });
    expect(problem?.help).toMatch(/^Remove it, or use one of: .*brand_id/);
    expect(problem?.help).not.toContain('autocomplete_budget');
  });

  test.each<[string, string | RegExp, string, Partial<Problem>]>([
    [
      'a misspelt setting',
      'concurrency:',
      'concurency:',
      { where: 'pipeline.yaml:4:3', help: 'Did you mean "concurrency"?' },
    ],
    ['a camelCase setting', 'time_zone:', 'timeZone:', { help: 'Did you mean "time_zone"?' }],
    ['two letters that changed places', ' codes:', ' coeds:', { help: 'Did you mean "codes"?' }],
    [
      'an unknown section',
      'jobs:',
      'alerts: {}\njobs:',
      {
        help: 'Remove it, or use one of: api, service, database, ledger, sources, jobs, customers, webhooks, serve, work, console, notify, statements, reconcile, retention.',
      },
    ],
    [
      'a section by its earlier name',
      'jobs:',
      'contacts: {}\njobs:',
      { message: 'This file has no setting "contacts".', help: 'Did you mean "customers"?' },
    ],
    [
      'a word for a number',
      'concurrency: 4',
      'concurrency: four',
      { message: 'api.concurrency is "four", which does not fit.', help: 'It should be a number.' },
    ],
    ['a number that is too small', 'concurrency: 4', 'concurrency: 0', { help: 'It should be 1 or more.' }],
    ['half a request', 'concurrency: 4', 'concurrency: 1.5', { help: 'It should be a whole number.' }],
    [
      'an unknown word',
      'duplicate_orders: unknown',
      'duplicate_orders: ignore',
      { help: 'Did you mean "ignored"? It should be one of: unknown, ignored.' },
    ],
    [
      'a day that the calendar does not have',
      'brand_id: 4819',
      "brand_id: 4819\n    start_date: '2026-02-30'",
      {
        message: 'jobs.attribute-orders.start_date is "2026-02-30", which does not fit.',
        help: 'It should be a day, like 2026-06-01.',
      },
    ],
    ['a list for a section', /database:\n.*\n/, 'database: [a]\n', { message: 'database is a list.' }],
    [
      'nothing where something must be',
      'layout: shopify-orders',
      'layout:',
      { message: 'sources.shop-orders.layout is empty.', help: 'It should be text.' },
    ],
    [
      'a missing setting',
      /^ *brand_id.*\n/m,
      '',
      { where: 'pipeline.yaml:16:3', message: 'jobs.attribute-orders.brand_id is missing.' },
    ],
    ['a missing section', /jobs:[\s\S]*/, '', { message: 'jobs is missing.' }],
    [
      'an unknown kind of job',
      'kind: attribute-orders',
      'kind: atribute-orders',
      {
        help: 'Did you mean "attribute-orders"? It should be one of: attribute-orders, identify-customers, mirror-account, post-clicks, submit-outreach, import-deals, tell-corrections, delete-data.',
      },
    ],
    [
      'a name that cannot be typed',
      '  attribute-orders:\n',
      '  Attribute Orders:\n',
      { message: '"Attribute Orders" cannot be a name.' },
    ],
    [
      'a list with nothing in it',
      'source: shop-orders',
      'source: []',
      { message: 'jobs.attribute-orders.source is an empty list.' },
    ],
    [
      'an unknown source',
      'source: shop-orders',
      'source: shop-ordes',
      { help: 'Did you mean "shop-orders"?' },
    ],
    [
      'a source named twice',
      'source: shop-orders',
      'source: [shop-orders, shop-orders]',
      { message: 'jobs.attribute-orders.source names "shop-orders" twice.' },
    ],
    ['a cron expression with four fields', '"5 * * * *"', '"5 * * *"', { where: 'pipeline.yaml:18:15' }],
    [
      'a cron expression with seconds',
      '"5 * * * *"',
      '"0 5 * * * *"',
      {
        message: 'jobs.attribute-orders.schedule: "0 5 * * * *" is not a cron expression (it has 6 fields).',
      },
    ],
    ['a minute that no hour has', '"5 * * * *"', '"61 * * * *"', { where: 'pipeline.yaml:18:15' }],
    [
      'a day that no month has',
      '"5 * * * *"',
      '"0 0 30 2 *"',
      { message: 'jobs.attribute-orders.schedule: "0 0 30 2 *" never fires: there is no such day.' },
    ],
    [
      'an unknown zone of a schedule',
      '"5 * * * *"',
      '"5 * * * *"\n    time_zone: Europe/Amsterdm',
      { help: 'Did you mean "Europe/Amsterdam"?', where: 'pipeline.yaml:19:16' },
    ],
    [
      'a job with a schedule that also follows another',
      '"5 * * * *"',
      '"5 * * * *"\n    after: attribute-orders',
      { message: 'jobs.attribute-orders has both a schedule and after.' },
    ],
    [
      'a job that follows one that is not there',
      'schedule: "5 * * * *"',
      'after: atribute-orders',
      { help: 'Did you mean "attribute-orders"?' },
    ],
    [
      'a job that follows itself',
      'schedule: "5 * * * *"',
      'after: attribute-orders',
      {
        message:
          'jobs.attribute-orders.after: the jobs wait for each other: attribute-orders → attribute-orders.',
      },
    ],
    [
      'a grace period that is shorter than a request',
      'database:',
      'serve: {grace_seconds: 20}\ndatabase:',
      { help: 'Raise grace_seconds or lower timeout_seconds.' },
    ],
    [
      'a provider that cannot lead people back',
      'database:',
      "console: {auth: {oidc: {issuer: 'https://login.example', client_id: a, client_secret: b, viewers: ['*']}}}\ndatabase:",
      {
        message:
          'console.auth.oidc needs console.url, to which the provider redirects people after the sign-in.',
      },
    ],
    [
      'a provider that anybody in between could read along with',
      'database:',
      "console: {url: 'https://ops.example', auth: {oidc: {issuer: 'http://login.example', client_id: a, client_secret: b, viewers: ['*']}}}\ndatabase:",
      { message: 'console.auth.oidc.issuer: "http://login.example" is not an https address.' },
    ],
    [
      'a provider that lets nobody in',
      'database:',
      "console: {url: 'https://ops.example', auth: {oidc: {issuer: 'https://login.example', client_id: a, client_secret: b}}}\ndatabase:",
      { message: 'console.auth.oidc lets no person sign in.' },
    ],
    [
      'a console at another path than its address says',
      'database:',
      "console: {url: 'https://ops.example/a', base_path: /b}\ndatabase:",
      { help: 'Make both the same path.' },
    ],
    ['an unknown zone', 'Europe/Amsterdam', 'Europe/Amsterdm', { help: 'Did you mean "Europe/Amsterdam"?' }],
    [
      'an offset for a zone',
      'Europe/Amsterdam',
      '"+02:00"',
      { help: 'Write an IANA name, for example Europe/Amsterdam or UTC.' },
    ],
    [
      'an unknown currency',
      'time_zone: Europe/Amsterdam',
      'currency: EURO',
      { message: 'sources.shop-orders.currency: "EURO" is not a currency.' },
    ],
    [
      'an unknown layout',
      'layout: shopify-orders',
      'layout: shopify-order',
      { where: 'pipeline.yaml:12:13' },
    ],
    [
      'an address of another kind',
      's3://acme-exports/orders/',
      'ftp://acme/orders/',
      { help: 'Write s3://bucket/prefix/ or the path of a folder.' },
    ],
    [
      'an address of S3 with one slash',
      's3://acme-exports/orders/',
      's3:/acme-exports/orders/',
      { message: 'sources.shop-orders.uri is neither an S3 address nor a folder.' },
    ],
    [
      'a queue of events by its name',
      'layout: shopify-orders',
      'layout: shopify-orders\n    events: {queue: exports}',
      {
        where: 'pipeline.yaml:13:21',
        message: 'sources.shop-orders.events.queue is not the URL of a queue.',
      },
    ],
    [
      'a queue of events with a password',
      'layout: shopify-orders',
      "layout: shopify-orders\n    events: {queue: 'https://a:b@sqs.example/1/exports'}",
      { message: 'sources.shop-orders.events.queue contains a user name or password.' },
    ],
    [
      'a queue of events for a folder',
      's3://acme-exports/orders/',
      './exports/\n    events: {queue: "https://sqs.example/1/exports"}',
      { message: 'sources.shop-orders.events has no meaning for a folder.' },
    ],
    ['a missing codes file', './codes.csv', './kodes.csv', { where: 'pipeline.yaml:21:12' }],
    [
      'a folder in place of the codes file',
      './codes.csv',
      './',
      { message: expect.stringMatching(/ is not a file\.$/) },
    ],
    [
      'an address of the service without http',
      `\${INFLUENCER_API_URL:-}`,
      'api.example.com',
      { message: 'api.url is not a web address.' },
    ],
    [
      'an address of the service with a version',
      `\${INFLUENCER_API_URL:-}`,
      'https://api.example.com/v1/',
      { help: 'Leave /v1 out.' },
    ],
    [
      'another database',
      `\${DATABASE_URL:-}`,
      'mysql://a/b',
      { message: 'database.url is not the address of a Postgres database.' },
    ],
    [
      'a # in the password of the database',
      `\${DATABASE_URL:-}`,
      'postgres://ann:p@ss#word@db/orders',
      { message: 'database.url is not the address of a Postgres database.' },
    ],
    [
      'a lease shorter than a request',
      'concurrency: 4',
      'lease_seconds: 10',
      { where: 'pipeline.yaml:4:18' },
    ],
    [
      'a key that stands twice',
      'concurrency: 4',
      'concurrency: 4\n  concurrency: 5',
      { where: 'pipeline.yaml:5:3' },
    ],
    [
      'a tab',
      '  concurrency: 4',
      '\tconcurrency: 4',
      {
        help: 'Check the indentation (spaces, no tabs), the quotes and the colons on this line and the one before.',
      },
    ],
    [
      'an alias that holds itself',
      /database:\n.*\n/,
      'database: &a\n  url: *a\n',
      { message: 'Aliases (*name) refer to each other in a circle.' },
    ],
  ])('include %s', (_title, from, to, expected) => {
    const problems = problemsOf(SPECIFIED.replace(from, to));
    expect(problems.map(({ where, message, help }) => ({ where, message, help }))).toContainEqual(
      expect.objectContaining(expected),
    );
  });

  test('include two jobs of one kind on one source', () => {
    const twice = `${SPECIFIED}  again: {kind: attribute-orders, source: shop-orders, brand_id: 1}\n`;
    expect(problemsOf(twice)[0]?.message).toBe(
      'jobs.again reads source "shop-orders", which jobs.attribute-orders of the same kind already reads.',
    );
  });

  test('include a source of customers that two brands share, with a way to give both the customers', () => {
    const job = (brandId: number) => `{kind: identify-customers, source: people, brand_id: ${brandId}}`;
    const twice = `sources:\n  people: {uri: ./x/, layout: mailchimp}\njobs:\n  a: ${job(1)}\n  b: ${job(2)}\n`;
    expect(problemsOf(twice)[0]).toMatchObject({
      message: 'jobs.b reads source "people", which jobs.a of the same kind already reads.',
      help: expect.stringContaining('add a second source with the same uri'),
    });
    const second = twice.replace('jobs:', '  people-again: {uri: ./x/, layout: mailchimp}\njobs:');
    expect(() => problemsOf(second.replace(/people(?=, brand_id: 2)/, 'people-again'))).toThrow(
      'it was accepted',
    );
  });

  test('include jobs that follow each other in a circle, and jobs whose chain has no schedule', () => {
    const job = (after: string, source: string) =>
      `{kind: attribute-orders, source: ${source}, brand_id: 1, after: ${after}}`;
    const sources = ['one', 'two', 'three'].map(
      (name) => `  ${name}: {uri: ./x/, layout: shopify-orders, order_platform: p}\n`,
    );
    const circle = `${sources.join('')}jobs:\n  a: ${job('b', 'one')}\n  b: ${job('c', 'two')}\n  c: ${job('b', 'three')}\n`;
    expect(problemsOf(`sources:\n${circle}`).map(({ message }) => message)).toEqual([
      'jobs.b.after: the jobs wait for each other: b → c → b.',
      'jobs.c.after: the jobs wait for each other: c → b → c.',
    ]);
    const idle = circle.replace(', after: b}\n  b', ', after: c}\n  b').replace(', after: b}', '}');
    expect(problemsOf(`sources:\n${idle}`)[0]?.message).toBe(
      'jobs.a.after: c has no schedule, so this job would never run.',
    );
  });

  test('name the commands that lead on if the file is missing', () => {
    const details = refused(() => loadConfig(join(folder, 'nowhere.yaml'), {}));
    expect(details).toMatchObject({ code: 'config_missing', exitCode: 2 });
    expect(details.help).toContain('npx influencer-sync init ./exports');
    expect(details.help).toContain('npx influencer-sync demo');
  });

  test('list the missing sections of an empty file', () => {
    expect(problemsOf('').map(({ message }) => message)).toEqual(['sources is missing.', 'jobs is missing.']);
  });
});

test('explain how to start the sandbox if a command that sends has no address', () => {
  const details = refused(() => requireService(load(SPECIFIED)));
  expect(details).toMatchObject({ code: 'api_url_missing', exitCode: 2 });
  expect(details.help).toContain('npx influencer-sync sandbox --port 4010');
  const withoutKey = load(SPECIFIED, { INFLUENCER_API_URL: 'http://127.0.0.1:4010' });
  expect(refused(() => requireService(withoutKey)).code).toBe('api_key_missing');
  // A copy of .env.example, or what init writes, has the names alone.
  const blank = refused(() => requireService(load(SPECIFIED, { INFLUENCER_API_URL: '' })));
  expect(blank.message).toBe('No service is configured: INFLUENCER_API_URL is blank.');
  expect(blank.help).not.toContain('name it: --env-file');
});

test('the table of settings in docs/scheduling.md is up to date (npm run schema)', () => {
  const page = readFileSync(new URL('../../docs/scheduling.md', import.meta.url), 'utf8');
  expect(page).toContain(timingTable());
});

test('the JSON Schema for editors is up to date (npm run schema)', () => {
  expect(readFileSync(new URL('../../config/pipeline.schema.json', import.meta.url), 'utf8')).toBe(
    pipelineJsonSchema(jobKinds),
  );
});

test('the configuration of the project refers to the schema', () => {
  const [firstLine] = readFileSync(new URL('../../config/pipeline.yaml', import.meta.url), 'utf8').split(
    '\n',
  );
  expect(firstLine).toBe('# yaml-language-server: $schema=./pipeline.schema.json');
});

describe('a setting with a closed list of words', () => {
  /**
   * Each setting with a closed list of words: the line in the file, the line with a typo, and the intended
   * word.
   */
  const SETTINGS: readonly (readonly [line: string, wrong: string, meant: string])[] = [
    ['duplicate_orders: unknown', 'duplicate_orders: unknwon', 'unknown'],
    ['kind: attribute-orders', 'kind: attribute_order', 'attribute-orders'],
    ['kind: attribute-orders', 'kind: attribute', 'attribute-orders'],
    ['revenue: total  ', 'revenue: totals  ', 'total'],
    ['codes:', 'catch_up: lates\n    codes:', 'latest'],
    ['codes:', 'drafts: exlude\n    codes:', 'exclude'],
    ['codes:', 'renewals: exlude\n    codes:', 'exclude'],
    ['codes:', 'attribution: frst\n    codes:', 'first'],
    ['kind: attribute-orders', 'kind: tell-corrections\n    as: notes', 'note'],
    ['codes:', 'order_notes: our\n    codes:', 'ours'],
    ['codes:', 'overlap: quue\n    codes:', 'queue'],
    ['codes:', 'sole_channel: ture\n    codes:', 'true'],
    ['codes:', 'sole_channel: yes\n    codes:', 'true'],
    ['codes:', 'sole_channel: off\n    codes:', 'false'],
    ['time_zone: Europe/Amsterdam', 'currency: EURO', 'EUR'],
    ['time_zone: Europe/Amsterdam', 'consent: not_recorde', 'not_recorded'],
    ['time_zone: Europe/Amsterdam', 'date_order: MYD', 'MDY'],
    ['time_zone: Europe/Amsterdam', 'age: modifed', 'modified'],
    ['time_zone: Europe/Amsterdam', 'expect: {overlap: hodl}', 'hold'],
    ['time_zone: Europe/Amsterdam', 'expect: {header: {new: acept}}', 'accept'],
    ['time_zone: Europe/Amsterdam', 'expect: {freshness: {by: "06:00", on: weekday}}', 'weekdays'],
    ['sources:', 'webhooks: {encoding: base46}\nsources:', 'base64'],
    ['sources:', 'service: {ids: txt}\nsources:', 'text'],
    ['sources:', 'service: {operations: {search_brands: {method: PSOT}}}\nsources:', 'POST'],
    ['sources:', 'service: {events: {timestamp: secnds}}\nsources:', 'seconds'],
    ['sources:', 'service: {events: {kinds: {new_maxbid: x}}}\nsources:', 'new_max_bid'],
    ['sources:', 'service: {operations: {search_brand: {}}}\nsources:', 'search_brands'],
    ['sources:', 'work: {engine: pgboss}\nsources:', 'pg-boss'],
    ['sources:', 'statements: {sender: {language: due}}\nsources:', 'de'],
    [
      'sources:',
      'console: {auth: {users: [{name: ann, role: operater, password_hash: x}]}}\nsources:',
      'operator',
    ],
    ['sources:', 'notify: {channels: {a: {kind: slak, url: "https://x.example"}}}\nsources:', 'slack'],
    [
      'sources:',
      'notify: {channels: {a: {kind: email, host: h, encryption: startls, from: a, to: b}}}\nsources:',
      'starttls',
    ],
    ['sources:', 'notify: {routes: [{severity: eror, channels: a}]}\nsources:', 'error'],
    ['sources:', 'notify: {routes: [{problems: [doubt], channels: a}]}\nsources:', 'doubts'],
    ['kind: attribute-orders', 'kind: identify-customers\n    consent: requierd', 'required'],
    ['kind: attribute-orders', 'kind: identify-customers\n    lookup: realtime', 'real_time'],
    ['kind: attribute-orders', 'kind: identify-customers\n    lookup: {mode: reel_time}', 'real_time'],
    ['kind: attribute-orders', 'kind: submit-outreach\n    platform: instagran', 'instagram'],
    ['kind: attribute-orders', 'kind: submit-outreach\n    verified: anny', 'any'],
    ['[paid, partially_refunded]', '[payed, partially_refunded]', 'paid'],
    ['[paid, partially_refunded]', '[paid, Partially Refundet]', 'partially_refunded'],
  ];

  test.each(SETTINGS)('%s: %s gets the right word as a suggestion', (line, wrong, meant) => {
    const text = SPECIFIED.replace(line, wrong);
    expect(text).not.toBe(SPECIFIED);
    expect(problemsOf(text).map(({ help }) => help)).toContainEqual(
      expect.stringContaining(`Did you mean "${meant}"?`),
    );
  });

  test('must be in the list of this test, also if it is new', () => {
    const lists = [...pipelineJsonSchema(jobKinds).matchAll(/"enum": \[([^\]]*)\]/g)].map(
      ([, words = '']) => words,
    );
    // A mark such as "." cannot be misspelled.
    const spelled = lists.filter((words) => /\w/.test(words));
    const untried = spelled.filter((words) => !SETTINGS.some(([, , meant]) => words.includes(`"${meant}"`)));
    expect(lists.length).toBeGreaterThan(5);
    expect(untried).toEqual([]);
  });

  test('accepts status words of the shop unless they look like a misspelling', () => {
    const any = load(SPECIFIED.replace('[paid, partially_refunded]', 'any'));
    expect(any.jobs['attribute-orders']).toMatchObject({ include: 'any' });
    for (const include of ['bezahlt, teilweise erstattet', 'unpaid, on_hold', 'PAID', 'betaald'])
      expect(load(SPECIFIED.replace('paid, partially_refunded', include)).jobs).toBeDefined();
    const layout = 'status: {words: {payee: paid}, credited: [payed]}';
    writeFileSync(join(folder, 'layouts', 'shopify-orders.yaml'), layout);
    for (const include of ['payed', 'payee'])
      expect(load(SPECIFIED.replace('paid, partially_refunded', include)).jobs).toBeDefined();
    writeFileSync(join(folder, 'layouts', 'shopify-orders.yaml'), 'status: [');
    expect(load(SPECIFIED).jobs).toBeDefined();
  });
});

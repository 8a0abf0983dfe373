import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jobKinds } from '../../jobs/index.ts';
import { pipelineSchemaOf } from '../../src/config/schema.ts';
import { FIXTURES } from '../intake/orders/map/map-text.ts';
import { runHere } from '../support/run-here.ts';
import { startService } from '../support/sandbox-process.ts';
import { makeTestFolder } from '../support/setup.ts';

const OWN = `title: Book shop orders
lacks: [currency, time_zone]
columns: { order_id: [Order no.], status: [State], total: [Amount], codes: [Voucher], placed_at: [Date] }
required: [order_id, status, total, codes, placed_at]
signature: [[Order no., Voucher]]
money: { decimal: ",", thousands: "." }
times: [D.M.YYYY]
status: { known: [returned], credited: [paid] }
`;
const CONFIG = `api: { url: "\${INFLUENCER_API_URL:-}", key: "\${INFLUENCER_API_KEY:-}" }
database: { url: "\${DATABASE_URL:-}" }
customers: { hash_key: "\${CUSTOMER_HASH_KEY:-}" }
sources:
  shop: { uri: ./exports/, layout: book-shop, order_platform: book-shop, currency: EUR, time_zone: Europe/Berlin }
jobs:
  orders: { kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv }
`;

function open(codes = 'code,influencer_handle\nMIA10,@mia\n') {
  const folder = makeTestFolder();
  for (const name of ['layouts', 'exports']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'layouts/book-shop.yaml'), OWN);
  writeFileSync(join(folder, 'pipeline.yaml'), CONFIG);
  writeFileSync(join(folder, 'codes.csv'), codes);
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    runHere([...args, '--config', 'pipeline.yaml'], { cwd: folder, env });
  return { folder, run };
}

function eventsOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('layouts lists the layouts of the project and of the deployment, with the settings that a source needs', async () => {
  const { run } = open();
  const { stdout } = await run(['layouts']);
  expect(stdout).toMatch(/book-shop \(own\)\s+orders\s+currency, time_zone\s+Book shop orders/);
  expect(stdout).toMatch(/^shopify-orders\s+orders\s+Shopify orders export/m);
  const events = eventsOf((await run(['layouts', '--json'])).stdout);
  expect(events.find(({ name }) => name === 'brevo')).toMatchObject({ subject: 'customers', is_own: false });
});

test('layouts test shows fields, rows, errors and unread columns, without a configuration', async () => {
  const { stdout, exitCode } = await runHere([
    'layouts',
    'test',
    new URL('wix-orders.csv', FIXTURES).pathname,
  ]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('wix-orders: Wix orders export, read for orders.');
  expect(stdout).toMatch(/codes\s+Coupon code/);
  expect(stdout).toMatch(/columns not read: "Fulfill by"/);
  expect(stdout).toMatch(/10041\s+2026-02-08 09:15:51\s+1,044\.97 EUR\s+ADA10/);
  expect(stdout).not.toContain('@');
});

test('init says which column of an export of the generic shape may be a renamed one', async () => {
  const folder = makeTestFolder();
  mkdirSync(join(folder, 'exports'));
  const header = 'order_id,order_revenue,currency,status,placed_at,discount_codes,refund_total';
  writeFileSync(
    join(folder, 'exports/orders.csv'),
    `${header}\n1,50.00,USD,paid,2026-10-03T10:00:00Z,M,1.00\n`,
  );
  const answers = ['--yes', '--brand', '7', '--dry-run'];
  const { stdout, stderr } = await runHere(['init', './exports', ...answers], { cwd: folder });
  expect(stderr).not.toContain('bug');
  expect(stdout).toContain('It has "refund_total", which the layout does not read.');
});

test('layouts test reports what a named layout cannot read', async () => {
  const { folder, run } = open();
  const rows =
    'Order no.;Date;State;Amount;Voucher\nB-1;4.5.2026;paid;1.249,00;MIA10\nB-2;5.5.2026;paid;twenty;MIA10\n';
  writeFileSync(join(folder, 'exports/o.csv'), rows);
  const { exitCode, stdout } = await run([
    'layouts',
    'test',
    'exports/o.csv',
    '--layout',
    'book-shop',
    '--currency',
    'EUR',
  ]);
  expect(exitCode).toBe(3);
  expect(stdout).toContain('1 row cannot be used, the first on line 3, column "Amount"');
  const wrong = await run(['layouts', 'test', 'exports/o.csv', '--layout', 'shopify-orders']);
  expect(wrong.exitCode).toBe(3);
  expect(wrong.stderr).toMatch(/Column "?Name|lacks|missing/i);
  const missing = await run(['layouts', 'test', 'exports/o.csv', '--layout', 'no-such']);
  expect(missing.exitCode).toBe(2);
});

test('layouts test accepts no row that a run rejects or holds: other decimals, dates that may begin with day or month', async () => {
  const { folder, run } = open();
  const show = async (rows: string, config = CONFIG, layout = OWN) => {
    writeFileSync(join(folder, 'layouts/book-shop.yaml'), layout);
    writeFileSync(join(folder, 'pipeline.yaml'), config);
    writeFileSync(join(folder, 'exports/o.csv'), `Order no.;Date;State;Amount;Voucher\n${rows}`);
    const { stdout, exitCode } = await run(['layouts', 'test', 'exports/o.csv']);
    expect(exitCode).toBe(3);
    expect(stdout).not.toContain('To be credited');
    return stdout;
  };
  const points = 'B-1;14.5.2026;paid;1,249.00;MIA10\nB-2;15.5.2026;paid;20.00;MIA10\n';
  const other = await show(points);
  expect(other).toContain('The layout does not fit these files: amounts are written with a decimal point.');
  expect(other).toContain('2 rows cannot be used');
  const rows = 'B-1;4.5.2026;paid;20,00;MIA10\nB-2;5.5.2026;paid;30,00;MIA10\n';
  const iso = OWN.replace('times: [D.M.YYYY]', 'times: [D/M/YYYY, M/D/YYYY]');
  expect(await show(rows.replaceAll('.', '/'), CONFIG, iso)).toMatch(/held: 2 orders/);
});

test('layouts test decides about orders by the job of the configuration that reads this layout, and by default settings if there is none', async () => {
  const { folder, run } = open();
  const rows =
    'Order no.;Date;State;Amount;Voucher\nB-1;4.5.2026;paid;10,00;MIA10\nB-2;5.5.2026;sent;20,00;MIA10\nB-3;5.5.2026;paid;0,00;MIA10\n';
  writeFileSync(join(folder, 'exports/o.csv'), rows);
  const test = ['layouts', 'test', 'exports/o.csv'];
  const { stdout } = await run(test);
  expect(stdout).toContain('As the job orders of the configuration decides:');
  expect(stdout).toContain(
    'To be credited, once their codes, links or influencers have an owner: 1 order, 10.00 EUR.',
  );
  expect(stdout).toContain('1 order, 20.00 EUR: status "sent" is not known');
  expect(stdout).toContain('Never posted: zero revenue (1).');
  writeFileSync(join(folder, 'pipeline.yaml'), CONFIG.replace('codes: ', 'include: [sent], codes: '));
  expect((await run(test)).stdout).toContain('have an owner: 1 order, 20.00 EUR.');
  writeFileSync(join(folder, 'pipeline.yaml'), 'sources: 7\n');
  const alone = await run([
    ...test,
    '--layout',
    'book-shop',
    '--currency',
    'EUR',
    '--time-zone',
    'Europe/Berlin',
  ]);
  expect(alone.stdout).toContain('As a job with the default settings decides:');
  expect(alone.stdout).toContain('have an owner: 1 order, 10.00 EUR.');
  expect(alone.stdout).toMatch(/B-1\s+2026-05-03 22:00:00\s+10\.00 EUR/);
});

test('codes check looks up owners and brands at the service before anything is posted', async () => {
  const service = await startService();
  const env = { INFLUENCER_API_URL: service.url, INFLUENCER_API_KEY: service.key };
  const header = 'code,brand_id,influencer_handle,deal_id';
  const good = open(`${header}\nMIRA10,,mira.glow.test,ETUNQ6ZTW1\nJONAS15,,@jonas.trail.test,\n`);
  const fine = await good.run(['codes', 'check'], env);
  expect(fine.stdout.replace(/\s+/g, ' ')).toContain('The service knows the owners of 2 of 2 rows');
  expect(fine.exitCode).toBe(0);
  const bad = open(
    `${header}\nA1,,nobody.test,\nB1,,,NODEAL1234\nC1,999,mira.glow.test,\nD1,,jonas.trail.test,ETUNQ6ZTW1\nSHOPONLY,,mira.glow.test,\n`,
  );
  const { exitCode, stdout } = await bad.run(['codes', 'check', '--json'], env);
  expect(exitCode).toBe(2);
  const findings = eventsOf(stdout).filter(({ event }) => event === 'finding');
  expect(findings.map(({ status, what }) => `${String(status)}: ${String(what)}`)).toEqual([
    'problem: line 2, influencer_handle "nobody.test": The service knows no such deal.',
    'problem: line 3, deal_id "NODEAL1234": The service knows no such deal.',
    'problem: line 4, brand_id "999": The account has no such brand.',
    'problem: line 5, influencer_handle "jonas.trail.test": The deal ETUNQ6ZTW1 is that of mira.glow.test.',
    expect.stringMatching(/^warning: line 5, code "D1": The deal has other codes/),
    expect.stringMatching(
      /^warning: line 6, code "SHOPONLY": The deal has other codes at the service: MIRA10/,
    ),
    'warning: The service knows the owners of 1 of 5 rows.',
  ]);
  expect(await service.referrals()).toEqual([]);
});

test('config show prints the origin of every setting and no secret', async () => {
  const { run } = open();
  const secrets = {
    INFLUENCER_API_KEY: 'secret-key-1',
    DATABASE_URL: 'postgres://me:secret-2@db.example:5432/x',
    CUSTOMER_HASH_KEY: 'secret-3'.padEnd(40, '0'),
  };
  const { stdout, stderr, exitCode } = await run(['config', 'show'], {
    ...secrets,
    INFLUENCER_API_URL: 'http://127.0.0.1:1',
  });
  expect(exitCode).toBe(0);
  expect(`${stdout}${stderr}`).not.toMatch(/secret-/);
  expect(stdout).toContain('api.url: http://127.0.0.1:1  (environment (INFLUENCER_API_URL))');
  expect(stdout).toContain('api.key: (set, not shown)  (environment (INFLUENCER_API_KEY))');
  expect(stdout).toMatch(/database\.url: .*db\.example.*\(environment \(DATABASE_URL\)\)/);
  expect(stdout).toContain('api.concurrency: 4  (default)');
  expect(stdout).toContain('sources.shop.currency: EUR  (file)');
  expect(stdout).toContain('jobs.orders.brand_id: 4819  (file)');
  expect(stdout).toContain('jobs.orders.revenue: total  (default)');
  const none = await run(['config', 'show']);
  expect(none.stdout).toContain('api.key: (not set)  (file (INFLUENCER_API_KEY not set))');
  const shown = new Set(stdout.split('\n').flatMap((line) => /^(\w+)\.[\w.-]+: /.exec(line)?.[1] ?? []));
  expect([...shown].toSorted(), 'a section of pipeline.yaml is missing').toEqual(
    Object.keys(pipelineSchemaOf(jobKinds).shape).toSorted(),
  );
});

test('config show prints who may use the console, but no hashes or secrets', async () => {
  const { folder } = open();
  writeFileSync(
    join(folder, 'console.yaml'),
    `sources: {}
jobs: {}
console:
  url: https://ops.example.com
  auth:
    users: [{name: ann, password_hash: planted}]
    oidc: {issuer: "https://login.example.com", client_id: us, client_secret: planted, viewers: ["*"]}
`,
  );
  const { stdout, exitCode } = await runHere(['config', 'show', '--config', 'console.yaml'], { cwd: folder });
  expect(exitCode).toBe(0);
  expect(stdout).not.toContain('planted');
  expect(stdout).toContain('console.auth.users: (set, not shown)  (file)');
  expect(stdout).toContain('console.auth.oidc.client_secret: (set, not shown)  (file)');
  expect(stdout).toContain('console.auth.oidc.client_id: us  (file)');
  expect(stdout).toContain('console.auth.tokens: (not set)  (default)');
});

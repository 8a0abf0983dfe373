import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { encode } from 'iconv-lite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { performInit } from '../../src/cli/init/perform-init.ts';
import { createOutput } from '../../src/cli/terminal/output.ts';
import { replaceEnvironment } from '../support/environment.ts';
import { environmentOf } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { startService } from '../support/sandbox-process.ts';
import { makeTestFolder, setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

const DEMO = new URL('../../config/demo/exports', import.meta.url).pathname;
const WOO = [
  'order_id,status,order_currency,order_total,coupon_codes,order_date,customer_email,refunded_total',
  '71,completed,EUR,44.00,MIRA10,4/25/2026 10:00,ada@example.com,',
  '72,processing,EUR,12.50,OTHER5,4/26/2026 11:00,bob@example.com,',
  '73,cancelled,EUR,9.00,MIRA10,4/27/2026 12:00,cy@example.com,',
  '',
].join('\n');

/** Creates a folder with exports and a way to run the tool in it. */
function open(files: Readonly<Record<string, string>> = { 'orders.csv': WOO }) {
  const folder = makeTestFolder();
  mkdirSync(join(folder, 'exports'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'exports', name), text);
  return {
    folder,
    run: (args: readonly string[], env: Record<string, string> = {}) => runHere(args, { cwd: folder, env }),
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
  };
}

const ANSWERS = ['--brand', '4819', '--time-zone', 'Europe/Amsterdam', '--yes'];

function eventsOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('the files that init writes for real exports pass doctor and plan, and the first run posts orders to the service', async () => {
  const { folder, databaseUrl } = await setup();
  cpSync(DEMO, join(folder, 'exports'), { recursive: true });
  const service = await startService();
  const env = {
    DATABASE_URL: databaseUrl,
    INFLUENCER_API_URL: service.url,
    INFLUENCER_API_KEY_FILE: join(folder, 'key'),
    CUSTOMER_HASH_KEY: '0123456789abcdef0123456789abcdef',
  };
  writeFileSync(join(folder, 'key'), `${service.key}\n`);
  const run = (...args: string[]) => runHere(args, { cwd: folder, env });
  const init = await run('init', './exports', '--out', 'my-shop', ...ANSWERS);
  expect(init.stdout).not.toContain('were not looked up');
  expect(init.stdout).toContain('MIRA10 is a code of deal ETUNQ6ZTW1, of mira.glow.test.');
  expect([init.exitCode, init.stderr.match(/error/i)]).toEqual([3, null]); // Some rows are unusable.
  expect(init.stdout).toContain(
    'Next:  npx influencer-sync plan attribute-orders --config my-shop/pipeline.yaml',
  );
  const written = readFileSync(join(folder, 'my-shop/pipeline.yaml'), 'utf8');
  for (const kind of [
    'attribute-orders',
    'identify-customers',
    'post-clicks',
    'import-deals',
    'mirror-account',
  ])
    expect(written).toContain(`  ${kind}:`);
  // The service finds owners by their codes. The row of a code from another brand names that brand.
  const codes = readFileSync(join(folder, 'my-shop/codes.csv'), 'utf8');
  expect(codes).toContain('MIRA10,,mira.glow.test,ETUNQ6ZTW1,,,');
  expect(codes).toContain('pilar10,5207,pilar.plants.test,KT4IHW6M0Q,,,');
  expect(readFileSync(join(folder, 'my-shop/codes-without-owner.csv'), 'utf8')).toContain('SPRINGSALE,,,,,,');
  // The account's dealflows of the brand are offered, and none is chosen.
  expect(written).toMatch(/^ {4}# dealflow_id: D_FSSI4P #/m);

  const config = ['--config', 'my-shop/pipeline.yaml'];
  const before = await run('doctor', ...config);
  expect([before.exitCode, before.stdout.match(/^✗.*/gm)]).toEqual([
    2,
    [expect.stringContaining('The account was never mirrored')],
  ]);
  expect((await run('run', 'mirror-account', ...config)).exitCode).toBe(0);
  const doctor = await run('doctor', ...config);
  expect([doctor.exitCode, doctor.stdout.match(/^✗.*/m)]).toEqual([0, null]);
  const plan = await run('plan', 'attribute-orders', ...config);
  expect(plan.stdout).toContain('would be posted');
  const ended = await run('run', 'attribute-orders', ...config);
  expect(ended.exitCode).toBe(3); // Some rows of the demo are rejected.
  expect((await service.referrals()).length).toBeGreaterThan(30);
  const check = await run('init', '--check', ...config);
  expect([check.exitCode, check.stdout.match(/^✗.*/m)]).toEqual([0, null]);
});

test('without a terminal, each missing answer is an error that names its flag, and nothing is written', async () => {
  const { folder, run } = open();
  const { exitCode, stdout, stderr } = await run(['init', './exports', '--out', 'shop']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('--brand ID');
  expect(stderr).toContain('--time-zone ZONE');
  expect(stderr).toContain('--yes');
  expect(stdout).toContain('woocommerce-orders: 1 file, WooCommerce order export');
  expect(stdout).not.toContain('@');
  expect(existsSync(join(folder, 'shop'))).toBe(false);
});

test('an answer for an unknown source is an error that lists the sources that were found', async () => {
  const { folder, run } = open();
  const { exitCode, stderr } = await run([
    'init',
    './exports',
    '--out',
    'shop',
    ...ANSWERS,
    '--platform',
    'uk=x',
  ]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('the source "uk", which was not found')]);
  expect(stderr).toContain('Sources found: woocommerce-orders.');
  expect(existsSync(join(folder, 'shop'))).toBe(false);
});

test('the preview shows the credited states, the revenue of codes and the orders that would be posted', async () => {
  const { run } = open();
  const { stdout } = await run(['init', './exports', '--out', 'shop', ...ANSWERS]);
  expect(stdout).toContain(
    '3 orders in 3 rows, 2026-04-25 to 2026-04-27.\n  To be credited, once their codes, links or influencers have an owner: 2 orders, 56.50 EUR.',
  );
  expect(stdout).toContain('Orders with these states are credited: completed (1), processing (1).');
  expect(stdout).toContain('Never posted: cancelled (1).');
  expect(stdout).toMatch(/MIRA10\s+1\s+44\.00 EUR/);
  expect(stdout).toMatch(/71\s+2026-04-25 08:00:00\s+44\.00 EUR\s+MIRA10/);
});

test('a second run overwrites nothing and shows its changes', async () => {
  const { folder, run, read } = open();
  await run(['init', './exports', '--out', 'shop', ...ANSWERS]);
  const edited = read('shop/pipeline.yaml').replace('revenue: total', 'revenue: subtotal');
  writeFileSync(join(folder, 'shop/pipeline.yaml'), edited);
  writeFileSync(join(folder, 'shop/codes.csv'), 'code,influencer_handle\nMIRA10,@mira\n');
  const again = await run(['init', './exports', '--out', 'shop', ...ANSWERS, '--currency', 'EUR']);
  expect(again.exitCode).toBe(0);
  expect(again.stdout).toContain('pipeline.yaml: already exists and is kept; these lines would change:');
  expect(again.stdout).toContain('-    revenue: subtotal');
  expect(again.stdout).toContain('+    revenue: total');
  expect(again.stdout).toContain('.env.example: already exists, unchanged');
  expect(read('shop/pipeline.yaml')).toBe(edited);
  expect(read('shop/codes.csv')).toBe('code,influencer_handle\nMIRA10,@mira\n');
});

test('a proposed layout and a modified one are written, can be loaded, and read the files in a plan', async () => {
  const own =
    'Order No;Datum;Zustand;Betrag;Gutschein\nB-1;14.05.2026;bezahlt;1.249,00;MIA10\nB-2;15.05.2026;storniert;20,00;MIA10\n';
  const woo = WOO.replaceAll('44.00', '"1.044,00"')
    .replaceAll('12.50', '"12,50"')
    .replaceAll('9.00', '"9,00"');
  const { run, read } = open({ 'own.csv': own, 'woo.csv': woo });
  const { databaseUrl } = await setup();
  const init = await run(['init', './exports', '--out', '.', ...ANSWERS, '--currency', 'EUR']);
  expect([init.exitCode, init.stderr.match(/error/i)]).toEqual([0, null]);
  expect(read('layouts/own.yaml')).toContain('order_id: ["Order No"]');
  // The changed copy states only what differs.
  expect(read('layouts/woocommerce-orders-own.yaml').split('\n').slice(1)).toEqual([
    'extends: woocommerce-orders',
    'money: { decimal: ",", thousands: ., symbols: true }',
    '',
  ]);
  expect(read('codes.csv') + read('codes-without-owner.csv')).not.toContain('\r');
  const plan = await run(['plan', 'attribute-orders', '--config', 'pipeline.yaml'], {
    DATABASE_URL: databaseUrl,
  });
  expect(plan.stdout).toContain('5 orders');
  expect(plan.stderr).not.toMatch(/held|cannot/);
});

test('the check reports if the newest file is another export or uses another format', async () => {
  const { folder, run } = open();
  await run(['init', './exports', '--out', 'shop', ...ANSWERS]);
  const config = ['--config', 'shop/pipeline.yaml'];
  expect((await run(['init', '--check', ...config])).exitCode).toBe(0);
  writeFileSync(
    join(folder, 'exports/orders.csv'),
    WOO.replaceAll(/(\d)\.(\d\d),/g, '$1;$2,').replaceAll(/(\d+);(\d\d),/g, '"$1,$2",'),
  );
  const commas = await run(['init', '--check', ...config]);
  expect(commas.exitCode).toBe(2);
  expect(commas.stdout.replace(/\s+/g, ' ')).toContain('amounts are written with a decimal comma');
  const shopify =
    'Name,Financial Status,Currency,Total,Discount Code,Created at\n#1,paid,EUR,2.00,A,2026-04-10 11:11:26 +0200\n';
  writeFileSync(join(folder, 'exports/orders.csv'), shopify);
  const other = await run(['init', '--check', ...config]);
  expect(other.exitCode).toBe(2);
  expect(other.stdout.replace(/\s+/g, ' ')).toContain('it is Shopify orders export');
});

test.each([
  [['--time-zone', 'Mars/Olympus'], 'IANA'],
  [['--currency', 'EURO'], 'ISO 4217'],
  [['--date-order', 'YMD'], 'MDY or DMY'],
  [['--brand', 'acme'], 'whole number'],
])('an invalid answer is rejected before anything is written: %s', async (flags, why) => {
  const { folder, run } = open({ 'woo.csv': WOO.replaceAll('EUR', '') });
  const given = ['--brand', '4819', '--time-zone', 'UTC', '--currency', 'EUR', ...flags, '--yes'];
  const { exitCode, stderr } = await run(['init', './exports', '--out', 'shop', ...given]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(why);
  expect(existsSync(join(folder, 'shop'))).toBe(false);
});

test('without a recognized file, the error gives each reason once, with its files', async () => {
  const goods = 'Product,SKU,Price\nHat,H-1,2.00\n';
  const { run } = open({ 'more.csv': goods, 'products.csv': goods });
  const { exitCode, stdout, stderr } = await run(['init', './exports']);
  expect(exitCode).toBe(2);
  expect(stdout).toContain('more.csv, products.csv: Judging by the names');
  expect(stderr).toContain('No file here is an export');
  expect((await run(['init'])).stderr).toContain('npx influencer-sync init ./exports');
});

/** Creates a terminal that a test types into. */
function openTerminal() {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  let shown = '';
  const output = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        shown += chunk.toString();
        done();
      },
    }),
    { isTTY: true, columns: 100, rows: 40 },
  );
  return {
    asking: { input: input as unknown as NodeJS.ReadStream, output: output as unknown as NodeJS.WriteStream },
    shown: () => shown,
    async answer(question: string, keys: string): Promise<void> {
      await waitFor(() => shown.includes(question));
      input.write(keys);
    },
  };
}

test('on a terminal, init asks only for what the files do not contain, and the user may decline', async () => {
  const { folder } = open();
  const restore = replaceEnvironment(environmentOf({}));
  onTestFinished(restore);
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  const said = new PassThrough({ encoding: 'utf8' });
  const output = createOutput({ stdout: sink, stderr: said, json: false });
  const init = async (last: string) => {
    const terminal = openTerminal();
    const ended = performInit(
      output,
      [join(folder, 'exports')],
      { out: join(folder, 'shop') },
      terminal.asking,
    );
    await terminal.answer('To which brand', '4819\r');
    await terminal.answer('In which time zone', 'Nowhere\r');
    await terminal.answer('IANA list', '\u0015Europe/Amsterdam\r');
    await terminal.answer('shop platform', '\r');
    await terminal.answer('Write these', last);
    expect(terminal.shown()).not.toContain('currency');
    return ended;
  };
  expect(await init('n')).toBe(130);
  expect(said.read()).toContain('Nothing was written.');
  expect(existsSync(join(folder, 'shop'))).toBe(false);
  expect(await init('y')).toBe(0);
  const written = readFileSync(join(folder, 'shop/pipeline.yaml'), 'utf8');
  expect(written).toContain('time_zone: Europe/Amsterdam');
  expect(written).toContain('order_platform: woocommerce');
});

describe('init --json', () => {
  test('prints sources, files and the next command as events, without a question', async () => {
    const { run } = open({ 'orders.csv': WOO, 'products.csv': 'Product,SKU,Price\nHat,H-1,2.00\n' });
    const { exitCode, stdout } = await run(['init', './exports', '--out', 'shop', ...ANSWERS, '--json']);
    const events = eventsOf(stdout);
    expect(exitCode).toBe(0);
    expect(events.find(({ event }) => event === 'source')).toMatchObject({
      name: 'woocommerce-orders',
      layout: 'woocommerce-orders',
      path: 'orders*.csv',
      proposed: false,
    });
    expect(events.find(({ event }) => event === 'file_refused')).toMatchObject({ name: 'products.csv' });
    expect(events.at(-1)).toMatchObject({
      event: 'init_finished',
      next: 'npx influencer-sync plan attribute-orders --config shop/pipeline.yaml',
    });
    expect(stdout).not.toContain('@');
  });
});

test('init says so if the folder that it is to write into is a file', async () => {
  const { run, read } = open({ 'orders.csv': WOO });
  const { exitCode, stderr } = await run(['init', 'exports', '--out', 'exports/orders.csv', ...ANSWERS]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('pipeline.yaml could not be written (EEXIST).');
  expect(read('exports/orders.csv')).toBe(WOO);
});

test('the preview of init reads dates in the order that is stated, and counts customers without an address', async () => {
  const header = 'Order No,Total,Discount Code,Order Date';
  const files = {
    'orders.csv': `${header}\nA-1,20.00,MIA10,02/03/2026 09:12\nA-2,21.00,MIA10,05/03/2026 11:05\n`,
    'people.csv': 'E-Mail-Adresse,Vorname\nann@example.com,Ann\n,Bob\n,Cy\n',
  };
  const { run, read } = open(files);
  const args = [
    'init',
    'exports',
    '--out',
    'shop',
    '--currency',
    'EUR',
    '--consent',
    'not_recorded',
    '--status',
    'any',
    ...ANSWERS,
  ];
  const { stdout } = await run([...args, '--date-order', 'DMY']);
  expect(stdout).toContain('2026-03-02 to 2026-03-05.');
  expect(stdout).toMatch(/To be credited, .*: 2 orders, 41\.00 EUR\./);
  expect(stdout).not.toContain('if the month is first');
  expect(read('shop/pipeline.yaml')).toContain('date_order: DMY');
  expect(stdout).toContain(
    '3 rows: 1 customer to be submitted.\n  Rows not submitted, by reason: 2 without an address.',
  );
});

test('init asks what an unclear column is, writes nothing without an answer, and takes the answer from an option', async () => {
  const rows = ['1,20.00,MIRA10,paid,0.00', '2,30.00,JOE20,paid,7.50', '3,5.00,,paid,0.00'];
  const { folder, run, read } = open({
    'o.csv': ['Order No,Total,Coupon,Status,Tagastus', ...rows].join('\n'),
  });
  const args = ['init', 'exports', '--out', 'shop', '--currency', 'EUR', ...ANSWERS];
  const asked = await run(args);
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr.replace(/\s+/g, ' ')).toContain(
    '--column "Tagastus=ROLE" o.csv: what is this column? it has amounts below the total, as refunds, fees or parts of a payment have (0.00, 7.50) Roles: ',
  );
  expect(asked.stderr).not.toContain('--brand ID');
  expect(existsSync(join(folder, 'shop'))).toBe(false);
  const answered = await run([...args, '--column', 'Tagastus=refunded']);
  expect(answered.exitCode).toBe(0);
  expect(read('shop/layouts/o.yaml')).toContain('refunded: ["Tagastus"]');
  expect(answered.stdout).toMatch(/Tagastus\s+refunded\s+as you said/);
  const swapped = await run([...args.with(3, 'swapped'), '--column', 'refunded=Tagastus']);
  expect([swapped.exitCode, read('swapped/layouts/o.yaml')]).toEqual([0, read('shop/layouts/o.yaml')]);
  const wrong = await run([...args, '--column', 'Tagastus=nothing']);
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('COLUMN=ROLE')]);
});

test('without a terminal, one run names all that is open or wrong, and its command line, filled in, answers it', async () => {
  const { folder, run, read } = open({
    'o.csv': [
      'Ref,Kasse,Total,Coupon,Tagastus,State,Date',
      '1,A7,20.00,MIRA10,0.00,paid,2026-10-01 10:00',
      '2,B8,30.00,JOE20,7.50,afgehaald,2026-10-02 10:00',
      '3,C9,5.00,,0.00,paid,2026-10-03 11:00',
      '',
    ].join('\n'),
    'people.csv': 'E-Mail-Adresse,Vorname\nann@example.com,Ann\n',
  });
  const asked = await run(['init', 'exports', '--out', 'shop', '--column', 'Nix=total', '--brand', 'acme']);
  const said = asked.stderr.replace(/\s+/g, ' ');
  for (const one of [
    '--column "nix=total" --column names "nix", which is in no file',
    '--brand acme --brand: The id of a brand is a whole number.',
    '--column COLUMN=order_id o.csv: which column has the role order_id? Its name does not say so. By the values, it may be "Ref" or "Kasse".',
    '--column "Tagastus=ROLE"',
    '--time-zone ZONE In which time zone are the times of o?',
    '--currency CODE',
    '--consent not_recorded people does not say who has consented.',
    '--paid "State=WORD" (may be left out) Which words of the column "State" of o mean that an order was paid? No list knows "afgehaald".',
    '--yes Write the files?',
  ])
    expect(said).toContain(one);
  const [line = ''] = /npx influencer-sync init .*/.exec(asked.stderr) ?? [];
  expect(line).toBe(
    'npx influencer-sync init exports --out shop --column COLUMN=order_id --column "Tagastus=ROLE" --paid "State=WORD" --brand ID --time-zone ZONE --currency CODE --consent ANSWER --yes',
  );
  // As it is, it says nothing that only a person knows.
  const typed = line
    .split(' ')
    .slice(2)
    .map((word) => word.replaceAll('"', ''));
  expect((await run(typed)).exitCode).toBe(2);
  expect(existsSync(join(folder, 'shop'))).toBe(false);
  const answers = {
    COLUMN: 'Ref',
    ID: '4819',
    ZONE: 'UTC',
    CODE: 'EUR',
    ANSWER: 'not_recorded',
    ROLE: 'refunded',
    WORD: 'afgehaald',
  };
  const filled = typed.map((word) =>
    Object.entries(answers).reduce((text, [from, to]) => text.replace(from, to), word),
  );
  expect((await run(filled)).exitCode).toBe(0);
  expect(read('shop/layouts/o.yaml')).toContain('order_id: ["Ref"]');
});

test('on a terminal, init asks about columns and encodings of files, and reads them again', async () => {
  const { folder } = open({
    'o.csv': 'Order No,Total,Coupon,Status,Tagastus\n1,20.00,MIRA10,paid,0.00\n2,30.00,,paid,7.50\n',
    'clicks.csv': 'page_location,clicks\nhttps://shop.test/?ref=mia,4\n',
  });
  onTestFinished(replaceEnvironment(environmentOf({})));
  const printed: string[] = [];
  const sink = (to: string[]) =>
    new Writable({
      write(chunk, _encoding, done) {
        to.push(String(chunk));
        done();
      },
    });
  const output = createOutput({ stdout: sink(printed), stderr: sink([]), json: false });
  const terminal = openTerminal();
  const ended = performInit(
    output,
    [join(folder, 'exports')],
    { out: join(folder, 'shop'), currency: new Map([['', 'EUR']]), brand: new Map([['', '4819']]) },
    terminal.asking,
  );
  await terminal.answer('What is the column "Tagastus"', '\r');
  await terminal.answer('shop platform', '\r');
  await terminal.answer('Write these', 'y');
  expect(await ended).toBe(0);
  // What is offered first takes no order for more than it is.
  expect(readFileSync(join(folder, 'shop/layouts/o.yaml'), 'utf8')).toContain(
    '{ reason: excluded, columns: ["Tagastus"]',
  );
  // After an answer, only what has changed is shown again.
  expect(printed.join('').match(/clicks\.csv: /g)).toHaveLength(1);
});

test('amounts that do not show their decimal mark are asked about, and read as a person says', async () => {
  const rows = ['1;1.000;MIRA10;paid', '2;1.250;JOE20;paid', '3;3.100;;paid'];
  const { folder, run, read } = open({ 'o.csv': ['Order No;Total;Coupon;Status', ...rows, ''].join('\n') });
  const args = ['init', 'exports', '--out', 'shop', '--currency', 'EUR', ...ANSWERS];
  const asked = await run(args);
  expect([asked.exitCode, asked.stderr.replace(/\s+/g, ' ')]).toEqual([
    2,
    expect.stringContaining('--decimal-mark .|, Which mark is before the decimals of amounts in o?'),
  ]);
  expect(asked.stdout).toContain('shown as if it is "."');
  expect(existsSync(join(folder, 'shop'))).toBe(false);
  const tested = await run(['layouts', 'test', 'exports/o.csv', '--layout', 'generic']);
  expect(tested.exitCode).not.toBe(0);
  const answered = await run([...args, '--decimal-mark', ',']);
  expect(answered.exitCode).toBe(0);
  expect(answered.stdout).toMatch(/JOE20 +1 +1,250\.00/);
  expect(read('shop/pipeline.yaml')).toContain('decimal_mark: ","');
  const checked = await run(['init', '--check', '--config', 'shop/pipeline.yaml']);
  expect([checked.exitCode, checked.stdout]).toEqual([0, expect.not.stringContaining('decimal_mark')]);
  writeFileSync(
    join(folder, 'shop/pipeline.yaml'),
    read('shop/pipeline.yaml').replace(/^.*decimal_mark.*$/m, ''),
  );
  const without = await run(['init', '--check', '--config', 'shop/pipeline.yaml']);
  expect([without.exitCode, without.stdout]).toEqual([2, expect.stringContaining('decimal_mark is missing')]);
});

test('the decimal mark is asked about if one file of several does not show it, and not if each does', async () => {
  const header = 'Order No;Total;Currency;Coupon;Status';
  const files = (second: string) => ({
    'o-1.csv': `${header}\n1;12.50;EUR;MIRA10;paid\n2;11.00;EUR;JOE20;paid\n`,
    'o-2.csv': `${header}\n3;${second};EUR;MIRA10;paid\n`,
  });
  const exitCode = async (all: Readonly<Record<string, string>>) =>
    (await open(all).run(['init', 'exports', '--out', 'shop', ...ANSWERS])).exitCode;
  expect(await exitCode(files('1.250'))).toBe(2);
  expect(await exitCode(files('1,250.00'))).toBe(0);
});

const PEOPLE = [
  'Mail,Newsletter,Unsubscribed via,Company',
  'a@example.com,yes,,Acme',
  'b@example.com,yes,web,Acme',
  'c@example.com,yes,no,Umbrella',
  '',
].join('\n');

test('a second column that smells of refusal is read as one and said, and --column says otherwise', async () => {
  const { run, read } = open({ 'people.csv': PEOPLE });
  const args = ['init', 'exports', ...ANSWERS];
  const assumed = await run([...args, '--out', 'a']);
  expect(assumed.exitCode).toBe(0);
  expect(assumed.stdout).toContain('2 customers to be submitted');
  expect(assumed.stdout).toContain('CUSTOMER_HASH_KEY');
  expect(assumed.stdout).toContain(
    '"Unsubscribed via" is read as a refusal: its name says that it takes permission away, so whoever has text in it is not submitted. If it means something else:  --column "Unsubscribed via=unused"',
  );
  expect(assumed.stdout).toMatch(/Company\s+not used\s+its name says nothing about consent/);
  const stated = await run([...args, '--out', 'b', '--column', 'Unsubscribed via=unused']);
  expect(stated.stdout).toContain('3 customers to be submitted');
  expect(stated.stdout).not.toContain('is read as a refusal');
  expect(read('b/layouts/people.yaml')).toContain('{ columns: ["Unsubscribed via"], not_blank: true }');
  const agreed = await run([...args, '--out', 'c', '--column', 'Unsubscribed via=excludes']);
  expect(agreed.stdout).toContain('2 customers to be submitted');
  expect(agreed.stdout).not.toContain('is read as a refusal');
});

test('a role that has no effect on a column is refused', async () => {
  const { folder, run } = open({ 'people.csv': PEOPLE });
  const args = ['init', 'exports', '--out', 'shop', ...ANSWERS];
  const misused = await run([...args, '--column', 'Company=codes']);
  expect([misused.exitCode, misused.stderr.replace(/\s+/g, ' ')]).toEqual([
    2,
    expect.stringContaining('the role codes has no effect in a file of customers'),
  ]);
  const absent = await run([...args, '--column', 'Compny=unused']);
  expect([absent.exitCode, absent.stderr.replace(/\s+/g, ' ')]).toEqual([
    2,
    expect.stringContaining('"compny", which is in no file'),
  ]);
  expect(existsSync(join(folder, 'shop'))).toBe(false);
});

test('on a terminal, init asks about a second column that smells of refusal', async () => {
  const { folder } = open({ 'people.csv': PEOPLE });
  onTestFinished(replaceEnvironment(environmentOf({})));
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = createOutput({ stdout: sink(), stderr: sink(), json: false });
  const terminal = openTerminal();
  const ended = performInit(
    output,
    [join(folder, 'exports')],
    { out: join(folder, 'shop'), brand: new Map([['', '4819']]) },
    terminal.asking,
  );
  // The refusal is offered first, and the fourth role is that the column does not matter.
  await terminal.answer('What is the column "Unsubscribed via"', '\u001b[B\u001b[B\u001b[B\r');
  await terminal.answer('Write these', 'y');
  expect(await ended).toBe(0);
  expect(readFileSync(join(folder, 'shop/layouts/people.yaml'), 'utf8')).toContain('neither:');
});

test('orders without a status are written only if a person says that each of them counts', async () => {
  const { folder, run, read } = open({
    'o.csv': 'Order No,Total,Coupon\n1,20.00,MIRA10\n2,30.00,JOE20\n3,5.00,\n',
  });
  const args = ['init', 'exports', '--out', 'shop', '--currency', 'EUR', ...ANSWERS];
  const asked = await run(args);
  expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringContaining('--status any')]);
  expect(existsSync(join(folder, 'shop'))).toBe(false);
  expect((await run([...args, '--status', 'any'])).exitCode).toBe(0);
  expect(read('shop/pipeline.yaml')).toContain('    source: o\n    brand_id: 4819\n    include: any #');
});

test('a state that no list knows is held, and credited if a person says that it means paid', async () => {
  const { run, read } = open({
    'o.csv': 'Order No,Total,Coupon,Status\n1,20.00,MIRA10,afgehaald\n2,30.00,JOE20,paid\n3,5.00,,open\n',
  });
  const args = ['init', 'exports', '--currency', 'EUR', ...ANSWERS];
  const assumed = await run([...args, '--out', 'a']);
  expect([assumed.exitCode, assumed.stdout]).toEqual([
    3,
    expect.stringContaining('--paid "Status=afgehaald"'),
  ]);
  expect(assumed.stdout).toContain('1 order, 20.00 EUR: status "afgehaald" is not known');
  expect((await run([...args, '--out', 'b', '--paid', 'Afgehaald'])).exitCode).toBe(0);
  expect(read('b/layouts/o.yaml')).toContain('credited: ["afgehaald", "paid"]');
  const unseen = await run([...args, '--out', 'c', '--paid', 'opgehaald']);
  expect([unseen.exitCode, unseen.stderr]).toEqual([
    2,
    expect.stringContaining('"opgehaald", which is in no file'),
  ]);
  const { run: runTwo } = open({
    'o.csv': 'Order No,Total,Coupon,Betaald,Geleverd\n1,20.00,MIRA10,Ja,Ja\n2,30.00,JOE20,Nee,Ja\n',
  });
  const both = await runTwo([...args, '--column', 'Geleverd=other_status', '--out', 'a', '--paid', 'Ja']);
  expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('--paid "Geleverd=ja"')]);
});

test('whether renewals of subscriptions count is asked, shown and written, and a second run keeps it', async () => {
  const { run, read } = open({
    'box.csv':
      'Order No,Total,Status,Currency,Coupon,Type,Order Date (UTC)\n1,20.00,paid,EUR,MIRA10,New,2026-04-25 10:00\n2,30.00,paid,EUR,MIRA10,Renewal,2026-04-26 10:00\n',
  });
  const args = ['init', 'exports', '--brand', '4819', '--column', 'Type=renewals', '--yes'];
  const asked = await run(args);
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr.replace(/\s+/g, ' ')).toContain('1 order with a code, link or influencer renews');
  const unmarked = await run([
    'init',
    'exports',
    ...ANSWERS,
    '--column',
    'Type=unused',
    '--renewals',
    'exclude',
  ]);
  expect(unmarked.exitCode).toBe(2);
  expect(unmarked.stderr.replace(/\s+/g, ' ')).toContain('--renewals has no effect');
  const { stdout } = await run([...args, '--renewals', 'exclude']);
  expect(stdout).toContain('1 order, 20.00 EUR');
  expect(stdout).toContain('Never posted: renewal (1)');
  expect(read('pipeline.yaml')).toContain('    renewals: exclude');
  expect((await run(['init', 'exports', '--yes'])).stdout).toContain('Never posted: renewal (1)');
});

test('init says that a run would hold a file of which too many rows cannot be used', async () => {
  const rows = Array.from(
    { length: 24 },
    (_, at) => `${at},completed,EUR,${at % 3 === 0 ? 'x' : '1.00'},M10,4/25/2026 10:00,,`,
  );
  const { run } = open({ 'orders.csv': [WOO.split('\n')[0], ...rows, ''].join('\n') });
  const { exitCode, stdout } = await run(['init', 'exports', ...ANSWERS]);
  expect(exitCode).toBe(3);
  expect(stdout).toContain('8 of 24 rows cannot be used, more than the allowed 20 %');
  expect(stdout).not.toContain('To be credited');
});

test('the check reads an export below a title as a run does', async () => {
  const { run } = open({
    'o.csv':
      'Report\nSeller:,Zon\n,\nOrder No,Total,Status,Currency,Coupon,Order Date (UTC)\n1,20.00,paid,EUR,MIRA10,2026-04-25 10:00\n2,30.00,paid,EUR,,2026-04-26 10:00\n',
  });
  expect((await run(['init', 'exports', ...ANSWERS])).exitCode).toBe(0);
  expect((await run(['init', '--check'])).exitCode).toBe(0);
});

test('a source of which every order counts gets a job of its own, so that other sources still need a status', async () => {
  const { run, read } = open({
    'o.csv': 'Order No,Total,Coupon\n1,20.00,MIRA10\n2,30.00,JOE20\n',
    'woo.csv': WOO,
  });
  const args = ['init', 'exports', '--out', 'shop', '--currency', 'EUR', '--status', 'o=any', ...ANSWERS];
  expect((await run(args)).exitCode).toBe(0);
  const written = read('shop/pipeline.yaml');
  expect(written).toMatch(
    / {2}attribute-orders:\n.*\n {4}source: woocommerce-orders\n {4}brand_id: 4819\n {4}codes/,
  );
  expect(written).toMatch(
    / {2}attribute-orders-any-status:\n.*\n {4}source: o\n {4}brand_id: 4819\n {4}include: any/,
  );
  expect((await run(['doctor', '--config', 'shop/pipeline.yaml'])).stderr).not.toContain('config_invalid');
});

test('init shows the orders that a run would hold, with reason, amount and next step, and counts their codes', async () => {
  const held =
    '74,shipped,EUR,30.00,LENA5,4/28/2026 12:00,dee@example.com,\n75,completed,EUR,20.00,LENA5,4/28/2026 13:00,eve@example.com,-5.00\n';
  const { run, read } = open({
    'orders.csv': `${WOO}${held}76,completed,EUR,0.00,MIRA10,4/28/2026 14:00,flo@example.com,\n`,
  });
  const { exitCode, stdout } = await run(['init', './exports', '--out', 'shop', ...ANSWERS]);
  expect(exitCode).toBe(3);
  expect(stdout).toContain(
    'Held, until better data or your decision settles it: 2 orders, at least 30.00 EUR, 1 order unknown.',
  );
  expect(stdout).toContain('1 order, 30.00 EUR: status "shipped" is not known');
  expect(stdout).toContain(
    '1 order, unknown: refund out of range\n      The refunded amount is below zero, or above the total. Check the column of refunds in the layout',
  );
  expect(stdout).toContain('npx influencer-sync review --held');
  expect(stdout).toContain('Never posted: cancelled (1), zero revenue (1).');
  expect(stdout).toMatch(/LENA5\s+0\s+2\n/);
  expect(read('shop/codes-without-owner.csv')).toContain('LENA5');
});

test('shops of two brands get jobs of their own, and codes name their brand', async () => {
  const { folder, run, read } = open();
  for (const shop of ['nl', 'uk']) {
    mkdirSync(join(folder, 'exports', shop));
    writeFileSync(join(folder, 'exports', shop, 'orders.csv'), WOO.replaceAll('OTHER5', `OTHER${shop}`));
  }
  rmSync(join(folder, 'exports/orders.csv'));
  const args = ['init', 'exports', '--out', 'shop', '--time-zone', 'Europe/Amsterdam', '--yes'];
  const asked = await run(args);
  expect(asked.stderr.replace(/\s+/g, ' ')).toContain(
    'To which brand does woocommerce-orders belong? And uk-woocommerce-orders?',
  );
  const brands = ['--brand', '4819', '--brand', 'uk-woocommerce-orders=5207', '--owner', 'MIRA10=mira.glow'];
  const ofOne = ['--owner', 'OTHERuk=kim.fit'];
  expect((await run([...args, ...brands, ...ofOne])).exitCode).toBe(0);
  expect(read('shop/pipeline.yaml')).toMatch(
    / {2}attribute-orders:\n.*\n {4}source: woocommerce-orders\n {4}brand_id: 4819\n(?:.*\n)+ {2}attribute-orders-5207:\n.*\n {4}source: uk-woocommerce-orders\n {4}brand_id: 5207\n/,
  );
  // A blank brand would be that of every job, also of one whose orders do not have the code.
  expect(read('shop/codes.csv').trim().split('\n').slice(1).sort()).toEqual([
    'MIRA10,4819,mira.glow,,,,',
    'MIRA10,5207,mira.glow,,,,',
    'OTHERuk,5207,kim.fit,,,,',
  ]);
  const unknown = await run([...args, ...brands, '--owner', 'MIRA11=mira.glow']);
  expect([unknown.exitCode, unknown.stderr]).toEqual([
    2,
    expect.stringContaining('"mira11", which no order has'),
  ]);
});

test('on a terminal, the day is offered first for dates in Europe, a zone is offered again, and nothing is assumed', async () => {
  const { folder } = open({
    'o.csv': 'Order No,Total,Coupon,Status,Order Date\n1,20.00,MIRA10,paid,02/03/2026 10:00\n',
  });
  onTestFinished(replaceEnvironment(environmentOf({})));
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = createOutput({ stdout: sink(), stderr: sink(), json: false });
  // An export without its refunds is read again once the reason is known, so that its codes are found.
  writeFileSync(
    join(folder, 'exports/woo.csv'),
    WOO.split('\n')
      .map((row) => row.replace(/,[^,]*$/, ''))
      .join('\n'),
  );
  const terminal = openTerminal();
  const given = {
    currency: new Map([['', 'EUR']]),
    brand: new Map([['', '4819']]),
    // A reason for one source is not taken as an answer about another.
    missingColumns: new Map([['o', 'It has all that the shop knows.']]),
  };
  const ended = performInit(
    output,
    [join(folder, 'exports')],
    { out: join(folder, 'shop'), ...given },
    terminal.asking,
  );
  await terminal.answer('In which time zone are the times of o?', 'Europe/Amsterdam\r');
  await terminal.answer('Is the month (MDY) or the day', '\r');
  await terminal.answer('shop platform of o?', '\r');
  await terminal.answer('In which time zone are the times of woo', '\r');
  await terminal.answer('lacks "refunded_total"', 'Only vouchers, no refunds\r');
  await terminal.answer('shop platform of woo', '\r');
  await terminal.answer('Write these', 'y');
  expect(await ended).toBe(0);
  const written = readFileSync(join(folder, 'shop/pipeline.yaml'), 'utf8');
  expect(written).toContain('date_order: DMY');
  expect(written).toContain('      "refunded_total": "Only vouchers, no refunds"');
  expect(readFileSync(join(folder, 'shop/codes-without-owner.csv'), 'utf8')).toContain('OTHER5');
});

test('an export without its column of refunds is held, until a person says why every order counts in full', async () => {
  const rows = WOO.split('\n').map((row) => row.replace(/,[^,]*$/, ''));
  const { run, read } = open({ 'orders.csv': rows.join('\n') });
  const args = ['init', 'exports', ...ANSWERS];
  const held = await run([...args, '--out', 'a']);
  expect([held.exitCode, held.stdout]).toEqual([3, expect.stringContaining('--missing-columns')]);
  const reason = 'The shop gives vouchers, no refunds.';
  const stated = await run([...args, '--out', 'b', '--missing-columns', reason]);
  expect([stated.exitCode, stated.stdout]).toEqual([0, expect.stringContaining('2 orders, 56.50 EUR')]);
  expect(read('b/pipeline.yaml')).toContain(`    missing_columns:\n      "refunded_total": "${reason}"\n`);
  expect((await run([...args, '--out', 'c', '--missing-columns', 'why'])).exitCode).toBe(2);
});

test('a report of an affiliate network beside orders is refused, and the exit code says so', async () => {
  const { run, read } = open({
    'orders.csv': WOO,
    'awin.csv':
      'id,publisherId,commissionStatus,commissionAmount,saleAmount,currency,transactionDate,voucherCode\n1,100,declined,1.00,10.00,EUR,2026-05-01T10:00:00,MIRA10\n',
  });
  const { exitCode, stdout } = await run(['init', 'exports', '--out', 'shop', ...ANSWERS]);
  expect(exitCode).toBe(3);
  expect(stdout).toContain('awin.csv: It looks like the transactions of an affiliate network');
  expect(read('shop/pipeline.yaml')).not.toContain('awin');
});

test('codes in Shift-JIS are read only in the encoding that a person names', async () => {
  const { folder, run, read } = open();
  const text =
    'Order No,Total,Currency,Coupon,Status\n1,2000,JPY,ミア10,paid\n2,3000,JPY,レナ5,paid\n3,500,JPY,,paid\n';
  writeFileSync(join(folder, 'exports/orders.csv'), encode(text, 'cp932'));
  const args = ['init', 'exports', '--out', 'shop', ...ANSWERS];
  const asked = await run(args);
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr).toContain('--encoding NAME');
  expect(asked.stderr.replace(/\s+/g, ' ')).toContain('shift_jis: ア, ナ, ミ, レ; gb18030:');
  expect(existsSync(join(folder, 'shop'))).toBe(false);
  const answered = await run([...args, '--encoding', 'shift_jis']);
  expect(answered.exitCode).toBe(0);
  expect(read('shop/pipeline.yaml')).toContain('encoding: shift_jis');
  expect(read('shop/codes-without-owner.csv')).toContain('ミア10');
  const tested = ['layouts', 'test', 'exports/orders.csv'];
  expect((await run(tested)).exitCode).toBe(2);
  expect((await run([...tested, '--encoding', 'shift_jis'])).stderr).toContain('No layout knows the header');
});

test('of a list in which no word is known to mean yes, init asks for the word, and counts people', async () => {
  const { run } = open({
    'lista.csv': [
      'Correo electrónico;Estado;No desea publicidad',
      'ana@example.com;Activo;No',
      'ANA@example.com;Activo;No',
      'luis@example.com;Baja;No',
      'rosa@example.com;Activo;Sí',
      '',
    ].join('\n'),
  });
  const args = ['init', 'exports', '--out', 'shop', '--brand', '4819', '--yes'];
  const asked = await run(args);
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr.replace(/\s+/g, ' ')).toMatch(/--consent-yes WORD .* Its words: "Activo", "Baja"\./);
  expect(asked.stderr).not.toContain('not_recorded');
  const answered = await run([...args, '--consent-yes', 'Activo']);
  expect([answered.exitCode, answered.stdout]).toEqual([
    0,
    expect.stringContaining('4 rows: 1 customer to be submitted.'),
  ]);
});

test('a configuration by which nothing would be credited says so, and does not end like a success', async () => {
  const { run } = open({
    'o.csv': 'Order No,Total,Coupon,Status,Currency,Date\n1,20.00,MIRA10,open,EUR,2026-10-01T10:00:00Z\n',
  });
  const init = await run(['init', 'exports', '--brand', '4819', '--yes']);
  expect(init.exitCode).toBe(3);
  expect(init.stdout).toContain('Nothing would be credited: 1 order never posted.');
  expect(init.stdout).not.toContain('Next:  npx influencer-sync plan');
});

test('a second run keeps what the configuration says: platform, brand, reasons and the owners of codes', async () => {
  const { folder, run, read } = open();
  const first = await run(['init', 'exports', '--out', 's', '--platform', 'own.shop', ...ANSWERS]);
  expect(first.exitCode).toBeLessThan(4);
  const owners = `${read('s/codes.csv')}MIRA10,,mira.glow,,,,\n`;
  writeFileSync(join(folder, 's/codes.csv'), owners);
  const [pipeline, codes] = [read('s/pipeline.yaml'), read('s/codes.csv')];
  const second = await run(['init', 'exports', '--out', 's', '--yes']);
  expect(second.stdout).toContain('pipeline.yaml: already exists, unchanged');
  expect(second.stdout).toContain('codes.csv: already exists, unchanged');
  expect([read('s/pipeline.yaml'), read('s/codes.csv')]).toEqual([pipeline, codes]);
});

test('with a key, init refuses a brand that the account does not have, and names handles that no deal has', async () => {
  const { run } = open();
  const service = await startService();
  const env = { INFLUENCER_API_URL: service.url, INFLUENCER_API_KEY: service.key };
  const args = ['init', 'exports', '--out', 's', '--time-zone', 'UTC', '--yes'];
  const refused = await run([...args, '--brand', '1'], env);
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    expect.stringContaining('which is no brand of the'),
  ]);
  const owned = [
    ...args,
    '--brand',
    '4819',
    '--owner',
    'MIRA10=mira.glow',
    '--owner',
    'OTHER5=mira.glow.test',
  ];
  const warned = (await run(owned, env)).stderr.replace(/\s+/g, ' ');
  expect(warned).toContain(
    'No deal has the handle "mira.glow", which --owner names. Did you mean mira.glow.test?',
  );
  expect(warned).not.toContain('the handle "mira.glow.test"');
});

test('the likely owner of a code is confirmed in the files, which a later run would keep', async () => {
  const { run } = open({
    'o.csv':
      'order_id,order_revenue,currency,discount_codes,placed_at,status\n1,20.00,EUR,MIRA20,2026-10-01T10:00:00Z,paid\n',
  });
  const service = await startService();
  const env = { INFLUENCER_API_URL: service.url, INFLUENCER_API_KEY: service.key };
  const { stdout, stderr } = await run(['init', 'exports', '--brand', '4819', '--yes'], env);
  expect(`${stdout} ${stderr}`.replace(/\s+/g, ' ')).toMatch(
    /MIRA20 may belong to mira\.glow\.test: .* If so, write that into influencer_handle of its row in codes-without-owner\.csv, and move/,
  );
});

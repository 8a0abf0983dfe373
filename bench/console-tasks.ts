/**
 * Does the ten tasks for which the console is made, in a browser of 1280 × 800, and counts what a person
 * needs for each: clicks, keys, and pages, the first of them Home. Prints them with the words of the page that
 * explained the answer. Ends with 1 if an answer is not found or not explained, or takes more than four clicks
 * or three pages.
 *
 * The shop is the year of `test/money/synthetic-year.ts`, and a day after it on which much goes wrong.
 *
 *     node bench/console-tasks.ts
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { connect } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { findChromium } from '../test/console/browser.ts';
import { CODES, MARGIN, makeSyntheticYear, RATES, YEAR } from '../test/money/synthetic-year.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { startSandbox } from './sandbox.ts';
import { readServeUrl, startCommand } from './shop.ts';

const MOST_CLICKS = 4;
const MOST_PAGES = 3;

const ACCOUNT = `
brands: [{id: 4819, name: Acme}]
dealflows: [{id: D_SPRING, name: Spring, brand_id: 4819}]
deals:
  - {deal_id: DEALMIA, influencer_handle: mia.test, platform: instagram, brand_id: 4819, dealflow_id: D_SPRING, code: MIA10}
  - {deal_id: DEALBEN, influencer_handle: ben.test, platform: youtube, brand_id: 4819, dealflow_id: D_SPRING, code: BEN15}
  - {deal_id: DEALZOE, influencer_handle: zoe.test, platform: tiktok, brand_id: 4819, dealflow_id: D_SPRING, code: ZOE20}
`;
const CONFIG = `
api: {url: "\${API_URL}", key: "\${API_KEY}", requests_per_second: 0}
database: {url: "\${DATABASE_URL}"}
customers: {hash_key: "bench-only-0123456789abcdef0123456789abcdef"}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC, customer_key: true, order_lines: true}
  outlet: {uri: ./outlet/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  outlet: {kind: attribute-orders, source: outlet, brand_id: 4819, codes: ./codes.csv, revenue: total}
  mirror: {kind: mirror-account}
statements: {terms: ./terms.csv, margin_percent: ${MARGIN}, reporting_currency: EUR, fx: ./fx.csv, time_zone: UTC}
`;
/** Orders with an ended code, with a code without an owner, whose answer is lost, and with a bad amount. */
const TODAY = `order_id,order_revenue,currency,discount_codes,placed_at,status,email,deal_id,sku,line_amount
T1,40.00,EUR,OLD5,${YEAR}-12-28T10:00:00Z,paid,,,SOAP,40.00
T2,60.00,EUR,NEWCODE,${YEAR}-12-28T11:00:00Z,paid,,,SOAP,60.00
T3,25.00,EUR,MIA10,${YEAR}-12-28T12:00:00Z,paid,,,SOAP,25.00
T4,"12,3x",EUR,MIA10,${YEAR}-12-28T13:00:00Z,paid,,,SOAP,12.30
`;

/** A person at the screen, of whom every click and key is counted. */
type Person = {
  readonly page: Page;
  click(what: Locator): Promise<void>;
  /** Types a text, or presses a key such as `Enter`. */
  type(...texts: readonly string[]): Promise<void>;
  /** Reads the part of the page that contains a text. @throws Error if there is none. */
  read(text: RegExp): Promise<void>;
};

const KEYS = ['Enter', 'Tab', 'Space'];

const link = ({ page }: Person, name: string | RegExp) =>
  page.locator('main').getByRole('link', { name }).first();

/** What the two people who use the console ask, and how they find and read the answer, from Home. */
const TASKS: Readonly<Record<string, (person: Person) => Promise<void>>> = {
  'Why was this order not credited?': async (person) => {
    await person.type('/', 'T1', 'Enter');
    await person.read(/^Not credited: OLD5 .* ended on /);
  },
  'What does this creator earn, and what is pending?': async (person) => {
    await person.type('/', 'mia.test', 'Enter');
    await person.read(/^\s*In open statements/);
  },
  'Which codes have no owner?': async (person) => {
    await person.click(link(person, 'Give them an owner'));
    await person.click(link(person, 'NEWCODE'));
    await person.read(/has no owner/);
  },
  'Did a code leak?': async (person) => {
    await person.click(person.page.getByRole('link', { name: 'Creators' }));
    await person.click(link(person, 'Leaked codes'));
    await person.read(/LIVE10/i);
  },
  'What did a campaign bring?': async (person) => {
    await person.click(person.page.getByRole('link', { name: 'Money' }));
    await person.click(link(person, 'by campaign'));
    await person.read(/^\s*Spring/);
    await person.read(/^Credited orders of /);
  },
  'Close the month and send the statement': async (person) => {
    await person.click(link(person, 'Check and close it'));
    await person.read(/at least .* unknown/);
    await person.click(person.page.getByLabel('Why', { exact: true }));
    await person.type('checked', 'Tab', 'Space', 'Enter');
    await person.page.getByText('It never changes.').waitFor();
    const [sent] = await Promise.all([
      person.page.waitForEvent('download'),
      person.click(link(person, 'PDF')),
    ]);
    if (!sent.suggestedFilename().endsWith('.pdf')) throw new Error('The statement is no PDF.');
  },
  'What failed, why, and what do I do?': async (person) => {
    await person.click(link(person, 'See the run'));
    await person.read(/^It failed .* Create the folder/);
  },
  'Settle a doubt': async (person) => {
    await person.read(/no answer says whether the service processed it/);
    await person.click(link(person, 'Look up and settle'));
    await person.read(/the connection was reset/);
    await person.click(person.page.getByText('The service shows it: it was credited.'));
    await person.click(person.page.getByLabel('Why', { exact: true }));
    await person.type('seen there', 'Enter');
    await person.page.getByRole('status').first().waitFor();
  },
  'Decide about a held file': async (person) => {
    await person.click(link(person, 'Decide about what is held'));
    await person.read(/orders are cancelled, more than the allowed/);
    await person.click(person.page.getByLabel('Why', { exact: true }).first());
    await person.type('wrong export', 'Enter');
    await person.page.getByRole('status').first().waitFor();
  },
  'What changed since yesterday?': async (person) => {
    await person.click(link(person, 'run 3'));
    await person.read(/^It finished: .* Left for a person/);
  },
};

/** Runs the year and the day after it, and serves the console. */
async function openShop(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-tasks-'));
  const [server, sandbox] = [await startPostgresServer(), await startSandbox([], ACCOUNT)];
  const env = {
    DATABASE_URL: server.url,
    API_URL: sandbox.url,
    API_KEY: sandbox.key,
    LOG_LEVEL: 'silent',
    PATH: process.env.PATH,
    XDG_STATE_HOME: folder,
    INFLUENCER_SYNC_CONFIG: 'pipeline.yaml',
  };
  const start = (...args: readonly string[]) =>
    startCommand([...args, '--json'], { env, cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  const run = async (job: string) => {
    const child = start('run', job);
    child.stdout?.resume();
    await once(child, 'close');
  };
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content);
  const db = await connect({ url: server.url, embeddedFolder: '', maxConnections: 1 });
  try {
    await migrate(db);
    mkdirSync(join(folder, 'exports'));
    const year = makeSyntheticYear({ seed: 17, perMonth: 60, now: Date.now() });
    write('pipeline.yaml', CONFIG);
    write('codes.csv', `${CODES}OLD5,4819,,DEALBEN,,,${YEAR}-12-27\nLIVE10,4819,,DEALMIA,,,\n`);
    write('terms.csv', year.terms);
    write('fx.csv', RATES);
    await run('mirror');
    for (const { name, content } of year.exports) write(join('exports', name), content);
    await run('orders');
    write('exports/5-today.csv', TODAY);
    const faults = [{ kind: 'reset_after', operation: 'new_influencer_referral', count: 1 }];
    await fetch(`${sandbox.url}/_sandbox/faults`, {
      method: 'POST',
      body: JSON.stringify(faults),
      headers: { 'content-type': 'application/json' },
    });
    await run('orders');
    await run('outlet');
    // The year has no links. Yesterday, another code of MIA was used ten times as often, without them.
    await sql`
      insert into reporting.code_use_days (day_utc, code_folded, orders, without_link)
      select current_date - n, 'live10', case n when 1 then 20 else 2 end, case n when 1 then 20 else 0 end
      from generate_series(1, 60) n`.execute(db);
  } finally {
    await db.destroy();
  }
  const console = start('console', '--port', '0');
  return {
    url: (await readServeUrl(console)).replace(/\/$/, ''),
    async stop() {
      console.kill('SIGTERM');
      await once(console, 'close');
      sandbox.stop();
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

type Done = {
  readonly task: string;
  readonly clicks: number;
  readonly keys: number;
  readonly pages: number;
  /** The words that explained the answer. */
  readonly answer: string;
  /** Why the task is not done as it should be; null if it is. */
  readonly problem: string | null;
};

async function doTask(browser: Browser, url: string, task: string): Promise<Done> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(20_000);
  const read: string[] = [];
  let [clicks, keys, pages] = [0, 0, 0];
  page.on('domcontentloaded', () => {
    pages += 1;
  });
  await page.goto(url);
  const failure = await TASKS[task]?.({
    page,
    async click(what) {
      clicks += 1;
      await what.click();
    },
    async type(...texts) {
      for (const text of texts) {
        const isKey = KEYS.includes(text);
        keys += isKey ? 1 : text.length;
        await (isKey ? page.keyboard.press(text) : page.keyboard.type(text));
      }
    },
    async read(text) {
      const part = page.locator('main').locator('p, dd, tr, .figure').filter({ hasText: text });
      read.push((await part.first().innerText()).replace(/\s+/g, ' '));
    },
  }).then(() => null, String);
  await page.close();
  const isLong = clicks > MOST_CLICKS || pages > MOST_PAGES;
  const problem = failure ?? (isLong ? `more than ${MOST_CLICKS} clicks or ${MOST_PAGES} pages` : null);
  return { task, clicks, keys, pages, answer: read.join(' '), problem };
}

/** Does every task. @throws Error if this machine has no Chromium or cannot run Postgres. */
export async function doTasks(): Promise<readonly Done[]> {
  const executablePath = findChromium();
  if (executablePath === null)
    throw new Error('There is no Chromium on this machine; CHROMIUM may name one.');
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    const shop = await openShop();
    const done: Done[] = [];
    for (const task of Object.keys(TASKS)) done.push(await doTask(browser, shop.url, task));
    await shop.stop();
    return done;
  } finally {
    await browser.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write('clicks  keys  pages\n');
  for (const { task, clicks, keys, pages, answer, problem } of await doTasks()) {
    const counts = [clicks, keys, pages].map((count) => String(count).padStart(5)).join(' ');
    process.stdout.write(`${counts}   ${task}\n${' '.repeat(20)}${problem ?? answer}\n`);
    if (problem !== null) process.exitCode = 1;
  }
}

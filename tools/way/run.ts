/**
 * `npm run way`: how far an order, a customer and a deal travel through the code. Runs each job twice on a new
 * embedded database: on exports and an account with nothing in them, and with exactly one of each. The functions
 * that only the second run enters are the way; its files stand in the order in which they are first entered.
 * With `-- --files` it prints them.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { FLOORS } from '../architecture/floors.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const MAIN = join(ROOT, 'src/main.ts');
const RECORD = new URL('record-process.ts', import.meta.url).href;
const THINGS = { order: 'attribute-orders', customer: 'identify-customers', deal: 'mirror-account' };

const PIPELINE = `
api: { url: "\${INFLUENCER_API_URL}", key: "\${INFLUENCER_API_KEY}" }
customers: { hash_key: only-for-this-0123456789abcdef0123456789abcdef }
sources:
  orders: { uri: ./orders/, layout: shopify-orders, order_platform: shopify, time_zone: UTC }
  people: { uri: ./people/, layout: mailchimp }
jobs:
  attribute-orders: { kind: attribute-orders, source: orders, brand_id: 4819, codes: ./codes.csv, revenue: total }
  identify-customers: { kind: identify-customers, source: people, brand_id: 4819, source_type: example }
  mirror-account: { kind: mirror-account }
`;
const ACCOUNT = `
brands: [{ id: 4819, name: Example }]
dealflows: [{ id: D_FSSI4P, name: Example, brand_id: 4819 }]
`;
const DEAL = `deals: [{ deal_id: ETUNQ6ZTW1, influencer_handle: mira.test, platform: instagram, brand_id: 4819, dealflow_id: D_FSSI4P }]\n`;
const ORDER = firstLines('shopify/orders-2026-04.csv', 3);
const CUSTOMER = firstLines('mailchimp/subscribed_members_export.csv', 2);
const CODES = 'code,brand_id,influencer_handle,deal_id\n';

const folder = mkdtempSync(join(tmpdir(), 'way-'));
try {
  const nothing = await entered('nothing', { deals: 'deals: []\n' });
  const one = await entered('one', { deals: DEAL, order: ORDER, customer: CUSTOMER });
  print('The way of | Files | Folders | Changes of folder | Upwards\n---|---|---|---|---');
  for (const [thing, job] of Object.entries(THINGS)) {
    const before = new Set(nothing[job]);
    const calls = (one[job] ?? []).filter((call) => !before.has(call));
    const files = [...new Set(calls.map((call) => call.split(' ')[0] ?? ''))];
    const folders = files.map((file) => dirname(file));
    const changes = folders.flatMap((to, index) => {
      const from = folders[index - 1];
      return from === undefined || from === to ? [] : [{ from, to }];
    });
    const upwards = changes.filter(({ from, to }) => floorOf(to) > floorOf(from));
    print([thing, files.length, new Set(folders).size, changes.length, upwards.length].join(' | '));
    if (process.argv.includes('--files')) for (const file of files) print(`  ${file}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The functions that each job enters, in order: file and place. */
async function entered(
  name: string,
  { deals, order, customer }: { deals: string; order?: string; customer?: string },
): Promise<Record<string, readonly string[]>> {
  const home = join(folder, name);
  for (const part of ['orders', 'people']) mkdirSync(join(home, part), { recursive: true });
  writeFileSync(join(home, 'pipeline.yaml'), PIPELINE);
  writeFileSync(join(home, 'account.yaml'), ACCOUNT + deals);
  writeFileSync(
    join(home, 'codes.csv'),
    CODES + (order === undefined ? '' : 'MIRA10,4819,mira.test,ETUNQ6ZTW1\n'),
  );
  if (order !== undefined) writeFileSync(join(home, 'orders/orders.csv'), order);
  if (customer !== undefined) writeFileSync(join(home, 'people/people.csv'), customer);
  const sandbox = spawn(
    process.execPath,
    [MAIN, 'sandbox', '--port', '0', '--data', join(home, 'account.yaml')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const { value } = await createInterface(sandbox.stdout)[Symbol.asyncIterator]().next();
    const { url, key } = JSON.parse(value ?? '') as { url: string; key: string };
    return Object.fromEntries(
      Object.values(THINGS).map((job) => {
        const output = join(home, `${job}.json`);
        execFileSync(
          process.execPath,
          ['--import', RECORD, MAIN, 'run', job, '--allow-empty', '--config', join(home, 'pipeline.yaml')],
          {
            env: { ...process.env, INFLUENCER_API_URL: url, INFLUENCER_API_KEY: key, WAY_OUTPUT: output },
            stdio: ['ignore', 'ignore', 'inherit'],
          },
        );
        return [job, JSON.parse(readFileSync(output, 'utf8')) as string[]];
      }),
    );
  } finally {
    sandbox.kill();
  }
}

/** The header and the first lines of an export of the demo; both lines of items belong to one order. */
function firstLines(name: string, count: number): string {
  return readFileSync(join(ROOT, 'config/demo/exports', name), 'utf8')
    .split('\n')
    .slice(0, count)
    .join('\n')
    .concat('\n');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function floorOf(path: string): number {
  const [top, second] = path.split('/');
  return FLOORS.findIndex(({ name }) => name === (top === 'jobs' ? 'jobs' : second));
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadCodes } from '../../src/codes/load-codes.ts';
import type { Database } from '../../src/db/connect.ts';
import type { CliResult } from '../support/run-cli.ts';
import { countStates, openWorkshop, readRun, type Workshop } from './workshop.ts';

/** The test searches for each of these in everything that is printed or stored. */
const ADDRESS_PARTS = ['planted.person', 'planted%2eperson'];
const ADDRESS = 'planted.person@example.com';
const KEY = 'planted-key-7391';
const PASSWORD = 'planted-password-5522';

/** The columns of the generic layout, and some that it does not contain. */
const FLOW = `
sources:
  shop:
    {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam, limits: {max_rejected_share: 1}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`;

const COLUMNS = [
  'order_id',
  'order_name',
  'order_revenue',
  'currency',
  'discount_codes',
  'influencer_handle',
  'deal_id',
  'collab_id',
  'brand_id',
  'placed_at',
  'status',
  'email',
  'note',
];
const GOOD: Readonly<Record<string, string>> = {
  order_revenue: '10.00',
  currency: 'EUR',
  discount_codes: 'MIA10',
  placed_at: '2026-04-10T11:11:26Z',
  status: 'paid',
};

/**
 * Returns an export with one row per column that contains the address, and one row with the address only in
 * columns that are not read.
 */
function exportWithAddresses(): string {
  const rows = COLUMNS.map((column, index) =>
    COLUMNS.map((name) => {
      if (name === column) return name === 'order_id' ? `id-${ADDRESS}` : `x ${ADDRESS} y`;
      return name === 'order_id' ? `order-${index}` : (GOOD[name] ?? '');
    }).join(','),
  );
  const unread = COLUMNS.map((name) =>
    name === 'email' || name === 'note' ? ADDRESS : name === 'order_id' ? 'plain' : (GOOD[name] ?? ''),
  ).join(',');
  return `${[COLUMNS.join(','), ...rows, unread].join('\n')}\n`;
}

const CODES = `code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to
MIA10,4819,mia.test,DEALMIA,,,
${ADDRESS},4819,${ADDRESS},${ADDRESS},${ADDRESS},,
${ADDRESS},4819,mia.test,DEALMIA,,${ADDRESS},
${ADDRESS},,,,,,
BEN15,${ADDRESS},ben.test,,,,
`;

function expectNothingPlanted(text: string, where: string): void {
  const folded = text.toLowerCase();
  const found = [...ADDRESS_PARTS, KEY, PASSWORD].flatMap((part) => {
    const at = folded.indexOf(part);
    return at === -1 ? [] : [`${part}: ${text.slice(Math.max(0, at - 150), at + 80)}`];
  });
  expect.soft(found, where).toEqual([]);
}

function expectCleanOutput({ stdout, stderr }: CliResult, command: string): void {
  expectNothingPlanted(stdout, `standard output of ${command}`);
  expectNothingPlanted(stderr, `standard error of ${command}`);
}

/** Expects that no row of any table contains a planted text. */
async function expectCleanDatabase(db: Database): Promise<void> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`.execute(db);
  expect(tables.length).toBeGreaterThan(15);
  for (const { name } of tables) {
    const { rows } = await sql<{
      row: string;
    }>`select to_jsonb(t)::text as row from ${sql.table(name)} t`.execute(db);
    for (const { row } of rows) expectNothingPlanted(row, name);
  }
}

async function expectCleanCommands(shop: Workshop): Promise<void> {
  for (const command of [
    ['run', 'orders', '--json'],
    ['run', 'orders'],
    ['plan', 'orders'],
    ['plan', 'orders', '--json'],
    ['status'],
    ['status', '--json'],
    ['runs', '--json'],
    ['review', '--json'],
    ['review'],
    ['rejected'],
    ['rejected', '--json'],
    ['explain', 'order', 'order-5', '--json'],
    ['explain', 'order', 'order-5'],
  ])
    expectCleanOutput(await shop.cli(...command), command.join(' '));
}

/**
 * Starts a proxy of the sandbox that refuses each referral with a text that quotes an address and the key,
 * with status 422 and 500 alternately.
 */
async function startTalkativeService(url: string, key: string): Promise<string> {
  let referrals = 0;
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/refusing') === true) {
      response.writeHead(401).end(JSON.stringify({ message: `${ADDRESS} has no key ${key}` }));
      return;
    }
    const isReferral = request.url?.includes('referral') === true;
    if (isReferral) {
      referrals += 1;
      response.writeHead(referrals % 2 === 1 ? 422 : 500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: `no deal for ${ADDRESS} with key ${key}`, [ADDRESS]: key }));
      return;
    }
    const answer = await fetch(`${url}${request.url}`, { headers: { 'x-api-key': key } });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('secrets and email addresses', () => {
  it('in an export or in codes.csv reach no output and no table', async () => {
    const shop = await openWorkshop({ flow: FLOW, env: { LOG_LEVEL: 'trace' }, sandbox: { key: KEY } });
    shop.drop('orders.csv', exportWithAddresses());
    const file = { event: 'run_finished', counts: { files: 1 } };
    // A separate process, so that the test also captures anything that a package prints by itself.
    const first = readRun(await shop.start('run', 'orders', '--json').ended);
    expect(first.finished, first.stderr).toMatchObject(file);
    expect((await shop.run()).stderr).toContain('"msg":"run finished"');
    await expectCleanCommands(shop);
    // Every command refuses such codes. A process that serves has already read its configuration and skips
    // those rows.
    shop.write('codes.csv', CODES);
    for (const command of [
      ['run', 'orders', '--json'],
      ['run', 'orders'],
      ['doctor', '--json'],
    ]) {
      const refused = await shop.cli(...command);
      expect(refused.exitCode).toBe(2);
      expectCleanOutput(refused, command.join(' '));
    }
    const path = join(shop.folder, 'codes.csv');
    const loaded = await loadCodes(shop.db, {
      job: 'orders',
      path,
      timeZone: null,
      brandId: '4819',
      linkParameters: [],
    });
    expect(loaded.problems.length).toBeGreaterThan(3);
    expectNothingPlanted(JSON.stringify(loaded.problems), 'the problems of the codes');
    await expectCleanDatabase(shop.db);
    expect((await shop.posted()).length).toBeGreaterThan(0);
  });

  it('in a header or a broken file are not printed when the file is held', async () => {
    const shop = await openWorkshop({ flow: FLOW, env: { LOG_LEVEL: 'trace' }, sandbox: { key: KEY } });
    shop.drop('no-header.csv', `${ADDRESS},1,2\n${ADDRESS},3,4\n`);
    shop.drop('quote.csv', `order_id,order_revenue\n1,"${ADDRESS} and no end\n${ADDRESS},3,4\n`);
    shop.drop('twice.csv', `order_id,order_id,order_revenue,${ADDRESS}\n1,2,3,4\n`);
    shop.drop('bytes.csv', Buffer.from(`order_id,order_revenue\n${ADDRESS}\xff\xfe,1\n`, 'latin1'));
    await expectCleanCommands(shop);
    await expectCleanDatabase(shop.db);
  });

  it('in answers of the service are neither printed nor stored', async () => {
    const shop = await openWorkshop({ flow: FLOW, env: { LOG_LEVEL: 'trace' }, sandbox: { key: KEY } });
    shop.drop('orders.csv', exportWithAddresses());
    shop.env.INFLUENCER_API_URL = await startTalkativeService(shop.sandbox.url, KEY);
    await expectCleanCommands(shop);
    expect((await countStates(shop.db)).rejected).toBeGreaterThan(0);
    shop.env.INFLUENCER_API_URL += '/refusing';
    const refused = await shop.run();
    expect(refused.exitCode).toBe(4);
    expectCleanOutput(refused, 'a run whose key is refused');
    await expectCleanDatabase(shop.db);
  });

  it('in DATABASE_URL are not printed when the database cannot be reached or refuses the connection', async () => {
    const shop = await openWorkshop({ flow: FLOW, env: { LOG_LEVEL: 'trace' }, sandbox: { key: KEY } });
    const { host } = new URL(shop.databaseUrl);
    for (const url of [
      `postgres://planted-user:${PASSWORD}@127.0.0.1:1/x`,
      `postgres://planted-user:${PASSWORD}@${host}/x`,
      `postgres://planted-user:${PASSWORD}@no-such-host.invalid/x`,
      `postgres://planted-user:${PASSWORD}@127.0.0.1:notaport/x`,
      `postgres//planted-user:${PASSWORD}@${host}/x`,
      `mysql://planted-user:${PASSWORD}@${host}/x`,
    ]) {
      shop.env.DATABASE_URL = url;
      const commands = [['run', 'orders', '--json'], ['run', 'orders'], ['status'], ['migrate', '--json']];
      // In parallel, because resolving a name that does not exist takes seconds.
      const results = await Promise.all(commands.map((command) => shop.cli(...command)));
      for (const [index, result] of results.entries()) {
        const command = commands[index]?.join(' ') ?? '';
        expectCleanOutput(result, command);
        expect(result.exitCode, `${command} ${url}`).toBeGreaterThan(0);
        expect(result.stderr).not.toMatch(/^ +at .*:\d+:\d+/m);
      }
    }
  });

  it('in the configuration are not printed when it is invalid', async () => {
    const shop = await openWorkshop({ sandbox: { key: KEY } });
    shop.write(
      'bad.yaml',
      `api: {url: "https://user:${PASSWORD}@example.com", key: [${KEY}], kez: ${KEY}}\ndatabase: {url: "nonsense:${PASSWORD}"}\nsources: {}\njobs: {}\n`,
    );
    const result = await shop.cli('run', 'orders', '--json', '--config', 'bad.yaml');
    expect(result.exitCode).toBe(2);
    expectCleanOutput(result, 'run with a bad configuration');
  });
});

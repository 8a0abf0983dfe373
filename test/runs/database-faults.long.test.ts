import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { useServer } from '../support/absent-server.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import type { CliProcess } from '../support/run-cli.ts';
import { startS3Server } from '../support/s3-server.ts';
import { runStatement, urlOf } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  countStates,
  type Ended,
  leasesAreOver,
  look,
  manyRows,
  openWorkshop,
  organicRows,
  readRun,
  repeated,
  toCsv,
  type Workshop,
} from './workshop.ts';

const API = 'lease_seconds: 2\ntimeout_seconds: 1';

const server = useServer();

const BUCKET = 'acme-exports';
const S3_FLOW = `
sources:
  shop: {uri: "s3://${BUCKET}/orders/", layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam, force_path_style: true}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`;
/** Number of rows in a file that is staged in several statements. */
const ROWS = 12_000;

/** A role that is not a superuser, because connection limits do not apply to superusers. */
const OWNER = 'faults';

let made = 0;

/** Creates a new database on the private server, with the schema of the migrations. */
async function freshDatabase(): Promise<string> {
  if (made === 0) await makeTemplate();
  made += 1;
  const name = `faults_${made}`;
  await runStatement(server().url, `create database ${name} owner ${OWNER} template faults_template`);
  return urlOfOwner(name);
}

async function makeTemplate(): Promise<void> {
  await runStatement(server().url, `create role ${OWNER} login`);
  await runStatement(server().url, `create database faults_template owner ${OWNER}`);
  const db = await connect({ url: urlOfOwner('faults_template'), embeddedFolder: '' });
  await migrate(db);
  await db.destroy();
}

function urlOfOwner(database: string): string {
  const url = new URL(urlOf(server().url, database));
  url.username = OWNER;
  return url.href;
}

/**
 * Expects that the problem is explained: no stack trace, and a last event that is an error or the report of
 * the run.
 */
function expectExplained(ended: Ended): void {
  expect(ended.signal).toBeNull();
  expect(ended.stderr).not.toMatch(/^ +at .*:\d+:\d+/m);
  expect(ended.stderr).not.toContain('This is a bug');
  if (ended.exitCode !== 0) expect(['error', 'run_finished']).toContain(ended.events.at(-1)?.event);
}

/** Runs until a run ends with everything settled. The leases of dead processes must expire first. */
async function runUntilDone(shop: Workshop): Promise<Ended> {
  let last: Ended | null = null;
  await waitFor(async () => {
    await leasesAreOver(shop);
    last = await shop.run();
    return last.exitCode !== 5 && last.finished !== null;
  });
  if (last === null) throw new Error('it never ran');
  return last;
}

/**
 * Expects that each order is accepted or in doubt, that none was posted twice, and that the service has every
 * accepted one.
 */
async function expectAllSettled(shop: Workshop, orders: number, doubtsAtMost: number): Promise<void> {
  const posted = await shop.posted();
  expect(repeated(posted)).toEqual([]);
  await look(shop.databaseUrl, async (db) => {
    const { accepted = 0, in_doubt: doubts = 0, ...others } = await countStates(db);
    expect(others).toEqual({});
    expect(accepted + doubts).toBe(orders);
    expect(doubts).toBeLessThanOrEqual(doubtsAtMost);
    const { rows } = await sql<{
      order_id: string;
    }>`select order_id from ledger.entries where state = 'accepted'`.execute(db);
    const known = new Set(posted);
    expect(rows.filter(({ order_id }) => !known.has(order_id))).toEqual([]);
  });
}

/** Starts a run with 150 orders and returns while it is posting. */
async function startPosting(): Promise<{ readonly shop: Workshop; readonly run: CliProcess }> {
  const databaseUrl = await freshDatabase();
  const shop = await openWorkshop({ databaseUrl, api: API, sandbox: { latencyMs: 20 } });
  shop.drop('orders.csv', toCsv(manyRows(150)));
  const run = shop.start('run', 'orders', '--json');
  await waitFor(async () => (await shop.posted()).length >= 20);
  return { shop, run };
}

describe('a database that restarts', () => {
  it('while orders are posted makes the run end with a clear error or continue, and the next run finishes', async () => {
    const { shop, run } = await startPosting();
    await server().restart();
    expectExplained(readRun(await run.ended));
    await runUntilDone(shop);
    await expectAllSettled(shop, 150, 6);
  });

  it('after a crash while orders are posted has the same effect', async () => {
    const { shop, run } = await startPosting();
    await server().kill();
    const ended = readRun(await run.ended);
    await server().start();
    expectExplained(ended);
    await runUntilDone(shop);
    await expectAllSettled(shop, 150, 6);
  });

  it('while a file is read makes the run fail before it posts, and the next run reads the whole file', async () => {
    const s3 = await startS3Server();
    onTestFinished(() => s3.close());
    const databaseUrl = await freshDatabase();
    const shop = await openWorkshop({ databaseUrl, api: API, flow: S3_FLOW, env: s3.env });
    const file = toCsv([...manyRows(500), ...organicRows(ROWS - 500)]);
    s3.put(BUCKET, 'orders/orders.csv', file);
    let killed = Promise.resolve();
    s3.fail({
      operation: 'GetObject',
      kind: 'meanwhile',
      afterBytes: Math.floor(file.length / 2),
      act: () => {
        killed = server().kill();
      },
    });
    const run = shop.start('run', 'orders', '--json', '--limit', '1');
    const ended = readRun(await run.ended);
    expect(run.stdout()).toContain('"Reading orders.csv"');
    await killed;
    await server().start();
    expectExplained(ended);
    expect(ended.exitCode).toBe(1);
    expect(await shop.posted()).toEqual([]);
    await leasesAreOver(shop);
    expect((await shop.run('--limit', '1')).finished).toMatchObject({
      counts: {
        files: 1,
        rows: ROWS,
        orders: ROWS,
        organic: ROWS - 500,
        entries: { accepted: 1, ready: 499 },
      },
    });
  });

  it('and is unavailable from the start causes an error that names its host', async () => {
    const shop = await openWorkshop({ databaseUrl: await freshDatabase(), api: API });
    shop.drop('orders.csv', toCsv(manyRows(5)));
    await server().kill();
    const ended = await shop.run();
    await server().start();
    expectExplained(ended);
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toContain(new URL(shop.databaseUrl).host);
    expect(await shop.posted()).toEqual([]);
  });
});

describe('a connection that is cut', () => {
  it.each([
    ['before a claim takes effect', 'request', 'insert into ledger.attempts'],
    ['after a claim took effect', 'answer', 'insert into ledger.attempts'],
    ['before an answer is recorded', 'request', 'insert into ledger.answers'],
    ['after an answer was recorded', 'answer', 'insert into ledger.answers'],
    ['before a file is sealed', 'request', "'sealed'"],
    ['after a file was sealed', 'answer', "'sealed'"],
  ] as const)('%s neither repeats nor loses an order', async (_when, side, statement) => {
    const databaseUrl = await freshDatabase();
    const shop = await openWorkshop({ databaseUrl, api: API, sandbox: { latencyMs: 5 } });
    shop.drop('orders.csv', toCsv(manyRows(40)));
    let cuts = 0;
    let cutNext: number | null = null;
    const proxy = await startDatabaseProxy(databaseUrl, {
      onRequest: (bytes, connection) => {
        if (cuts > 0 || !bytes.includes(statement)) return 'forward';
        cuts += 1;
        if (side === 'request') return 'drop';
        cutNext = connection;
        return 'forward';
      },
      onAnswer: (_bytes, connection) => {
        if (cutNext !== connection) return 'forward';
        cutNext = null;
        return 'drop';
      },
    });
    shop.env.DATABASE_URL = proxy.url;
    expectExplained(await shop.run());
    expect(cuts).toBe(1);
    shop.env.DATABASE_URL = databaseUrl;
    await proxy.close();
    await runUntilDone(shop);
    await expectAllSettled(shop, 40, 6);
  });
});

describe('a database at its connection limit', () => {
  it('makes a run fail with a clear error, and the next run does the work', async () => {
    const databaseUrl = await freshDatabase();
    const shop = await openWorkshop({ databaseUrl, api: API });
    shop.drop('orders.csv', toCsv(manyRows(30)));
    await limitConnections(databaseUrl, 0);
    const refused = await shop.run();
    expectExplained(refused);
    expect(refused).toMatchObject({ exitCode: 1, finished: null });
    // One connection fewer than a run needs.
    await limitConnections(databaseUrl, 1);
    expectExplained(await shop.run());
    await limitConnections(databaseUrl, -1);
    await runUntilDone(shop);
    await expectAllSettled(shop, 30, 0);
  });
});

/** Sets the connection limit for roles that are not superusers; -1 removes it. */
async function limitConnections(databaseUrl: string, count: number): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1);
  await runStatement(server().url, `alter database ${name} connection limit ${count}`);
}

describe('a run that is suspended past its lease', () => {
  it('does not post an order that another run has posted in the meantime', async () => {
    const { shop, run: first } = await startPosting();
    first.kill('SIGSTOP');
    const second = await runUntilDone(shop);
    first.kill('SIGCONT');
    const ended = readRun(await first.ended);
    expectExplained(ended);
    expect(second.finished?.counts.entries.ready).toBe(0);
    await runUntilDone(shop);
    await expectAllSettled(shop, 150, 6);
  });
});

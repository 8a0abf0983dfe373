import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readEvents } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startFakeService } from './fake-service.ts';
import { type CustomersShop, countCustomers, manyEmails, openCustomers, toCustomers } from './story.ts';

/** A short lease, so that the next process need not wait long for the lease of a killed one to expire. */
const API = 'lease_seconds: 2\ntimeout_seconds: 1.5\nconcurrency: 4';
const EMAILS = manyEmails(300);
const BATCH = 20;

/**
 * Locks a table, so that writes to it wait. It opens its own connection outside the suite's pool, because it
 * keeps that connection.
 */
async function holdTable(databaseUrl: string, table: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  await client.query('begin');
  await client.query(`lock table ${table} in share row exclusive mode`);
  const release = () => client.end().catch(() => {});
  onTestFinished(release);
  return release;
}

/** Returns the number of other sessions that wait for a lock. */
async function waiters({ db }: CustomersShop): Promise<number> {
  const { rows } = await sql<{ waiting: string }>`
    select count(*) as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return Number(rows[0]?.waiting);
}

/** Runs the job, which waits until the leases of the killed process have expired. */
async function identifyAgain(shop: CustomersShop) {
  return shop.identify('--wait');
}

/**
 * Expects that every customer was sent, that only those in flight at a kill were sent again, and that the
 * tables say so.
 */
async function expectAllSubmitted(
  shop: CustomersShop,
  sent: readonly string[],
  inFlight: number,
): Promise<void> {
  expect([...new Set(sent)].sort()).toEqual([...EMAILS].sort());
  expect(sent.length - EMAILS.length).toBeLessThanOrEqual(inFlight * BATCH);
  expect(await countCustomers(shop.db)).toEqual({ submitted: EMAILS.length });
  expect(await shop.db.selectFrom('intake.waiting_batches').select('batch_id').execute()).toEqual([]);
  const { rows } = await shop.db.executeQuery<{ most: number }>(
    shop.db
      .selectFrom('intake.customer_states')
      .select((e) => e.fn.max('submissions').as('most'))
      .compile(),
  );
  expect(rows).toEqual([{ most: 1 }]);
}

describe('after a kill, the next run completes the work without losing customers, and repeats only requests in flight', () => {
  it('during staging: the file is read again from its beginning', async () => {
    const service = await startFakeService();
    const shop = await openCustomers({ serviceUrl: service.url, api: API, job: `batch_size: ${BATCH}` });
    shop.drop('1.csv', toCustomers(EMAILS));
    const release = await holdTable(shop.databaseUrl, 'intake.waiting_batches');
    const killed = shop.startIdentifying();
    await waitFor(async () => (await waiters(shop)) > 0);
    const staged = await shop.db.selectFrom('intake.customers').select('customer_hash').execute();
    expect(staged).toHaveLength(EMAILS.length);
    killed.kill('SIGKILL');
    await killed.ended;
    await release();
    expect(await countCustomers(shop.db)).toEqual({});
    expect(service.batches).toEqual([]);
    expect((await identifyAgain(shop)).exitCode).toBe(0);
    await expectAllSubmitted(shop, service.batches.flat(), 0);
  });

  it('after staging, before the first call: the batches wait for the next run, which reports the consent of the file', async () => {
    const service = await startFakeService({
      onBatch: () => (isWell ? QUEUED : { status: 429, body: '{"message":"slow down"}' }),
    });
    let isWell = false;
    const shop = await openCustomers({ serviceUrl: service.url, api: API, job: `batch_size: ${BATCH}` });
    shop.drop('1.csv', `email,consent\n${EMAILS.join(',\n')},\n`);
    const killed = shop.startIdentifying();
    await waitFor(() => service.batches.length > 0);
    killed.kill('SIGKILL');
    await killed.ended;
    expect(await countCustomers(shop.db)).toEqual({ staged: EMAILS.length });
    isWell = true;
    service.batches.length = 0;
    const next = await identifyAgain(shop);
    // The run that read the file died before it could report it.
    expect(next.finished?.counts).toMatchObject({ files: 1, submitted: EMAILS.length });
    expect(readEvents(next).find(({ event }) => event === 'consent')).toMatchObject({
      source: 'shop',
      columns: ['consent'],
      yes: 0,
      no: 0,
      blank: EMAILS.length,
    });
    await expectAllSubmitted(shop, service.batches.flat(), 0);
  });

  it('during calls: the batches in flight are repeated', async () => {
    const stalled: (() => void)[] = [];
    const service = await startFakeService({
      onBatch: () => (service.batches.length > 5 ? new Promise(() => stalled.push(() => {})) : QUEUED),
    });
    const shop = await openCustomers({ serviceUrl: service.url, api: API, job: `batch_size: ${BATCH}` });
    shop.drop('1.csv', toCustomers(EMAILS));
    const killed = shop.startIdentifying();
    await waitFor(() => stalled.length >= 2);
    killed.kill('SIGKILL');
    await killed.ended;
    const taken = await shop.db.selectFrom('intake.identify_batches').select('batch_id').execute();
    const inFlight = service.batches.length - taken.length;
    expect(inFlight).toBeLessThanOrEqual(4);
    service.behave(() => QUEUED);
    expect((await identifyAgain(shop)).exitCode).toBe(0);
    await expectAllSubmitted(shop, service.batches.flat(), inFlight);
  });

  it('after an answer that was not yet recorded: those batches are repeated', async () => {
    const service = await startFakeService();
    const shop = await openCustomers({ serviceUrl: service.url, api: API, job: `batch_size: ${BATCH}` });
    shop.drop('1.csv', toCustomers(EMAILS));
    const release = await holdTable(shop.databaseUrl, 'intake.identify_batches');
    const killed = shop.startIdentifying();
    await waitFor(async () => service.batches.length > 1 && (await waiters(shop)) > 0);
    killed.kill('SIGKILL');
    await killed.ended;
    await release();
    const inFlight = service.batches.length;
    expect(inFlight).toBeLessThanOrEqual(4);
    expect((await identifyAgain(shop)).exitCode).toBe(0);
    await expectAllSubmitted(shop, service.batches.flat(), inFlight);
  });

  it('during lookups: only lookups in flight are repeated', async () => {
    const service = await startFakeService({
      onLookup: () => (service.lookups.length > 10 ? new Promise(() => {}) : NO_MATCH),
    });
    const shop = await openCustomers({ serviceUrl: service.url, api: API, job: 'lookup: real_time' });
    shop.drop('1.csv', toCustomers(manyEmails(30)));
    const killed = shop.startIdentifying();
    await waitFor(() => service.lookups.length > 11);
    killed.kill('SIGKILL');
    await killed.ended;
    service.behave(() => QUEUED);
    expect((await identifyAgain(shop)).finished?.counts).toMatchObject({ submitted: 30 });
    expect(new Set(service.lookups).size).toBe(30);
    expect(service.lookups.length).toBeLessThanOrEqual(30 + 4);
  });

  it('after SIGTERM: the process finishes its requests in flight, and nothing is repeated', async () => {
    const open: (() => void)[] = [];
    const service = await startFakeService({
      onBatch: () => new Promise((resolve) => open.push(() => resolve(QUEUED))),
    });
    const shop = await openCustomers({ serviceUrl: service.url, job: `batch_size: ${BATCH}` });
    shop.drop('1.csv', toCustomers(EMAILS));
    const ended = shop.startIdentifying();
    await waitFor(() => open.length >= 2);
    ended.kill('SIGTERM');
    await waitFor(() => ended.stderr().includes('Finishing the requests in flight'));
    service.behave(() => QUEUED);
    for (const answer of open) answer();
    expect((await ended.ended).exitCode).toBe(130);
    expect((await identifyAgain(shop)).exitCode).toBe(0);
    await expectAllSubmitted(shop, service.batches.flat(), 0);
  });
});

/** Also answers a look-up, which a message alone does not. */
const QUEUED = { status: 200, body: '{"message":"taken","is_influencer":false}' };
const NO_MATCH = { status: 200, body: '{"is_influencer":false}' };

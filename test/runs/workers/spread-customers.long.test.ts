import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  type FakeService,
  type Reply,
  startFakeService,
} from '../../jobs/identify-customers/fake-service.ts';
import {
  type CustomersShop,
  countCustomers,
  manyEmails,
  openCustomers,
  toCustomers,
} from '../../jobs/identify-customers/story.ts';
import { waitFor } from '../../support/wait-for.ts';
import { leasesAreOver, readRun } from '../workshop.ts';
import { CONCURRENCY, countEnds, poison, SPREAD_API, startWorkers } from './spread-shop.ts';

const BATCH = 5;
/** Enough batches for several shares. */
const EMAILS = manyEmails(160 * BATCH);
const QUEUED: Reply = { status: 200, body: '{"message":"queued"}' };
const REFUSED: Reply = { status: 422, body: '{"message":"source_type is not allowed"}' };

describe('a run whose customers are submitted by workers', () => {
  it('submits each customer once, and finds the bad addresses, as a run that does it itself', async () => {
    const bad = [EMAILS[3], EMAILS[402], EMAILS.at(-1)];
    const isBad = (address: string) => bad.includes(address);
    const { shop, service } = await openSpreadCustomers((batch) => (batch.some(isBad) ? REFUSED : QUEUED));
    await startWorkers(shop, 2);
    const run = await shop.identify();
    expect(run, run.stderr).toMatchObject({
      exitCode: 3,
      finished: {
        counts: { customers: EMAILS.length, submitted: EMAILS.length - 3, refused: 3, waiting: 0 },
      },
    });
    const taken = service.batches.filter((batch) => !batch.some(isBad)).flat();
    expect(taken.sort()).toEqual(EMAILS.filter((address) => !isBad(address)).sort());
    expect(await unitsOf(shop)).toEqual([{ state: 'done', workers: 2 }]);
    expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 0, waiting: 0 });
  });

  it('finds many bad addresses in batches of one, with what the batches of all workers show', async () => {
    const bad = new Set(EMAILS.slice(0, 300).filter((_, index) => index % 3 === 0));
    const { shop } = await openSpreadCustomers(
      ([address = '']) => (bad.has(address) ? REFUSED : QUEUED),
      'batch_size: 1',
    );
    shop.drop('1.csv', toCustomers(EMAILS.slice(0, 300)));
    await startWorkers(shop, 2);
    const run = await shop.identify();
    expect(run.finished?.counts, run.stderr).toMatchObject({ submitted: 200, refused: 100, waiting: 0 });
  });

  it('continues after SIGKILL of a worker, and repeats only its requests in flight', async () => {
    const { shop, service } = await openSpreadCustomers(slowly(() => QUEUED));
    const [doomed] = await startWorkers(shop, 2);
    const run = shop.startIdentifying();
    await waitFor(() => service.batches.length > 30);
    doomed?.kill('SIGKILL');
    const ended = readRun(await run.ended);
    expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
    await expectAllSubmitted(shop, service, CONCURRENCY);
  });

  it('gives the work of stopped workers to another one, does the rest itself, and repeats nothing', async () => {
    const { shop, service } = await openSpreadCustomers(slowly(() => QUEUED));
    const [first, last] = await startWorkers(shop, 2);
    const run = shop.startIdentifying();
    await waitFor(() => service.batches.length > 20);
    first?.kill('SIGTERM');
    expect((await first?.ended)?.exitCode).toBe(0);
    last?.kill('SIGTERM');
    expect((await last?.ended)?.exitCode).toBe(0);
    expect(service.batches.length).toBeLessThan(EMAILS.length / BATCH);
    const ended = readRun(await run.ended);
    expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
    await expectAllSubmitted(shop, service, 0);
  });

  it('leaves its customers to the next run if it is killed, and its workers send nothing after its lease', async () => {
    // So slow that the lease of the run is over before its workers are done.
    const { shop, service } = await openSpreadCustomers(slowly(() => QUEUED, 500));
    await startWorkers(shop, 2);
    const run = shop.startIdentifying();
    await waitFor(() => service.batches.length > 5);
    run.kill('SIGKILL');
    await run.ended;
    await waitFor(async () => {
      const { rows } = await sql`
        select from ops.leases where name like 'customers%' and expires_at > clock_timestamp()`.execute(
        shop.db,
      );
      return rows.length === 0;
    });
    const sent = service.batches.length;
    await leasesAreOver(shop);
    expect(service.batches.length).toBe(sent);
    expect(sent).toBeLessThan(EMAILS.length / BATCH);
    service.behave(() => QUEUED);
    expect((await shop.identify()).exitCode).toBe(0);
    await expectAllSubmitted(shop, service, 0);
  });

  it('submits the other shares if one fails in every worker, and the next run submits the rest', async () => {
    // So slow that another share is still being done when the first is given up.
    const { shop, service } = await openSpreadCustomers(slowly(() => QUEUED, 600));
    await startWorkers(shop, 2);
    const cure = await poison(shop.db, {
      table: 'intake.waiting_batches',
      on: 'delete',
      when: `row.purpose = 'submit' and row.batch_id % ${EMAILS.length / BATCH} = 37`,
    });
    const run = await shop.identify();
    expect(run.exitCode, run.stderr).toBe(1);
    const {
      'submit-batches given_up': givenUp,
      'submit-batches done': done = 0,
      ...others
    } = await countEnds(shop.db);
    expect({ givenUp, others }).toEqual({ givenUp: 1, others: {} });
    expect(done).toBeGreaterThan(1);
    const { staged = 0, submitted = 0 } = await countCustomers(shop.db);
    expect(staged + submitted).toBe(EMAILS.length);
    expect(submitted).toBeGreaterThanOrEqual((EMAILS.length * done) / (done + 1) - BATCH);
    await cure();
    expect((await shop.identify()).exitCode).toBe(0);
    // The service had taken the batch before it could not be recorded, at each attempt and by the run.
    await expectAllSubmitted(shop, service, 3 * (CONCURRENCY + 1));
  });

  it('submits them itself with --limit', async () => {
    const { shop } = await openSpreadCustomers(() => QUEUED);
    await startWorkers(shop, 1);
    expect((await shop.identify('--limit', '7')).finished?.counts).toMatchObject({ submitted: 7 });
    expect(await unitsOf(shop)).toEqual([]);
  });
});

describe('a service that refuses every batch of workers', () => {
  it.each([BATCH, 1])(
    'loses no customer, whether it has accepted batches before or not (%d in a batch)',
    async (size) => {
      const all = 160 * size;
      let taken = 0;
      const { shop, service } = await openSpreadCustomers(
        () => (taken-- > 0 ? QUEUED : REFUSED),
        `batch_size: ${size}`,
      );
      // A share has fewer batches than a run sends before it decides that all are refused.
      shop.drop('1.csv', toCustomers(manyEmails(all)));
      await startWorkers(shop, 2);
      const callsAtMost = 6 * 16 * (CONCURRENCY + 1);
      const never = await shop.cli('run', 'customers');
      expect(never.stderr).toContain('accepted no batch');
      expect(never.exitCode).toBe(2);
      expect(await countCustomers(shop.db)).toEqual({ staged: all });
      expect(service.batches.length).toBeLessThanOrEqual(callsAtMost);

      taken = 10;
      const later = await shop.cli('run', 'customers');
      expect(later.exitCode, later.stderr).toBe(2);
      const { refused = 0, staged = 0, submitted = 0 } = await countCustomers(shop.db);
      expect({ refused, all: staged + submitted }).toEqual({ refused: 0, all });
      expect(submitted).toBeGreaterThan(0);
    },
  );
});

type Shop = { readonly shop: CustomersShop; readonly service: FakeService };

async function openSpreadCustomers(
  onBatch: (addresses: readonly string[]) => Reply | Promise<Reply>,
  job = `batch_size: ${BATCH}`,
): Promise<Shop> {
  const service = await startFakeService({ onBatch });
  const shop = await openCustomers({ serviceUrl: service.url, api: SPREAD_API, job });
  shop.reconfigure('sources:', 'work: {engine: pg-boss}\nsources:');
  shop.drop('1.csv', toCustomers(EMAILS));
  return { shop, service };
}

function slowly(answer: () => Reply, latencyMs = 40): () => Promise<Reply> {
  return () => new Promise((resolve) => setTimeout(() => resolve(answer()), latencyMs));
}

async function expectAllSubmitted(
  shop: CustomersShop,
  { batches }: FakeService,
  repeatedBatches: number,
): Promise<void> {
  const sent = batches.flat();
  expect([...new Set(sent)].sort()).toEqual([...EMAILS].sort());
  expect(sent.length - EMAILS.length).toBeLessThanOrEqual(repeatedBatches * BATCH);
  expect(await countCustomers(shop.db)).toEqual({ submitted: EMAILS.length });
  const { rows } = await sql`select from intake.waiting_batches`.execute(shop.db);
  expect(rows).toEqual([]);
}

async function unitsOf({ db }: CustomersShop) {
  const { rows } = await sql<{ state: string; workers: number }>`
    select state, count(distinct worker_id)::integer as workers from ops.work_units
    where kind = 'submit-batches' group by state order by state`.execute(db);
  return rows;
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startS3Server } from '../support/s3-server.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  countStates,
  expectSums,
  leasesAreOver,
  manyRows,
  openWorkshop,
  organicRows,
  processed,
  readRun,
  repeated,
  toCsv,
  type Workshop,
} from './workshop.ts';

const REFERRAL = 'new_influencer_referral';

const BUCKET = 'acme-exports';
const S3_FLOW = `
sources:
  shop: {uri: "s3://${BUCKET}/orders/", layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam, force_path_style: true}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`;
/** Number of rows in a file that is staged in several statements. */
const ROWS = 12_000;

describe('two concurrent runs', () => {
  it('of one job: the second exits with 5 and names the process of the first', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv(manyRows(100)));
    const first = shop.start('run', 'orders', '--json');
    await processed(shop, 1);
    // The first run is stopped, so that it remains active however slow the other is.
    first.kill('SIGSTOP');
    const second = await shop.run();
    first.kill('SIGCONT');
    expect(second).toMatchObject({ exitCode: 5, finished: null });
    expect(second.events.at(-1)).toMatchObject({ event: 'error', code: 'already_running', exit_code: 5 });
    expect(String(second.events.at(-1)?.message)).toContain(`process ${first.pid}`);
    expect(readRun(await first.ended)).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 100 } } },
    });
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('of two jobs over copies of the same orders post each order once', async () => {
    const shop = await openWorkshop({
      sandbox: { latencyMs: 10 },
      flow: `
sources:
  one: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  two: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  first: {kind: attribute-orders, source: one, brand_id: 4819, codes: ./codes.csv}
  second: {kind: attribute-orders, source: two, brand_id: 4819, codes: ./codes.csv}
`,
    });
    shop.drop('orders.csv', toCsv(manyRows(200)));
    const runs = ['first', 'second'].map((job) => shop.start('run', job, '--json').ended);
    const ended = (await Promise.all(runs)).map(readRun);
    expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const posted = ended.map(({ finished }) => finished?.counts.entries.accepted ?? 0);
    expect((posted[0] ?? 0) + (posted[1] ?? 0)).toBe(200);
    // Each job accounts for all orders: those that belong to the other job are excluded with that reason.
    for (const { finished } of ended) {
      expect(finished?.counts.orders).toBe(200);
      if (finished !== null) expectSums(finished);
    }
    for (const job of ['first', 'second']) {
      const after = readRun(await shop.cli('run', job, '--json'));
      expect(after).toMatchObject({ exitCode: 0, finished: { counts: { entries: { accepted: 0 } } } });
    }
    expect(await shop.posted()).toHaveLength(200);
    expect(repeated(await shop.posted())).toEqual([]);
    expect(await countStates(shop.db)).toEqual({ accepted: 200 });
  });
});

describe('a run that is asked to end', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s finishes its requests in flight, exits with 130 without doubts, and the next run continues',
    async (signal) => {
      const shop = await openWorkshop({ sandbox: { latencyMs: 40 } });
      shop.drop('orders.csv', toCsv(manyRows(60)));
      const run = shop.start('run', 'orders', '--json');
      await processed(shop, 5);
      run.kill(signal);
      const ended = readRun(await run.ended);
      expect(ended).toMatchObject({ exitCode: 130, finished: { status: 'interrupted' } });
      expect(ended.stderr).toContain('Finishing the requests in flight');
      const states = await countStates(shop.db);
      expect(Object.keys(states).sort()).toEqual(['accepted', 'ready']);
      expect(states.accepted).toBe((await shop.posted()).length);

      expect((await shop.run()).exitCode).toBe(0);
      expect(await countStates(shop.db)).toEqual({ accepted: 60 });
      expect(repeated(await shop.posted())).toEqual([]);
    },
  );

  it('while it reads leaves nothing of the file, and the next run reads it whole', async () => {
    const s3 = await startS3Server();
    onTestFinished(() => s3.close());
    const shop = await openWorkshop({ flow: S3_FLOW, env: s3.env });
    const file = toCsv([...manyRows(500), ...organicRows(ROWS - 500)]);
    s3.put(BUCKET, 'orders/orders.csv', file);
    // The second half never arrives, so the run is still reading when the signal arrives.
    s3.fail({ operation: 'GetObject', kind: 'stall', afterBytes: Math.floor(file.length / 2) });
    const run = shop.start('run', 'orders', '--json');
    await waitFor(async () => (await stagedRows(shop)) > 0);
    run.kill('SIGINT');
    expect((await run.ended).exitCode).toBe(130);
    expect(await countStates(shop.db)).toEqual({});
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

  it('twice stops at once, leaves only its requests in flight in doubt and repeats nothing', async () => {
    const shop = await openWorkshop({ api: 'lease_seconds: 6\ntimeout_seconds: 5.9' });
    shop.drop('orders.csv', toCsv(manyRows(40)));
    await shop.sandbox.setFaults([{ kind: 'stall_after', operation: REFERRAL, after: 3 }]);
    const run = shop.start('run', 'orders', '--json');
    await processed(shop, 5);
    run.kill('SIGINT');
    await waitFor(() => run.stderr().includes('Finishing the requests in flight'));
    run.kill('SIGINT');
    expect((await run.ended).exitCode).toBe(130);
    // The run did not wait for the answers or for their timeout.
    expect((await countStates(shop.db)).sending).toBeGreaterThan(0);
    await shop.sandbox.setFaults(null);
    await leasesAreOver(shop);
    expect((await shop.run()).exitCode).toBe(6);
    const states = await countStates(shop.db);
    expect((states.accepted ?? 0) + (states.in_doubt ?? 0)).toBe(40);
    expect(states.in_doubt).toBeLessThanOrEqual(6);
    expect(repeated(await shop.posted())).toEqual([]);
    // Nothing had to be spooled, so no file is left.
    expect(spoolOf(shop)).toEqual([]);
  });
});

async function stagedRows({ db }: Workshop): Promise<number> {
  const { rows } = await sql`select from intake.orders limit 1`.execute(db);
  return rows.length;
}

function spoolOf({ folder }: Workshop): string[] {
  try {
    return readdirSync(join(folder, '.data', 'spool'));
  } catch {
    return [];
  }
}

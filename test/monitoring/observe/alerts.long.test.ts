import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { readRules } from '../../deploy/alerts.ts';
import { evaluate, readSamples, type Sample } from '../../deploy/promql.ts';
import { manyRows, toCsv, type Workshop } from '../../runs/workshop.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import type { CliProcess } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';
import { goBack, JOB, openDrill } from '../notify/drill.ts';

const REFERRAL = 'new_influencer_referral';

/** Half an hour away from any slot, so that none is due while a test runs. */
const MINUTE = (new Date().getUTCMinutes() + 30) % 60;

const FLOW = `
serve: {port: 0}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {${JOB}, schedule: "${MINUTE} * * * *"}
  account: {kind: mirror-account, budget: 1}
`;

/** A busy machine must not lose a lease. */
const API = 'lease_seconds: 60\ntimeout_seconds: 2';

const { alerts, recordings } = readRules();

/** This alert needs days of history, so promtool tests it (deploy/prometheus/rules.test.yaml). */
const instantAlerts = alerts.filter(({ alert }) => alert !== 'InfluencerSyncErrorBudget');

/**
 * Returns the alerts whose expression is true for the metrics of a process, as `Doubts orders`. It ignores
 * the time that an alert waits before it fires.
 */
function firing(samples: readonly Sample[], now = new Date()): readonly string[] {
  return instantAlerts.flatMap(({ alert, expr }) =>
    evaluate(expr, { samples, now }).map(({ labels }) =>
      [alert.replace('InfluencerSync', ''), ...Object.values(labels)].join(' '),
    ),
  );
}

async function serve(
  shop: Workshop,
): Promise<CliProcess & { readonly scrape: () => Promise<readonly Sample[]> }> {
  const started = shop.start('serve', '--json');
  await waitFor(() => started.stdout().includes('"listening"'));
  const { url } = JSON.parse(started.stdout().split('\n')[0] ?? '') as { url: string };
  await waitFor(async () => {
    const answer = await fetch(`${url}/readyz`);
    return ((await answer.json()) as { checks: { last_look: { ok: boolean } } }).checks.last_look.ok;
  });
  return { ...started, scrape: async () => readSamples(await (await fetch(`${url}/metrics`)).text()) };
}

it('each alert stays silent on a healthy process and fires on its metrics when its condition is provoked', async () => {
  const { shop, receiver } = await openDrill({ flow: FLOW, api: API });
  const wire = await startDatabaseProxy(shop.databaseUrl);
  onTestFinished(() => wire.close());
  shop.env.DATABASE_URL = wire.url;
  shop.drop('orders.csv', toCsv(manyRows(2)));
  expect((await shop.run()).exitCode).toBe(0);
  const server = await serve(shop);
  expect(firing(await server.scrape())).toEqual([]);

  receiver.answer(503);
  await shop.sandbox.setFaults([{ kind: 'reset_after', operation: REFERRAL, count: 1 }]);
  shop.drop('doubt.csv', toCsv(manyRows(1, 'doubt')));
  expect((await shop.run()).exitCode).toBe(6);
  await shop.sandbox.setFaults([
    { kind: 'error_before', operation: REFERRAL, status: 422, text: 'No such deal.' },
  ]);
  shop.drop('refused.csv', toCsv(manyRows(1, 'refused')));
  expect((await shop.run()).exitCode).toBe(6);
  await shop.sandbox.setFaults(null);
  shop.drop('held.csv', toCsv(manyRows(40, 'held').map((row) => ({ ...row, revenue: 'twelve' }))));
  shop.drop('waits.csv', toCsv(manyRows(3, 'waits')));
  expect((await shop.run('--limit', '1')).exitCode).toBe(6);
  await shop.cli('run', 'account');
  // Makes all of this appear hours old.
  await sql`update ledger.entries set created_at = created_at - interval '7 hours' where state = 'ready'`.execute(
    shop.db,
  );
  await sql`update ops.runs set started_at = started_at - interval '3 hours', finished_at = finished_at - interval '3 hours'
    where job = 'orders'`.execute(shop.db);
  await sql`update ops.notice_deliveries set due_at = due_at - interval '20 minutes'`.execute(shop.db);

  const expected = [
    'BacklogOld orders',
    'BudgetSpent account',
    'Doubts orders',
    'HeldFiles shop',
    'JobOverdue orders',
    'NoticesNotDelivered ops',
    'RefusedEntries orders',
  ];
  await waitFor(async () => firing(await server.scrape()).length >= expected.length);
  const samples = await server.scrape();
  expect(firing(samples).toSorted()).toEqual(expected);
  expect(samples).toContainEqual({
    name: 'influencer_sync_doubt_amount',
    labels: { job: 'orders', currency: 'EUR' },
    value: 1.01,
  });
  const fresh = recordings.find(({ record }) => record === 'job:influencer_sync_fresh:bool')?.expr ?? '';
  expect(evaluate(fresh, { samples, now: new Date() })).toEqual([{ labels: { job: 'orders' }, value: 0 }]);

  wire.cut();
  await waitFor(async () => firing(await server.scrape()).includes('DatabaseAway'));
  // Other metrics are unknown then. Two minutes after the last poll of the schedule, no process counts as
  // serving.
  const cut = await server.scrape();
  expect(firing(cut)).toEqual(['DatabaseAway']);
  expect(firing(cut, new Date(Date.now() + 121_000))).toContain('NotServing');
  server.kill('SIGKILL');
  await server.ended;
  expect(firing([])).toEqual(['NotServing']);
});

it('only the alert for a ledger that went back fires when the ledger went back', async () => {
  const drill = await openDrill({ flow: FLOW, api: API, isReplaceable: true });
  const { shop } = drill;
  shop.drop('one.csv', toCsv(manyRows(2, 'a')));
  expect((await shop.run()).exitCode).toBe(0);
  await goBack(drill, async () => {
    shop.drop('two.csv', toCsv(manyRows(2, 'b')));
    expect((await shop.run()).exitCode).toBe(0);
  });
  const server = await serve(shop);
  await waitFor(async () => firing(await server.scrape()).length > 0);
  expect(firing(await server.scrape())).toEqual(['LedgerWentBack']);
  server.kill('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
});

it('a paused job is never overdue, a dependent job has the time of both jobs, and without runs the time counts from the start', async () => {
  const { shop } = await openDrill({
    flow: FLOW.replace('budget: 1', 'budget: 1, after: orders, deadline_minutes: 30'),
    api: API,
  });
  shop.drop('orders.csv', toCsv(manyRows(1)));
  expect((await shop.run()).exitCode).toBe(0);
  await sql`update ops.runs set started_at = started_at - interval '3 hours' where job = 'orders'`.execute(
    shop.db,
  );
  expect((await shop.cli('jobs', 'pause', 'orders', '--reason', 'a test')).exitCode).toBe(0);
  const server = await serve(shop);
  const samples = await server.scrape();
  const find = (name: string) =>
    samples
      .filter((sample) => sample.name === `influencer_sync_${name}`)
      .map(({ labels, value }) => [labels.job, value]);
  expect(find('paused')).toEqual([['orders', 1]]);
  expect(find('overdue_seconds')).toEqual([['account', 0]]);
  expect(find('overdue_limit_seconds')).toEqual([['account', 90 * 60]]);
  expect(find('serving_processes')).toEqual([[undefined, 1]]);
  server.kill('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
});

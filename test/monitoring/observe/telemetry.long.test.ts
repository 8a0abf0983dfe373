import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { manyRows, openWorkshop, toCsv, type Workshop } from '../../runs/workshop.ts';
import { findFreePort } from '../../support/free-port.ts';
import { readEvents } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';
import { attributeOf, type SentSpan, startCollector } from './collector.ts';

const ADDRESS = 'jane.doe@customer.example';

/** Texts that no attribute, log body or name may contain. */
const NEVER = [ADDRESS, 'jane.doe', 'customer.example', 'order-of-jane', 'export-of-jane', 'MIA10'];

/** Half an hour away from any slot, so that none is due while a test runs. */
const MINUTE = (new Date().getUTCMinutes() + 30) % 60;

const REFERRAL = 'POST /v1/crm/new_influencer_referral';

const CONSOLE = 'console: {trace_url: "https://traces.example.com/trace/{trace_id}"}\n';

const FLOW = `
serve: {port: 0}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total, schedule: "${MINUTE} * * * *"}
${CONSOLE}`;

/**
 * Opens a deployment with orders whose ids are names and addresses of people, and one row that is rejected.
 */
async function openShop(endpoint: string): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW, env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } });
  const rows = [
    ...manyRows(20, 'order-of-jane-'),
    { id: ADDRESS },
    { id: 'order-of-jane', revenue: 'secret-cell' },
  ];
  shop.drop('export-of-jane.doe.csv', toCsv(rows));
  return shop;
}

it('a run exports its trace, metrics and logs without orders, personal data and file names', async () => {
  const collector = await startCollector();
  const shop = await openShop(collector.url);
  const ended = await shop.start('run', 'orders', '--json').ended;
  expect(ended.exitCode).toBe(3);

  const spans = collector.spans();
  const [run] = spans.filter(({ name }) => name === 'run attribute-orders');
  if (run === undefined) throw new Error('the run has no span');
  expect(run.parentSpanId ?? '').toBe('');
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([run.traceId]));
  expect(attributeOf(run, 'influencer_sync.run.id')).toBe('1');
  expect(attributeOf(run, 'influencer_sync.run.status')).toBe('issues');
  expect(attributeOf(run, 'influencer_sync.count.rows')).toBe(22);
  expect(pathTo(REFERRAL, spans)).toEqual(['run attribute-orders', 'step post']);
  expect(pathTo('batch', spans)).toEqual(['run attribute-orders', 'step read', 'file']);
  expect(pathTo('update intake.source_files', spans)).toEqual(['run attribute-orders', 'step read', 'file']);
  expect(pathTo('update ops.runs', spans)).toEqual(['run attribute-orders']);
  const [request] = spans.filter(({ name }) => name === REFERRAL);
  expect(request).toMatchObject({ kind: 3 });
  expect(request && attributeOf(request, 'http.response.status_code')).toBe(200);
  expect(request && attributeOf(request, 'server.address')).toBe('127.0.0.1');

  expect(collector.points('influencer_sync_runs_total').map(({ asDouble }) => asDouble)).toContain(1);
  expect(collector.points('influencer_sync_request_duration_seconds').length).toBeGreaterThan(0);
  expect(collector.points('influencer_sync_last_success_timestamp_seconds')).toHaveLength(1);
  const logs = collector.received
    .filter(({ path }) => path === '/v1/logs')
    .map(({ text }) => text)
    .join('\n');
  expect(logs).toContain('"run finished"');

  const sent = collector.received.map(({ text }) => text).join('\n');
  const secrets = [shop.env.INFLUENCER_API_KEY ?? '', new URL(shop.databaseUrl).password].filter(
    (one) => one !== '',
  );
  for (const never of [...NEVER, ...secrets]) expect(sent).not.toContain(never);

  const [listed] = readEvents(await shop.cli('runs', '--json'));
  expect(listed).toMatchObject({ trace_id: run.traceId });
  expect(ended.stderr).toContain(`Trace: https://traces.example.com/trace/${run.traceId}`);
});

it('serve exports its metrics, the trace of each slot, and flushes the rest when it stops', async () => {
  const collector = await startCollector();
  const shop = await openShop(collector.url);
  // Makes the process appear to have been down for an hour.
  await sql`insert into ops.schedules (job, looked_until) values ('orders', clock_timestamp() - interval '1 hour')`.execute(
    shop.db,
  );
  const server = shop.start('serve', '--json');
  await waitFor(() => server.stderr().includes('"run ended"'));
  server.kill('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
  expect(collector.spans().filter(({ name }) => name === 'run attribute-orders')).toHaveLength(1);
  expect(collector.points('influencer_sync_serving_processes').length).toBeGreaterThan(0);
  const ended = collector.received.filter(
    ({ path, text }) => path === '/v1/logs' && text.includes('"stopped"'),
  );
  expect(ended).toHaveLength(1);
});

it.each(['refuses', 'never answers'])(
  'a collector that %s does not affect the run and delays its end by two seconds at most',
  async (how) => {
    const hanging = await startCollector({ hangs: true });
    const shop = await openShop(how === 'refuses' ? `http://127.0.0.1:${await findFreePort()}` : hanging.url);
    const process = shop.start('run', 'orders', '--json');
    await waitFor(() => process.stdout().includes('run_finished') || process.stderr().includes('Trace: '));
    const finishedAt = performance.now();
    const ended = await process.ended;
    const tookMs = performance.now() - finishedAt;
    expect(ended.exitCode).toBe(3);
    expect(readEvents(ended).at(-1)).toMatchObject({ event: 'run_finished', counts: { rows: 22 } });
    expect(await shop.posted()).toHaveLength(20);
    // Two seconds, plus the time that a process needs to end on a busy machine.
    expect(tookMs).toBeLessThan(4_000);
    expect(ended.stderr.match(/collector .* does not accept/g)).toHaveLength(1);
    expect(ended.stderr).not.toMatch(/ECONNREFUSED|at .*node_modules/);
  },
);

/** Returns the names of the ancestors of a span with the given name, starting at the root. */
function pathTo(name: string, spans: readonly SentSpan[]): readonly string[] {
  const above = (span: SentSpan | undefined): readonly string[] => {
    const parent = spans.find(({ spanId }) => spanId === span?.parentSpanId);
    return parent === undefined ? [] : [...above(parent), parent.name];
  };
  return above(spans.find((span) => span.name === name));
}

it('sends nothing but the signals for which the environment names a collector', async () => {
  const collector = await startCollector();
  const shop = await openShop('');
  shop.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = `${collector.url}/v1/traces`;
  shop.env.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT = `${collector.url}/v1/logs`;
  shop.env.OTEL_LOGS_EXPORTER = 'none';
  const ended = await shop.start('run', 'orders', '--json').ended;
  expect(ended.exitCode).toBe(3);
  expect(new Set(collector.received.map(({ path }) => path))).toEqual(new Set(['/v1/traces']));
  expect(ended.stderr).not.toContain('does not accept telemetry');
});

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { acquireLease } from '../../src/ops/lease.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { readChangeVersion } from '../../src/reports/status/read-overview.ts';
import { beginUnit, endUnit, keepUnit } from '../../src/runs/workers/units.ts';
import { drainWorker, keepWorker } from '../../src/runs/workers/workers.ts';
import { openWorkshop } from '../runs/workshop.ts';
import { startTestConsole, textOf } from './console-server.ts';

const FLOW = `
work: {engine: pg-boss}
serve: {port: 0}
sources:
  one: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
  two: {uri: ./others/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: one, brand_id: 4819, codes: ./codes.csv, schedule: "5 4 1 1 *"}
  by-hand: {kind: attribute-orders, source: two, brand_id: 4820, codes: ./codes.csv}
`;

describe('the page of workers', () => {
  it('shows each worker with its version, heartbeat and units, whether it stops or was lost, and updates itself', async () => {
    const { db, get, run } = await openPage();
    const [busy, leaving, gone] = [
      await addWorker(db, 'machine-1'),
      await addWorker(db, 'machine-2'),
      await addWorker(db, 'machine-3'),
    ];
    await beginUnits(db, run, { kind: 'post-share', count: 1, workerId: busy, done: 37 });
    await sql`update ops.workers set seen_at = now() - interval '10 minutes' where worker_id = ${gone}::uuid`.execute(
      db,
    );
    const before = await readChangeVersion(db);
    await drainWorker(db, leaving);
    expect(await readChangeVersion(db)).not.toBe(before);
    const page = textOf((await get('/workers')).text);
    expect(page).toMatch(
      /machine-1 process 7 working 1\.2\.3 \S+ \S+ UTC \S+ s ago read-source, post-share 2 of each at a time orders, run 1 : posting a share of its orders 37 orders, began/,
    );
    expect(page).toMatch(/machine-2 process 7 stopping since \S+ \S+ UTC ; it begins no more units/);
    expect(page).toMatch(/machine-3 process 7 lost other workers do its units .* 10 min ago/);
    expect(page).not.toContain('No worker runs now');
  });

  it('shows for each kind what is being done, what waits and since when, without units of a run that is gone', async () => {
    const { db, get, run } = await openPage();
    const workerId = await addWorker(db, 'machine-1');
    await addWorker(db, 'machine-2');
    await beginUnits(db, run, { kind: 'post-share', count: 2, workerId, done: 0 });
    await addUnits(db, run, { kind: 'post-share', count: 3 });
    await addUnits(db, { ...run, owner: randomUUID() }, { kind: 'post-share', count: 5 });
    const page = textOf((await get('/workers')).text);
    expect(page).toMatch(/read-source reads the new files of a source 4 0 0 0/);
    expect(page).toMatch(/post-share posts a share of the orders of a run 4 2 3 \S+ \S+ UTC \S+ s ago 0/);
    expect(page).toMatch(/fetch-deals reads a share of the deals of a mirror 0 0 0 0/);
  });

  it('shows failed units once for each cause, and how to do their work again', async () => {
    const { db, get, run, post } = await openPage();
    const other = await startRun(db, 'by-hand');
    const backfill = await startRun(db, 'backfill:orders');
    await failUnits(db, run, { kind: 'read-source', count: 40, message: 'The store refuses the key.' });
    await failUnits(db, other, { kind: 'post-share', count: 2, message: null });
    await failUnits(
      db,
      { ...backfill, job: 'orders' },
      { kind: 'post-backfill', count: 1, message: null, payload: { backfillId: '8' } },
    );
    const { text } = await get('/workers');
    const page = textOf(text);
    expect(page).toMatch(
      /orders, run 1 failed reading source one 40 units The store refuses the key\. Correct it\. Run it again Why Run now: orders/,
    );
    expect(page).toMatch(
      /by-hand, run 2 given up posting a share of its orders 2 units Its worker ended without a result three times, .* npx influencer-sync run by-hand/,
    );
    expect(page).toContain('backfill 8 : npx influencer-sync backfill resume 8 --reason');
    expect(page).toMatch(/read-source reads the new files of a source 0 0 0 40/);

    // The retry is the action of the schedules: a reason is required, and a process that serves runs it.
    expect((await post('/schedules/run-now', { job: 'orders', return_to: '/workers' })).status).toBe(400);
    await serve(db);
    const asked = await post('/schedules/run-now', {
      job: 'orders',
      reason: 'the key is corrected',
      return_to: '/workers',
    });
    expect(asked.url).toContain('/workers');
    expect(textOf(asked.text)).toContain('A run of orders was requested.');
    expect(textOf((await get('/audit')).text)).toContain('the key is corrected');

    await startRun(db, 'orders');
    expect(textOf((await get('/workers')).text)).toMatch(
      /The store refuses the key\. Correct it\. run 4 has started since/,
    );
  });

  it('shows viewers the command instead of the form', async () => {
    const { shop, db, run } = await openPage();
    await failUnits(db, run, { kind: 'post-share', count: 1, message: null });
    const { get } = await startTestConsole(shop, { readOnly: true });
    const { text } = await get('/workers');
    expect(text).not.toContain('<form class="change"');
    expect(textOf(text)).toContain('npx influencer-sync run orders --reason');
  });

  it('reads a limited number of rows, however many there are', async () => {
    const { db, get, run } = await openPage();
    await sql`
      insert into ops.workers (worker_id, host, pid, version, kinds, concurrency)
      select gen_random_uuid(), 'many-' || n, n, '1.2.3', '{post-share}', 1 from generate_series(1, 300) n`.execute(
      db,
    );
    await sql`
      insert into ops.work_units (run_id, run_owner, job, kind, payload, state, ended_at, result)
      select ${run.runId}::bigint, ${run.owner}::uuid, 'orders', 'read-source', '{}', 'failed', now(), jsonb_build_object('message', 'Cause ' || n, 'help', 'h')
      from generate_series(1, 500) n`.execute(db);
    const page = textOf((await get('/workers')).text);
    expect(page.match(/many-\d+ process/g)).toHaveLength(200);
    expect(page).toContain('and more; npx influencer-sync status lists all that run');
    expect(page.match(/Cause \d+/g)).toHaveLength(50);
    expect(page).toContain('and older ones');
  });

  it('says how to turn workers on if runs do not distribute work, and that none runs if they do', async () => {
    const off = await startTestConsole(await openWorkshop());
    expect(textOf((await off.get('/workers')).text)).toMatch(
      /Each run does all of its work itself \( ?work\.engine: in-process ?\)\. To let other processes do parts of it, set work: \{engine: pg-boss\} in the configuration of all processes, restart them, and start npx influencer-sync work on any machine\./,
    );
    expect(textOf((await off.get('/workers')).text)).not.toContain('Queues');
    const { get } = await openPage();
    expect(textOf((await get('/workers')).text)).toContain(
      'No worker runs now, so each run does all of its work itself.',
    );
  });
});

describe('the page of a run', () => {
  it('shows how far the units are that it has handed out', async () => {
    const { db, get, run } = await openPage();
    const workerId = await addWorker(db, 'machine-1');
    const [first] = await beginUnits(db, run, { kind: 'post-share', count: 2, workerId, done: 30 });
    await endUnit(db, { unitId: first ?? '', attempt: 1, done: 50, state: 'done', outcome: { notes: [] } });
    await addUnits(db, run, { kind: 'post-share', count: 1 });
    await failUnits(db, run, { kind: 'read-source', count: 1, message: 'no' });
    const page = textOf((await get('/runs/1')).text);
    expect(page).toMatch(/post-share posts a share of the orders of a run .*1 of 3 1 1 0 0 80 orders/);
    expect(page).toMatch(/read-source reads the new files of a source .*0 of 1 0 0 1 0 0 rows/);
  });
});

type RunOf = { readonly runId: string; readonly owner: string; readonly job: string };

async function openPage() {
  const shop = await openWorkshop({ flow: FLOW });
  const run = await startRun(shop.db, 'orders');
  return { shop, db: shop.db, run, ...(await startTestConsole(shop)) };
}

/** Starts a run whose process is alive. */
async function startRun(db: Database, job: string): Promise<RunOf> {
  const runId = await beginRun(db, { job, kind: 'attribute-orders' });
  const owner = randomUUID();
  await acquireLease(db, { name: `test:${runId}`, owner, host: 'test', pid: 1, ttlMs: 60_000 });
  return { runId, owner, job };
}

async function addWorker(db: Database, host: string): Promise<string> {
  const workerId = randomUUID();
  const kinds = ['read-source', 'post-share'] as const;
  await keepWorker(db, { workerId, host, pid: 7, version: '1.2.3', kinds, concurrency: 2 });
  return workerId;
}

type Units = {
  readonly kind: string;
  readonly count: number;
  readonly payload?: Readonly<Record<string, string>>;
};

async function addUnits(
  db: Database,
  { runId, owner, job }: RunOf,
  { kind, count, payload = { source: 'one' } }: Units,
): Promise<readonly string[]> {
  const { rows } = await sql<{ unit_id: string }>`
    insert into ops.work_units (run_id, run_owner, job, kind, payload)
    select ${runId}::bigint, ${owner}::uuid, ${job}, ${kind}, ${JSON.stringify(payload)}::jsonb from generate_series(1, ${count}::int)
    returning unit_id`.execute(db);
  return rows.map(({ unit_id: unitId }) => unitId);
}

async function beginUnits(
  db: Database,
  run: RunOf,
  { workerId, done, ...units }: Units & { readonly workerId: string; readonly done: number },
): Promise<readonly string[]> {
  const unitIds = await addUnits(db, run, units);
  for (const unitId of unitIds) {
    await beginUnit(db, { unitId, workerId });
    await keepUnit(db, { unitId, attempt: 1, done });
  }
  return unitIds;
}

/** @param units.message of the error; null if the units end their workers. */
async function failUnits(
  db: Database,
  run: RunOf,
  { message, ...units }: Units & { readonly message: string | null },
): Promise<void> {
  const workerId = randomUUID();
  for (const unitId of await addUnits(db, run, units)) {
    for (let attempt = 1; attempt <= (message === null ? 4 : 1); attempt += 1)
      await beginUnit(db, { unitId, workerId });
    if (message !== null)
      await endUnit(db, {
        unitId,
        attempt: 1,
        done: 0,
        state: 'failed',
        outcome: { code: 'refused', message, help: 'Correct it.', safe: '', exitCode: 1 },
      });
  }
}

/** Makes it look as if a process served. */
async function serve(db: Database): Promise<void> {
  const owner = randomUUID();
  await acquireLease(db, { name: `serve:${owner}`, owner, host: 'test', pid: 1, ttlMs: 60_000 });
}

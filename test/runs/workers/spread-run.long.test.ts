import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { UNIT_LEASE_SECONDS } from '../../../src/runs/workers/work-queue.ts';
import type { CliProcess } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  countStates,
  expectSums,
  leasesAreOver,
  openWorkshop,
  processed,
  readRun,
  repeated,
  type Workshop,
} from '../workshop.ts';
import {
  countEnds,
  dropBoth,
  firstShare,
  ON_THE_WAY,
  openSpreadShop,
  poison,
  startWorkers,
  TWO_SOURCES,
} from './spread-shop.ts';

describe('a run whose work is spread over workers', () => {
  it('posts each order once with correct sums, and leaves nothing for a second run', async () => {
    const shop = await openSpreadShop();
    dropBoth(shop, 120);
    const workers = await startWorkers(shop, 2);
    const run = await shop.run();
    expect(run.stderr).not.toContain('error');
    expect(run).toMatchObject({ exitCode: 0, finished: { counts: { entries: { accepted: 240 } } } });
    if (run.finished !== null) expectSums(run.finished);
    expect(repeated(await shop.posted())).toEqual([]);
    expect(await shop.posted()).toHaveLength(240);
    const { rows } = await sql<{ kind: string; state: string; workers: string }>`
      select kind, state, count(distinct worker_id) as workers from ops.work_units group by kind, state order by kind, state`.execute(
      shop.db,
    );
    expect(rows).toEqual([
      { kind: 'post-share', state: 'done', workers: '2' },
      { kind: 'read-source', state: 'done', workers: '2' },
    ]);
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 0 } } },
    });
    for (const worker of workers) worker.kill('SIGTERM');
    for (const { ended } of workers) expect((await ended).exitCode).toBe(0);
    expect((await sql`select from ops.workers`.execute(shop.db)).rows).toEqual([]);
  });

  it('continues after SIGKILL of a worker within two leases of its unit, with doubts only for requests in flight and no order posted twice', async () => {
    const shop = await openSpreadShop({ sandbox: { latencyMs: 25 } });
    dropBoth(shop, 200);
    const workers = await startWorkers(shop, 2);
    const run = shop.start('run', 'orders', '--json');
    await processed(shop, 40);
    const { unitId, killedAt } = await killHolder(shop, workers);
    const ended = readRun(await run.ended);
    const { rows } = await sql<{ attempt: number; seconds: number }>`
      select attempt, extract(epoch from begun_at - ${killedAt}::timestamptz)::float8 as seconds
      from ops.work_units where unit_id = ${unitId}::uuid`.execute(shop.db);
    expect(rows).toEqual([{ attempt: 2, seconds: expect.any(Number) }]);
    expect(rows[0]?.seconds).toBeLessThanOrEqual(2 * UNIT_LEASE_SECONDS);
    const states = await countStates(shop.db);
    const { accepted = 0, in_doubt: doubts = 0 } = states;
    expect(accepted + doubts).toBe(400);
    expect(doubts).toBeLessThanOrEqual(ON_THE_WAY);
    expect(ended.exitCode).toBe(doubts > 0 ? 6 : 0);
    if (ended.finished !== null) expectSums(ended.finished);
    expect(repeated(await shop.posted())).toEqual([]);
    expect(await countUnits(shop)).not.toHaveProperty('open');
  });

  it('gives the unfinished work of a stopped worker to another one', async () => {
    const shop = await openSpreadShop({ sandbox: { latencyMs: 25 } });
    dropBoth(shop, 150);
    const [leaving] = await startWorkers(shop, 2);
    const run = shop.start('run', 'orders', '--json');
    await processed(shop, 20);
    leaving?.kill('SIGTERM');
    expect((await leaving?.ended)?.exitCode).toBe(0);
    expect(readRun(await run.ended)).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 300 } } },
    });
    expect(repeated(await shop.posted())).toEqual([]);
    expect(await countStates(shop.db)).toEqual({ accepted: 300 });
  });

  it('does the work itself if there is no worker or the last one stops', async () => {
    const shop = await openSpreadShop({ sandbox: { latencyMs: 25 } });
    dropBoth(shop, 100);
    const [only] = await startWorkers(shop, 1);
    const run = shop.start('run', 'orders', '--json');
    await processed(shop, 10);
    only?.kill('SIGTERM');
    expect(readRun(await run.ended).exitCode).toBe(0);
    expect(await countStates(shop.db)).toEqual({ accepted: 200 });

    dropBoth(shop, 120);
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 40 } } },
    });
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('leaves its orders to the next run if it is killed, and its workers stop', async () => {
    const shop = await openSpreadShop({ sandbox: { latencyMs: 150 } });
    dropBoth(shop, 200);
    await startWorkers(shop, 2);
    const run = shop.start('run', 'orders', '--json');
    await processed(shop, 20);
    run.kill('SIGKILL');
    await run.ended;
    // The leases of the run expire, and soon afterwards those of its units: a worker that detects the lost
    // run returns them.
    await leasesAreOver(shop);
    const posted = (await shop.posted()).length;
    expect(posted).toBeLessThan(400);
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
    expect(await countStates(shop.db)).toEqual({ accepted: 400 });
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('has its workers finish their requests in flight when it is asked to end, and leaves no doubts', async () => {
    const shop = await openSpreadShop({ sandbox: { latencyMs: 25 } });
    dropBoth(shop, 200);
    await startWorkers(shop, 2);
    const run = shop.start('run', 'orders', '--json');
    await processed(shop, 20);
    run.kill('SIGTERM');
    const ended = readRun(await run.ended);
    expect(ended).toMatchObject({ exitCode: 130, finished: { status: 'interrupted' } });
    const states = await countStates(shop.db);
    expect(Object.keys(states).sort()).toEqual(['accepted', 'ready']);
    expect(states.accepted).toBe((await shop.posted()).length);
  });

  it('posts the other shares if one fails in every worker, and the next run posts the rest', async () => {
    // So slow that another share is still being done when the first is given up.
    const shop = await openSpreadShop({ sandbox: { latencyMs: 300 } });
    dropBoth(shop, 200);
    await startWorkers(shop, 2);
    const cure = await poison(shop.db, firstShare('post-share'));
    const run = await shop.run();
    expect(run.exitCode, run.stderr).toBe(1);
    expect((await shop.cli('runs')).stdout).toContain('A share of the ready orders was not posted.');
    const ends = await countEnds(shop.db);
    expect(ends).toMatchObject({ 'post-share given_up': 1, 'post-share done': 3 });
    expect(ends).not.toHaveProperty('post-share cancelled');
    const { accepted = 0, ready = 0, ...others } = await countStates(shop.db);
    expect(others).toEqual({});
    expect(accepted + ready).toBe(400);
    expect(accepted).toBeGreaterThanOrEqual(300);
    await cure();
    expect((await shop.run()).exitCode).toBe(0);
    expect(await countStates(shop.db)).toEqual({ accepted: 400 });
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('posts what it has read if one source fails in every worker, and the next run reads that source', async () => {
    const shop = await openSpreadShop();
    dropBoth(shop, 30);
    await startWorkers(shop, 1);
    const cure = await poison(shop.db, {
      table: 'intake.source_files',
      on: 'insert',
      when: `row.source = 'one'`,
    });
    const run = await shop.run();
    expect(run.exitCode, run.stderr).toBe(1);
    expect(await countEnds(shop.db)).toEqual({ 'read-source done': 1, 'read-source given_up': 1 });
    expect(await countStates(shop.db)).toEqual({ accepted: 30 });
    expect((await shop.posted()).every((id) => id.startsWith('two-'))).toBe(true);
    await cure();
    expect((await shop.run()).exitCode).toBe(0);
    expect(await countStates(shop.db)).toEqual({ accepted: 60 });
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('fails with the difference if the configuration of a worker differs from its own', async () => {
    const shop = await openSpreadShop();
    dropBoth(shop, 10);
    shop.write(
      'other.yaml',
      readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8').replace('Amsterdam', 'London'),
    );
    await startWorkers(shop, 1, { INFLUENCER_SYNC_CONFIG: 'other.yaml' });
    const run = await shop.run();
    expect(run.exitCode).toBe(2);
    expect(run.events.at(-1)).toMatchObject({ event: 'error', code: 'worker_differs' });
    expect(await shop.posted()).toEqual([]);
  });
});

describe('serve', () => {
  it('processes work of other runs and reports itself in /metrics', async () => {
    const shop = await openSpreadShop({
      flow: `serve: {port: 0}\n${TWO_SOURCES.replace('brand_id', 'schedule: "5 4 1 1 *", brand_id')}`,
    });
    dropBoth(shop, 60);
    const server = shop.start('serve', '--json');
    await waitFor(() => server.stdout().includes('"listening"'));
    const { url } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { url: string };
    await waitFor(async () =>
      /^influencer_sync_workers\{version=".+"\} 1$/m.test(await (await fetch(`${url}/metrics`)).text()),
    );
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 120 } } },
    });
    expect(await countUnits(shop)).toEqual({ done: expect.any(Number) });
    server.kill('SIGTERM');
    expect((await server.ended).exitCode).toBe(0);
  });
});

describe('work', () => {
  it('exits with 2 if runs do not distribute work', async () => {
    const shop = await openWorkshop();
    const work = await shop.cli('work');
    expect(work.exitCode).toBe(2);
    expect(work.stderr).toContain('work.engine: in-process');
  });
});

/**
 * Kills a worker that performs a share. The instant is that of the database, which also records when another
 * worker begins the share.
 */
async function killHolder(
  { db }: Workshop,
  workers: readonly CliProcess[],
): Promise<{ readonly unitId: string; readonly killedAt: string }> {
  let unitId: string | undefined;
  await waitFor(async () => {
    const { rows } = await sql<{ unit_id: string; pid: number }>`
      select u.unit_id, w.pid from ops.work_units u join ops.workers w using (worker_id)
      where u.kind = 'post-share' and u.state = 'open' limit 1`.execute(db);
    const [held] = rows;
    if (held === undefined) return false;
    const holder = workers.find(({ pid }) => pid === held.pid);
    holder?.kill('SIGKILL');
    await holder?.ended;
    // The worker may have ended the unit before the signal reached it.
    const { rows: left } = await sql`
      select from ops.work_units where unit_id = ${held.unit_id}::uuid and state = 'open'`.execute(db);
    expect(left, 'the killed worker held a unit').toHaveLength(1);
    unitId = held.unit_id;
    return true;
  });
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db);
  return { unitId: unitId ?? '', killedAt: rows[0]?.now ?? '' };
}

async function countUnits({ db }: Workshop): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; units: string }>`
    select state, count(*) as units from ops.work_units group by state`.execute(db);
  return Object.fromEntries(rows.map(({ state, units }) => [state, Number(units)]));
}

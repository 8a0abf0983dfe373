import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { knowDeals, rowsOf } from '../../mirror/story.ts';
import { dealRecord, type StubService, startStubService } from '../../mirror/stub-service.ts';
import { type CliProcess, readEvents, startCli } from '../../support/run-cli.ts';
import { runHere } from '../../support/run-here.ts';
import { type Stage, setup } from '../../support/setup.ts';
import { waitFor } from '../../support/wait-for.ts';
import { countEnds, poison, startWorkers } from './spread-shop.ts';

const DEALS = 400;
/** Largest share: a quarter of the deals, because two workers take two shares each. */
const SHARE = DEALS / 4;

describe('a mirror whose deals are read by workers', () => {
  it('contains the same as if the run had read them, and each deal was requested once', async () => {
    const alone = await openMirror('in-process');
    expect(await alone.run()).toMatchObject({ exitCode: 3, last: { counts: COUNTS } });
    const spread = await openMirror('pg-boss');
    const workers = await startWorkers(spread, 2);
    expect(await spread.run()).toMatchObject({ exitCode: 3, last: { counts: COUNTS } });
    expect(await contentOf(spread)).toEqual(await contentOf(alone));
    expect(await rowsOf(spread.db, UNITS)).toEqual([{ state: 'done', units: '4', workers: '2' }]);
    expect([...spread.service.askedDeals()].sort()).toEqual([...alone.service.askedDeals()].sort());
    // The second run finds deals that are gone, and asks for everything else again.
    for (const deployment of [alone, spread]) {
      await makeDue(deployment);
      expect(await deployment.run()).toMatchObject({ exitCode: 0, last: { counts: { deals: { gone: 1 } } } });
    }
    expect(await contentOf(spread)).toEqual(await contentOf(alone));
    for (const worker of workers) worker.kill('SIGTERM');
    for (const { ended } of workers) expect((await ended).exitCode).toBe(0);
  });

  it('is published once and completely after SIGKILL of a worker, and only its share was requested twice', async () => {
    const shop = await openMirror('pg-boss');
    shop.service.override = () => sleep(20, null);
    const [doomed] = await startWorkers(shop, 2);
    const run = shop.start();
    await waitFor(() => shop.service.askedDeals().length >= DEALS / 4);
    doomed?.kill('SIGKILL');
    const last = readEvents(await run.ended).at(-1);
    expect(last).toMatchObject({ status: 'issues', counts: COUNTS });
    expect(await rowsOf(shop.db, 'select from mirror.publications')).toHaveLength(1);
    const asked = shop.service.askedDeals();
    const again = asked.filter((dealId, index) => asked.indexOf(dealId) < index);
    expect(new Set(asked).size).toBe(DEALS + 1);
    expect(again.length).toBeGreaterThan(0);
    expect(again.length).toBeLessThanOrEqual(SHARE);
    expect(new Set(again).size).toBe(again.length);
    expect(await rowsOf(shop.db, 'select from mirror.staged')).toEqual([]);
    const alone = await openMirror('in-process');
    await alone.run();
    expect(await contentOf(shop)).toEqual(await contentOf(alone));
  });

  it('is not published if a share fails in every worker: the others are read, and the next run requests only the rest', async () => {
    const shop = await openMirror('pg-boss');
    await startWorkers(shop, 2);
    const cure = await poison(shop.db, {
      table: 'mirror.staged',
      on: 'insert',
      when: `row.record_id = 'D7'`,
    });
    const { exitCode, last } = await shop.run();
    expect([exitCode, last]).toMatchObject([1, { status: 'failed', counts: { published: false } }]);
    expect(await countEnds(shop.db)).toEqual({ 'fetch-deals done': 3, 'fetch-deals given_up': 1 });
    expect(await rowsOf(shop.db, 'select from mirror.deals')).toEqual([]);
    await cure();
    const before = shop.service.askedDeals().length;
    expect(await shop.run()).toMatchObject({ exitCode: 3, last: { counts: COUNTS } });
    expect(shop.service.askedDeals().length - before).toBeLessThanOrEqual(SHARE + 1);
  });

  it('is not published if the run is stopped: the next run requests only the rest, and publishes everything', async () => {
    const shop = await openMirror('pg-boss');
    shop.service.override = () => sleep(40, null);
    await startWorkers(shop, 2);
    const run = shop.start();
    await waitFor(() => shop.service.askedDeals().length >= DEALS / 4);
    run.kill('SIGTERM');
    const ended = await run.ended;
    expect(ended.exitCode).toBe(130);
    expect(readEvents(ended).at(-1)).toMatchObject({ status: 'interrupted', counts: { published: false } });
    expect(await rowsOf(shop.db, 'select from mirror.deals')).toEqual([]);
    shop.service.override = null;
    expect(await shop.run()).toMatchObject({ exitCode: 3, last: { counts: COUNTS } });
    expect(shop.service.askedDeals()).toHaveLength(DEALS + 1);
  });
});

/** One deal of the account is not found. */
const COUNTS = { published: true, deals: { new: DEALS, failed: 1, asked: DEALS + 1 } };

const UNITS = `
  select state, count(*) as units, count(distinct worker_id) as workers from ops.work_units group by state`;

type Mirror = Stage & {
  readonly env: Record<string, string>;
  readonly service: StubService;
  start(): CliProcess;
  run(): Promise<{ readonly exitCode: number | null; readonly last: unknown }>;
};

/** Opens a deployment that mirrors an account with many deals, of which one does not exist any more. */
async function openMirror(engine: 'pg-boss' | 'in-process'): Promise<Mirror> {
  const stage = await setup();
  const service = await startStubService();
  for (let index = 0; index < DEALS; index += 1) {
    const id = `D${index}`;
    service.deals.set(id, dealRecord(id, { collabs: [{ collab_id: `C${index}`, code: id }] }));
  }
  writeFileSync(
    join(stage.folder, 'pipeline.yaml'),
    `api: {url: "${service.url}", key: "\${INFLUENCER_API_KEY}", requests_per_second: 0, concurrency: 4, lease_seconds: 4, timeout_seconds: 3}
database: {url: "\${DATABASE_URL:-}"}
work: {engine: ${engine}}
sources: {}
jobs:
  mirror: {kind: mirror-account, autocomplete: false}
`,
  );
  await knowDeals(stage.db, [...service.deals.keys(), 'GONE']);
  const env = {
    INFLUENCER_API_KEY: 'key-of-the-stub',
    DATABASE_URL: stage.databaseUrl,
    INFLUENCER_SYNC_CONFIG: 'pipeline.yaml',
  };
  const place = { cwd: stage.folder, env };
  return {
    ...stage,
    env,
    service,
    start: () => startCli(['run', 'mirror', '--json'], place),
    run: async () => {
      const result = await runHere(['run', 'mirror', '--json'], place);
      return { exitCode: result.exitCode, last: readEvents(result).at(-1) };
    },
  };
}

/** Makes all deals due again, as after a day. */
async function makeDue({ db }: Mirror): Promise<void> {
  await sql`update mirror.known_deals set read_at = read_at - interval '2 days'`.execute(db);
}

/** Everything that readers see, without times. */
async function contentOf({ db }: Mirror): Promise<unknown> {
  const queries = [
    'select deal_id, first_way, ways, answer_hash, failures, last_error, deleted_at is null as is_there from mirror.known_deals order by deal_id',
    'select deal_id, row_hash, raw, is_current, is_latest from mirror.deal_versions order by deal_id, valid_from',
    'select collab_id, deal_id, row_hash, raw, is_current, is_latest from mirror.collaboration_versions order by collab_id, valid_from',
    'select way, known, fresh, stale, unread, failing, deleted from mirror.coverage order by run_id, way',
    'select record_kind, field, kind, expected, found, records from mirror.drift order by field, kind',
    'select counts from mirror.publications order by run_id',
  ];
  return Promise.all(queries.map((query) => rowsOf(db, query)));
}

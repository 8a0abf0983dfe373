import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { layEmbeddedDatabase } from '../support/embedded-database.ts';
import { type CliResult, readEvents, startCli } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { type Service, startService } from '../support/sandbox-process.ts';
import { type Stage, setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';
import { knowDeals, rowsOf } from './story.ts';

/** Slightly more deals than two staging batches. */
const MANY = 1_200;

type Deployment = Stage & {
  readonly sandbox: Service;
  /** Starts `run mirror` in its own process. */
  start(...args: string[]): ReturnType<typeof startCli>;
  run(...args: string[]): Promise<CliResult & { readonly last: Record<string, unknown> }>;
};

describe('a run of mirror-account', () => {
  it('that is killed while it fetches has published nothing; the next run requests only the rest and publishes everything', async () => {
    const { db, start, run, sandbox } = await openDeployment({ deals: MANY });
    await sandbox.setFaults([{ kind: 'latency', ms: 40, operation: 'get_deal_details' }]);
    const killed = start();
    await waitFor(async () => (await countOf(db, 'mirror.staged')) >= 300);
    killed.kill('SIGKILL');
    await killed.ended;
    const staged = await countOf(db, "mirror.staged where record_kind = 'deal'");
    expect(await countOf(db, 'mirror.publications')).toBe(0);
    expect((await countOf(db, 'mirror.deals')) + (await countOf(db, 'mirror.brands'))).toBe(0);

    await sandbox.setFaults(null);
    await releaseLeases(db);
    const { exitCode, last } = await run();
    expect([exitCode, last]).toMatchObject([
      0,
      { status: 'ok', counts: { deals: { new: MANY, asked: MANY } } },
    ]);
    expect(Number((last.counts as Record<string, unknown>).requests)).toBe(2 + MANY - staged);
    expect(await countOf(db, 'mirror.deals')).toBe(MANY);
    expect(await countOf(db, 'mirror.staged')).toBe(0);
  });

  it('that is killed while it publishes leaves everything unchanged; readers see all of a run or nothing', async () => {
    const { db, databaseUrl, start, run } = await openDeployment({ deals: 40 });
    await run();
    await sql`update mirror.known_deals set read_at = read_at - interval '2 days', answer_hash = 'x'`.execute(
      db,
    );
    await sql`update mirror.deal_versions set row_hash = 'x', valid_from = valid_from - interval '2 days'`.execute(
      db,
    );
    await sql`delete from mirror.brand_versions`.execute(db);

    const { held, release } = await holdLock(databaseUrl, 'lock table mirror.coverage in exclusive mode');
    await held;
    const killed = start();
    // It has written brands, dealflows, deals and its mark, and waits for the lock on the coverage.
    await waitFor(
      async () =>
        (await countOf(db, "pg_locks where not granted and relation = 'mirror.coverage'::regclass")) > 0,
    );
    expect(await countOf(db, 'mirror.brands')).toBe(0);
    expect(await countOf(db, 'mirror.deal_versions where is_current')).toBe(40);
    expect(await countOf(db, 'mirror.deal_versions')).toBe(40);
    killed.kill('SIGKILL');
    await killed.ended;
    await release();
    await waitFor(
      async () => (await countOf(db, "pg_locks where relation = 'mirror.staged'::regclass")) === 0,
    );
    expect(await countOf(db, 'mirror.publications')).toBe(1);
    expect(await countOf(db, 'mirror.deal_versions')).toBe(40);
    expect(await countOf(db, "mirror.staged where record_kind = 'deal'")).toBe(40);

    await releaseLeases(db);
    const { last } = await run();
    expect(last).toMatchObject({
      status: 'ok',
      counts: { brands: { new: 1 }, deals: { changed: 40 }, requests: 2 },
    });
    expect(await countOf(db, 'mirror.deal_versions')).toBe(80);
    expect(await countOf(db, 'mirror.publications')).toBe(2);
  });

  it('prevents a second run while it is alive', async () => {
    const { db, start, run, sandbox } = await openDeployment({ deals: 200 });
    await sandbox.setFaults([{ kind: 'latency', ms: 1_000, operation: 'get_deal_details' }]);
    const first = start();
    await waitFor(async () => (await countOf(db, 'ops.leases')) > 0);
    expect((await run()).exitCode).toBe(5);
    first.kill('SIGINT');
    expect((await first.ended).exitCode).toBe(130);
  });
});

describe('a service with faults', () => {
  it('that is slow can be interrupted by Ctrl-C: the next run publishes what was read', async () => {
    const { db, start, run, sandbox } = await openDeployment({ deals: 300 });
    await sandbox.setFaults([{ kind: 'latency', ms: 500, operation: 'get_deal_details' }]);
    const stopped = start('--json');
    await waitFor(() => stopped.stdout().includes('"fetch"'));
    stopped.kill('SIGINT');
    const ended = await stopped.ended;
    expect(ended.exitCode).toBe(130);
    expect(readEvents(ended).at(-1)).toMatchObject({ status: 'interrupted', counts: { published: false } });
    expect(await countOf(db, 'mirror.publications')).toBe(0);
    await sandbox.setFaults(null);
    expect((await run()).last).toMatchObject({ status: 'ok', counts: { deals: { new: 300 } } });
  });

  it('that fails occasionally, throttles or truncates answers is retried until everything is read', async () => {
    const { run, sandbox } = await openDeployment({ deals: 60 });
    await sandbox.setFaults([
      { kind: '429', operation: 'get_deal_details', count: 2, retry_after: 0 },
      { kind: 'error_before', operation: 'get_deal_details', count: 1, after: 10 },
      { kind: 'cut_body', operation: 'get_deal_details', count: 1, after: 20 },
      { kind: 'reset_before', operation: 'search_brands', count: 1 },
    ]);
    const { exitCode, last } = await run();
    expect([exitCode, last]).toMatchObject([
      0,
      { status: 'ok', counts: { requests: 67, brands: { new: 1 }, deals: { new: 60, failed: 0 } } },
    ]);
  });

  it('that rejects the API key ends the run with exit 4, and nothing is published', async () => {
    const { db, run, sandbox } = await openDeployment({ deals: 30 });
    await sandbox.setFaults([{ kind: '401', operation: 'get_deal_details', after: 5 }]);
    const { exitCode, last } = await run();
    expect([exitCode, last.status]).toEqual([4, 'failed']);
    const { problem } = await db.selectFrom('ops.runs').select('problem').executeTakeFirstOrThrow();
    expect(problem).toMatch(/^It stopped: /);
    expect(await countOf(db, 'mirror.publications')).toBe(0);
  });

  it('that returns invalid answers for some deals: the others are published, and those are reported', async () => {
    const { db, run, sandbox } = await openDeployment({ deals: 10 });
    await sandbox.setFaults([{ kind: 'html', operation: 'get_deal_details', count: 1 }]);
    const { exitCode, last, stdout } = await run();
    expect([exitCode, last]).toMatchObject([
      3,
      { status: 'issues', counts: { deals: { new: 9, failed: 1 } } },
    ]);
    expect(stdout).toContain('run_finished');
    expect(await rowsOf(db, 'select last_error from mirror.known_deals where failures > 0')).toEqual([
      { last_error: 'the answer is not JSON' },
    ]);
  });
});

describe('the job on the command line', () => {
  it('prints what plan would do and what run did, with coverage, also with the embedded database', async () => {
    const folder = (await setup()).folder;
    const sandbox = await startService();
    write(folder, 'autocomplete_budget: 100');
    await layEmbeddedDatabase(join(folder, '.data'), 'migrated');
    const env = { INFLUENCER_API_URL: sandbox.url, INFLUENCER_API_KEY: sandbox.key, DATABASE_URL: '' };
    const cli = (...args: string[]) => runHere([...args, '--config', 'pipeline.yaml'], { cwd: folder, env });
    expect((await cli('plan', 'mirror')).stdout).toContain('A run would request, of 0 deals that are known');
    const { stdout, exitCode } = await cli('run', 'mirror');
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toMatch(/brands +2 +0 +0 +0\n/);
    expect(stdout).toMatch(/autocomplete +12 +0 +12 +0 +0 +0 +0 /);
    expect(stdout).toContain('The sums add up: 12 deals requested = 12 new');
  });
});

async function openDeployment({ deals }: { readonly deals: number }): Promise<Deployment> {
  const stage = await setup();
  const ids = Array.from({ length: deals }, (_, index) => `D${index}`);
  write(stage.folder, 'autocomplete: false');
  writeFileSync(
    join(stage.folder, 'account.yaml'),
    `brands: [{id: 4819, name: Acme}]
dealflows: [{id: D_TEST, name: Test, brand_id: 4819}]
deals:
${ids.map((id) => `  - {deal_id: ${id}, influencer_handle: ${id}.test, platform: tiktok, brand_id: 4819, dealflow_id: D_TEST, code: ${id}}\n`).join('')}`,
  );
  await knowDeals(stage.db, ids);
  const sandbox = await startService({ data: join(stage.folder, 'account.yaml') });
  const env = {
    INFLUENCER_API_URL: sandbox.url,
    INFLUENCER_API_KEY: sandbox.key,
    DATABASE_URL: stage.databaseUrl,
    INFLUENCER_SYNC_CONFIG: 'pipeline.yaml',
  };
  const start = (...args: string[]) => startCli(['run', 'mirror', ...args], { cwd: stage.folder, env });
  return {
    ...stage,
    sandbox,
    start,
    run: async (...args) => {
      const result = await runHere(['run', 'mirror', '--json', ...args], { cwd: stage.folder, env });
      return { ...result, last: readEvents(result).at(-1) ?? {} };
    },
  };
}

function write(folder: string, setting: string): void {
  writeFileSync(
    join(folder, 'pipeline.yaml'),
    `api: {url: "\${INFLUENCER_API_URL}", key: "\${INFLUENCER_API_KEY}", requests_per_second: 0, concurrency: 8}
database: {url: "\${DATABASE_URL:-}"}
sources: {}
jobs:
  mirror: {kind: mirror-account, ${setting}}
`,
  );
}

async function countOf(db: Stage['db'], from: string): Promise<number> {
  const [row] = await rowsOf(db, `select count(*) as count from ${from}`);
  return Number(row?.count);
}

/** Deletes the leases of the killed process, so that the test does not wait until they expire. */
async function releaseLeases(db: Stage['db']): Promise<void> {
  await sql`delete from ops.leases`.execute(db);
}

/** Opens another transaction that holds a lock until the test releases it. */
async function holdLock(databaseUrl: string, statement: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await client.query('rollback');
    await client.end();
  };
  onTestFinished(close);
  await client.query('begin');
  return { held: client.query(statement), release: close };
}

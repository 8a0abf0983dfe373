/**
 * Measures the mirror through discovery, gate, reading, staging and publication, relative to a bare loop over
 * the same client library that requests the same deals with the same concurrency from the same sandbox. First
 * all deals are new, then none has changed.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { Pool } from 'undici';
import { loadConfig } from '../jobs/index.ts';
import { mirrorAccount } from '../jobs/mirror-account/index.ts';
import type { MirrorReport } from '../jobs/mirror-account/report.ts';
import { isMirrorAccount } from '../jobs/mirror-account/settings.ts';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { runJob } from '../src/runs/run-job.ts';
import { createClient } from '../src/service/client.ts';
import { openSourceClients } from '../src/store/source-clients.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { describePairs, type Measurement, type Pair, pairOfRates } from './measure.ts';
import { startSandbox } from './sandbox.ts';

export type MirrorCase = {
  readonly deals: number;
  readonly concurrency: number;
  readonly latencyMs: number;
  readonly rounds: number;
};

/**
 * @returns mirrored deals per second ÷ bare loop, for the first load and for a night without changes. Each round has
 * a new database.
 */
export async function measureMirror(given: MirrorCase): Promise<readonly Measurement[]> {
  const sandbox = await startSandbox(['--latency', String(given.latencyMs)], accountOf(given.deals));
  try {
    // Warms up the sandbox and the client. Not counted.
    await bareLoop(sandbox, given);
    const first: Pair[] = [];
    const nights: Pair[] = [];
    for (let round = 0; round < given.rounds; round += 1) {
      const measured = await mirrorTwice(sandbox, given);
      first.push(measured.first);
      nights.push(measured.night);
    }
    const { deals, latencyMs, concurrency } = given;
    const situation = `${deals} deals, ${latencyMs} ms latency, ${concurrency} at a time`;
    const units = ['deals/s', 'requests/s'] as const;
    return [
      describePairs(`mirror, first load, ${situation}`, first, units),
      describePairs(`mirror, a night without changes, ${situation}`, nights, units),
    ];
  } finally {
    sandbox.stop();
  }
}

type Service = { readonly url: string; readonly key: string };

async function mirrorTwice(
  service: Service,
  given: MirrorCase,
): Promise<{ readonly first: Pair; readonly night: Pair }> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const server = await startPostgresServer();
  const db = await connect({ url: server.url, embeddedFolder: '' });
  const measure = async (): Promise<Pair> => {
    const limit = await bareLoop(service, given);
    return pairOfRates(await mirror(db, { ...service, ...given, folder }), limit);
  };
  try {
    await migrate(db);
    await nameDeals(db, given.deals);
    return { first: await measure(), night: await measure() };
  } finally {
    await db.destroy();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

function accountOf(deals: number): string {
  const lines = Array.from(
    { length: deals },
    (_, index) =>
      `  - {deal_id: DEAL${index}, influencer_handle: handle${index}.test, platform: instagram, brand_id: 4819, dealflow_id: D_TEST, code: CODE${index}}`,
  );
  const head =
    'brands: [{id: 4819, name: Acme}]\ndealflows: [{id: D_TEST, name: Test, brand_id: 4819}]\ndeals:\n';
  return `${head}${lines.join('\n')}\n`;
}

/** Names the deals in the same way as codes.csv does. */
async function nameDeals(db: Database, deals: number): Promise<void> {
  await sql`
    insert into intake.codes (job, code_folded, code, line_no, deal_id, target)
    select 'bench', 'code' || n, 'CODE' || n, n + 2, 'DEAL' || n, 'DEAL' || n from generate_series(0, ${deals}::int - 1) n`.execute(
    db,
  );
}

async function bareLoop(sandbox: Service, { deals, concurrency }: MirrorCase): Promise<number> {
  const pool = new Pool(sandbox.url, { connections: concurrency, pipelining: 1 });
  const headers = { accept: 'application/json', 'x-api-key': sandbox.key };
  let next = 0;
  const startedAt = performance.now();
  async function loop(): Promise<void> {
    while (next < deals) {
      const path = `/v1/crm/get_deal_details?deal_id=DEAL${next}&return_collabs=true`;
      next += 1;
      const answer = await pool.request({ path, method: 'GET', headers });
      await answer.body.json();
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return deals / seconds;
}

type RunCase = MirrorCase & Service & { readonly folder: string };

/** Performs a complete run, including publication. */
async function mirror(db: Database, given: RunCase): Promise<number> {
  const { url, key, deals, concurrency, folder } = given;
  writeFileSync(
    join(folder, 'pipeline.yaml'),
    `api: {url: "${url}", key: "${key}", requests_per_second: 0, concurrency: ${concurrency}}
sources: {}
jobs: {bench: {kind: mirror-account, autocomplete: false, refresh_after_hours: 0, budget: ${deals + 2}}}
`,
  );
  const config = loadConfig(join(folder, 'pipeline.yaml'), {});
  const job = config.jobs.bench;
  if (job === undefined || !isMirrorAccount(job)) throw new Error('the configuration lacks the job');
  const client = createClient({
    url,
    key,
    connections: concurrency,
    timeoutMs: 30_000,
    connectTimeoutMs: 5_000,
  });
  const startedAt = performance.now();
  const { report } = await runJob({
    config,
    job,
    kind: mirrorAccount,
    db,
    client,
    sourceClients: openSourceClients(),
    options: { limit: null, file: null, allowEmpty: false },
    progress: { begin() {}, advance() {}, note() {}, end() {} },
    draining: new AbortController().signal,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  await client.close();
  const { deals_fresh: fresh, deals_stale: stale } = report.counts as MirrorReport['counts'];
  if (fresh + stale !== deals) throw new Error('not every deal was mirrored');
  return deals / seconds;
}

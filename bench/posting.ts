/**
 * Measures posting through claim, ledger, gate and record, relative to a bare loop over the same client
 * library that sends the same requests with the same concurrency to the same sandbox. The two alternate, and
 * the ratio is computed for each turn.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { Pool } from 'undici';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { createClaimerAndRecorder } from '../src/ledger/claim-and-record.ts';
import { ensureLedgerId } from '../src/ledger/continuity/identity.ts';
import { openJournal } from '../src/ledger/continuity/journal.ts';
import { readLedgerLocation } from '../src/ledger/continuity/machines.ts';
import { readyEntries } from '../src/ledger/ready-entries.ts';
import { postEntries } from '../src/ledger/sending/post-entries.ts';
import { createRequestGate } from '../src/ledger/sending/request-gate.ts';
import { createSender } from '../src/ledger/sending/send.ts';
import { openSpool } from '../src/ledger/spool.ts';
import { acquireLease, startHeartbeat } from '../src/ops/lease.ts';
import { beginRun } from '../src/ops/run-record.ts';
import { hello } from '../src/service/account.ts';
import { createClient } from '../src/service/client.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { describePairs, type Measurement, type Pair, pairOfRates } from './measure.ts';
import { startSandbox } from './sandbox.ts';

const JOB = 'bench';

export type PostingCase = {
  readonly latencyMs: number;
  readonly concurrency: number;
  readonly entries: number;
  readonly rounds: number;
};

/** @returns posting ÷ bare loop, in entries per second. */
export async function measurePosting(given: PostingCase): Promise<Measurement> {
  const server = await startPostgresServer();
  const sandbox = await startSandbox(given.latencyMs === 0 ? [] : ['--latency', String(given.latencyMs)]);
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const db = await connect({ url: server.url, embeddedFolder: '' });
  try {
    await migrate(db);
    const pairs: Pair[] = [];
    // The first round warms up both and is not counted.
    for (let round = 0; round <= given.rounds; round += 1) {
      const bare = await bareLoop(sandbox, given);
      const ledger = await throughLedger(db, { ...sandbox, ...given, spoolFolder: folder });
      if (round > 0) pairs.push(pairOfRates(ledger, bare));
    }
    const name = `posting, ${given.latencyMs} ms latency, ${given.concurrency} at a time`;
    return describePairs(name, pairs, ['entries/s', 'requests/s']);
  } finally {
    await db.destroy();
    await server.stop();
    sandbox.stop();
    rmSync(folder, { recursive: true });
  }
}

async function bareLoop(
  sandbox: { url: string; key: string },
  { entries, concurrency }: PostingCase,
): Promise<number> {
  const pool = new Pool(sandbox.url, { connections: concurrency, pipelining: 1 });
  const headers = { 'content-type': 'application/json', 'x-api-key': sandbox.key };
  let next = 0;
  const startedAt = performance.now();
  async function loop(): Promise<void> {
    while (next < entries) {
      next += 1;
      const body = bodyOf(`bare-${next}`).replace(/}$/, `,"order_notes":"influencer-sync e${next}.a1"}`);
      const answer = await pool.request({
        path: '/v1/crm/new_influencer_referral',
        method: 'POST',
        headers,
        body,
      });
      await answer.body.json();
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return entries / seconds;
}

type LedgerCase = PostingCase & { readonly url: string; readonly key: string; readonly spoolFolder: string };

async function throughLedger(db: Database, given: LedgerCase): Promise<number> {
  const owner = randomUUID();
  const client = createClient({
    url: given.url,
    key: given.key,
    connections: given.concurrency,
    timeoutMs: 30_000,
    connectTimeoutMs: 5_000,
  });
  const { accountId } = await hello(client);
  await acquireLease(db, { name: `job:${owner}`, owner, host: 'bench', pid: process.pid, ttlMs: 60_000 });
  const heartbeat = startHeartbeat(db, { owner, ttlMs: 60_000, leases: 1, takenAt: performance.now() });
  const runId = await beginRun(db, { job: JOB, kind: JOB });
  await sql`
    insert into ledger.entries (effect, account_id, key, state, body, body_hash, job, order_platform, order_id, amount, currency, run_id)
    select 'referral', ${accountId}, 'shopify:' || ${runId}::text || '-' || n, 'ready', replace(${bodyOf('ORDER')}, 'ORDER', ${runId}::text || '-' || n),
           md5(n::text), ${JOB}, 'shopify', ${runId}::text || '-' || n, 25, 'EUR', ${runId}::bigint
    from generate_series(1, ${given.entries}::int) n`.execute(db);
  const ledgerId = await ensureLedgerId(db);
  const journal = openJournal({ folder: given.spoolFolder, ledgerId, accountId, owner, mark: null });
  const startedAt = performance.now();
  await postEntries(readyEntries(db, { job: JOB, backfillId: null, limit: null }), {
    ...createClaimerAndRecorder(db, {
      owner,
      runId,
      accountId,
      backfillId: null,
      ledgerId,
      heads: [],
      place: (await readLedgerLocation(db, null)).now,
      journal,
    }),
    send: createSender(client),
    spool: openSpool(given.spoolFolder, owner),
    journal,
    gate: createRequestGate({
      concurrency: given.concurrency,
      probe: async () => true,
      isLeaseHeld: heartbeat.isHeld,
      onWait: () => {},
    }),
    onOutcome: () => {},
  });
  const seconds = (performance.now() - startedAt) / 1000;
  await journal.close();
  heartbeat.stop();
  await client.close();
  const { rows } = await sql<{
    count: string;
  }>`select count(*) from ledger.entries where run_id = ${runId}::bigint and state = 'accepted'`.execute(db);
  if (Number(rows[0]?.count) !== given.entries)
    throw new Error(`only ${rows[0]?.count} of ${given.entries} entries were accepted`);
  return given.entries / seconds;
}

/** Body of the referral of an order. */
export function bodyOf(orderId: string): string {
  return `{"influencer_handle":"mia.test","brand_id":4819,"order_id":"${orderId}","order_revenue":25.00,"order_platform":"shopify","order_discount_codes_used":"MIA10","currency":"EUR"}`;
}

/** Posts to a sandbox that runs already: the database, address and key of the sandbox, entries, requests in flight. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [databaseUrl = '', url = '', key = '', entries, concurrency] = process.argv.slice(2);
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const db = await connect({ url: databaseUrl, embeddedFolder: '' });
  const given = { latencyMs: 0, rounds: 1, entries: Number(entries), concurrency: Number(concurrency) };
  const rate = await throughLedger(db, { ...given, url, key, spoolFolder: folder });
  await db.destroy();
  rmSync(folder, { recursive: true });
  process.stdout.write(`${JSON.stringify({ rate })}\n`);
}

/**
 * Runs the parts of `serve` with a clock stored in a table instead of the database's own, because a simulated
 * fortnight cannot wait for real time. Everything else is production code: slots, leases, runs, requests.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { findJob, kindOf, loadConfig } from '../../jobs/index.ts';
import { connect } from '../../src/db/connect.ts';
import { createScheduler } from '../../src/ops/schedule/scheduler.ts';
import { runSlot } from '../../src/runs/run-slot.ts';
import { leaseNames } from '../../src/runs/runnable-kind.ts';
import { createClient } from '../../src/service/client.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';

const LOOK_EVERY_MS = 40;

const config = loadConfig(process.argv[2] ?? '', process.env);
const db = await connect({ url: config.database.url, embeddedFolder: '', maxConnections: 8 });
const sourceClients = openSourceClients();
const draining = new AbortController();
const scheduler = createScheduler({
  db,
  owner: randomUUID(),
  jobs: Object.values(config.jobs).map((job) => ({ ...job, leases: leaseNames(kindOf(job), job) })),
  leaseMs: config.api.leaseSeconds * 1000,
  now: async () => {
    const { rows } = await sql<{ now: Date }>`select now from public.simulated_clock`.execute(db);
    if (rows[0] === undefined) throw new Error('there is no clock');
    return rows[0].now;
  },
  work: (claimed) =>
    runSlot(
      {
        ...findJob(config, claimed.job),
        config,
        db,
        sourceClients,
        draining: draining.signal,
        openClient: () =>
          createClient({
            url: config.api.url,
            key: config.api.key,
            connections: config.api.concurrency,
            timeoutMs: config.api.timeoutSeconds * 1000,
            connectTimeoutMs: 1_000,
          }),
        onEnded: () => {},
        onBug: (error) => process.stderr.write(`${(error as Error).stack}\n`),
      },
      claimed,
    ),
  onEvent: () => {},
});
const timer = setInterval(() => void scheduler.look().catch(() => {}), LOOK_EVERY_MS);
process.on('SIGTERM', async () => {
  clearInterval(timer);
  scheduler.stop();
  draining.abort();
  await scheduler.ended();
  await db.destroy();
});
process.stdout.write('serving\n');

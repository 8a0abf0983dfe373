/**
 * Runs all benchmarks, one after the other. Each is a ratio to a limit that is measured in the same run.
 *
 *     npm run bench                 # everything except peers, in about 90 minutes
 *     npm run bench -- intake       # only benchmarks whose name starts with this
 *     npm run bench -- --json       # one JSON object per figure: name, value, goal, unit, detail
 *     npm run bench -- peers --rows 1000000 --posts 60000 --rounds 5
 *
 * Names: backfill, console, customers, first, intake, memory, mirror, objects, posting, readers, sandbox, serve,
 * start, views, watching, webhooks, workers; and peers, which runs only if it is named, because it installs
 * other tools.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureBackfillLatency } from './backfill-latency.ts';
import { measureConsole } from './console.ts';
import { measureCustomers } from './customers.ts';
import { measureFirstRun } from './first-run.ts';
import { measureIntake, measureMemory } from './intake.ts';
import type { Measurement } from './measure.ts';
import { measureMirror } from './mirror.ts';
import { measureObjects, measureOldKeys } from './objects.ts';
import { measurePeers } from './peers.ts';
import { measurePosting } from './posting.ts';
import { measureReaders } from './readers.ts';
import { measureSandboxRate, measureSandboxStart, measureSearch } from './sandbox-rate.ts';
import { measureIdleServe, measureUnchangedRun } from './serve.ts';
import { measureStart } from './start.ts';
import { measureViews } from './views.ts';
import { measureWatching } from './watching.ts';
import { measureWebhooks } from './webhooks.ts';
import { measureWorkers } from './workers.ts';

const MILLION = 1_000_000;
const SHOP_OF_READERS = { orders: 100_000, deals: 5_000, pairs: 9 };

const { positionals, values: flags } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    rows: { type: 'string', default: String(MILLION) },
    posts: { type: 'string', default: '60000' },
    rounds: { type: 'string', default: '1' },
  },
});
const sizes = { rows: Number(flags.rows), posts: Number(flags.posts), rounds: Number(flags.rounds) };

type Benchmark = {
  readonly name: string;
  readonly goal: string;
  /** Runs only if it is named. */
  readonly isOnRequest?: true;
  readonly measure: () => Promise<readonly Measurement[]>;
};

const benchmarks: readonly Benchmark[] = [
  {
    name: 'posting without latency',
    goal: '≥ 0.50 of a bare loop',
    measure: async () => [
      await measurePosting({ latencyMs: 0, concurrency: 256, entries: 60_000, rounds: 5 }),
    ],
  },
  {
    name: 'posting with 50 ms latency',
    goal: '≥ 0.97 of a bare loop',
    measure: async () => [
      await measurePosting({ latencyMs: 50, concurrency: 64, entries: 24_000, rounds: 5 }),
    ],
  },
  {
    name: 'intake of a million rows',
    goal: '≥ 1.2 of csv-parse alone, new and known',
    measure: () => measureIntake(MILLION, 5),
  },
  {
    name: 'memory of ten million rows',
    goal: '≤ 384 MB, within 20 % of a million',
    measure: async () => [await measureMemory(MILLION, 5), await measureMemory(10 * MILLION, 5)],
  },
  {
    name: 'first run of 500,000 orders whose codes have no owner',
    goal: '≤ 20 s',
    measure: async () => [await measureFirstRun(500_000, 5)],
  },
  {
    name: 'serve: idle',
    goal: '≤ 100 MB, < 1 % of a core',
    measure: () => measureIdleServe({ seconds: 20, rounds: 5 }),
  },
  {
    name: 'serve: an hourly run that finds nothing new',
    goal: '< 10 s among 10,000 objects',
    measure: () => measureUnchangedRun(10_000, 5),
  },
  {
    name: 'mirror without latency',
    goal: '≥ 0.50 of a bare loop',
    measure: () => measureMirror({ deals: 50_000, latencyMs: 0, concurrency: 64, rounds: 5 }),
  },
  {
    name: 'mirror with 50 ms latency',
    goal: '≥ 0.80 of a bare loop',
    measure: () => measureMirror({ deals: 10_000, latencyMs: 50, concurrency: 64, rounds: 5 }),
  },
  {
    name: 'backfill: hourly orders beside it',
    goal: '≤ 1.2 × without it',
    measure: async () => [await measureBackfillLatency({ history: 5_000, orders: 60, rounds: 5 })],
  },
  {
    name: 'customers: a million from file to accepted batch',
    goal: '≥ 0.80 of csv-parse alone, peak ≤ 384 MB',
    measure: () => measureCustomers(MILLION),
  },
  {
    name: 'console: pages of a million orders and 20,000 runs',
    goal: '< 200 ms at the 95th percentile for each',
    measure: () => measureConsole({ orders: MILLION, deals: 50_000, rounds: 30 }),
  },
  {
    name: 'readers: an hourly run of serve while people read its console',
    goal: '≤ 1.02 × without them',
    measure: async () => [
      await measureReaders({ ...SHOP_OF_READERS, hourly: 60, requestsPerSecond: 20 }),
      await measureReaders({ ...SHOP_OF_READERS, hourly: 2_000, requestsPerSecond: 0 }),
    ],
  },
  { name: 'start of a command', goal: '≤ 0.15 s', measure: () => measureStart(9) },
  {
    name: 'sandbox: referrals',
    goal: '≥ 0.60 of an empty fastify route',
    measure: async () => [await measureSandboxRate({ referrals: 10_000, connections: 64, rounds: 30 })],
  },
  {
    name: 'sandbox: search with six filters',
    goal: '< 20 ms at the median',
    measure: async () => [await measureSearch(300)],
  },
  {
    name: 'webhooks',
    goal: '≥ 500 events a second stored',
    measure: async () => [await measureWebhooks({ events: 10_000, senders: 64, rounds: 5 })],
  },
  {
    name: 'views of a million orders and 50,000 deals',
    goal: '< 200 ms at the median for each',
    measure: () => measureViews({ orders: MILLION, deals: 50_000, rounds: 9 }),
  },
  {
    name: 'workers at a concurrency of 4, 50 ms',
    goal: '≥ 0.95 of what their requests in flight, or the account, allow',
    measure: async () => [
      ...(await measureWorkers({ workers: [1, 2, 4, 8], requestsPerSecond: 0, seconds: 30, rounds: 5 })),
      ...(await measureWorkers({ workers: [8], requestsPerSecond: 200, rounds: 5 })),
    ],
  },
  {
    name: 'watching: notices, checks and telemetry of an hourly run',
    goal: '≤ 1.05 × without any of them',
    measure: () => measureWatching({ orders: 60, pairs: 9 }),
  },
  {
    name: 'objects: many small ones in S3',
    goal: '≥ 100 objects/s, ≥ 0.90 of what requests in flight allow at 50 ms',
    measure: () => measureObjects(2_000, 5),
  },
  {
    name: 'objects: an hourly run after a million old keys',
    goal: '< 5 s, < 200 MB',
    measure: () => measureOldKeys(MILLION, 5),
  },
  {
    name: 'peers: the same work done by other tools',
    goal: 'above 1, we are faster',
    isOnRequest: true,
    measure: () => measurePeers(sizes),
  },
  { name: 'sandbox: start', goal: '< 1.5 s', measure: async () => [await measureSandboxStart(9)] },
];

const [wanted = ''] = positionals;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
if (!flags.json) print(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
for (const { name, goal, isOnRequest = false, measure } of benchmarks) {
  if (!name.startsWith(wanted) || (isOnRequest && wanted === '')) continue;
  if (!flags.json) print(`\n${name} (${goal})`);
  for (const { name: figure, value, unit = 'ratio', detail } of await measure())
    print(
      flags.json
        ? JSON.stringify({ name: figure, value, goal, unit, detail })
        : `  ${value.toFixed(2).padStart(8)}  ${figure}${unit === 'ratio' ? '' : `, ${unit}`}: ${detail}`,
    );
}

/**
 * Measures a source of many small objects: reading them from a real gateway of S3, without latency and with 50
 * ms for each, and an hourly run over a prefix with a million old keys.
 *
 *     node bench/objects.ts [objects] [old keys]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { S3 } from '@aws-sdk/client-s3';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { startS3Server } from '../test/support/s3-server.ts';
import { DEPLOYED, type Measurement, median, spreadOf } from './measure.ts';
import { measureProcess, type Needed } from './measure-process.ts';
import { KEYS_A_DAY, keyOf, startOldKeys } from './old-keys-server.ts';
import { type ServerProcess, startSandbox, startServer } from './sandbox.ts';
import { commandLine, ORDERS_HEADER, writeShop } from './shop.ts';
import { type Store, startVersitygw } from './versitygw.ts';

const LATENCY_MS = 50;
/** Files that a run requests at a time: AT_A_TIME of src/intake/decode/read-ahead.ts. */
const IN_FLIGHT = 16;
const ORDERS_OF_ONE = 3;
const NEW_KEYS = 24;

/** A database, and a sandbox that a run only asks for its account. */
type Place = {
  readonly folder: string;
  readonly db: Database;
  /** Runs a job as a process of its own. */
  run(job: string, env: Readonly<Record<string, string>>): Promise<Needed>;
};

/** @returns objects per second ÷ the goal of 100, and ÷ what requests in flight allow at 50 ms. */
export async function measureObjects(objects: number, rounds: number): Promise<readonly Measurement[]> {
  const gateway = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const store = await startStore(gateway);
  let proxy: ServerProcess | null = null;
  try {
    await putObjects(store, objects);
    proxy = await startServer(new URL('slow-proxy.ts', import.meta.url), [store.url, String(LATENCY_MS)]);
    const local: Reading[] = [];
    const slow: Reading[] = [];
    for (let round = 0; round < rounds; round += 1) {
      local.push(await readAll(store.env, objects));
      slow.push(await readAll({ ...store.env, AWS_ENDPOINT_URL_S3: proxy.url }, objects));
    }
    const rates = local.map(({ seconds }) => objects / seconds);
    const bound = (IN_FLIGHT * 1_000) / LATENCY_MS;
    const shares = slow.map(({ seconds }) => objects / seconds / bound);
    return [
      {
        name: `reading ${objects} objects of ${store.name}`,
        unit: 'objects/s',
        value: median(rates),
        detail: `${spreadOf(rates, 0)}; ${describe(local)}`,
      },
      {
        name: `the same with ${LATENCY_MS} ms for each ÷ ${IN_FLIGHT} in flight`,
        value: median(shares),
        detail: `${spreadOf(shares)}; ${(median(shares) * bound).toFixed(0)} of ${bound} objects/s; ${describe(slow)}`,
      },
    ];
  } finally {
    proxy?.stop();
    await store.stop();
    rmSync(gateway, { recursive: true });
  }
}

/** @returns seconds and memory of an hourly run that finds 24 new objects after many old ones. */
export function measureOldKeys(oldKeys: number, rounds: number): Promise<readonly Measurement[]> {
  return inPlace(async ({ db, run }) => {
    const store = await startOldKeys();
    const env = {
      AWS_ENDPOINT_URL_S3: store.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'benchmark',
      AWS_SECRET_ACCESS_KEY: 'benchmark-secret',
    };
    try {
      // The first run lists everything, so it runs before the old keys are there.
      store.setKeys(0, 1);
      await run('dated', env);
      await knowOldKeys(db, oldKeys, store.today);
      // The reports take up all files that were added, which a shop brings in over years.
      store.setKeys(-oldKeys, 2);
      await run('dated', env);
      const dated: Listing[] = [];
      const ordered: Listing[] = [];
      let keys = 2;
      for (let round = 0; round < rounds; round += 1) {
        keys += NEW_KEYS;
        store.setKeys(-oldKeys, keys);
        dated.push({ needed: await run('dated', env), listed: store.listed() });
      }
      for (let round = 0; round < rounds; round += 1) {
        const last = keyOf(keys - 1, store.today).replace('orders/', '');
        keys += NEW_KEYS;
        store.setKeys(-oldKeys, keys);
        ordered.push({ needed: await run('ordered', { ...env, LAST_KEY: last }), listed: store.listed() });
      }
      await requireSealed(db, oldKeys + keys);
      const count = oldKeys.toLocaleString('en');
      return [
        ...asFigures(`${NEW_KEYS} new objects after ${count}, {date} and lookback_days`, dated),
        ...asFigures(`${NEW_KEYS} new objects after ${count}, start_after`, ordered),
      ];
    } finally {
      store.close();
    }
  });
}

/** A run, and the keys that it listed. */
type Listing = { readonly needed: Needed; readonly listed: number };

function asFigures(name: string, listings: readonly Listing[]): readonly Measurement[] {
  const [seconds, peaks] = (['seconds', 'rssMb'] as const).map((what) =>
    listings.map(({ needed }) => needed[what]),
  ) as [number[], number[]];
  const listed = `at most ${Math.max(...listings.map((one) => one.listed))} keys listed`;
  return [
    {
      name,
      unit: 's',
      value: median(seconds),
      detail: `${spreadOf(seconds)}; ${listed}, with the start of the process`,
    },
    { name: `${name}: peak memory`, unit: 'MB', value: median(peaks), detail: spreadOf(peaks, 0) },
  ];
}

type Reading = { readonly seconds: number; readonly process: Needed };

function describe(readings: readonly Reading[]): string {
  const runs = readings.map(({ process }) => process.seconds);
  const peak = Math.max(...readings.map(({ process }) => process.rssMb));
  return `${median(runs).toFixed(1)} s for the run, peak ${peak} MB`;
}

/** Reads all objects into a new database. @returns seconds of the reading step. */
function readAll(env: Readonly<Record<string, string>>, objects: number): Promise<Reading> {
  return inPlace(async ({ db, run }) => {
    const process = await run('all', env);
    await requireSealed(db, objects);
    const { rows } = await sql<{ seconds: string }>`
      select sum(seconds) as seconds from ops.run_steps where step = 'read'`.execute(db);
    return { seconds: Number(rows[0]?.seconds), process };
  });
}

async function requireSealed(db: Database, objects: number): Promise<void> {
  const { rows } = await sql<{ sealed: string }>`
    select count(*) as sealed from intake.source_files where state = 'sealed'`.execute(db);
  if (Number(rows[0]?.sealed) !== objects) throw new Error(`${rows[0]?.sealed} of ${objects} were read`);
}

async function inPlace<Result>(measure: (place: Place) => Promise<Result>): Promise<Result> {
  const server = await startPostgresServer();
  const sandbox = await startSandbox([]);
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const db = await connect({ url: server.url, embeddedFolder: '' });
  try {
    await migrate(db);
    writeShop(folder, CONFIG);
    const own = {
      DATABASE_URL: server.url,
      API_URL: sandbox.url,
      API_KEY: sandbox.key,
      LOG_LEVEL: 'warn',
      INFLUENCER_SYNC_CONFIG: join(folder, 'pipeline.yaml'),
      ...DEPLOYED,
    };
    return await measure({
      folder,
      db,
      run: (job, env) =>
        measureProcess(process.execPath, commandLine(['run', job]), {
          env: { ...process.env, ...env, ...own },
        }),
    });
  } finally {
    await db.destroy();
    sandbox.stop();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

const SHOP = 'layout: generic, order_platform: shopify, time_zone: UTC, force_path_style: true';
const JOB = 'kind: attribute-orders, brand_id: 4819, codes: ./codes.csv';
const CONFIG = `
api: {url: "\${API_URL}", key: "\${API_KEY}", requests_per_second: 0}
database: {url: "\${DATABASE_URL}"}
sources:
  all: {uri: s3://exports/orders/, ${SHOP}}
  dated: {uri: "s3://exports/orders/dt={date}/", lookback_days: 3, etag_is_md5: false, ${SHOP}}
  ordered: {uri: s3://exports/orders/, start_after: "\${LAST_KEY:-none}", etag_is_md5: false, ${SHOP}}
jobs:
  all: {source: all, ${JOB}}
  dated: {source: dated, ${JOB}}
  ordered: {source: ordered, ${JOB}}
`;

/** The real gateway, or else the server of the tests, which runs in this process. */
async function startStore(folder: string): Promise<Store & { readonly name: string }> {
  const gateway = await startVersitygw(folder);
  if (!('missing' in gateway)) return { ...gateway, name: 'versitygw' };
  process.stderr.write(`versitygw is not used: ${gateway.missing}\n`);
  const server = await startS3Server();
  return { ...server, stop: server.close, name: 'the S3 server of the tests' };
}

async function putObjects({ url, env }: Store, objects: number): Promise<void> {
  const api = new S3({
    endpoint: url,
    forcePathStyle: true,
    region: env.AWS_REGION ?? '',
    credentials: {
      accessKeyId: env.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '',
    },
  });
  await api.createBucket({ Bucket: 'exports' });
  await pLimit(IN_FLIGHT).map(Array.from({ length: objects }), async (_, index) => {
    const rows = Array.from(
      { length: ORDERS_OF_ONE },
      (_, line) => `${index}-${line},10.00,EUR,,2026-04-10T11:11:26Z,paid`,
    );
    const body = `${[ORDERS_HEADER, ...rows].join('\n')}\n`;
    await api.putObject({ Bucket: 'exports', Key: `orders/${index}.csv`, Body: body });
  });
  api.destroy();
}

/** Adds files with the old keys, as if each had been read and had stated no new order. */
async function knowOldKeys(db: Database, oldKeys: number, today: string): Promise<void> {
  await sql`
    insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, content_sha256, rows_read,
      orders_unchanged, order_rows, order_id_column, run_id, first_seen_at, sealed_at)
    select f.source, k.uri, 'etag:"' || md5(k.key) || '"', f.size_bytes, f.layout, f.layout_hash, f.state, md5(k.key), f.rows_read,
      f.orders_new, f.order_rows, f.order_id_column, f.run_id, k.at, k.at
    from intake.source_files f,
      generate_series(1, ${oldKeys}::int) number,
      lateral (select ${today}::timestamp - (number + ${KEYS_A_DAY - 1}::int) / ${KEYS_A_DAY}::int * interval '1 day' as day) d,
      lateral (select 'orders/dt=' || to_char(day, 'YYYY-MM-DD') || '/' || lpad(((number - 1) % ${KEYS_A_DAY}::int)::text, 3, '0') || '.csv' as key) n,
      lateral (select key, 's3://exports/' || key as uri, day at time zone 'UTC' as at) k`.execute(db);
  await sql`
    insert into intake.file_statistics
    select (jsonb_populate_record(s, jsonb_build_object('source_file_id', f.source_file_id, 'arrived_at', f.sealed_at))).*
    from intake.file_statistics s, intake.source_files f where f.source_file_id <> s.source_file_id`.execute(
    db,
  );
  await sql`
    insert into intake.attributed_files (job, source_file_id, rules_hash)
    select a.job, f.source_file_id, a.rules_hash
    from intake.attributed_files a, intake.source_files f where f.source_file_id <> a.source_file_id`.execute(
    db,
  );
  await sql`analyze intake.source_files, intake.file_statistics, intake.attributed_files`.execute(db);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [objects = '2000', oldKeys = '1000000'] = process.argv.slice(2);
  const figures = [
    ...(await measureObjects(Number(objects), 1)),
    ...(await measureOldKeys(Number(oldKeys), 1)),
  ];
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
}

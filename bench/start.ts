import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { buildProgram } from '../tools/package/build-program.ts';
import { type Measurement, median, spreadOf } from './measure.ts';
import { commandLine, hourlyConfig, writeShop } from './shop.ts';

type Program = { readonly label: string; readonly args: (command: string) => readonly string[] };

/**
 * Measures the seconds from the start of the process to the end of `--help`, and of `runs` with a database
 * without runs; and until `runs` connects to the database, which is the first thing that it does itself. Omits the
 * first time of each, which fills the compile cache.
 */
export async function measureStart(times: number): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const server = await startPostgresServer();
  const gate = await openGate(server.url);
  try {
    const db = await connect({ url: server.url, embeddedFolder: '' });
    await migrate(db);
    await db.destroy();
    writeShop(folder, hourlyConfig());
    const env = {
      INFLUENCER_SYNC_CONFIG: join(folder, 'pipeline.yaml'),
      DATABASE_URL: gate.url,
      // `runs` sends no request.
      API_URL: 'http://127.0.0.1:9',
      API_KEY: 'unused',
    };
    const measured: Measurement[] = [];
    for (const program of await programsIn(folder)) {
      const help = await timesOf(program.args('--help'), { times, env: {}, gate });
      const runs = await timesOf(program.args('runs'), { times, env, gate });
      measured.push(
        describe(`start of --help${program.label}`, help.ended),
        describe(`start of runs${program.label}, until it connects to the database`, runs.connected),
        describe(`runs${program.label}, from its start to its end`, runs.ended),
      );
    }
    return measured;
  } finally {
    gate.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** The program as a clone runs it, and as an installed package does. */
async function programsIn(folder: string): Promise<readonly Program[]> {
  const start = await buildProgram(join(folder, 'installed'));
  return [
    { label: '', args: (command) => commandLine([command]) },
    { label: ' of the built program', args: (command) => [start, command] },
  ];
}

type Gate = {
  readonly url: string;
  /** When the first connection since the last call was made, by `performance.now()`. Null if there was none. */
  takeFirst(): number | null;
  close(): void;
};

/** Forwards connections to a server, and notes when the first is made. */
async function openGate(url: string): Promise<Gate> {
  const target = new URL(url);
  let first: number | null = null;
  const server = createServer((incoming) => {
    first ??= performance.now();
    const outgoing = createConnection({ host: target.hostname, port: Number(target.port) });
    incoming.on('error', () => outgoing.destroy()).pipe(outgoing);
    outgoing.on('error', () => incoming.destroy()).pipe(incoming);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gated = new URL(url);
  gated.port = String((server.address() as AddressInfo).port);
  return {
    url: gated.href,
    takeFirst() {
      const taken = first;
      first = null;
      return taken;
    },
    close: () => server.close(),
  };
}

async function timesOf(
  args: readonly string[],
  options: { readonly times: number; readonly env: Readonly<Record<string, string>>; readonly gate: Gate },
): Promise<{ readonly connected: readonly number[]; readonly ended: readonly number[] }> {
  const { times, env, gate } = options;
  const connected: number[] = [];
  const ended: number[] = [];
  for (let time = 0; time <= times; time += 1) {
    gate.takeFirst();
    const startedAt = performance.now();
    const child = spawn(process.execPath, args, { stdio: 'ignore', env: { ...process.env, ...env } });
    const [status] = (await once(child, 'exit')) as [number | null];
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`);
    if (time === 0) continue;
    ended.push((performance.now() - startedAt) / 1000);
    const first = gate.takeFirst();
    if (first !== null) connected.push((first - startedAt) / 1000);
  }
  return { connected, ended };
}

function describe(name: string, seconds: readonly number[]): Measurement {
  return { name, unit: 's', value: median(seconds), detail: spreadOf(seconds) };
}

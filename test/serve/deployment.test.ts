import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../jobs/index.ts';
import { makeTestFolder } from '../support/setup.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Returns the maximum time that `serve` takes to end, as the shipped configuration sets it. */
function graceSeconds(): number {
  return loadConfig(join(ROOT, 'config/pipeline.yaml'), {}).serve.graceSeconds;
}

it('the image serves by default, and its health check requests /healthz', async () => {
  const dockerfile = read('Dockerfile').replaceAll('\\\n', '');
  expect(dockerfile).toMatch(/^CMD \["serve"\]$/m);
  expect(dockerfile).toMatch(/^ENV .*INFLUENCER_SYNC_ADDRESS_FILE=\/tmp\//m);
  expect(dockerfile).toMatch(/^EXPOSE 4080/m);
  const [, command = ''] = /^HEALTHCHECK .*?CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [program, ...args] = JSON.parse(command) as string[];
  expect(program).toBe('node');

  let isWell = true;
  const server = createServer((request, response) => {
    response.writeHead(isWell && request.url === '/healthz' ? 200 : 500).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // What `serve` writes (real-command.long.test.ts), whatever its port is.
  const file = join(makeTestFolder(), 'address');
  writeFileSync(file, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  async function check(): Promise<unknown> {
    const child = spawn(process.execPath, args, {
      env: { INFLUENCER_SYNC_ADDRESS_FILE: file },
      stdio: 'ignore',
    });
    return (await once(child, 'exit'))[0];
  }
  expect(await check()).toBe(0);
  isWell = false;
  expect(await check()).toBe(1);
  rmSync(file);
  expect(await check()).toBe(1);
});

it('compose gives serve more time to stop than its grace period, and persists its data', () => {
  const { services, volumes } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    services: Record<
      string,
      { stop_grace_period?: string; build?: string; volumes: string[]; ports?: string[]; command?: string[] }
    >;
    volumes: Record<string, null>;
  };
  const service = services['influencer-sync'];
  expect(Number.parseInt(service?.stop_grace_period ?? '', 10)).toBeGreaterThan(graceSeconds());
  expect(existsSync(join(ROOT, 'deploy', service?.build ?? '', 'Dockerfile'))).toBe(true);
  expect(service?.volumes).toContainEqual('spool:/data');
  expect(service?.ports).toContainEqual(
    expect.stringMatching(/^127.0.0.1:\$\{INFLUENCER_SYNC_PORT:-4080\}:4080$/),
  );
  expect(service?.command).toEqual(['serve', '--port', '4080']);
  // The folder of the configuration is the reader's, which must be named: not a sample of the clone.
  for (const name of ['influencer-sync', 'migrate', 'worker'])
    expect(services[name]?.volumes, name).toContainEqual(
      expect.stringMatching(/^\$\{INFLUENCER_SYNC_FOLDER:\?.*\}:\/config:ro$/),
    );
  expect(Object.keys(volumes)).toEqual(['spool', 'postgres']);
});

it('the systemd unit starts serve, gives it more time to stop than its grace period, and does not restart after a configuration error', () => {
  const lines = read('deploy/influencer-sync.service').split('\n');
  const unit = Object.fromEntries(
    lines
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]),
  ) as Record<string, string>;
  const [, folder = '', main = '', command] = unit.ExecStart?.match(/(\/opt\/[\w-]+)\/(\S+) (\w+)$/) ?? [];
  expect([folder, command]).toEqual([unit.WorkingDirectory, 'serve']);
  expect(existsSync(join(ROOT, main))).toBe(true);
  expect(Number(unit.TimeoutStopSec)).toBeGreaterThan(graceSeconds());
  expect(unit.RestartPreventExitStatus).toBe('2');
  const credentials = lines.flatMap((line) => /^LoadCredential=([\w-]+):/.exec(line)?.slice(1) ?? []);
  const used = lines.flatMap((line) => [...line.matchAll(/(\w+)_FILE=%d\/([\w-]+)/g)]);
  expect(used.map(([, , credential]) => credential)).toEqual(credentials);
  const { variables } = loadConfig(join(ROOT, 'config/pipeline.yaml'), {});
  expect(variables).toEqual(expect.arrayContaining(used.map(([, variable]) => variable)));
});

const analyzes = spawnSync('systemd-analyze', ['--version']).status === 0;
it.skipIf(!analyzes)('the systemd unit has an exposure level of at most 2.5 in systemd-analyze', () => {
  const words = [
    'security',
    '--offline=true',
    '--no-pager',
    '--threshold=25',
    'deploy/influencer-sync.service',
  ];
  const { status, stdout } = spawnSync('systemd-analyze', words, { cwd: ROOT, encoding: 'utf8' });
  expect(stdout).toMatch(/Overall exposure level for influencer-sync.service: \d/);
  expect(status, stdout.split('\n').at(-2)).toBe(0);
});

it('the jobs in docs/scheduling.md are a valid configuration', () => {
  const [, jobs = ''] = /```yaml\n(jobs:\n[\s\S]*?)```/.exec(read('docs/scheduling.md')) ?? [];
  const folder = makeTestFolder();
  writeFileSync(join(folder, 'codes.csv'), 'code,influencer_handle\n');
  const sources = 'sources:\n  shop-orders: {uri: ./x/, layout: shopify-orders, order_platform: shopify}\n';
  writeFileSync(join(folder, 'pipeline.yaml'), sources + jobs);
  expect(loadConfig(join(folder, 'pipeline.yaml'), {}).jobs).toMatchObject({
    'attribute-orders': { schedule: '5 * * * *', deadlineMinutes: 50 },
    'mirror-account': { schedule: '30 2 * * *', timeZone: 'Europe/Amsterdam' },
  });
});

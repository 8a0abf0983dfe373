import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWorkshop, type Workshop } from '../runs/workshop.ts';
import type { CliProcess } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

const FLOW = `
serve: {port: 0}
sources: {shop: {uri: ./exports/, layout: generic, order_platform: shopify}}
jobs: {orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, schedule: "5 4 1 1 *"}}
`;

/** Writes the URL of every module that the process has loaded into a file when it ends. */
const RECORDER = `
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const urls = [];
registerHooks({
  load(url, context, next) {
    urls.push(url);
    return next(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env.LOADED_MODULES, urls.join('\\n')));
`;

const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  dependencies: Readonly<Record<string, string>>;
};

/** A shop whose commands record what they load. */
async function openRecorded(flow: string): Promise<{ shop: Workshop; loaded: () => readonly string[] }> {
  const shop = await openWorkshop({ flow });
  const [recorder, modules] = [join(shop.folder, 'recorder.mjs'), join(shop.folder, 'modules.txt')];
  writeFileSync(recorder, RECORDER);
  Object.assign(shop.env, { NODE_OPTIONS: `--import=${recorder}`, LOADED_MODULES: modules });
  return { shop, loaded: () => packagesOf(readFileSync(modules, 'utf8')) };
}

/** Names the dependencies of package.json among the modules, also those that the build has joined. */
function packagesOf(modules: string): readonly string[] {
  const names = modules
    .split('\n')
    .flatMap(
      (url) =>
        /\/dist\/joined\/([^/.]+)/.exec(url)?.[1] ??
        /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url)?.[1] ??
        [],
    );
  return [...new Set(names)].filter((name) => name in dependencies).sort();
}

/** Starts `serve`, waits until it has polled the schedule, requests a page, and stops it. */
async function serveOnce(shop: Workshop, page = '/metrics'): Promise<void> {
  const server: CliProcess = shop.start('serve', '--json');
  await waitFor(() => server.stdout().includes('"listening"'));
  const { url } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { url: string };
  await waitFor(async () => (await fetch(`${url}/readyz`)).status === 200);
  expect((await fetch(`${url}${page}`)).status).toBe(200);
  server.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ exitCode: 0 });
}

/** What reads a configuration, opens a database, and compares it with the journals of its ledger. */
const ANY_COMMAND = [
  'commander',
  'csv-parse',
  'kysely',
  'leven',
  'node-cron',
  'p-limit',
  'p-retry',
  'pg',
  'yaml',
  'zod',
];

/** What waits for slots and answers probes. prom-client loads the API of OpenTelemetry itself. */
const WAITING = [...ANY_COMMAND, '@opentelemetry/api', 'fastify', 'pino', 'prom-client'];

it('a command that only reads loads no client of the service, no server and no store', async () => {
  const { shop, loaded } = await openRecorded(FLOW);
  expect(await shop.start('runs').ended).toMatchObject({ exitCode: 0 });
  expect(loaded()).toEqual(ANY_COMMAND);
});

it('serve without the console loads only what waits: runs load their packages when they begin', async () => {
  const { shop, loaded } = await openRecorded(`console: {enabled: false}${FLOW}`);
  await serveOnce(shop);
  expect(loaded()).toEqual(WAITING.toSorted());
});

it('serve with the console loads its pages, but no diagrams, sign-in or PDF, with the first request for one', async () => {
  const { shop, loaded } = await openRecorded(FLOW);
  const signIn = ['cookie', 'rate-limiter-flexible'];
  await serveOnce(shop);
  expect(loaded()).toEqual([...WAITING, ...signIn].toSorted());
  await serveOnce(shop, '/');
  const pages = ['@fastify/compress', '@fastify/formbody', 'iconv-lite'];
  expect(loaded()).toEqual([...WAITING, ...signIn, ...pages].toSorted());
});

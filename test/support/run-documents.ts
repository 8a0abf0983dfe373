import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { layEmbeddedDatabase, migratedDatabase } from './embedded-database.ts';
import { findFreePort } from './free-port.ts';
import { type CommandBlock, readCommandBlocks, readLinks } from './read-commands.ts';
import { putFolder, startS3Server } from './s3-server.ts';
import { startSandboxProcess } from './sandbox-process.ts';
import { waitFor } from './wait-for.ts';

// A block is many processes, one after the other; on a busy machine each takes seconds.
vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

const ROOT = new URL('../../', import.meta.url).pathname;
/** What is not copied: what a clone would not have, and the packages, which are linked. */
const NOT_CLONED = ['node_modules', '.git', '.data', '.env', 'coverage', 'dist'];

/** The ports of the documents; others take their place, so that whatever uses them here is left alone. */
const PORT_IN_DOCUMENTS = /\b4010\b/g;
const SERVE_PORT_IN_DOCUMENTS = /\b4080\b/g;
/** Of what a reader has already, such as a receiver of notices. */
const OWN_PORT_IN_DOCUMENTS = /\b4071\b/g;

/** They are what runs this test, or what `.ci/run` runs beside it. */
const NPM = `#!/bin/sh
case "$*" in ci|test|'run check') exit 0 ;; esac
exec "$REAL_NPM" "$@"
`;

/** Where a newcomer begins, and so does the test: the demo makes its database, and npm's own `npx` starts the service. */
const FIRST = 'README.md';
const WITH_NPX = 2;

/**
 * Everywhere else: npm takes longer to find out what to start than that takes to do its work. A configuration without a database gets a
 * copy, since to make one takes seconds. V8 compiles the embedded database once and not twice, which is half of the CPU of a command.
 */
const NPX = `#!/bin/sh
PATH="$PWD/node_modules/.bin:$PATH"
for word; do
  folder=$(dirname -- "$word")
  if [ "$before" = --config ] && [ -d "$folder" ] && [ ! -e "$folder/.data" ]; then cp -r "$MIGRATED_DATABASE" "$folder/.data"; fi
  before=$word
done
case "$1" in influencer-sync) shift; exec node --liftoff-only src/start.js "$@" ;; esac
exec "$@"
`;

/** Runs the command blocks of a document in order, in a copy of the checkout, and follows its links: tests of the file that calls this. */
export function describeDocument(document: string): void {
  describe(document, () => declareTests(document));
}

function declareTests(document: string): void {
  const blocks = readCommandBlocks(document);
  const servers: ChildProcess[] = [];
  let clone = '';
  let port = 0;
  let servePort = 0;
  let ownPort = 0;

  beforeAll(async () => {
    if (blocks.length === 0) return;
    clone = await makeClone(document);
    port = await findFreePort();
    servePort = await findFreePort();
    ownPort = await findFreePort();
  });
  afterAll(() => {
    for (const { pid } of servers) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    if (clone !== '') rmSync(clone, { recursive: true });
  });

  for (const [index, block] of blocks.entries()) {
    it(`line ${block.line} works: ${block.title}`, async () => {
      const script = block.script
        .replaceAll(PORT_IN_DOCUMENTS, String(port))
        .replaceAll(SERVE_PORT_IN_DOCUMENTS, String(servePort))
        .replaceAll(OWN_PORT_IN_DOCUMENTS, String(ownPort));
      if (document === FIRST && index === WITH_NPX) writeStandIn(clone, 'npx', NPX);
      const env = await startStandIns(block, clone);
      if (block.isServer) servers.push(await startServer(script, clone, answersAt(script)));
      if (block.isServer) return;
      const { exitCode, output } = await runScript(script, clone, env);
      expect(exitCode, output.slice(-2_000)).toBe(block.exitCode);
    });
  }

  /** What a block that does not end starts: `serve` or the console, else the sandbox. */
  function answersAt(script: string): string {
    return script.includes(String(servePort))
      ? `http://127.0.0.1:${servePort}/`
      : `http://127.0.0.1:${port}/v1/public/hello`;
  }

  it('links to files that exist', () => {
    const folder = join(ROOT, dirname(document));
    expect(readLinks(document).filter((link) => !existsSync(join(folder, link)))).toEqual([]);
  });
}

/**
 * A copy of the checkout as a clone would be, with the packages of this one. The copies of a worker are one after the other in one place,
 * because Node finds what it has compiled by its path.
 */
async function makeClone(document: string): Promise<string> {
  const clone = join(inject('suiteFolder'), `clone-${process.env.VITEST_POOL_ID}`);
  cpSync(ROOT, clone, { recursive: true, filter: (source) => !NOT_CLONED.includes(basename(source)) });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  mkdirSync(join(clone, '.bin'));
  const standIns = document === FIRST ? { npm: NPM } : { npm: NPM, npx: NPX };
  for (const [name, script] of Object.entries(standIns)) writeStandIn(clone, name, script);
  if (document !== FIRST)
    for (const folder of ['config', 'config/demo'])
      await layEmbeddedDatabase(join(clone, folder, '.data'), 'migrated');
  return clone;
}

function writeStandIn(clone: string, name: string, script: string): void {
  writeFileSync(join(clone, '.bin', name), script, { mode: 0o755 });
}

/** The environment of a newcomer's shell: no packages of ours on the path, no settings of the developer's. */
async function environment(
  clone: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const npm = path.map((folder) => join(folder, 'npm')).find(existsSync) ?? 'npm';
  const { HOME = '', TMPDIR = '' } = process.env;
  return {
    PATH: [join(clone, '.bin'), ...path].join(delimiter),
    REAL_NPM: npm,
    MIGRATED_DATABASE: await migratedDatabase(),
    HOME,
    ...(TMPDIR === '' ? {} : { TMPDIR }),
    ...more,
  };
}

async function runScript(
  script: string,
  clone: string,
  more: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | null; output: string }> {
  const shell = spawn('/bin/sh', ['-eu', '-c', script], {
    cwd: clone,
    env: await environment(clone, more),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => shell.once('close', (exitCode) => resolve({ exitCode, output })));
}

/** Starts a block that does not end, and waits until it answers. */
async function startServer(script: string, clone: string, url: string): Promise<ChildProcess> {
  const shell = spawn('/bin/sh', ['-eu', '-c', script], {
    cwd: clone,
    env: await environment(clone),
    stdio: 'ignore',
    detached: true,
  });
  await waitFor(async () => (await fetch(url).catch(() => null))?.ok === true);
  return shell;
}

/** What a block needs of the world, run on this machine. */
async function startStandIns({ needs }: CommandBlock, clone: string): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const need of needs) {
    if (need === 'sandbox') Object.assign(env, await startService(clone));
    else if (need === 's3') Object.assign(env, await startBucket(clone));
    else throw new Error(`no stand-in for "${need}"`);
  }
  return env;
}

/** The service, with the deals that config/codes.csv and the example of the README name. */
async function startService(clone: string): Promise<Record<string, string>> {
  const rows = ['config/codes.csv', 'examples/shopify-folder/codes.csv'].flatMap((file) =>
    readFileSync(join(clone, file), 'utf8').trim().split('\n').slice(1),
  );
  // Two codes of one deal stand for one collaboration.
  const deals = new Map(
    rows.map((row, index) => {
      const [code, , handle, deal] = row.split(',');
      const id = deal || `DEAL${index}`;
      return [
        id,
        `  - { deal_id: ${id}, influencer_handle: ${handle}, platform: instagram, brand_id: 4819, dealflow_id: D_1, code: ${code} }`,
      ];
    }),
  );
  const account = join(clone, '.bin', 'account.yaml');
  const head =
    'brands: [{ id: 4819, name: Acme }]\ndealflows: [{ id: D_1, name: Flow, brand_id: 4819 }]\ndeals:\n';
  writeFileSync(account, `${head}${[...deals.values()].join('\n')}\n`);
  const sandbox = await startSandboxProcess(['--data', account]);
  return {
    INFLUENCER_API_URL: sandbox.url,
    INFLUENCER_API_KEY: sandbox.key,
    CUSTOMER_HASH_KEY: '0123456789abcdef'.repeat(4),
  };
}

/** S3, with exports where config/pipeline.yaml and the example look for them. */
async function startBucket(clone: string): Promise<Readonly<Record<string, string>>> {
  const server = await startS3Server();
  onTestFinished(() => server.close());
  const header =
    'Name,Email,Financial Status,Paid at,Currency,Subtotal,Total,Discount Code,Created at,Id,Accepts Marketing';
  const order =
    '#1,someone@example.com,paid,2026-05-01 10:00:00 +0200,EUR,20.00,24.95,MARA15,2026-05-01 09:59:00 +0200,6001,yes';
  const organic =
    '#2,other@example.com,paid,2026-05-01 11:00:00 +0200,EUR,10.00,14.95,,2026-05-01 10:59:00 +0200,6002,no';
  server.put('acme-exports', 'orders/2026-05-01.csv', `${header}\n${order}\n${organic}\n`);
  const customer = '7001,Some,One,someone@example.com,yes,24.95,1';
  const columns = 'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Total Spent,Total Orders';
  server.put('acme-exports', 'customers/2026-05-01.csv', `${columns}\n${customer}\n`);
  putFolder(server, { bucket: 'acme-exports', folder: join(clone, 'examples/two-shops-on-s3/exports') });
  return server.env;
}

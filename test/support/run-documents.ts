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

// A block starts many processes, one after the other. On a busy machine each takes seconds.
vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

const ROOT = new URL('../../', import.meta.url).pathname;
/** Files that are not copied: those that a clone would not have, and the packages, which are linked. */
const NOT_CLONED = ['node_modules', '.git', '.data', '.env', 'coverage', 'dist'];

/**
 * The ports in the documents. The tests replace them, so that programs that use them on this machine are not
 * affected.
 */
const PORT_IN_DOCUMENTS = /\b4010\b/g;
const SERVE_PORT_IN_DOCUMENTS = /\b4080\b/g;
/** The port of a program that a reader already has, such as a receiver of notices. */
const OWN_PORT_IN_DOCUMENTS = /\b4071\b/g;

/** Replaces npm commands that run this test, or that `.ci/run` runs separately. */
const NPM = `#!/bin/sh
case "$*" in ci|test|'run check') exit 0 ;; esac
exec "$REAL_NPM" "$@"
`;

/**
 * The first document of a newcomer is tested with nothing replaced: the demo creates its database, and npm's
 * own `npx` starts the service.
 */
const FIRST = 'README.md';
const WITH_NPX = 2;

/**
 * Stand-in for `npx` in all other documents, because npm takes longer to find a program than the program
 * takes to run. A configuration without a database gets a copy of a migrated one, because creating one takes
 * seconds. V8 compiles the embedded database only once, which saves half of the CPU time of a command.
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

/**
 * Runs the command blocks of a document in order, in a copy of the checkout, and checks its links. The tests
 * belong to the calling file.
 */
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

  /**
   * The address at which a block that does not end answers: `serve` or the console, otherwise the sandbox.
   */
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
 * Makes a copy of the checkout like a clone, with the packages of this checkout. All copies of a worker use
 * the same path, one after the other, because the compile cache of Node depends on the path.
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

/**
 * The environment of a newcomer's shell, without our packages on the path and without the developer's
 * settings.
 */
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
    // Embedded ledgers leave nothing in the developer's home.
    XDG_STATE_HOME: join(clone, '.state'),
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

/** Starts the stand-ins that a block needs on this machine. */
async function startStandIns({ needs }: CommandBlock, clone: string): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const need of needs) {
    if (need === 'sandbox') Object.assign(env, await startService(clone));
    else if (need === 's3') Object.assign(env, await startBucket(clone));
    else throw new Error(`no stand-in for "${need}"`);
  }
  return env;
}

/** Starts the service with the deals that config/codes.csv and the example of the README name. */
async function startService(clone: string): Promise<Record<string, string>> {
  const rows = ['config/codes.csv', 'examples/shopify-folder/codes.csv'].flatMap((file) =>
    readFileSync(join(clone, file), 'utf8').trim().split('\n').slice(1),
  );
  // Two codes of one deal count as one collaboration.
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

/** Starts S3 with exports at the locations that config/pipeline.yaml and the example read. */
async function startBucket(clone: string): Promise<Readonly<Record<string, string>>> {
  const server = await startS3Server();
  onTestFinished(() => server.close());
  const header =
    'Name,Email,Financial Status,Paid at,Currency,Subtotal,Total,Discount Code,Created at,Id,Accepts Marketing,Cancelled at,Payment Method,Refunded Amount,Source';
  const order =
    '#1,someone@example.com,paid,2026-05-01 10:00:00 +0200,EUR,20.00,24.95,MARA15,2026-05-01 09:59:00 +0200,6001,yes,,,0.00,web';
  const organic =
    '#2,other@example.com,paid,2026-05-01 11:00:00 +0200,EUR,10.00,14.95,,2026-05-01 10:59:00 +0200,6002,no,,,0.00,web';
  server.put('acme-exports', 'orders/2026-05-01.csv', `${header}\n${order}\n${organic}\n`);
  const customer = '7001,Some,One,someone@example.com,yes,24.95,1';
  const columns = 'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Total Spent,Total Orders';
  server.put('acme-exports', 'customers/2026-05-01.csv', `${columns}\n${customer}\n`);
  putFolder(server, { bucket: 'acme-exports', folder: join(clone, 'examples/two-shops-on-s3/exports') });
  return server.env;
}

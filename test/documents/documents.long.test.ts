import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { basename, delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { migratedDatabase } from '../support/embedded-database.ts';
import { findFreePort } from '../support/free-port.ts';
import { type CommandBlock, readCommandBlocks, readLinks } from '../support/read-commands.ts';
import { runHere } from '../support/run-here.ts';
import { putFolder, startS3Server } from '../support/s3-server.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';
import { drawDemo } from './draw-demo.ts';

// A reader follows the README, then each page in the order of the index, then the examples: in one copy of the checkout, with one home,
// and a new shell for each page. So no page may need, use or remove what another one made.

const ROOT = new URL('../../', import.meta.url).pathname;
/** Files that are not copied: those that a clone would not have, and the packages, which are linked. */
const NOT_CLONED = /^(node_modules|\.git|\.data|\.env|coverage|dist|influencer-sync-demo|my-.*|try-.*)$/;

const README = 'README.md';
const INDEX = 'docs/README.md';
const PAGES = [
  README,
  ...new Set(readLinks(INDEX).map((link) => join(dirname(INDEX), link))).difference(new Set([README])),
  INDEX,
  ...globSync('examples/**/*.md').sort(),
];

/** The first blocks of a newcomer run with npm's own `npx`: the demo, and the service. */
const WITH_NPX = 2;

/**
 * Replaces npm commands that run this test, that `.ci/run` runs separately, or that did the same in the README.
 */
const NPM = `#!/bin/sh
case "$*" in ci|test|'run check') exit 0 ;; 'run demo') [ -e influencer-sync-demo/report.html ] && exit 0 ;; esac
exec "$REAL_NPM" "$@"
`;

/**
 * Stand-in for `npx`, because npm takes longer to find a program than the program takes to run. A command that neither serves
 * nor reads standard input runs in the process of this test. A configuration without a database gets a copy of a migrated one,
 * because creating one takes seconds.
 */
const NPX = `#!/bin/sh
program=$1
[ "$program" = influencer-sync ] || { PATH="$CLONE/node_modules/.bin:$PATH"; exec "$@"; }
shift
folder=.
for word; do
  [ "$before" = --config ] && folder=$(dirname -- "$word")
  before=$word
done
if [ -e "$folder/pipeline.yaml" ] && [ ! -e "$folder/.data" ]; then cp -r "$MIGRATED_DATABASE" "$folder/.data"; fi
case "$1" in sandbox|serve|console) ;; *) exec node "$CLONE/.bin/ask.mjs" "$@" ;; esac
exec node "$CLONE/src/start.js" "$@"
`;

/** Asks this process to run a command in the folder and environment of the shell, and shows its output. */
const ASK = `import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
const socket = connect(process.env.COMMANDS);
socket.end(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), env: process.env }));
const { exitCode, stdout, stderr } = await json(socket);
process.stdout.write(Buffer.from(stdout, 'base64'));
process.stderr.write(stderr);
process.exitCode = exitCode;
`;

/** Keeps the folder and the variables of a page's shell for its next block. */
const KEEP = (state: string) =>
  `trap 'status=$?; { export -p; printf "cd %s\\n" "$PWD"; } > ${state}; exit $status' EXIT\n`;

/** The ports in the documents, which other programs on this machine may use: the service, `serve`, and a receiver of notices. */
const PORTS = new Map([4010, 4080, 4071].map((port) => [port, 0]));

let clone = '';
let migrated = '';
let commands: Server;
let account: Awaited<ReturnType<typeof startSandbox>>;

beforeAll(async () => {
  clone = join(mkdtempSync(join(inject('suiteFolder'), 'documents-')), 'clone');
  cpSync(ROOT, clone, { recursive: true, filter: (source) => !NOT_CLONED.test(basename(source)) });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  for (const port of PORTS.keys()) PORTS.set(port, await findFreePort());
  migrated = await migratedDatabase();
  account = await startAccount();
  mkdirSync(join(clone, '.bin'));
  writeStandIn('npm', NPM);
  writeStandIn('ask.mjs', ASK);
  writeStandIn('fill-in', fillIn(account));
  commands = createServer({ allowHalfOpen: true }, async (socket) => {
    const { args, cwd, env } = JSON.parse(await text(socket));
    const { exitCode, stdoutBytes, stderr } = await runHere(args, { cwd, env });
    socket.end(JSON.stringify({ exitCode, stdout: stdoutBytes.toString('base64'), stderr }));
  }).listen(join(clone, '.bin', 'commands'));
});
afterAll(async () => {
  commands.close();
  await account.close();
});

for (const page of PAGES) describe(page, () => followPage(page));

/** Runs the command blocks of a page in order, and checks its links. */
function followPage(page: string): void {
  const servers: ChildProcess[] = [];
  const stopServers = async (signal: NodeJS.Signals): Promise<void> => {
    for (const server of servers.splice(0)) {
      const ended = once(server, 'close');
      process.kill(-(server.pid ?? 0), signal);
      await ended;
    }
  };
  afterAll(() => stopServers('SIGKILL'));

  for (const [index, block] of readCommandBlocks(page).entries()) {
    it(`line ${block.line} works: ${block.title}`, async () => {
      if (page === README && index === WITH_NPX) writeStandIn('npx', NPX);
      if (block.isAfterServers) await stopServers('SIGINT');
      if (block.isServer) return void servers.push(await startServer(block));
      const state = join(clone, '.bin', `${page.replaceAll(/\W/g, '-')}.state`);
      const before = existsSync(state) ? `. ${state}\n` : '';
      const { exitCode, output } = await runScript(
        before + KEEP(state) + here(block.script),
        await standInsOf(block),
      );
      expect(exitCode, output.slice(-2_000)).toBe(block.exitCode);
      if (page === README && index === 0) expectTheDemo(output);
    });
  }

  it('links to files that exist', () => {
    expect(readLinks(page).filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });
}

/** It says on two screens who earned what, and what was not credited and why, and writes a report. */
function expectTheDemo(output: string): void {
  const lines = output.slice(output.indexOf('influencer-sync demo:')).trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(48);
  expect(lines.filter((line) => line.length > 85)).toEqual([]);
  expect(output).toMatch(/mira\.glow\.test +4 +4 +229\.46 EUR +27\.12 EUR +█{12,}/);
  expect(output).toMatch(/unattributed +6 +unknown code 4/);
  expect(output).toContain('0 posted the second time');
  // The picture in the README. `npm run screenshots` takes it again.
  expect(drawDemo(output)).toBe(readFileSync(join(ROOT, 'docs/demo.svg'), 'utf8'));
  const report = readFileSync(join(clone, 'influencer-sync-demo/report.html'), 'utf8');
  expect(report).toMatch(/<td class="number"[^>]*>229\.46 EUR<\/td>/);
}

/** A script with ports that are free on this machine, and with the values that a reader fills in. */
function here(script: string): string {
  const filled = script.replaceAll(/^cp \S*\.env\.example (\S+)/gm, '$&; fill-in $1');
  return filled.replaceAll(/\b40(10|80|71)\b/g, (port) => String(PORTS.get(Number(port))));
}

/** What a reader does with a copy of `.env.example`. */
function fillIn({ url, key }: { readonly url: string; readonly key: string }): string {
  return `#!/bin/sh
sed -i.old -e 's#API_URL=$#&${url}#' -e 's#API_KEY=$#&${key}#' -e 's#HASH_KEY=$#&${'0123456789abcdef'.repeat(4)}#' "$1"
`;
}

function writeStandIn(name: string, script: string): void {
  writeFileSync(join(clone, '.bin', name), script, { mode: 0o755 });
}

/**
 * The environment of a newcomer's shell, without our packages on the path and without the developer's
 * settings.
 */
function environment(): Record<string, string> {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const { HOME = '', TMPDIR = '' } = process.env;
  return {
    PATH: [join(clone, '.bin'), ...path].join(delimiter),
    REAL_NPM: path.map((folder) => join(folder, 'npm')).find(existsSync) ?? 'npm',
    CLONE: clone,
    COMMANDS: join(clone, '.bin', 'commands'),
    MIGRATED_DATABASE: migrated,
    HOME,
    LC_ALL: 'C.UTF-8',
    // Embedded ledgers leave nothing in the developer's home.
    XDG_STATE_HOME: join(clone, '.state'),
    ...(TMPDIR === '' ? {} : { TMPDIR }),
  };
}

async function runScript(
  script: string,
  more: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | null; output: string }> {
  const shell = spawn('/bin/sh', ['-eu', '-c', script], {
    cwd: clone,
    env: { ...environment(), ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const [exitCode] = await once(shell, 'close');
  return { exitCode, output };
}

/** Starts a block that does not end, in a terminal of its own, and waits until it answers: `serve`, the console or the sandbox. */
async function startServer(block: CommandBlock): Promise<ChildProcess> {
  const shell = spawn('/bin/sh', ['-eu', '-c', here(block.script)], {
    cwd: clone,
    env: environment(),
    stdio: 'ignore',
    detached: true,
  });
  const url = block.script.includes('4080')
    ? `http://127.0.0.1:${PORTS.get(4080)}/`
    : `http://127.0.0.1:${PORTS.get(4010)}/v1/public/hello`;
  await waitFor(async () => (await fetch(url).catch(() => null))?.ok === true);
  return shell;
}

/** Starts what a block needs on this machine, and returns the variables that name it. */
async function standInsOf({ needs }: CommandBlock): Promise<Readonly<Record<string, string>>> {
  if (needs.length === 0) return {};
  const [need] = needs;
  if (need === 'postgres') return { DATABASE_URL: (await setup()).databaseUrl };
  expect(need).toBe('s3');
  return startBucket();
}

/** Starts the service with the deals that config/codes.csv and the example of the README name. */
async function startAccount() {
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
  const data = join(clone, '..', 'account.yaml');
  const head =
    'brands: [{ id: 4819, name: Acme }]\ndealflows: [{ id: D_1, name: Flow, brand_id: 4819 }]\ndeals:\n';
  writeFileSync(data, `${head}${[...deals.values()].join('\n')}\n`);
  return startSandbox({ port: 0, data });
}
/** Starts S3 with exports at the locations that config/pipeline.yaml and the example read. */
async function startBucket(): Promise<Readonly<Record<string, string>>> {
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

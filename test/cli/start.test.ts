import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = new URL('../../', import.meta.url).pathname;

/** A flag that gives the current Node a limitation of older versions. */
const OLD = '--no-experimental-strip-types';

/** A Node that reports which one it is. */
const stub = (name: string) => `#!/bin/sh\nCHOSEN=${name} exec '${process.execPath}' "$@"\n`;

/** A Node that is too old or was installed for another platform. */
const UNUSABLE = '#!/bin/sh\nexit 126\n';

/**
 * The pinned Node on Alpine: a program whose loader is missing. Starting it fails as if the file did not
 * exist.
 */
const WITHOUT_GLIBC = '#!/lib64/no-such-loader\n';

/** A program that prints which Node runs it and its arguments. */
const MAIN = `
type Chosen = string | undefined;
const chosen: Chosen = process.env.CHOSEN;
console.log(JSON.stringify([chosen ?? 'this', ...process.argv.slice(2)]));
process.exitCode = 3;
`;

/** A program that ends on SIGTERM, as \`serve\` does. */
const SERVER = `
const timer: NodeJS.Timeout = setInterval(() => {}, 60_000);
process.on('SIGTERM', () => process.exit(7));
console.log('ready');
`;

type Nodes = { readonly pinned?: string; readonly onPath?: string };

/** Creates a checkout that contains only the starter and a program, on a machine with the given Nodes. */
function layCheckout(main: string, { pinned, onPath }: Nodes): { folder: string; env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'src'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'node_modules/node/bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(join(folder, 'node_modules/node/package.json'), '{}');
  for (const name of ['start.js', 'with-node.js']) cpSync(join(ROOT, 'src', name), join(folder, 'src', name));
  writeFileSync(join(folder, 'src/main.ts'), main);
  const programs = { 'node_modules/node/bin/node': pinned, 'bin/node': onPath };
  for (const [path, text] of Object.entries(programs))
    if (text !== undefined) writeFileSync(join(folder, path), text, { mode: 0o755 });
  return { folder, env: { PATH: join(folder, 'bin') } };
}

function start({ folder, env }: ReturnType<typeof layCheckout>, ...args: readonly string[]) {
  return spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
}

it('a Node that is too old hands over to the Node that npm ci installed', () => {
  const checkout = layCheckout(MAIN, { pinned: stub('pinned'), onPath: stub('other') });
  const { status, stdout, stderr } = start(checkout, OLD, 'src/start.js', 'run', 'a job', '--json');
  expect({ status, stdout, stderr }).toEqual({
    status: 3,
    stdout: '["pinned","run","a job","--json"]\n',
    stderr: '',
  });
});

it('another Node on the PATH takes over if no install script ran', () => {
  const { status, stdout } = start(layCheckout(MAIN, { onPath: stub('other') }), OLD, 'src/start.js');
  expect({ status, stdout }).toEqual({ status: 3, stdout: '["other"]\n' });
});

it('a pinned Node that cannot run here, such as one of another platform, is skipped', () => {
  const checkout = layCheckout(MAIN, { pinned: UNUSABLE, onPath: stub('other') });
  expect(start(checkout, OLD, 'src/start.js').stdout).toBe('["other"]\n');
});

it('on Alpine, if the loader of the pinned Node is missing, the Node of the system takes over', () => {
  const checkout = layCheckout(MAIN, { pinned: WITHOUT_GLIBC, onPath: stub('system') });
  expect(start(checkout, OLD, 'src/start.js').stdout).toBe('["system"]\n');
});

it('on Alpine with a Node that is too old, one line explains that the pinned Node needs glibc, and which Node to install', () => {
  const checkout = layCheckout(MAIN, { pinned: WITHOUT_GLIBC });
  const { status, stdout, stderr } = start(checkout, OLD, 'src/start.js', '--help');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('it needs glibc, which Alpine (musl) does not have. Put Node 22.19 or later');
  expect(stderr).not.toContain('npm rebuild');
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

it('`npm ci` of an old npm on Alpine prints the same if it would complete the install with the pinned Node', () => {
  const { folder } = layCheckout(MAIN, { pinned: WITHOUT_GLIBC });
  const env = {
    npm_command: 'ci',
    npm_config_user_agent: 'npm/10.8.0 node/v20.15.0 linux x64',
    npm_execpath: 'npm-cli.js',
  };
  const script = join(ROOT, 'src/complete-install.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /^Error: the Node that was installed here .*glibc.* Run npm ci with Node 22\.19 or later\.\n$/,
  );
});

it.each(['src/start.js', 'src/with-node.js'])(
  'if no Node can run TypeScript, %s prints in one line what to run, without a stack trace',
  (starter) => {
    const checkout = layCheckout(MAIN, { onPath: UNUSABLE });
    const env = { ...checkout.env, NODE_OPTIONS: OLD };
    const { status, stdout, stderr } = start({ ...checkout, env }, starter, '--help');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(`No Node here can run TypeScript; this one is ${process.version}`);
    expect(stderr).toContain('npm rebuild node --ignore-scripts=false');
    expect(stderr).toContain('Node 22.19 or later on the PATH');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  },
);

it('a script of package.json finds the selected Node first on its PATH', () => {
  const checkout = layCheckout(MAIN, { pinned: stub('pinned'), onPath: stub('other') });
  const tool =
    "import { spawnSync } from 'node:child_process';\nspawnSync('node', ['src/main.ts'], { stdio: 'inherit' });";
  mkdirSync(join(checkout.folder, 'node_modules/.bin'));
  writeFileSync(join(checkout.folder, 'node_modules/.bin/tool.mjs'), tool);
  writeFileSync(
    join(checkout.folder, 'node_modules/.bin/tool'),
    '#!/bin/sh\nexec node "$(/usr/bin/dirname "$0")/tool.mjs"\n',
    { mode: 0o755 },
  );
  expect(start(checkout, OLD, 'src/with-node.js', 'tool').stdout).toBe('["pinned"]\n');
});

it('the starter passes a signal to the program and returns its exit code', async () => {
  const starter = await startServer();
  starter.kill('SIGTERM');
  expect(await once(starter, 'exit')).toEqual([7, null]);
});

it('the starter ends with the same signal as the program', async () => {
  const starter = await startServer();
  starter.kill('SIGHUP');
  expect(await once(starter, 'exit')).toEqual([null, 'SIGHUP']);
});

async function startServer(): Promise<ChildProcess> {
  const { folder, env } = layCheckout(SERVER, { pinned: stub('pinned') });
  const starter = spawn(process.execPath, [OLD, 'src/start.js'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(starter.stdout, 'data');
  return starter;
}

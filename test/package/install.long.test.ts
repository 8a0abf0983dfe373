import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = new URL('../../', import.meta.url).pathname;

const MODULE = `import { startSandbox } from 'influencer-sync/sandbox';
import { createApi } from 'influencer-sync/api';
const sandbox = await startSandbox({ port: 0 });
const api = createApi(sandbox);
const { message }: { message: string } = await api.test.accountHello();
console.log(message);
await api.close();
await sandbox.close();
`;

const COMMON_JS = `const { startSandbox } = require('influencer-sync/sandbox');
const { createApi } = require('influencer-sync/api');
(async () => {
  const sandbox = await startSandbox({ port: 0 });
  const api = createApi(sandbox);
  console.log((await api.test.accountHello()).message);
  await api.close();
  await sandbox.close();
})();
`;

/** Prints the URL of every module that the process loads. */
const RECORDER = `import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    process.stdout.write(url + '\\n');
    return next(url, context);
  },
});
`;

type Locked = { readonly version: string; readonly dev?: true; readonly optional?: true };

/** What package-lock.json says of the packages that run, by their paths. */
const LOCKED: Readonly<Record<string, Locked>> = Object.fromEntries(
  Object.entries(readLock(join(ROOT, 'package-lock.json'))).filter(
    ([path, { dev }]) => path !== '' && dev !== true,
  ),
);

/** On disk rather than in memory: the packages take about 100 MB. */
let folder = '';
let project = '';
/** The name of the archive in the folder. */
let archive = '';
/** A folder with a `node` of the oldest version that package.json allows. */
let oldestNode = '';

/** Returns the output of a program in the project. npm is the one that belongs to its Node. */
async function runIn(
  cwd: string,
  program: string,
  args: readonly string[],
  nodeFolder = dirname(process.execPath),
) {
  // The variables that `npm test` adds refer to this clone.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const path = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'));
  const PATH = [nodeFolder, ...path].join(delimiter);
  const { stdout } = await run(program, [...args], { cwd, env: { ...env, PATH }, maxBuffer: 1e8 });
  return stdout;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'influencer-sync-install-'));
  project = join(folder, 'project');
  mkdirSync(project);
  // npm keeps to the versions of a lock file that is already there. Otherwise it would choose the newest ones,
  // which are not the tested ones, and fails while one of them is being published.
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages: LOCKED }));
  archive = (await runIn(ROOT, 'npm', ['pack', '--silent', '--pack-destination', folder])).trim();
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  const { engines } = readManifest(ROOT);
  const oldest = `node@${engines.node.replace('>=', '')}`;
  const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
  await runIn(project, 'npm', ['install', ...quietly, join(folder, archive)]);
  const beside = join(folder, 'oldest');
  mkdirSync(beside);
  await runIn(beside, 'npm', ['install', ...quietly, oldest]);
  oldestNode = join(beside, 'node_modules', 'node', 'bin');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package, installed from its archive into an empty folder', () => {
  it('contains only what runs: at most 3 MB, no tests and no TypeScript except declarations', async () => {
    expect(readFileSync(join(folder, archive)).length).toBeLessThan(3_000_000);
    const files = readdirSync(join(project, 'node_modules', 'influencer-sync'), { recursive: true }).map(
      String,
    );
    expect(files.filter((file) => /(^|\/)(test|bench)\/|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(['dist/main.js', 'sql/roles.sql', 'README.md', 'docs/troubleshooting.md']),
    );
  });

  it('installs exactly the locked versions when it is unpacked, as the steps for systemd do, and runs', async () => {
    const unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    await run('tar', ['-xzf', join(folder, archive), '--strip-components=1', '-C', unpacked]);
    await runIn(folder, 'npm', ['ci', '--prefix', unpacked, '--omit=dev', '--no-audit', '--no-fund']);
    const { version } = readManifest(ROOT);
    expect(await runIn(unpacked, 'node', ['src/start.js', '--version'], oldestNode)).toBe(`${version}\n`);
    const expected = Object.entries(LOCKED).filter(([, { optional }]) => optional !== true);
    expect(expected.map(([path]) => [path, readManifest(join(unpacked, path)).version])).toEqual(
      expected.map(([path, each]) => [path, each.version]),
    );
    const installed = Object.keys(readLock(join(unpacked, 'node_modules', '.package-lock.json')));
    expect(installed.filter((path) => LOCKED[path] === undefined)).toEqual([]);
  });

  it('leaves no npm-shrinkwrap.json in the clone, which npm would prefer to package-lock.json', () => {
    expect(existsSync(join(ROOT, 'npm-shrinkwrap.json'))).toBe(false);
  });

  it('runs the demo on the oldest Node that package.json allows', async () => {
    const bin = join(project, 'node_modules', '.bin', 'influencer-sync');
    const events = await runIn(project, bin, ['demo', '--json'], oldestNode);
    expect(JSON.parse(events.trim().split('\n').at(-1) ?? '')).toMatchObject({ event: 'demo_finished' });
  });

  it.each([
    ['this Node', () => dirname(process.execPath)],
    ['the oldest Node', () => oldestNode],
  ])('loads one file of each package that the build has joined, on %s', async (_, nodeFolder) => {
    const recorder = join(project, 'recorder.mjs');
    writeFileSync(recorder, RECORDER);
    const main = join(project, 'node_modules', 'influencer-sync', 'src', 'start.js');
    const printed = await runIn(project, 'node', [`--import=${recorder}`, main, 'layouts'], nodeFolder());
    const urls = printed.split('\n');
    for (const name of ['commander', 'kysely', 'yaml', 'zod'])
      expect(urls.filter((url) => url.includes(`/node_modules/${name}/`))).toEqual([]);
    expect(urls.filter((url) => url.endsWith('/dist/joined/commander.cjs'))).toHaveLength(1);
  });

  it('writes a configuration for a folder of exports on the oldest Node', async () => {
    mkdirSync(join(project, 'exports'));
    copyFileSync(
      join(ROOT, 'test', 'fixtures', 'orders', 'shopify-orders.csv'),
      join(project, 'exports', 'orders.csv'),
    );
    const bin = join(project, 'node_modules', '.bin', 'influencer-sync');
    const answers = ['--brand', '4819', '--time-zone', 'Europe/Amsterdam', '--yes'];
    await runIn(project, bin, ['init', 'exports', '--out', 'shop', ...answers], oldestNode);
    expect(readFileSync(join(project, 'shop', 'pipeline.yaml'), 'utf8')).toContain('layout: shopify-orders');
    expect(readdirSync(join(project, 'shop'))).toEqual(
      expect.arrayContaining(['.env.example', 'codes.csv', 'codes-without-owner.csv']),
    );
  });

  it.each([
    ['a module', 'program.mjs', MODULE.replace(': { message: string }', '')],
    ['TypeScript', 'program.ts', MODULE],
    ['CommonJS', 'program.cjs', COMMON_JS],
  ])('exports the client and the sandbox to %s', async (_, name, source) => {
    writeFileSync(join(project, name), source);
    expect(await runIn(project, 'node', [name])).toMatch(/^You are logged in - /);
    expect(await runIn(project, 'node', [name], oldestNode)).toMatch(/^You are logged in - /);
  });

  it('keeps calls in the bundle that only check whether an expression throws', async () => {
    const source = MODULE.replace(
      'await api.close();',
      `const latin1 = await fetch(sandbox.url + '/v1/search/locations?q=%E9', { headers: { 'x-api-key': sandbox.key } });
console.log(latin1.status);
await api.close();`,
    ).replace(': { message: string }', '');
    writeFileSync(join(project, 'latin1.mjs'), source);
    expect(await runIn(project, 'node', ['latin1.mjs'])).toMatch(/\n400\n$/);
  });

  it('has types that a strict project can check, including their declarations', async () => {
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'esnext',
          strict: true,
          noEmit: true,
          // An installed project has none of its own, and what the package declares needs none.
          types: [],
        },
        include: ['checked.ts'],
      }),
    );
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    writeFileSync(join(project, 'checked.ts'), MODULE);
    await expect(runIn(project, 'node', [tsc, '-p', '.'])).resolves.toBe('');
    writeFileSync(join(project, 'checked.ts'), MODULE.replace('message: string', 'message: number'));
    await expect(runIn(project, 'node', [tsc, '-p', '.'])).rejects.toMatchObject({
      stdout: expect.stringContaining('checked.ts(5'),
    });
  });
});

function readLock(path: string): Readonly<Record<string, Locked>> {
  return (JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, Locked> }).packages;
}

function readManifest(path: string): {
  readonly version: string;
  readonly engines: { readonly node: string };
} {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
}

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openConfig } from '../../src/cli/open/open-config.ts';
import { readEnvFile } from '../../src/cli/open/read-env-file.ts';
import { findUnusedVariables, type Misled } from '../../src/config/environment/unused-variables.ts';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { runHere } from '../support/run-here.ts';
import { makeTestFolder } from '../support/setup.ts';

/** Sets variables until the test has finished. */
function setVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

function writeEnvFile(text: string): string {
  const path = join(makeTestFolder(), 'my.env');
  writeFileSync(path, text);
  return path;
}

describe('a variable whose value differs from the environment file', () => {
  it('is named, without either value', () => {
    setVariables({
      TEST_A: 'planted-shell',
      TEST_B: 'same',
      TEST_C: '',
      TEST_D: undefined,
      TEST_E: 'planted',
    });
    const path = writeEnvFile('TEST_A=planted-file\nTEST_B="same"\nTEST_C=planted-c\nTEST_D=new\nTEST_E=\n');
    const told = readEnvFile(path);
    expect(told).toEqual([
      {
        message: `TEST_A, TEST_C, TEST_E: the environment has a different value than ${path} and takes precedence.`,
        help: 'To use the value of the file:  unset TEST_A TEST_C TEST_E',
      },
    ]);
    expect([process.env.TEST_A, process.env.TEST_D]).toEqual(['planted-shell', 'new']);
  });

  it('is not reported if both values are equal', () => {
    setVariables({ TEST_A: 'x y' });
    expect(readEnvFile(writeEnvFile("TEST_A='x y' # as in the shell\n"))).toEqual([]);
  });
});

describe('a variable of .env.example that the configuration does not use', () => {
  /** Variables of .env.example that take effect only if a configuration names them. */
  const NAMES = [...readFileSync('.env.example', 'utf8').matchAll(/^#?([A-Z_0-9]+)=/gm)]
    .map(([, name = '']) => name)
    .filter((name) => !/^(AWS_|LOG_LEVEL$|INFLUENCER_SYNC_(CONFIG|DATA)$)/.test(name));

  it('is named with the line that would use it, for each such variable', () => {
    const all = Object.fromEntries(NAMES.map((name) => [name, 'planted-value']));
    const told = findUnusedVariables({ path: '/x/pipeline.yaml', variables: [] }, all);
    expect(NAMES.length).toBeGreaterThan(3);
    for (const name of NAMES)
      expect(
        told.some(({ message, help }) => message.startsWith(name) && help.includes(`\${${name}:-}`)),
      ).toBe(true);
    expect(JSON.stringify(told)).not.toContain('planted-value');
    expect(findUnusedVariables({ path: '/x/pipeline.yaml', variables: NAMES }, all)).toEqual([]);
    expect(findUnusedVariables({ path: '/x/pipeline.yaml', variables: [] }, { DATABASE_URL: '' })).toEqual(
      [],
    );
  });

  it('is named as well if a file contains its value', () => {
    const set = { CUSTOMER_HASH_KEY_FILE: '/run/secrets/hash-key' };
    const [told, ...others] = findUnusedVariables({ path: '/x/pipeline.yaml', variables: [] }, set);
    expect(told?.message).toMatch(
      /^CUSTOMER_HASH_KEY_FILE is set, but has no effect, because .* does not name CUSTOMER_HASH_KEY\.$/,
    );
    expect(others).toEqual([]);
    expect(findUnusedVariables({ path: '/x/pipeline.yaml', variables: ['CUSTOMER_HASH_KEY'] }, set)).toEqual(
      [],
    );
  });

  it('counts as used if its default applies, but not if only a comment names it', async () => {
    setVariables({
      DATABASE_URL: 'postgres://u:p@h/x',
      CUSTOMER_HASH_KEY: 'x',
      INFLUENCER_API_URL: '',
      INFLUENCER_API_KEY: '',
    });
    setVariables({ INFLUENCER_WEBHOOK_SECRET: 'x' });
    const path = join(makeTestFolder(), 'pipeline.yaml');
    writeFileSync(
      path,
      `# database: { url: "\${DATABASE_URL:-}" }\ncustomers: { hash_key: "\${CUSTOMER_HASH_KEY:-none}" }\nsources: {}\njobs: {}\n`,
    );
    const told: Misled[] = [];
    await openConfig({ config: path, onMisled: (misled) => told.push(misled) });
    expect(told.map(({ message }) => message.split(' ')[0])).toEqual([
      'DATABASE_URL',
      'INFLUENCER_WEBHOOK_SECRET',
    ]);
    const whileReading: Misled[] = [];
    await openConfig({ config: path, onMisled: (misled) => whileReading.push(misled) }, () => {});
    expect(whileReading.map(({ message }) => message.split(' ')[0])).toEqual(['DATABASE_URL']);
  });
});

describe('INFLUENCER_SYNC_DATA', () => {
  it('sets the data folder, so that the configuration can be in a read-only folder', async () => {
    const folder = makeTestFolder();
    const path = join(folder, 'pipeline.yaml');
    writeFileSync(path, 'sources: {}\njobs: {}\n');
    expect((await openConfig({ config: path })).database.dataFolder).toBe(join(folder, '.data'));
    const data = makeTestFolder();
    setVariables({ INFLUENCER_SYNC_DATA: data });
    const told: Misled[] = [];
    const open = () => openConfig({ config: path, onMisled: (misled) => told.push(misled) });
    expect((await open()).database.dataFolder).toBe(data);
    expect(told).toEqual([]);
    mkdirSync(join(folder, '.data', 'journal'), { recursive: true });
    await open();
    expect(told[0]?.message).toMatch(/has journals, but INFLUENCER_SYNC_DATA names .*, so they are not used/);
    setVariables({ INFLUENCER_SYNC_DATA: path });
    await expect(open()).rejects.toMatchObject({ details: { code: 'data_folder_unusable', where: path } });
  });
});

it('a run reports unused variables, then its account, service and ledger, and only then posts', async () => {
  const shop = await openWorkshop({ env: { INFLUENCER_WEBHOOK_SECRET: 'planted-secret' } });
  shop.drop('orders.csv', toCsv([{ id: 'o1' }]));
  shop.write('my.env', 'INFLUENCER_API_KEY=planted-key\n');
  const { exitCode, stderr, stdout } = await shop.cli('run', 'orders', '--env-file', 'my.env');
  expect(exitCode, stderr).toBe(0);
  const { host, pathname } = new URL(shop.databaseUrl);
  const said = stderr.replace(/\s+/g, ' ');
  const order = [
    'Warning: INFLUENCER_API_KEY: the environment has a different value than my.env',
    'Warning: INFLUENCER_WEBHOOK_SECRET is set, but has no effect, because pipeline.yaml does not name it.',
    `Service: ${shop.sandbox.url}, account ${shop.sandbox.accountId}. Ledger: ${host}${pathname} (`,
    'orders.csv',
  ].map((text) => said.indexOf(text));
  expect(order).toEqual(order.toSorted((one, other) => one - other));
  expect(order).not.toContain(-1);
  expect(stdout + stderr).not.toMatch(/planted/);

  const { events } = await shop.run();
  const names = events.map(({ event }) => event);
  expect(events.find(({ event }) => event === 'run_target')).toEqual({
    event: 'run_target',
    service: shop.sandbox.url,
    account_id: shop.sandbox.accountId,
    ledger: expect.stringMatching(`^${host}${pathname} \\(\\w+\\)$`),
  });
  expect(names.indexOf('run_target')).toBeLessThan(names.indexOf('step_began'));
});

describe('an unencrypted connection to another machine', () => {
  it('causes a warning on standard error for the API and for the database, and the run continues', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv([{ id: 'o1' }]));
    // The address of another host, which leads to this machine anyway.
    const elsewhere = (url: string): string => url.replace(/127\.0\.0\.1|localhost/, '0.0.0.0');
    shop.env.INFLUENCER_API_URL = elsewhere(shop.env.INFLUENCER_API_URL ?? '');
    const database = new URL(elsewhere(shop.databaseUrl));
    if (database.password === '') database.password = 'planted-password';
    shop.env.DATABASE_URL = database.href;
    const { exitCode, stdout, stderr } = await shop.cli('run', 'orders');
    expect(exitCode).toBe(0);
    const said = stderr.replaceAll(/\s+/g, ' ');
    expect(said).toMatch(
      /Warning: The API key and all orders go to 0\.0\.0\.0:\d+ without encryption \(http:\/\/\)/,
    );
    expect(said).toMatch(/Warning: The connection to the database 0\.0\.0\.0:\d+ is not encrypted/);
    expect(stdout + stderr).not.toContain(database.password);
    expect(await shop.posted()).toHaveLength(1);
  });
});

it('the key for customers is asked for before a run creates the database', async () => {
  const cwd = makeTestFolder();
  mkdirSync(join(cwd, 'exports'));
  writeFileSync(
    join(cwd, 'pipeline.yaml'),
    `api: { url: http://127.0.0.1:9, key: k }
sources: { list: { uri: ./exports/, layout: generic-customers } }
jobs: { customers: { kind: identify-customers, source: list, brand_id: 4819 } }
`,
  );
  for (const command of ['run', 'plan']) {
    const { exitCode, stderr } = await runHere([command, 'customers'], { cwd });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('The key for the hashes')]);
    expect(existsSync(join(cwd, '.data/postgres'))).toBe(false);
  }
});

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { useServer } from '../support/absent-server.ts';
import { startCli } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { makeTestFolder } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

// Roles are global to a server, so use a separate one.
const server = useServer();

const DEPLOY = new URL('../../deploy/', import.meta.url).pathname;

type Service = {
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly read_only: boolean;
  readonly volumes: readonly string[];
};

const compose = parse(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<'migrate' | 'influencer-sync' | 'postgres', Service>;
  secrets: Record<string, { file: string }>;
};

/** Runs a copy of create-secrets.sh, and returns the folder that it fills. */
function createSecrets(): string {
  const folder = makeTestFolder();
  cpSync(join(DEPLOY, 'compose'), join(folder, 'compose'), { recursive: true });
  const create = () => execFileSync(join(folder, 'compose/create-secrets.sh'), { encoding: 'utf8' });
  expect(create()).toContain('Put the key of the service into');
  const secrets = join(folder, 'secrets');
  const before = readFileSync(join(secrets, 'database_url'), 'utf8');
  create();
  expect(readFileSync(join(secrets, 'database_url'), 'utf8')).toBe(before);
  return secrets;
}

it('every service has the least privileges: a read-only root, no capabilities, secrets as files', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    expect(service, name).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    const named = Object.values(service.environment).flatMap((value) =>
      value.startsWith('/run/secrets/') ? [value.slice('/run/secrets/'.length)] : [],
    );
    expect(service.secrets, name).toEqual(expect.arrayContaining(named));
    for (const [variable, value] of Object.entries(service.environment))
      if (/KEY|PASSWORD|SECRET|URL_FILE/.test(variable)) expect(value, variable).toMatch(/^\/run\/secrets\//);
    for (const volume of service.volumes.filter((each) => each.startsWith('.')))
      expect(existsSync(join(DEPLOY, volume.split(':')[0] ?? '')), volume).toBe(true);
  }
  // The long-running service does not get the passwords of the superuser and of the owner of the tables.
  expect(compose.services['influencer-sync'].secrets).not.toContain('postgres_password');
  expect(compose.services['influencer-sync'].secrets).not.toContain('migration_url');
});

it('create-secrets.sh writes every secret, each different, into a folder that only its owner can read', () => {
  const secrets = createSecrets();
  expect(statSync(secrets).mode & 0o777).toBe(0o700);
  expect(readdirSync(secrets).toSorted()).toEqual(Object.keys(compose.secrets).toSorted());
  const values = readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8'));
  const passwords = values.flatMap((value) => value.match(/[0-9a-f]{64}/g) ?? []);
  expect(new Set(passwords).size).toBe(4);
});

it('the owner role, which is no superuser, migrates and creates the roles; the app role runs jobs but cannot alter a table', async () => {
  const secrets = createSecrets();
  const { host } = new URL(server().url);
  /** Returns the URL in a secret, with the host of the server of this test. */
  function addressIn(name: string): URL {
    const url = new URL(readFileSync(join(secrets, name), 'utf8'));
    url.host = host;
    const path = join(secrets, `${name}.here`);
    writeFileSync(path, `${url.href}\n`);
    return url;
  }
  const [owner, app] = [addressIn('migration_url'), addressIn('database_url')];
  const script = readFileSync(join(DEPLOY, 'compose/create-database.sh'), 'utf8');
  const [, statements = ''] = /<< 'SQL'\n([\s\S]*)SQL\n/.exec(script) ?? [];
  for (const statement of statements.split(';\n').filter((each) => each !== ''))
    await ask(
      server().url,
      statement
        .replace(":'owner_password'", `'${owner.password}'`)
        .replace(":'app_password'", `'${app.password}'`),
    );

  const cwd = join(makeTestFolder(), 'shop');
  cpSync('examples/shopify-folder', cwd, { recursive: true });
  appendFileSync(join(cwd, 'pipeline.yaml'), 'work: {engine: pg-boss}\n');
  mkdirSync(join(cwd, 'data'));
  const sandbox = await startSandbox({ port: 0 });
  try {
    const env = {
      INFLUENCER_SYNC_CONFIG: join(cwd, 'pipeline.yaml'),
      INFLUENCER_SYNC_DATA: join(cwd, 'data'),
      INFLUENCER_API_URL: sandbox.url,
      INFLUENCER_API_KEY: sandbox.key,
    };
    const as = (name: string) => ({ ...env, DATABASE_URL_FILE: join(secrets, `${name}.here`) });
    const migrated = await runHere(['migrate', '--roles'], { cwd, env: as('migration_url') });
    expect(migrated.exitCode, migrated.stderr).toBe(0);
    const ran = await runHere(['run', 'attribute-orders', '--json'], { cwd, env: as('database_url') });
    expect(ran.stdout, ran.stderr).toContain('"accepted":3');
    const worker = startCli(['work', '--json'], { cwd, env: as('database_url') });
    await waitFor(() => worker.stdout().includes('"working"') || worker.stderr().includes('Error'));
    expect(worker.stderr()).not.toContain('Error');
    worker.kill('SIGTERM');
    expect((await worker.ended).exitCode).toBe(0);
  } finally {
    await sandbox.close();
  }
  for (const url of [owner.href, app.href])
    expect(await ask(url, 'select rolsuper from pg_roles where rolname = current_user')).toEqual([
      { rolsuper: false },
    ]);
  await expect(ask(app.href, 'drop table ledger.entries')).rejects.toThrow(/must be owner/);
  await expect(ask(app.href, 'create table public.x ()')).rejects.toThrow(/permission denied/);
});

async function ask(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

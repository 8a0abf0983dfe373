import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jobKinds, loadConfig } from '../../../jobs/index.ts';
import type { Finding } from '../../../src/core/finding.ts';
import { disk } from '../../../src/monitoring/doctor/diagnostics/disk.ts';
import { schedules } from '../../../src/monitoring/doctor/diagnostics/runs.ts';
import { clocks } from '../../../src/monitoring/doctor/diagnostics/server.ts';
import { acquireLease } from '../../../src/ops/lease.ts';
import type { Patient } from '../../../src/runs/runnable-kind.ts';
import { openSourceClients } from '../../../src/store/source-clients.ts';
import { openWorkshop, toCsv, type Workshop, type WorkshopOptions } from '../../runs/workshop.ts';
import { readEvents } from '../../support/run-cli.ts';
import { startS3Server } from '../../support/s3-server.ts';

type Examined = { exitCode: number | null; findings: readonly Finding[]; stdout: string; stderr: string };

async function examine({ cli }: Workshop): Promise<Examined> {
  const result = await cli('doctor', '--json');
  const events = readEvents(result);
  expect(events.at(-1)).toMatchObject({ event: 'doctor_finished' });
  const findings = events.filter(({ event }) => event === 'finding') as unknown as readonly Finding[];
  return { ...result, findings };
}

/** Returns the findings of a status as `about: what`. Each must say how to fix it. */
function troubles({ findings }: Pick<Examined, 'findings'>, status: Finding['status']): readonly string[] {
  const some = findings.filter((finding) => finding.status === status);
  for (const finding of some) expect(finding.fix, `how to fix: ${finding.what}`).toBeTruthy();
  return some.map(({ about, what }) => `${about}: ${what}`);
}

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, sole_channel: true}
`;

/** Opens a deployment without problems. */
async function openHealthy(options: WorkshopOptions = {}): Promise<Workshop> {
  const workshop = await openWorkshop({ flow: FLOW, ...options });
  workshop.drop('orders.csv', toCsv([{ id: 'o1' }]));
  // Other tests create bi_reader on the same server, which takes these rights from everybody in their databases.
  await sql`
    do $$ begin execute format('revoke temporary, create on database %I from public', current_database()); end $$`.execute(
    workshop.db,
  );
  return workshop;
}

describe('doctor', () => {
  it('reports no problem in a healthy deployment, exits with 0, and changes nothing', async () => {
    const workshop = await openHealthy();
    const examined = await examine(workshop);
    expect(troubles(examined, 'problem')).toEqual([]);
    // The account was not read yet.
    const unchecked = 'codes of orders: 2 codes; their owners were not checked.';
    expect(troubles(examined, 'warning')).toEqual([unchecked]);
    expect(examined.exitCode).toBe(0);
    expect(await workshop.posted()).toEqual([]);
    const { rows } = await sql`select from ops.runs`.execute(workshop.db);
    expect(rows).toEqual([]);
    const { stdout } = await workshop.cli('doctor');
    expect(stdout).toContain('1 warning. A run can start');
    // A killed process holds a lease: a run cannot start now, and doctor says so.
    await acquireLease(workshop.db, {
      owner: randomUUID(),
      host: 'gone',
      pid: 7,
      name: 'source:shop',
      ttlMs: 60_000,
    });
    const busy = await workshop.cli('doctor');
    expect(busy.stdout).toMatch(/run of orders: Process 7 on gone has been at it/);
    expect(busy.stdout).toContain('2 warnings. Another run can start when the one at work has ended.');
    expect((await workshop.run()).exitCode).toBe(5);
  });

  it('reports every problem of the configuration, and then checks nothing else', async () => {
    const workshop = await openHealthy();
    workshop.write(
      'pipeline.yaml',
      `${FLOW.replace('layout: generic', 'layout: genric').replace('brand_id: 4819, ', '')}`,
    );
    const examined = await examine(workshop);
    expect(examined.exitCode).toBe(2);
    expect(troubles(examined, 'problem')).toHaveLength(2);
    expect(examined.findings.every(({ about }) => about === 'configuration')).toBe(true);
  });

  it('reports a service that is unreachable, a rejected key and the key of another account, without printing a key', async () => {
    const workshop = await openHealthy();
    workshop.env.INFLUENCER_API_KEY = 'not-the-key';
    const refused = await examine(workshop);
    expect(refused.exitCode).toBe(2);
    expect(troubles(refused, 'problem')[0]).toContain('service: The service refused the API key');
    expect(refused.stdout + refused.stderr).not.toContain('not-the-key');

    workshop.env.INFLUENCER_API_KEY = workshop.sandbox.key;
    await sql`insert into ops.account (account_id) values ('SOMEBODY')`.execute(workshop.db);
    expect(troubles(await examine(workshop), 'problem')).toEqual([
      `service: The key belongs to account ${workshop.sandbox.accountId}, but the ledger belongs to account SOMEBODY.`,
    ]);
    workshop.env.INFLUENCER_API_URL = 'http://127.0.0.1:9';
    expect(troubles(await examine(workshop), 'problem')[0]).toContain(
      'service: The service cannot be reached: the connection was refused. (http://127.0.0.1:9)',
    );
    workshop.env.INFLUENCER_API_URL = '';
    expect(troubles(await examine(workshop), 'problem')[0]).toContain(
      'service: No service is configured: INFLUENCER_API_URL is blank.',
    );
  });

  it('reports an unreachable database and continues with the other checks', async () => {
    const workshop = await openHealthy();
    workshop.env.DATABASE_URL = 'postgres://somebody:secret-word@127.0.0.1:9/nowhere';
    const examined = await examine(workshop);
    expect(troubles(examined, 'problem')[0]).toContain('database: The database does not answer');
    expect(examined.findings.map(({ about }) => about)).toContain('source shop');
    expect(examined.stdout + examined.stderr).not.toContain('secret-word');
  });

  it('reports pending migrations and missing rights', async () => {
    const workshop = await openHealthy();
    await sql`delete from reporting.applied_views`.execute(workshop.db);
    const pending = await examine(workshop);
    expect(troubles(pending, 'warning')[0]).toContain('bi (views)');
    await workshop.cli('migrate');

    const role = `reader_${randomUUID().slice(0, 8)}`;
    await sql.raw(`create role ${role} login password 'x'`).execute(workshop.db);
    onTestFinished(async () => {
      await sql.raw(`drop owned by ${role}; drop role ${role}`).execute(workshop.db);
    });
    await sql
      .raw(`grant usage on schema intake, ledger, ops, mirror to ${role};
      grant select on all tables in schema public, intake, ledger, ops, mirror to ${role}`)
      .execute(workshop.db);
    const url = new URL(workshop.databaseUrl);
    url.username = role;
    url.password = 'x';
    workshop.env.DATABASE_URL = url.href;
    const found = troubles(await examine(workshop), 'problem');
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('database: This user lacks rights: DELETE on intake.');

    await sql
      .raw(`grant usage on schema reporting to ${role};
      grant select, insert, update, delete on all tables in schema intake, ledger, mirror, ops, reporting to ${role}`)
      .execute(workshop.db);
    const [functions = ''] = troubles(await examine(workshop), 'problem');
    expect(functions).toContain('EXECUTE on ledger.acknowledge_double_credit(bigint, bigint, text, text)');
    expect(functions).toMatch(/EXECUTE on ops\.\S+ and \d more/);
  });

  it('reports a role that may not execute what a later migration added for it, but none of another database', async () => {
    const workshop = await openHealthy();
    const role = 'influencer_sync_operator';
    const made = await sql
      .raw(
        `do $$ begin create role ${role} login; exception when duplicate_object or unique_violation then null; end $$`,
      )
      .execute(workshop.db);
    expect(made).toBeDefined();
    expect(troubles(await examine(workshop), 'problem')).toEqual([]);
    await sql
      .raw(`grant usage on schema ledger to ${role};
      grant execute on function ledger.reap_lost(), ops.record_audit(jsonb) to ${role}`)
      .execute(workshop.db);
    expect(troubles(await examine(workshop), 'problem')).toEqual([
      expect.stringMatching(
        /^database: influencer_sync_operator lacks rights: EXECUTE on ledger\.acknowledge_double_credit\(.*\), EXECUTE on ledger\.decide\(.*\)\./,
      ),
    ]);
  });

  it('reports a source that does not exist, has no files, or whose latest file does not match its layout', async () => {
    const workshop = await openHealthy();
    workshop.drop('2026-05.csv', 'Foo,Bar\n1,2.00\n');
    utimesSync(join(workshop.folder, 'exports', 'orders.csv'), 1, 1);
    const unfit = await examine(workshop);
    expect(unfit.exitCode).toBe(2);
    expect(troubles(unfit, 'problem')[0]).toContain(
      'source shop: The header does not fit the layout generic',
    );
    rmSync(join(workshop.folder, 'exports', '2026-05.csv'));
    await workshop.run();
    workshop.drop('2026-06.csv', 'order_id,order_revenue,currency\no7,2.00,EUR\n');
    expect(troubles(await examine(workshop), 'problem')).toEqual([
      expect.stringMatching(/^source shop: The file lacks "status", .* an earlier file of this source has/),
    ]);
    workshop.drop('2026-06.csv', toCsv([{ id: 'o7' }]));
    expect(troubles(await examine(workshop), 'problem')).toEqual([]);
    rmSync(join(workshop.folder, 'exports'), { recursive: true });
    expect(troubles(await examine(workshop), 'problem')).toEqual([
      `source shop: The folder does not exist. (${join(workshop.folder, 'exports')})`,
    ]);
    mkdirSync(join(workshop.folder, 'exports'));
    // A run would fail, so it is a problem.
    expect(troubles(await examine(workshop), 'problem')[0]).toContain('contains no files');
    expect((await workshop.run()).exitCode).toBe(2);
  });

  it('reports clicks and creators that a run would hold, and that no deal is created before the account was mirrored', async () => {
    const more = `
  clicks: {kind: post-clicks, source: clicks, brand_id: 4819, codes: ./codes.csv}
  deals: {kind: import-deals, source: creators, brand_id: 4819}
`;
    const sources =
      'sources:\n  clicks: {uri: ./clicks/, layout: bitly-clicks}\n  creators: {uri: ./creators/, layout: generic-creators}';
    const workshop = await openHealthy({ flow: `${FLOW.replace('sources:', sources)}${more}` });
    for (const name of ['clicks', 'creators']) {
      mkdirSync(join(workshop.folder, name));
      workshop.write(`${name}/a.csv`, 'Foo,Bar\n1,2\n');
    }
    expect(troubles(await examine(workshop), 'problem')).toEqual([
      expect.stringContaining('source clicks: The header does not fit the layout bitly-clicks'),
      expect.stringContaining('source creators: The header does not fit the layout generic-creators'),
      expect.stringContaining('run of deals: The account was never mirrored'),
    ]);
    expect((await workshop.cli('run', 'deals')).exitCode).toBe(2);
    // Only `doctor` looks at all that a run depends on.
    expect((await workshop.cli('codes')).stdout).not.toContain('A run can start');
  });

  it('reports a bucket without read access', async () => {
    const s3 = await startS3Server();
    onTestFinished(() => s3.close());
    s3.put('acme', 'orders/1.csv', toCsv([{ id: 'o1' }]));
    const flow = FLOW.replace('./exports/', 's3://acme/orders/');
    const workshop = await openHealthy({ flow, env: s3.env });
    expect((await examine(workshop)).exitCode).toBe(0);
    workshop.env.AWS_SECRET_ACCESS_KEY = 'not-the-secret';
    const refused = await examine(workshop);
    expect(troubles(refused, 'problem')[0]).toContain('source shop: The credentials were refused');
    expect(refused.stdout + refused.stderr).not.toContain('not-the-secret');
  });

  it('reports another channel that credits the same orders, and asks to declare the only channel', async () => {
    const workshop = await openHealthy({ flow: FLOW.replace(', sole_channel: true', '') });
    const undeclared = await examine(workshop);
    expect(undeclared.exitCode, 'a warning is no failure').toBe(0);
    expect(troubles(undeclared, 'warning')[1]).toContain(
      'channel of orders: An order that a shop integration posts, too, is credited twice, and',
    );
    await workshop.run('--limit', '1');
    workshop.drop('more.csv', toCsv([{ id: 'o2' }]));
    await workshop.run('--limit', '1');
    expect(troubles(await examine(workshop), 'problem')).toEqual([]);
    workshop.drop('third.csv', toCsv([{ id: 'o3', code: 'NOBODY' }]));
    await workshop.run();
    await sql`
      insert into ledger.evidence (kind, order_platform, order_id, body_sha256)
      values ('webhook_order', 'Shopify', 'o1', 'a'), ('webhook_order', null, 'o3', 'b'), ('webhook_order', 'shopify', 'elsewhere', 'c')`.execute(
      workshop.db,
    );
    const other = await examine(workshop);
    expect(other.exitCode).toBe(2);
    expect(troubles(other, 'problem')[0]).toContain(
      'Events name 1 order of its exports that this tool did not post',
    );
  });
});

describe('the result of doctor for', () => {
  async function openPatient(change: Partial<Patient> = {}): Promise<Patient> {
    const workshop = await openHealthy();
    const config = loadConfig(join(workshop.folder, 'pipeline.yaml'), workshop.env);
    const sourceClients = openSourceClients();
    const patient = {
      config,
      kinds: jobKinds,
      db: workshop.db,
      hasTables: true,
      databaseProblem: null,
      client: null,
      sourceClients,
      pgSslMode: '',
      now: () => new Date(),
    };
    return { ...patient, freeBytes: async () => 10 ** 12, ...change };
  }

  it.each([
    ['agrees', 0, 'ok'],
    ['is a minute ahead', 60_000, 'warning'],
    ['is a minute behind', -60_000, 'warning'],
    ['is an hour ahead', 3_600_000, 'problem'],
    ['is an hour behind', -3_600_000, 'problem'],
  ])('a clock that %s', async (_what, offMs, status) => {
    const patient = await openPatient({ now: () => new Date(Date.now() + offMs) });
    expect((await clocks.look(patient)).map((finding) => finding.status)).toEqual([status]);
  });

  it.each([
    [10 ** 12, 'ok'],
    [500 * 10 ** 6, 'warning'],
    [10 ** 6, 'problem'],
  ])('%d free bytes', async (bytes, status) => {
    const patient = await openPatient({ freeBytes: async () => bytes });
    expect((await disk.look(patient)).map((finding) => finding.status)).toEqual([status]);
  });

  it('a data folder without write access', async () => {
    const patient = await openPatient();
    const folder = patient.config.database.dataFolder;
    mkdirSync(folder);
    chmodSync(folder, 0o500);
    const [finding] = await disk.look(patient);
    // Root may write everywhere.
    expect(finding?.status).toBe(process.getuid?.() === 0 ? 'ok' : 'problem');
  });

  it.each([
    ['never comes', '0 0 30 2 *', 0, 0, 'problem'],
    ['is missed', '5 * * * *', 5, 1, 'warning'],
    ['is shorter than a run', '5 * * * *', 1, 90, 'warning'],
    ['is kept', '5 * * * *', 1, 10, 'ok'],
  ])('a schedule that %s', async (_what, schedule, hoursAgo, minutes, status) => {
    const patient = await openPatient();
    const { db, config } = patient;
    const job = config.jobs.orders;
    if (db === null || job === undefined) throw new Error('the deployment is not whole');
    await sql`
      insert into ops.runs (job, kind, status, host, pid, started_at, finished_at)
      select 'orders', 'attribute-orders', 'ok', 'h', 1, s.at, s.at + make_interval(mins => ${minutes})
      from (select now() - make_interval(hours => ${hoursAgo}) as at) s`.execute(db);
    const scheduled = { ...patient, config: { ...config, jobs: { orders: { ...job, schedule } } } };
    expect((await schedules.look(scheduled)).map((finding) => finding.status)).toEqual([status]);
  });

  it('a slot in the hour that a clock change skips, shown at the time at which serve runs it', async () => {
    const patient = await openPatient();
    const { config } = patient;
    const job = config.jobs.orders;
    if (job === undefined) throw new Error('the deployment is not whole');
    const orders = { ...job, schedule: '30 2 * * *', timeZone: 'Europe/Amsterdam' };
    const scheduled = { ...patient, now: () => new Date('2026-03-28T12:00:00Z') };
    const [finding] = await schedules.look({ ...scheduled, config: { ...config, jobs: { orders } } });
    expect(finding?.what).toBe('Next at 2026-03-29 01:30 UTC.');
  });
});

import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { applyViews } from '../../src/db/apply-views.ts';
import { connect, type Database } from '../../src/db/connect.ts';
import { createRoles } from '../../src/db/create-roles.ts';
import { migrate } from '../../src/db/migrate.ts';
import { HASH_KEY, toCustomers } from '../jobs/identify-customers/story.ts';
import { manyRows, openWorkshop, toCsv } from '../runs/workshop.ts';
import { migrateBy } from '../support/migrate-by.ts';
import { type Stage, setup } from '../support/setup.ts';

const ROLES = readFileSync(new URL('../../sql/roles.sql', import.meta.url), 'utf8');

const ORDERS = `order_id,order_revenue,currency,discount_codes,placed_at,status
1,20.00,EUR,MIA10,2026-04-01T10:00:00Z,paid
2,30.00,EUR,,2026-04-01T10:00:00Z,paid
`;

const EVERY_KIND = `customers: {hash_key: "\${CUSTOMER_HASH_KEY:-}"}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  customers: {uri: ./customers/, layout: generic-customers, consent: not_recorded}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  customers: {kind: identify-customers, source: customers, brand_id: 4819}
  mirror: {kind: mirror-account}
`;

type Login = { readonly url: string; ask(statement: string): Promise<readonly Record<string, unknown>[]> };

/**
 * A database, the connection of its owner, and the connection of a role that may clean up if the owner may
 * not.
 */
type Given = Pick<Stage, 'db' | 'databaseUrl'> & { readonly admin?: Database };

type Roles = {
  readonly reader: Login;
  readonly app: Login;
  readonly operator: Login;
  again(): Promise<void>;
};

/**
 * Creates the roles of the file under unique names, because roles belong to the whole server. They are
 * dropped when the test has finished.
 */
async function makeRoles({ db, databaseUrl, admin = db }: Given): Promise<Roles> {
  const suffix = `_${randomInt(2 ** 47).toString(36)}`;
  const names = {
    reader: `bi_reader${suffix}`,
    app: `influencer_sync_app${suffix}`,
    operator: `influencer_sync_operator${suffix}`,
  };
  const text = ROLES.replaceAll('bi_reader', names.reader)
    .replaceAll('influencer_sync_app', names.app)
    .replaceAll('influencer_sync_operator', names.operator);
  const again = async (): Promise<void> => void (await sql.raw(text).execute(db));
  await again();
  onTestFinished(async () => {
    for (const name of [names.operator, names.reader, names.app]) {
      await sql.raw(`drop owned by ${name}; drop role ${name}`).execute(admin);
    }
  });
  return {
    reader: await logIn(names.reader),
    app: await logIn(names.app),
    operator: await logIn(names.operator),
    again,
  };

  async function logIn(name: string): Promise<Login> {
    const password = randomInt(2 ** 47).toString(36);
    await sql.raw(`alter role ${name} password '${password}'`).execute(db);
    const url = new URL(databaseUrl);
    url.username = name;
    url.password = password;
    return { url: url.href, ask: (statement) => ask(url.href, statement) };
  }
}

async function ask(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

async function relationsOf(db: Database, where: string): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace n on n.oid = relnamespace
    where ${sql.raw(where)} order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

describe('bi_reader', () => {
  test('reads every view of bi and no table of any other schema', async () => {
    const stage = await setup();
    const { reader } = await makeRoles(stage);
    const views = await relationsOf(stage.db, "nspname = 'bi'");
    expect(views.length).toBeGreaterThan(15);
    for (const view of views) expect(await reader.ask(`select * from ${view}`)).toEqual([]);
    expect(await reader.ask('select * from bi.deals_as_of(now())')).toEqual([]);

    const others = await relationsOf(
      stage.db,
      "relkind in ('r', 'v') and nspname not in ('bi', 'pg_catalog', 'information_schema') and nspname !~ '^pg_'",
    );
    expect(others).toContain('ledger.entries');
    for (const table of others)
      await expect(reader.ask(`select from ${table}`), table).rejects.toThrow('permission denied');
  });

  test('cannot change anything, and its statements time out', async () => {
    const stage = await setup();
    const { reader } = await makeRoles(stage);
    expect(await reader.ask('show statement_timeout')).toEqual([{ statement_timeout: '30s' }]);
    await expect(reader.ask("set statement_timeout = '20ms'; select pg_sleep(60)")).rejects.toThrow(
      'statement timeout',
    );
    await expect(reader.ask('create table bi.mine (n int)')).rejects.toThrow('read-only transaction');
    for (const statement of [
      'create table bi.mine (n int)',
      'delete from bi.unattributed_revenue',
      'drop view bi.orders',
    ]) {
      const writing = `set transaction read write; ${statement}`;
      await expect(reader.ask(writing), statement).rejects.toThrow(/permission denied|must be owner/);
    }
  });

  test('can read views that are added later and views that were applied again', async () => {
    const stage = await setup();
    const { reader } = await makeRoles(stage);
    await sql`create view bi.later as select 1 as one`.execute(stage.db);
    expect(await reader.ask('select * from bi.later')).toEqual([{ one: 1 }]);

    await sql`update reporting.applied_views set content_hash = 'of another version'`.execute(stage.db);
    expect(await applyViews(stage.db)).toBe(true);
    expect(await reader.ask('select * from bi.orders')).toEqual([]);
    await expect(reader.ask('select * from bi.later'), 'not in sql/views/').rejects.toThrow('does not exist');
  });

  test('loses manual grants when the roles are created again', async () => {
    const stage = await setup();
    const { reader, again } = await makeRoles(stage);
    const name = new URL(reader.url).username;
    await sql.raw(`grant usage on schema ledger to ${name}`).execute(stage.db);
    await sql.raw(`grant select on ledger.entries to ${name}`).execute(stage.db);
    expect(await reader.ask('select * from ledger.entries')).toEqual([]);
    await again();
    await expect(reader.ask('select * from ledger.entries')).rejects.toThrow('permission denied');
    expect(await reader.ask('select * from bi.orders')).toEqual([]);
  });
});

test('bi_reader cannot create tables, not even temporary ones, even if it could before', async () => {
  const stage = await setup();
  const { reader, again } = await makeRoles(stage);
  const name = new URL(reader.url).username;
  const attempts = ['temporary table mine', 'table public.mine'].map(
    (what) => `set transaction read write; create ${what} (n int)`,
  );
  for (const attempt of attempts) await expect(reader.ask(attempt)).rejects.toThrow('permission denied');
  const database = new URL(stage.databaseUrl).pathname.slice(1);
  await sql.raw(`grant temporary on database ${database} to public`).execute(stage.db);
  await sql.raw(`grant create on schema public to ${name}`).execute(stage.db);
  for (const attempt of attempts) await reader.ask(attempt);
  await sql`drop table public.mine`.execute(stage.db);
  await again();
  for (const attempt of attempts) await expect(reader.ask(attempt)).rejects.toThrow('permission denied');
});

test('query uses its own login if one is configured, which reads only bi', async () => {
  const shop = await openWorkshop();
  const { reader } = await makeRoles(shop);
  shop.env.BI_DATABASE_URL = reader.url;
  const place = join(shop.folder, 'pipeline.yaml');
  const text = readFileSync(place, 'utf8');
  writeFileSync(place, text.replace('database: {', `database: {bi_url: "\${BI_DATABASE_URL:-}", `));
  const { exitCode, stdout, stderr } = await shop.cli('query', 'select current_user as who', '--csv');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toBe(`who\r\n${new URL(reader.url).username}\r\n`);
  expect(await shop.cli('query', 'select * from bi.orders')).toMatchObject({ exitCode: 0 });
  expect((await shop.cli('query', 'select * from ledger.entries')).stderr).toContain('permission denied');
});

describe('influencer_sync_app', () => {
  test('runs jobs of every kind', async () => {
    const shop = await openWorkshop({ flow: EVERY_KIND, env: { CUSTOMER_HASH_KEY: HASH_KEY } });
    const { app } = await makeRoles(shop);
    shop.env.DATABASE_URL = app.url;
    shop.drop('orders.csv', ORDERS);
    mkdirSync(join(shop.folder, 'customers'));
    shop.write('customers/customers.csv', toCustomers(['jane@example.com', 'joe@example.com']));
    for (const round of ['first', 'second'])
      for (const job of ['orders', 'customers', 'mirror']) {
        const { exitCode, stderr } = await shop.cli('run', job);
        expect({ exitCode, stderr }, `${job}, ${round} time`).toMatchObject({ exitCode: 0 });
      }
    expect(await shop.posted()).toEqual(['1']);
    const { stdout } = await shop.cli(
      'query',
      `select (select count(*) from bi.orders_attributed where is_accepted) as accepted, (select count(*) from bi.deals) as deals,
        (select max(submitted_customers) from bi.runs) as submitted`,
      '--csv',
    );
    expect(stdout).toBe('accepted,deals,submitted\r\n1,3,2\r\n');
  });

  test('cannot change the schema, create roles or rewrite append-only tables', async () => {
    const stage = await setup();
    const { app } = await makeRoles(stage);
    for (const statement of [
      'create schema mine',
      'create table ledger.mine (n int)',
      'create table bi.mine (n int)',
      'alter table ledger.entries add column mine int',
      'drop table ledger.attempts',
      'alter table ledger.attempts disable trigger append_only',
      'drop view bi.orders',
      'create role mine',
      'truncate ledger.entries',
      'delete from ledger.attempts',
      "update ledger.decisions set reason = 'other'",
      'delete from ledger.seeds',
      'insert into ops.payments_elsewhere select from ops.payments_elsewhere',
      'delete from public.influencer_sync_migrations',
    ])
      await expect(app.ask(statement), statement).rejects.toThrow(/permission denied|must be owner/);
    expect(await app.ask('select * from ledger.attempts')).toEqual([]);
  });
});

test('migrate --roles creates the roles on a server, also when repeated, and query then runs as bi_reader', async () => {
  const shop = await openWorkshop();
  const before = await roleNames(shop.db);
  onTestFinished(async () => {
    // Roles that existed before may be in use, so they are kept.
    const ours = ['influencer_sync_operator', 'influencer_sync_app', 'bi_reader'];
    for (const name of ours.filter((role) => !before.includes(role)))
      await sql.raw(`drop owned by ${name}; drop role ${name}`).execute(shop.db);
  });
  expect((await shop.cli('migrate', '--roles', '--dry-run')).stdout).toContain('Would create the roles');
  expect(await roleNames(shop.db)).toEqual(before);
  for (const _ of ['made', 'made again']) {
    const { exitCode, stdout } = await shop.cli('migrate', '--roles');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('\\password bi_reader');
  }
  expect(await roleNames(shop.db)).toEqual(['bi_reader', 'influencer_sync_app', 'influencer_sync_operator']);
  expect(await shop.cli('query', 'select * from bi.orders')).toMatchObject({ exitCode: 0 });
  const refused = await shop.cli('query', 'select * from ledger.entries');
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain('permission denied for schema ledger');
});

describe('the user that migrates', () => {
  test('need not be a superuser if it owns the database and may create roles', async () => {
    const owner = await makeOwner('createrole');
    await migrate(owner.db);
    const { reader } = await makeRoles(owner);
    expect(await reader.ask('select * from bi.orders')).toEqual([]);
    expect(await reader.ask('show statement_timeout')).toEqual([{ statement_timeout: '30s' }]);
    await expect(reader.ask('select * from ledger.entries')).rejects.toThrow('permission denied');
  });

  test('gets an error that names the missing privilege if it may not create roles', async () => {
    const owner = await makeOwner('nocreaterole');
    await migrate(owner.db);
    await expect(createRoles(owner.db)).rejects.toMatchObject({
      details: { code: 'roles_refused', exitCode: 2, help: expect.stringContaining('CREATEROLE') },
    });
    expect((await sql`select * from bi.orders`.execute(owner.db)).rows).toEqual([]);
  });

  test('gets an error for a missing right to change the schema only if there is something to change', async () => {
    const stage = await setup();
    const { app } = await makeRoles(stage);
    const db = await connect({ url: app.url, embeddedFolder: '' });
    onTestFinished(() => db.destroy());
    expect(await migrate(db)).toEqual([]);
    await sql`update reporting.applied_views set content_hash = 'of another version'`.execute(stage.db);
    await expect(migrate(db)).rejects.toMatchObject({ details: { code: 'migration_failed', exitCode: 1 } });
    expect((await sql`select * from bi.orders`.execute(db)).rows).toEqual([]);
  });
});

/**
 * Creates an empty database on the suite's server and connects to it as its owner, who is not a superuser.
 */
async function makeOwner(right: 'createrole' | 'nocreaterole'): Promise<Given> {
  const { db: superuser, databaseUrl } = await setup();
  const name = `owner_${randomInt(2 ** 47).toString(36)}`;
  const password = randomInt(2 ** 47).toString(36);
  await sql.raw(`create role ${name} login ${right} password '${password}'`).execute(superuser);
  await sql.raw(`create database ${name} owner ${name}`).execute(superuser);
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const admin = await connect({ url: url.href, embeddedFolder: '' });
  url.username = name;
  url.password = password;
  const db = await connect({ url: url.href, embeddedFolder: '' });
  onTestFinished(async () => {
    await db.destroy();
    await admin.destroy();
    await sql.raw(`drop database ${name} with (force)`).execute(superuser);
    await sql.raw(`drop role ${name}`).execute(superuser);
  });
  return { db, databaseUrl: url.href, admin };
}

test('migrate --roles reports that the embedded database has no roles', async () => {
  const shop = await openWorkshop({ embedded: true });
  const { exitCode, stderr } = await shop.cli('migrate', '--roles');
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Roles need a Postgres server');
});

async function roleNames(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ rolname: string }>`
    select rolname from pg_roles where rolname in ('bi_reader', 'influencer_sync_app', 'influencer_sync_operator') order by 1`.execute(
    db,
  );
  return rows.map(({ rolname }) => rolname);
}

/** Columns that say by what an order was matched, and not by whom. */
const OF_NOBODY = ['matched_by'];

/** Every name of a person in the database, with its table and column. */
async function namesIn(db: Database): Promise<readonly { place: string; by: string | null }[]> {
  const { rows } = await sql<{ place: string; column: string; table: string }>`
    select c.table_schema || '.' || c.table_name || '.' || c.column_name as place, c.table_schema || '.' || c.table_name as table,
      c.column_name as column
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.column_name like '%\\_by' and c.data_type = 'text' and t.table_type = 'BASE TABLE'
      and c.column_name <> all(${OF_NOBODY}::text[])`.execute(db);
  const names = await Promise.all(
    rows.map(async ({ place, table, column }) => {
      const found = await sql<{
        by: string;
      }>`select ${sql.ref(column)} as by from ${sql.table(table)}`.execute(db);
      return found.rows.length === 0 ? [{ place, by: null }] : found.rows.map(({ by }) => ({ place, by }));
    }),
  );
  return names.flat();
}

test('every column with the name of a person gets it from the user of the session', async () => {
  const { db } = await setup();
  const { rows } = await sql<{ table: string; definition: string }>`
    select tgrelid::regclass::text as table, pg_get_triggerdef(oid) as definition from pg_trigger where tgname = 'record_actor'`.execute(
    db,
  );
  const named = rows.flatMap(({ table, definition }) =>
    [...definition.matchAll(/'(\w+)'/g)].map(([, column]) => `${table}.${column}`),
  );
  // Its functions record the user themselves, or its trigger copies the one of the payment, and nobody else may write it.
  const recorded = [...named, 'ledger.decisions.decided_by', 'ops.payments_elsewhere.recorded_by'];
  const places = (await namesIn(db)).map(({ place }) => place);
  expect(recorded.toSorted()).toEqual(places.toSorted());
});

describe('influencer_sync_operator', () => {
  test('settles what waits for a person, by the commands for it', async () => {
    const flow = EVERY_KIND.replace('revenue: total}', 'revenue: total, schedule: "5 4 1 1 *"}');
    const shop = await openWorkshop({ flow, env: { CUSTOMER_HASH_KEY: HASH_KEY } });
    mkdirSync(join(shop.folder, 'customers'));
    const bad = { revenue: 'twelve' };
    shop.drop('orders.csv', toCsv(manyRows(2)));
    shop.drop('held.csv', toCsv(manyRows(30, 'h').map((row) => ({ ...row, ...bad }))));
    await shop.sandbox.setFaults([{ kind: 'reset_after', operation: 'new_influencer_referral', count: 2 }]);
    expect((await shop.run()).exitCode).toBe(6);
    const { operator } = await makeRoles(shop);
    shop.env.DATABASE_URL = operator.url;
    const reason = ['--reason', 'seen there'];
    for (const words of [
      ['review', '1', '--accepted', ...reason],
      ['review', '2', '--resend', '--yes', ...reason],
      ['files', '--state', 'held'],
      ['files', 'release', 'held.csv', ...reason],
      ['files', 'reread', 'orders.csv'],
      ['checks'],
      ['checks', 'expect-date', '2026-11-27', 'Black Friday'],
      ['jobs', 'pause', 'orders', ...reason],
      ['jobs', 'resume', 'orders', ...reason],
      ['explain', 'order', 'o1'],
      ['rejected', '--run', '1'],
      ['runs'],
      ['notify', 'history'],
      ['query', 'select count(*) from bi.orders'],
      ['status'],
    ]) {
      const { exitCode, stderr } = await shop.cli(...words);
      expect({ words, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({
        words,
        exitCode: 0,
        stderr: '',
      });
    }
    // Whatever name the command gives, the user of the session is recorded.
    const me = new URL(operator.url).username;
    const { rows: recorded } = await sql<{ by: string }>`
      select actor as by from ops.audit union all select decided_by from ledger.decisions`.execute(shop.db);
    expect(recorded.length).toBeGreaterThan(7);
    expect(recorded.filter(({ by }) => !by.startsWith(`${me} (`))).toEqual([]);
    await operator.ask(`
      insert into ops.paused_jobs (job, paused_by, reason) values ('orders', 'ann', 'x');
      insert into ops.slots (job, slot, state, requested_by) values ('orders', now(), 'due', 'ann');
      update intake.source_files set newest_since = now(), newest_by = 'ann'`);
    const names = (await namesIn(shop.db)).filter((one) => one.by !== null);
    expect(new Set(names.map(({ place }) => place))).toEqual(
      new Set([
        'intake.expected_dates.created_by',
        ...[
          'intake.source_files.newest_by',
          'intake.source_files.released_by',
          'intake.source_files.reread_by',
        ],
        ...['ledger.decisions.decided_by', 'ops.paused_jobs.paused_by', 'ops.slots.requested_by'],
      ]),
    );
    expect(names.filter(({ by }) => by?.startsWith(`${me} (`) !== true)).toEqual([]);
    // It runs no job.
    expect((await shop.run()).exitCode).not.toBe(0);
    expect((await shop.posted()).length).toBe(2);
  });

  test('cannot see customers, or change what was sent, answered or recorded', async () => {
    const stage = await setup();
    const { operator } = await makeRoles(stage);
    for (const table of [
      'customers',
      'lookups',
      'waiting_batches',
      'forgotten_customers',
      'outreach_candidates',
    ])
      await expect(operator.ask(`select from intake.${table}`), table).rejects.toThrow('permission denied');
    for (const statement of [
      'update ledger.entries set order_id = order_id',
      "update ledger.entries set state = 'accepted', state_reason = 'mine'",
      "insert into ledger.decisions (entry_id, decision, attempt, decided_by, reason) values (1, 'accept', 1, 'ann', 'x')",
      "insert into ledger.answers (entry_id, attempt, kind, message, via, applied) values (1, 1, 'lease_over', 'x', 'reaper', true)",
      "insert into ops.audit (actor, via, action, subject_kind, summary) values ('ann', 'console', 'x', 'entry', 'x')",
      'update ledger.entries set amount = 1',
      'delete from ledger.entries',
      'insert into ledger.attempts default values',
      'insert into ledger.answers (entry_id, attempt, kind, http_status, via, applied) values (1, 1, $$accepted$$, 200, $$direct$$, true)',
      'update ledger.decisions set reason = reason',
      'delete from ops.audit',
      'update ops.runs set status = status',
      'update intake.orders set total = total',
      'create table ops.mine (n int)',
      'drop view bi.orders',
    ])
      await expect(operator.ask(statement), statement).rejects.toThrow(/permission denied|must be owner/);
  });

  test('records its own name in the audit, and the program the name that it is given', async () => {
    const stage = await setup();
    const { operator, app, reader } = await makeRoles(stage);
    const record = {
      actor: 'ann',
      via: 'console',
      action: 'x',
      subject_kind: 'entry',
      summary: 'x',
      before: null,
    };
    const call = `set search_path = pg_temp; select ops.record_audit('${JSON.stringify(record)}')`;
    await operator.ask(call);
    await app.ask(call);
    await expect(reader.ask(call)).rejects.toThrow('permission denied');
    await expect(reader.ask('select ledger.reap_lost()')).rejects.toThrow('permission denied');
    const { rows } = await sql`select actor, via, before from ops.audit order by audit_id`.execute(stage.db);
    expect(rows).toEqual([
      { actor: `${new URL(operator.url).username} (ann)`, via: 'command', before: null },
      { actor: 'ann', via: 'console', before: null },
    ]);
  });

  test('keeps deciding after an upgrade, without running the file of roles again', async () => {
    const stage = await setup();
    const { operator } = await makeRoles(stage);
    const me = new URL(operator.url).username;
    await sql`drop function ops.record_audit, ledger.decide, ledger.acknowledge_double_credit, ledger.reap_lost, ops.acting_name`.execute(
      stage.db,
    );
    await sql.raw(`grant insert on ops.audit to ${me}`).execute(stage.db);
    await migrateBy(stage.db, (name) => name.startsWith('0091'));
    expect(await operator.ask('select ledger.reap_lost()::int as reaped')).toEqual([{ reaped: 0 }]);
    expect(
      await operator.ask(
        "select done, state from ledger.decide(1, 'accept', null, null, 'ann', 'x', null, null)",
      ),
    ).toEqual([{ done: false, state: null }]);
  });
});

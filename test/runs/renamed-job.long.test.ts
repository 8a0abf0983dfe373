import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readOpenBacklog } from '../../src/rollups/backlog.ts';
import { setup } from '../support/setup.ts';
import { openWorkshop, toCsv, type Workshop } from './workshop.ts';

type Job = { readonly name?: string; readonly sources?: readonly string[] };

const flowOf = (...jobs: readonly Job[]) => {
  const sources = new Set(jobs.flatMap(({ sources = ['shop'] }) => sources));
  const sourceLines = [...sources].map(
    (name) =>
      `  ${name}: {uri: ./${name === 'shop' ? 'exports' : name}/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}`,
  );
  const jobLines = jobs.map(
    ({ name = 'orders', sources: read = ['shop'] }) =>
      `  ${name}: {kind: attribute-orders, source: [${read.join(', ')}], brand_id: 4819, codes: ./codes.csv, revenue: total}`,
  );
  return `\nsources:\n${sourceLines.join('\n')}\njobs:\n${jobLines.join('\n')}\n`;
};

/** Opens a shop whose job has posted one order of four, of which one is in doubt and two wait. */
async function openHalfPosted(
  job: Job = {},
): Promise<Workshop & { configure(...jobs: readonly Job[]): void }> {
  let flow = flowOf(job);
  const shop = await openWorkshop({ flow, api: 'concurrency: 1' });
  mkdirSync(join(shop.folder, 'other'));
  shop.write('other/1.csv', toCsv([{ id: 'new' }]));
  const configure = (...jobs: readonly Job[]): void => {
    const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    shop.write('pipeline.yaml', text.replace(flow, flowOf(...jobs)));
    flow = flowOf(...jobs);
  };
  shop.drop('1.csv', toCsv(['sent', 'doubtful', 'third', 'fourth'].map((id) => ({ id }))));
  await shop.sandbox.setFaults([
    { kind: 'error_before', match: { body: { order_id: 'doubtful' } }, status: 500, text: 'Oops.' },
  ]);
  expect((await shop.run('--limit', '2')).exitCode).toBe(6);
  await shop.sandbox.setFaults([]);
  return Object.assign(shop, { configure });
}

async function entriesOf({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ said: string }>`
    select concat_ws(' ', job, state, count(*)) as said from ledger.entries group by job, state order by 1`.execute(
    db,
  );
  return rows.map(({ said }) => said);
}

async function funnelOf({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ said: string }>`
    select concat_ws(' ', job, disposition, disposition_reason, count(*)) as said
    from bi.orders_attributed group by job, disposition, disposition_reason order by 1`.execute(db);
  return rows.map(({ said }) => said);
}

describe('a job under another name', () => {
  it('posts what waited under the old name, keeps its doubts, and follows its refunds; so it does under its old name again', async () => {
    const shop = await openHalfPosted();
    shop.configure({ name: 'dutch' });
    const plan = await shop.cli('plan', 'dutch', '--json');
    expect(plan.stdout).toContain('"ready":2');
    expect((await shop.cli('doctor')).stdout).toContain('dutch continues orders');
    expect(plan.stdout).not.toContain('known_from_another_job');
    expect(await entriesOf(shop)).toEqual(['orders accepted 1', 'orders in_doubt 1', 'orders ready 2']);

    const run = await shop.cli('run', 'dutch');
    expect(run.stdout + run.stderr).toContain(
      'dutch continues orders, which the configuration no longer names',
    );
    expect(run.exitCode).toBe(6);
    expect(await entriesOf(shop)).toEqual(['dutch accepted 3', 'dutch in_doubt 1']);
    expect(await shop.posted()).toEqual(['fourth', 'sent', 'third']);
    expect(await funnelOf(shop)).toEqual(['dutch accepted 3', 'dutch in_doubt HTTP 500: Oops. 1']);
    const { rows: audit } = await sql`
      select actor, action, subject, before, after from ops.audit where action = 'rename_job'`.execute(
      shop.db,
    );
    expect(audit).toEqual([
      {
        actor: 'job dutch',
        action: 'rename_job',
        subject: 'dutch',
        before: { job: 'orders' },
        after: { job: 'dutch' },
      },
    ]);

    shop.drop('2.csv', toCsv([{ id: 'sent', status: 'cancelled' }]));
    await shop.cli('run', 'dutch');
    const { rows: adjusted } = await sql`
      select job, order_id, kind from bi.adjustments`.execute(shop.db);
    expect(adjusted).toEqual([{ job: 'dutch', order_id: 'sent', kind: 'cancelled' }]);

    shop.configure({});
    expect((await shop.run()).exitCode).toBe(6);
    expect(await entriesOf(shop)).toEqual(['orders accepted 3', 'orders in_doubt 1']);
    expect(await shop.posted()).toEqual(['fourth', 'sent', 'third']);
  });

  it('stays paused if a person has paused it', async () => {
    const shop = await openHalfPosted();
    const paused = { job: 'orders', paused_by: 'jo', reason: 'An audit.' };
    await shop.db.insertInto('ops.paused_jobs').values(paused).execute();
    shop.configure({ name: 'dutch' });
    await shop.cli('run', 'dutch');
    const { rows } = await sql`select job from ops.paused_jobs`.execute(shop.db);
    expect(rows).toEqual([{ job: 'dutch' }]);
  });
});

describe('entries of a job that is not configured', () => {
  it('are never passed over: every run says how many and how much, and none ends with ok', async () => {
    const shop = await openHalfPosted();
    shop.drop('2.csv', toCsv([{ id: 'fifth' }]));
    shop.configure({ name: 'elsewhere', sources: ['other'] });
    const run = await shop.cli('run', 'elsewhere');
    expect(run.exitCode).toBe(3);
    expect((run.stdout + run.stderr).replace(/\s+/g, ' ')).toContain(
      '3 ledger entries (30.00 EUR) wait or are in doubt under the job orders, which the configuration does not name',
    );
    expect(await entriesOf(shop)).toEqual([
      'elsewhere accepted 1',
      'orders accepted 1',
      'orders in_doubt 1',
      'orders ready 2',
    ]);
    expect((await shop.cli('plan', 'elsewhere')).exitCode).toBe(3);
    const doctor = await shop.cli('doctor');
    expect(doctor.stdout.replace(/\s+/g, ' ')).toContain('3 ledger entries (30.00 EUR)');
  });

  it('are found without reading the entries of the jobs that are configured', async () => {
    const shop = await openHalfPosted();
    const waiting = (otherThan: readonly string[]) => readOpenBacklog(shop.db, { limit: 10, otherThan });
    expect(await waiting(['orders'])).toEqual([]);
    const named = [...(await waiting([])), ...(await waiting(['elsewhere']))];
    expect(named.map(({ job, state, entries }) => `${job} ${state} ${entries}`)).toEqual([
      ...['orders in_doubt 1', 'orders ready 2'],
      ...['orders in_doubt 1', 'orders ready 2'],
    ]);
  });

  it('follow no job if two have taken its sources, because only a person knows which', async () => {
    const shop = await openHalfPosted({ sources: ['shop', 'other'] });
    shop.configure({ name: 'one' }, { name: 'two', sources: ['other'] });
    expect((await shop.cli('run', 'one')).exitCode).toBe(3);
    expect(await shop.posted()).toEqual(['sent']);
    shop.configure({ sources: ['shop', 'other'] });
    expect((await shop.run()).exitCode).toBe(6);
    expect(await shop.posted()).toEqual(['fourth', 'new', 'sent', 'third']);
  });

  it('do not follow while a run under the old name is active', async () => {
    const shop = await openHalfPosted();
    shop.configure({ name: 'dutch' });
    await sql`
      insert into ops.leases (name, owner, expires_at, acquired_at, host, pid)
      values ('job:orders', gen_random_uuid(), now() + interval '1 hour', now(), 'test', 1)`.execute(shop.db);
    const run = await shop.cli('run', 'dutch');
    expect(run.exitCode).toBe(5);
    expect(await entriesOf(shop)).toEqual(['orders accepted 1', 'orders in_doubt 1', 'orders ready 2']);
  });
});

/** Tables about what happened under a name. */
const HISTORY = [
  'ops.bulk_items',
  'ops.job_locks',
  'ops.problems',
  'ops.runs',
  'ops.schedules',
  'ops.slots',
  'ops.work_units',
];

it('every table that names a job follows a renamed one, or tells its history', async () => {
  const { db } = await setup();
  const { rows } = await sql<{ name: string; is_renamed: boolean }>`
    select t.name, strpos(pg_get_functiondef('ops.rename_job(text, text)'::regprocedure), 'update ' || t.name || ' set job') > 0 as is_renamed
    from (
      select c.table_schema || '.' || c.table_name as name
      from information_schema.columns c join information_schema.tables b using (table_schema, table_name)
      where c.column_name = 'job' and b.table_type = 'BASE TABLE' and c.table_schema in ('intake', 'ledger', 'mirror', 'ops', 'reporting')) t
    order by 1`.execute(db);
  expect(rows.filter((row) => !row.is_renamed).map(({ name }) => name)).toEqual(HISTORY);
  expect(rows.length).toBeGreaterThan(HISTORY.length);
});

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { jobKinds, loadConfig } from '../../jobs/index.ts';
import { connect, type Database } from '../../src/db/connect.ts';
import { notifyWithin } from '../../src/notify/keep-notices.ts';
import { manyRows, toCsv } from '../pipeline/workshop.ts';
import { setup } from '../support/setup.ts';
import { JOB, NOTIFY, noteRun, openDrill } from './drill.ts';
import { SECRET, startReceiver } from './receivers.ts';

vi.setConfig({ testTimeout: 180_000 });

/** A problem that is provoked, looked for twice, taken away, and looked for twice again. */
type Fault = {
  readonly problem: string;
  readonly job: string | null;
  readonly provoke: () => unknown;
  readonly end: () => unknown;
};

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  other: {uri: ./others/, layout: generic, order_platform: other, time_zone: Europe/Amsterdam, expect: {freshness: {by: "00:00"}}}
jobs:
  orders: {${JOB}}
  others: {kind: attribute-orders, source: other, brand_id: 4819, codes: ./codes.csv, revenue: total}
  mirror: {kind: mirror-account}
`;

/** Looks for problems as a run does at its end, with the configuration as it stands in a folder. */
function lookIn(
  folder: string,
  { db, env }: { readonly db: Database; readonly env: Record<string, string> },
) {
  const config = loadConfig(join(folder, 'pipeline.yaml'), env);
  const fail = (...what: readonly unknown[]) => {
    throw new Error('looking failed', { cause: what });
  };
  return () => notifyWithin(db, { config, kinds: jobKinds, onTrouble: fail, onFailure: fail });
}

/** Each gives exactly one opened and one resolved notice, and nothing else is told meanwhile. */
async function drill(
  faults: readonly Fault[],
  { look, told }: { readonly look: () => Promise<void>; readonly told: () => readonly string[] },
): Promise<void> {
  await look();
  const expected: string[] = [...told()];
  for (const { problem, job, provoke, end } of faults) {
    await provoke();
    for (let round = 0; round < 2; round += 1) await look();
    expected.push(`opened ${problem} ${job ?? '-'}`);
    expect(told()).toEqual(expected);
    await end();
    for (let round = 0; round < 2; round += 1) await look();
    expected.push(`resolved ${problem} ${job ?? '-'}`);
    expect(told()).toEqual(expected);
  }
}

/** A configuration, a database and a receiver of notices; no service is asked of anything. */
async function openDesk() {
  const { db, databaseUrl, folder } = await setup();
  const receiver = await startReceiver();
  writeFileSync(join(folder, 'codes.csv'), 'code,brand_id,influencer_handle,deal_id\n');
  writeFileSync(
    join(folder, 'pipeline.yaml'),
    `database: {url: "\${DATABASE_URL:-}"}\n${FLOW.replace(/, expect: .*\}\}/, '}')}${NOTIFY}`,
  );
  const env = { DATABASE_URL: databaseUrl, NOTICE_URL: `${receiver.url}/ops`, NOTICE_SECRET: SECRET };
  const told = () => receiver.received.map(({ json }) => `${json.event} ${json.problem} ${json.job ?? '-'}`);
  return { db, databaseUrl, folder, env, told, look: lookIn(folder, { db, env }) };
}

it('what a run leaves behind: a run that was ended, work for a person, a spent budget, fields that changed, a mirror that is old', async () => {
  const desk = await openDesk();
  const { db } = desk;
  const orders = { job: 'orders', kind: 'attribute-orders' };
  const mirror = { job: 'mirror', kind: 'mirror-account', status: 'ok', exitCode: 0 };
  const good = { status: 'ok', exitCode: 0 };
  await drill(
    [
      {
        problem: 'job_stalled',
        job: 'orders',
        provoke: () =>
          noteRun(db, {
            ...orders,
            status: 'failed',
            exitCode: 1,
            code: 'run_overdue',
            problem: 'It took too long.',
          }),
        end: () => noteRun(db, { ...orders, ...good }),
      },
      {
        problem: 'needs_attention',
        job: 'orders',
        provoke: () => noteRun(db, { ...orders, status: 'issues', exitCode: 3 }),
        end: () => noteRun(db, { ...orders, ...good }),
      },
      {
        problem: 'budget_low',
        job: 'mirror',
        provoke: () => noteRun(db, { ...mirror, counts: { deals_stale: 5, deals_unread: 1 } }),
        end: () => noteRun(db, mirror),
      },
      {
        problem: 'mirror_drifted',
        job: 'mirror',
        provoke: () => noteRun(db, { ...mirror, counts: { drift: 2 } }),
        end: () => noteRun(db, mirror),
      },
      {
        problem: 'mirror_stale',
        job: 'mirror',
        provoke: () =>
          sql`update ops.runs set started_at = started_at - interval '50 hours', finished_at = finished_at - interval '50 hours'
            where job = 'mirror'`.execute(db),
        end: () => noteRun(db, mirror),
      },
      {
        problem: 'job_late',
        job: 'orders',
        provoke: () =>
          sql`insert into ops.slots (job, slot, state, created_at)
            values ('orders', now() - interval '2 hours', 'due', now() - interval '2 hours')`.execute(db),
        end: () =>
          sql`update ops.slots set state = 'skipped', reason = 'paused', settled_at = now()`.execute(db),
      },
      {
        problem: 'totals_differ',
        job: 'mirror',
        provoke: () =>
          sql`insert into reporting.reconciliation
              (deal_id, ours, others, doubts, written_off, late, credited_twice, afterwards, other_currency, unexplained, run_id)
            select 'D1', 0, 0, 0, 0, 0, 0, 0, 0, 50, max(run_id) from ops.runs where job = 'mirror'`.execute(
            db,
          ),
        end: () => sql`update reporting.reconciliation set unexplained = 0`.execute(db),
      },
    ],
    desk,
  );
});

it('what is around it: a disk without room, a clock that is wrong, a right that was taken away', async () => {
  const desk = await openDesk();
  const { databaseUrl, folder, env, told } = desk;
  // Superusers lack no right.
  const role = `drilled_${randomUUID().slice(0, 8)}`;
  const schemas = 'public, intake, ledger, mirror, ops, reporting, bi';
  await sql
    .raw(`create role ${role} login password 'x';
    grant all on schema ${schemas} to ${role};
    grant all on all tables in schema ${schemas} to ${role};
    grant all on all sequences in schema ${schemas} to ${role};
    grant execute on all functions in schema ${schemas} to ${role}`)
    .execute(desk.db);
  const url = Object.assign(new URL(databaseUrl), { username: role, password: 'x' }).href;
  const db = await connect({ url, embeddedFolder: '' });
  onTestFinished(async () => {
    const admin = await connect({ url: databaseUrl, embeddedFolder: '' });
    await db.destroy();
    await sql.raw(`drop owned by ${role}; drop role ${role}`).execute(admin);
    await admin.destroy();
  });
  onTestFinished(() => void vi.useRealTimers());
  const dataFolder = join(folder, '.data');
  // File systems of a kernel have no room.
  const full = existsSync('/proc') ? '/proc' : '/dev';
  await drill(
    [
      {
        problem: 'disk',
        job: null,
        provoke: () => symlinkSync(full, dataFolder),
        end: () => rmSync(dataFolder),
      },
      {
        problem: 'clock',
        job: null,
        provoke: () =>
          vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000, shouldAdvanceTime: false }),
        end: () => vi.useRealTimers(),
      },
      {
        problem: 'database',
        job: null,
        provoke: () => sql.raw(`revoke insert on intake.clicks from ${role}`).execute(desk.db),
        end: () => sql.raw(`grant insert on intake.clicks to ${role}`).execute(desk.db),
      },
    ],
    { told, look: lookIn(folder, { db, env }) },
  );
});

it('what arrives and what it comes to: a file that is late, codes without an owner, an unusual file, an order credited twice', async () => {
  const { shop, told } = await openDrill({
    flow: FLOW,
    notify: NOTIFY.replace('notify: {', 'notify: {unowned_codes_above: {EUR: 1}, '),
  });
  const { db, env } = shop;
  const run = async (job: string) => expect((await shop.cli('run', job)).exitCode).toBe(0);
  shop.drop('orders.csv', toCsv(manyRows(3)));
  await run('orders');
  await drill(
    [
      {
        problem: 'codes_unowned',
        job: 'orders',
        async provoke() {
          shop.drop('unowned.csv', toCsv([{ id: 'u1', code: 'NOBODYS' }]));
          await run('orders');
        },
        async end() {
          shop.write(
            'codes.csv',
            'code,brand_id,influencer_handle,deal_id\nMIA10,4819,mia.test,DEALMIA\nNOBODYS,4819,mia.test,DEALMIA\n',
          );
          await run('orders');
        },
      },
      {
        problem: 'files_unusual',
        job: 'orders',
        provoke: () =>
          sql`insert into intake.check_findings (source_file_id, run_id, source, check_name, subject, verdict, seen, expected, message, line_nos)
            select min(source_file_id), 1, 'shop', 'currencies', 'XYZ', 'warn', '9', '1', 'A currency that is new.', '{}'
            from intake.source_files`.execute(db),
        async end() {
          const { rows } = await sql<{
            id: string;
          }>`select finding_id as id from intake.check_findings`.execute(db);
          for (const { id } of rows)
            expect((await shop.cli('checks', 'acknowledge', id, '--reason', 'a campaign')).exitCode).toBe(0);
        },
      },
      {
        problem: 'credited_twice',
        job: 'orders',
        provoke: () =>
          sql`insert into ledger.answers (entry_id, attempt, kind, http_status, message, deal_id, via, applied)
            select min(entry_id), 2, 'accepted', 200, 'Order added.', 'D1', 'direct', false from ledger.entries`.execute(
            db,
          ),
        async end() {
          const { rows } = await sql<{ id: string }>`select min(entry_id) as id from ledger.entries`.execute(
            db,
          );
          const args = ['review', rows[0]?.id ?? '', '--acknowledge', '--reason', 'taken back'];
          expect((await shop.cli(...args)).exitCode).toBe(0);
        },
      },
    ],
    { told, look: lookIn(shop.folder, { db, env }) },
  );
  // The other source has been late from the beginning.
  expect(told()[0]).toBe('opened files_late others');
  mkdirSync(join(shop.folder, 'others'));
  shop.write('others/today.csv', toCsv([{ id: 'other-1' }]));
  for (let round = 0; round < 2; round += 1) await run('others');
  expect(told().filter((line) => line.includes('files_late'))).toEqual([
    'opened files_late others',
    'resolved files_late others',
  ]);
});

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../../src/db/connect.ts';
import { listUnreadEvents } from '../../../src/reports/list-unread-events.ts';
import { letLeasesEnd } from '../../jobs/attribute-orders/backfill/history.ts';
import {
  deliver,
  openReceiver,
  orderEvent,
  SECRET as SIGNING_SECRET,
  sign,
} from '../../ledger/receiver/deliver.ts';
import { CODES, manyRows, toCsv, type Workshop } from '../../runs/workshop.ts';
import { setup } from '../../support/setup.ts';
import { waitFor } from '../../support/wait-for.ts';
import { JOB, lookIn, NOTIFY, openDrill, provokeEach, reconfigure } from './drill.ts';
import { SECRET, startReceiver } from './receivers.ts';

// Killed, hanging and late runs need processes and are tested in serve.long.test.ts.

const REFERRAL = 'new_influencer_referral';
const DAY_MS = 86_400_000;

async function run({ cli }: Workshop, job: string): Promise<number | null> {
  return (await cli('run', job)).exitCode;
}

it('every problem of a mirror opens and is resolved: a low budget, an unreadable deal, changed fields, orders of another tool and stale data', async () => {
  // The mirror reads every deal in every run. It is scheduled once a month and is stale only after two slots.
  const flow =
    'sources: {}\njobs:\n  mirror: {kind: mirror-account, budget: 1000, refresh_after_hours: 0.00001, schedule: "0 0 1 * *"}\n';
  const { shop, receiver, told } = await openDrill({ flow });
  const { db, env, sandbox } = shop;
  expect(await run(shop, 'mirror')).toBe(0);
  const headers = { 'x-api-key': sandbox.key, 'content-type': 'application/json' };
  const ofMia = { query: { deal_id: 'DEALMIA' } };
  const details = `${sandbox.url}/v1/crm/get_deal_details?deal_id=DEALMIA`;
  await provokeEach(
    [
      {
        problem: 'budget_low',
        job: 'mirror',
        async provoke() {
          // The search for deals would not be complete either, which is another problem.
          reconfigure(shop, 'budget: 1000', 'budget: 1, autocomplete_budget: 0');
          expect(await run(shop, 'mirror')).toBe(0);
        },
        async end() {
          reconfigure(shop, 'budget: 1, autocomplete_budget: 0', 'budget: 1000');
          expect(await run(shop, 'mirror')).toBe(0);
        },
      },
      {
        problem: 'mirror_drifted',
        job: 'mirror',
        async provoke() {
          const record = (await (await fetch(details, { headers })).json()) as { deal_info: object };
          const body = { ...record, deal_info: { ...record.deal_info, is_active: 'yes' } };
          await sandbox.setFaults([{ kind: 'canned', match: ofMia, body }]);
          expect(await run(shop, 'mirror')).toBe(3);
        },
        async end() {
          await sandbox.setFaults(null);
          // The return to the old form is also a change.
          expect(await run(shop, 'mirror')).toBe(3);
          expect(await run(shop, 'mirror')).toBe(0);
        },
      },
      {
        problem: 'totals_differ',
        job: 'mirror',
        async provoke() {
          // Another tool posts to the same account.
          for (let order = 1; order <= 9; order += 1) {
            const body = { deal_id: 'DEALMIA', order_id: `theirs-${order}`, order_revenue: 10 };
            const url = `${sandbox.url}/v1/crm/new_influencer_referral`;
            const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
            expect(answer.status).toBe(200);
          }
          expect(await run(shop, 'mirror')).toBe(0);
        },
        async end() {
          // The service removes these orders again.
          await fetch(`${sandbox.url}/_sandbox/reset`, { method: 'POST' });
          expect(await run(shop, 'mirror')).toBe(0);
        },
      },
      {
        problem: 'needs_attention',
        job: 'mirror',
        async provoke() {
          await sandbox.setFaults([{ kind: 'canned', match: ofMia, body: { message: 'ok' } }]);
          expect(await run(shop, 'mirror')).toBe(3);
        },
        async end() {
          expect(receiver.received.at(-1)?.json.summary).toMatch(
            / finished, and left work for a person \(exit code 3\)\. 1 deal could not be read;/,
          );
          await sandbox.setFaults(null);
          // It waits for its next attempt, which is due now.
          await sql`update mirror.known_deals set not_before = now()`.execute(db);
          expect(await run(shop, 'mirror')).toBe(0);
        },
      },
      {
        problem: 'mirror_stale',
        job: 'mirror',
        async provoke() {
          // Without a schedule, the mirror is stale after twice the 36 milliseconds of refresh_after_hours.
          reconfigure(shop, ', schedule: "0 0 1 * *"', '');
          await waitFor(async () => {
            const { rows } = await sql`
              select from ops.runs having max(finished_at) < clock_timestamp() - interval '72 milliseconds'`.execute(
              db,
            );
            return rows.length === 1;
          });
        },
        async end() {
          reconfigure(shop, 'refresh_after_hours: 0.00001', 'refresh_after_hours: 20');
          expect(await run(shop, 'mirror')).toBe(0);
        },
      },
    ],
    { told, look: lookIn(shop.folder, { db, env }) },
  );
});

it('every problem of the environment opens and is resolved: a full disk, a wrong clock and a missing database privilege', async () => {
  const { db: admin, databaseUrl, folder } = await setup();
  const receiver = await startReceiver();
  writeFileSync(join(folder, 'codes.csv'), CODES);
  writeFileSync(
    join(folder, 'pipeline.yaml'),
    `database: {url: "\${DATABASE_URL:-}"}\nsources:\n  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}\njobs:\n  orders: {${JOB}}\n${NOTIFY}`,
  );
  const env = { DATABASE_URL: databaseUrl, NOTICE_URL: `${receiver.url}/ops`, NOTICE_SECRET: SECRET };
  const told = () => receiver.received.map(({ json }) => `${json.event} ${json.problem} ${json.job ?? '-'}`);
  // A superuser has every privilege, so use another role.
  const role = `drilled_${randomUUID().slice(0, 8)}`;
  const schemas = 'public, intake, ledger, mirror, ops, reporting, bi';
  await sql
    .raw(`create role ${role} login password 'x';
    grant all on schema ${schemas} to ${role};
    grant all on all tables in schema ${schemas} to ${role};
    grant all on all sequences in schema ${schemas} to ${role};
    grant execute on all functions in schema ${schemas} to ${role}`)
    .execute(admin);
  const url = Object.assign(new URL(databaseUrl), { username: role, password: 'x' }).href;
  const db = await connect({ url, embeddedFolder: '' });
  onTestFinished(async () => {
    const last = await connect({ url: databaseUrl, embeddedFolder: '' });
    await db.destroy();
    await sql.raw(`drop owned by ${role}; drop role ${role}`).execute(last);
    await last.destroy();
  });
  onTestFinished(() => void vi.useRealTimers());
  const dataFolder = join(folder, '.data');
  // File systems of the kernel have no free space, like a full disk. Mounting a small one would need
  // privileges that a test lacks.
  const full = existsSync('/proc') ? '/proc' : '/dev';
  await provokeEach(
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
        // The clock of a machine on which other tests run cannot be set, so fake the time in this process.
        provoke: () =>
          vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000, shouldAdvanceTime: false }),
        end: () => vi.useRealTimers(),
      },
      {
        problem: 'database',
        job: null,
        provoke: () => sql.raw(`revoke insert on intake.clicks from ${role}`).execute(admin),
        end: () => sql.raw(`grant insert on intake.clicks to ${role}`).execute(admin),
      },
    ],
    { told, look: lookIn(folder, { db, env }) },
  );
});

const TWO_SHOPS = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  other: {uri: ./others/, layout: generic, order_platform: other, time_zone: Europe/Amsterdam, expect: {freshness: {by: "00:00"}}}
jobs:
  orders: {${JOB}}
  others: {kind: attribute-orders, source: other, brand_id: 4819, codes: ./codes.csv, revenue: total}
`;

it('every problem of input and results opens and is resolved: a late file, unowned codes, refused orders and an unusual file', async () => {
  const { shop, receiver, told } = await openDrill({
    flow: TWO_SHOPS,
    notify: NOTIFY.replace('notify: {', 'notify: {unowned_codes_above: {EUR: 1}, '),
  });
  const { db, env } = shop;
  const withRefused = (owner: string) =>
    `${CODES}NOBODYS,4819,mia.test,DEALMIA,,,\nREFUSED,4819,${owner},,,\n`;
  const yesterday = new Date(Date.now() - DAY_MS);
  shop.drop('orders.csv', toCsv(manyRows(3)));
  utimesSync(join(shop.folder, 'exports', 'orders.csv'), yesterday, yesterday);
  expect(await run(shop, 'orders')).toBe(0);
  await provokeEach(
    [
      {
        problem: 'codes_unowned',
        job: 'orders',
        async provoke() {
          shop.drop('unowned.csv', toCsv([{ id: 'u1', code: 'NOBODYS' }]));
          expect(await run(shop, 'orders')).toBe(0);
        },
        async end() {
          shop.write('codes.csv', `${CODES}NOBODYS,4819,mia.test,DEALMIA,,,\n`);
          expect(await run(shop, 'orders')).toBe(0);
        },
      },
      {
        problem: 'claims_overdue',
        job: null,
        async provoke() {
          shop.write('claims.csv', 'creator,order_id\nmia.test,A1\n');
          expect((await shop.cli('claims', 'add', 'claims.csv', '--deadline', '2026-05-31')).exitCode).toBe(
            0,
          );
        },
        async end() {
          await shop.cli('claims', 'close', '1', '--as', 'withdrawn', '--reason', 'by the creator');
        },
      },
      {
        problem: 'bookings_held',
        job: null,
        async provoke() {
          const reference = `IS-${'0'.repeat(26)}`;
          shop.write(
            'bank.csv',
            `reference;amount;currency;day;type\n${reference};4.00;EUR;2026-07-01;paid\n`,
          );
          expect((await shop.cli('payments', 'read', 'bank.csv')).exitCode).toBe(3);
        },
        async end() {
          expect(receiver.received.at(-1)?.json.amounts).toEqual([{ amount: '4.00', currency: 'EUR' }]);
          await shop.cli('payments', 'dismiss', '1', '--reason', 'of another database');
        },
      },
      {
        problem: 'entries_refused',
        job: 'orders',
        async provoke() {
          await shop.sandbox.setFaults([
            { kind: 'error_before', operation: REFERRAL, status: 422, text: 'No such deal.' },
          ]);
          shop.write('codes.csv', withRefused('mia.test,DEALMIA'));
          shop.drop(
            'refused.csv',
            toCsv([
              { id: 'r1', code: 'REFUSED' },
              { id: 'r2', code: 'REFUSED', currency: 'USD' },
            ]),
          );
          expect(await run(shop, 'orders')).toBe(3);
        },
        async end() {
          expect(receiver.received.at(-1)?.json).toMatchObject({
            amounts: [
              { amount: '10.00', currency: 'EUR' },
              { amount: '10.00', currency: 'USD' },
            ],
            summary: expect.stringMatching(/^The service refused 2 orders of job orders\. /),
            link: 'https://ops.example.com/influencers/orders?disposition=rejected',
          });
          await shop.sandbox.setFaults(null);
          // Their code gets another owner, so that different requests are sent.
          shop.write('codes.csv', withRefused('zoe.test,DEALZOE'));
          expect(await run(shop, 'orders')).toBe(0);
        },
      },
      {
        problem: 'orders_held',
        job: 'orders',
        async provoke() {
          shop.drop('held.csv', toCsv([{ id: 'h1' }, { id: 'H1', revenue: '12.00' }]));
          expect(await run(shop, 'orders')).toBe(3);
        },
        async end() {
          expect(receiver.received.at(-1)?.json).toMatchObject({
            amounts: [{ amount: '12.00', currency: 'EUR' }],
            summary: expect.stringMatching(
              /^1 order of job orders names an influencer but is held, .*: similar id\./,
            ),
          });
          const decision = ['--held', '--exclude', '--reason', 'the same order', '--yes'];
          expect((await shop.cli('review', ...decision)).exitCode).toBe(0);
          expect(await run(shop, 'orders')).toBe(0);
        },
      },
      {
        problem: 'orders_restated',
        job: 'orders',
        async provoke() {
          shop.drop('euros.csv', toCsv([{ id: 'c1' }]));
          expect(await run(shop, 'orders')).toBe(0);
          shop.drop('dollars.csv', toCsv([{ id: 'c1', currency: 'USD' }]));
          expect(await run(shop, 'orders')).toBe(3);
        },
        async end() {
          expect(receiver.received.at(-1)?.json).toMatchObject({
            amounts: [{ amount: '10.00', currency: 'EUR' }],
            summary: expect.stringMatching(
              /^1 posted order of job orders is stated in another currency since,/,
            ),
            command: 'npx influencer-sync statement restated',
            link: 'https://ops.example.com/influencers/restated?source=shop',
          });
          shop.drop('euros-again.csv', toCsv([{ id: 'c1' }]));
          expect(await run(shop, 'orders')).toBe(0);
        },
      },
      {
        problem: 'files_unusual',
        job: 'orders',
        async provoke() {
          // The file of the day before had one column fewer.
          const [header = '', ...lines] = toCsv(manyRows(3, 'wide')).trimEnd().split('\n');
          shop.drop('wide.csv', [`${header},weight`, ...lines.map((line) => `${line},7`)].join('\n'));
          expect(await run(shop, 'orders')).toBe(0);
        },
        async end() {
          expect(receiver.received.at(-1)?.json).toMatchObject({
            summary:
              '1 check found something unusual in files of job orders: the columns. The files were not held.',
          });
          const listed = (await shop.cli('checks', '--json')).stdout.matchAll(/"finding_id":"(\d+)"/g);
          const ids = [...new Set([...listed].map(([, id = '']) => id))];
          expect((await shop.cli('checks', 'acknowledge', ...ids, '--reason', 'a campaign')).exitCode).toBe(
            0,
          );
        },
      },
    ],
    { told, look: lookIn(shop.folder, { db, env }) },
  );
  // The other source was late from the beginning.
  expect(told()[0]).toBe('opened files_late others');
  mkdirSync(join(shop.folder, 'others'));
  shop.write('others/today.csv', toCsv([{ id: 'other-1', revenue: '77.00' }]));
  for (let round = 0; round < 2; round += 1) expect(await run(shop, 'others')).toBe(0);
  expect(told().filter((line) => line.includes('files_late'))).toEqual([
    'opened files_late others',
    'resolved files_late others',
  ]);
});

it('a backfill that stops opens a problem with the amount it has not posted, until it is resumed and finishes or is cancelled', async () => {
  const { shop, receiver, told } = await openDrill({
    // The orders are older than what the runs of the jobs credit.
    flow: TWO_SHOPS.replaceAll('revenue: total', 'revenue: total, start_date: 2026-05-01'),
  });
  const { db, env, sandbox } = shop;
  const backfill = (...args: string[]) => shop.cli('backfill', ...args);
  shop.drop('orders.csv', toCsv([{ id: 'one', revenue: '12.50' }]));
  mkdirSync(join(shop.folder, 'others'));
  shop.write('others/orders.csv', toCsv([{ id: 'two' }]));
  expect(await run(shop, 'others')).toBe(0);
  const april = ['--from', '2026-04-01', '--to', '2026-04-30', '--yes'];
  const slowDown = (seconds: number) =>
    sandbox.setFaults([{ kind: '429', operation: REFERRAL, retry_after: seconds }]);
  await provokeEach(
    [
      {
        problem: 'backfill_stopped',
        job: 'orders',
        async provoke() {
          await slowDown(30);
          const process = shop.start('backfill', 'orders', ...april);
          await waitFor(async () => {
            const { rows } = await sql`select from ledger.entries where not_before is not null`.execute(db);
            return rows.length === 1;
          });
          // It waits, so nothing is in doubt.
          process.kill('SIGKILL');
          await process.ended;
          await letLeasesEnd(shop);
        },
        async end() {
          expect(receiver.received.at(-1)?.json).toMatchObject({
            severity: 'error',
            amounts: [{ amount: '12.50', currency: 'EUR' }],
            summary:
              'Backfill 1 of orders stopped before its end: its process died. 1 order of its plan is not posted yet. It does not continue by itself.',
            command: 'npx influencer-sync backfill resume 1',
            link: 'https://ops.example.com/influencers/backfills/1',
          });
          await sandbox.setFaults(null);
          await sql`update ledger.entries set not_before = null`.execute(db);
          expect((await backfill('resume', '1', '--yes')).exitCode).toBe(0);
          expect(await shop.posted()).toEqual(['one']);
        },
      },
      {
        problem: 'backfill_stopped',
        job: 'others',
        async provoke() {
          await slowDown(3_600);
          expect((await backfill('others', ...april)).exitCode).toBe(1);
          // The command itself tells, and that it fails once more is no news.
          expect(told().at(-1)).toBe('opened backfill_stopped others');
          const { INFLUENCER_API_KEY: key = '' } = shop.env;
          shop.env.INFLUENCER_API_KEY = 'another-key';
          expect((await backfill('resume', '2', '--yes')).exitCode).toBe(4);
          shop.env.INFLUENCER_API_KEY = key;
        },
        async end() {
          expect(receiver.received.at(-1)?.json.summary).toMatch(
            /before its end: the service asks to wait for 60 minutes\. 1 order of its plan/,
          );
          expect((await backfill('cancel')).exitCode).toBe(0);
        },
      },
    ],
    { told, look: lookIn(shop.folder, { db, env }) },
  );
});

it('events that are signed in another way than described, or name no order, open a problem that proposes the settings', async () => {
  const { shop, told, receiver } = await openDrill({ flow: 'sources: {}\njobs: {}\n' });
  const { db, env } = shop;
  const events = await openReceiver(db);
  const signedOtherwise = (body: string) => ({
    'x-service-signature': '',
    'x-acme-signature': `sha256=${sign(`1790000000.${body}`, SIGNING_SECRET, 'base64')}`,
    'x-acme-timestamp': '1790000000',
  });
  await provokeEach(
    [
      {
        problem: 'events_unread',
        job: null,
        async provoke() {
          const body = orderEvent('1');
          expect(await deliver(events.url, body, signedOtherwise(body))).toBe(401);
          expect(await deliver(events.url, orderEvent('2'), { 'x-service-signature': 'forged' })).toBe(401);
        },
        async end() {
          const summary = String(receiver.received.at(-1)?.json.summary);
          for (const [name, value] of Object.entries({
            signed: '{timestamp}.{body}',
            signature: 'sha256={signature}',
            encoding: 'base64',
            signature_header: 'x-acme-signature',
            timestamp_header: 'x-acme-timestamp',
          }))
            expect(summary).toContain(`"${name}": "${value}"`);
          expect(await deliver(events.url, orderEvent('1'))).toBe(200);
        },
      },
    ],
    { told, look: lookIn(shop.folder, { db, env }) },
  );
  // An order without an id is one, too, until an order is read.
  expect(await deliver(`${events.url}/new_influencer_order`, '{"order":{"id":"7"}}')).toBe(200);
  expect(await listUnreadEvents(db)).toMatchObject([{ what: 'payload', events: 1, proposal: null }]);
  expect(await deliver(events.url, orderEvent('3'))).toBe(200);
  expect(await listUnreadEvents(db)).toEqual([]);
});

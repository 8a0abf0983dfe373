import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { countStates, manyRows, openWorkshop, repeated, toCsv } from '../runs/workshop.ts';
import { answersQueries } from '../support/answers-queries.ts';
import { findPooler, startPooler } from '../support/pooler.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

const POOLER = findPooler();

/** Half an hour away from any slot, so that none is due while the test runs. */
const MINUTE = (new Date().getUTCMinutes() + 30) % 60;

const FLOW = `
serve: {port: 0, grace_seconds: 20}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, schedule: "${MINUTE} * * * *", catch_up: all, overlap: queue}
`;

const SKIPPED = 'SKIPPED, there is no pgbouncer here (install it, or set PGBOUNCER)';

const strict =
  "a pgbouncer of the tests can read its settings where files are their owner's alone (umask 077)";

it.skipIf(POOLER === null)(POOLER === null ? `${strict}: ${SKIPPED}` : strict, async () => {
  const { databaseUrl } = await setup();
  const before = process.umask(0o077);
  onTestFinished(() => void process.umask(before));
  expect(await answersQueries(await startPooler(POOLER ?? '', databaseUrl))).toBe(true);
});

const settings =
  'behind a pgbouncer, settings of the database that change what times mean are refused with the statements that correct them';

it.skipIf(POOLER === null)(POOLER === null ? `${settings}: ${SKIPPED}` : settings, async () => {
  const shop = await openWorkshop();
  const name = sql.id(new URL(shop.databaseUrl).pathname.slice(1));
  for (const [setting, value] of [
    ['DateStyle', 'German'],
    ['TimeZone', 'Asia/Kathmandu'],
  ])
    await sql`alter database ${name} set ${sql.raw(String(setting))} = ${sql.lit(value)}`.execute(shop.db);
  shop.env.DATABASE_URL = await startPooler(POOLER ?? '', shop.databaseUrl);
  shop.drop('orders.csv', toCsv(manyRows(3)));
  const refused = await shop.cli('run', 'orders');
  expect([refused.exitCode, await shop.posted()]).toEqual([2, []]);
  const statements = refused.stderr.replace(/\s+/g, ' ').match(/alter role .*?;/g) ?? [];
  expect(statements.map((statement) => / set (\w+) /.exec(statement)?.[1])).toEqual([
    'DateStyle',
    'TimeZone',
  ]);
  for (const statement of statements) await sql.raw(statement).execute(shop.db);
  // A pooler that runs keeps the settings that it found.
  shop.env.DATABASE_URL = await startPooler(POOLER ?? '', shop.databaseUrl);
  expect((await shop.cli('run', 'orders')).exitCode).toBe(0);
  expect(await shop.posted()).toHaveLength(3);
});

const title = 'behind a pgbouncer in transaction mode two processes run each slot once, one of them killed';

it.skipIf(POOLER === null)(POOLER === null ? `${title}: ${SKIPPED}` : title, async () => {
  const shop = await openWorkshop({
    flow: FLOW,
    // Long enough for a busy machine to renew it in time.
    api: 'lease_seconds: 6\ntimeout_seconds: 2',
    sandbox: { latencyMs: 20 },
  });
  shop.env.DATABASE_URL = await startPooler(POOLER ?? '', shop.databaseUrl);
  shop.drop('orders.csv', toCsv(manyRows(100)));
  await sql`
      insert into ops.schedules (job, looked_until)
      values ('orders', clock_timestamp() - interval '4 hours')`.execute(shop.db);
  const processes = [shop.start('serve', '--json'), shop.start('serve', '--json')];
  await waitFor(async () => (await shop.posted()).length >= 10);
  const { pid } = await shop.db
    .selectFrom('ops.leases')
    .select('pid')
    .where('name', '=', 'job:orders')
    .executeTakeFirstOrThrow();
  const [doomed, other] = processes[0]?.pid === pid ? processes : [...processes].reverse();
  doomed?.kill('SIGKILL');
  const slots = () =>
    shop.db.selectFrom('ops.slots').select(['state', 'attempts', 'run_id']).orderBy('slot').execute();
  await waitFor(
    async () => (await slots()).length === 4 && (await slots()).every(({ state }) => state === 'done'),
    { timeoutMs: 90_000 },
  );
  expect((await slots()).map(({ attempts }) => attempts)).toEqual([2, 1, 1, 1]);
  const ended = await shop.db
    .selectFrom('ops.runs')
    .select('run_id')
    .where('status', 'in', ['ok', 'issues'])
    .execute();
  expect(ended).toHaveLength((await slots()).length);
  expect(repeated(await shop.posted())).toEqual([]);
  const { accepted = 0, in_doubt: doubts = 0, ...others } = await countStates(shop.db);
  expect(others).toEqual({});
  expect(accepted + doubts).toBe(100);
  expect(doubts).toBeLessThanOrEqual(6);
  other?.kill('SIGTERM');
  expect((await other?.ended)?.exitCode).toBe(0);
});

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { readEvents } from '../support/run-cli.ts';

/** Settings that a server, a database or a role may have, several at a time. */
const SETTINGS: Readonly<Record<string, string>>[] = [
  {},
  {
    DateStyle: 'German',
    IntervalStyle: 'iso_8601',
    TimeZone: 'Asia/Kathmandu',
    search_path: 'elsewhere',
    extra_float_digits: '0',
    bytea_output: 'escape',
    join_collapse_limit: '1',
  },
  {
    DateStyle: 'SQL, DMY',
    IntervalStyle: 'postgres_verbose',
    TimeZone: 'America/St_Johns',
    search_path: '',
    extra_float_digits: '-15',
    standard_conforming_strings: 'off',
    from_collapse_limit: '1',
    geqo: 'off',
  },
  {
    DateStyle: 'Postgres, MDY',
    IntervalStyle: 'sql_standard',
    TimeZone: 'Pacific/Kiritimati',
    transform_null_equals: 'on',
    array_nulls: 'off',
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
  },
  {
    DateStyle: 'ISO, DMY',
    quote_all_identifiers: 'on',
    default_transaction_isolation: 'serializable',
    statement_timeout: '60s',
    lock_timeout: '1s',
    idle_in_transaction_session_timeout: '1s',
    synchronous_commit: 'off',
    enable_indexscan: 'off',
    enable_mergejoin: 'off',
  },
  {
    plan_cache_mode: 'force_generic_plan',
    jit: 'on',
    jit_above_cost: '0',
    work_mem: '64kB',
    temp_buffers: '800kB',
    client_min_messages: 'debug1',
    default_transaction_deferrable: 'on',
    escape_string_warning: 'off',
    xmlbinary: 'hex',
    enable_bitmapscan: 'off',
    enable_nestloop: 'off',
  },
];

it('a run, its doubts and the status are the same under any settings of the server, database or role', async () => {
  expect(new Set(SETTINGS.flatMap((one) => Object.keys(one))).size).toBeGreaterThan(30);
  const shop = await openWorkshop();
  const name = sql.id(new URL(shop.databaseUrl).pathname.slice(1));
  const seen: unknown[] = [];
  for (const [index, settings] of SETTINGS.entries()) {
    await sql`alter database ${name} reset all`.execute(shop.db);
    for (const [setting, value] of Object.entries(settings))
      await sql`alter database ${name} set ${sql.raw(setting)} = ${sql.lit(value)}`.execute(shop.db);
    await shop.sandbox.setFaults([{ kind: 'error_before', operation: 'new_influencer_referral', count: 1 }]);
    shop.drop(
      `${index}.csv`,
      toCsv([
        { id: `a${index}`, revenue: '10.10' },
        { id: `b${index}`, revenue: '0.07' },
      ]),
    );
    const run = await shop.run();
    await shop.sandbox.setFaults(null);
    const review = await shop.cli('review', '--json');
    const status = await shop.cli('status', '--json');
    const doubts = readEvents(review).filter(({ event }) => event === 'doubt');
    const times = doubts.map(({ since }) => Date.now() - Date.parse(String(since)));
    seen.push({
      codes: [run.exitCode, review.exitCode, status.exitCode],
      stderr: [run.stderr, review.stderr, status.stderr].join('').includes('bug'),
      orders: (run.finished?.counts.orders ?? 0) - 2 * index,
      doubts: doubts.length - index,
      areRecent: times.every((ms) => ms >= 0 && ms < 600_000),
      amounts: doubts
        .map(({ amount }) => String(amount))
        .filter((amount) => !/^(10\.10|0\.07)0*$/.test(amount)),
    });
  }
  expect(seen).toEqual(SETTINGS.map(() => seen[0]));
  expect(seen[0]).toMatchObject({
    codes: [6, 6, 0],
    stderr: false,
    orders: 2,
    doubts: 1,
    areRecent: true,
    amounts: [],
  });
});

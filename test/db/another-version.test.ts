import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { keepSchedule } from '../../src/cli/run/keep-schedule.ts';
import { migrate, pendingMigrations } from '../../src/db/migrate.ts';
import { setup } from '../support/setup.ts';

it('a database with an unknown migration is reported as one of another version and left unchanged', async () => {
  const { db } = await setup();
  await sql`insert into influencer_sync_migrations values ('0999_not_released', now()::text)`.execute(db);
  for (const look of [pendingMigrations, migrate]) {
    const error: unknown = await look(db).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      details: {
        code: 'database_of_another_version',
        exitCode: 2,
        message: expect.stringContaining('0999_not_released'),
      },
    });
    expect(JSON.stringify(error)).not.toContain('GRANT CREATE');
  }
});

it('a database that lacks a migration before its latest one is reported and left unchanged as well', async () => {
  const { db } = await setup();
  await sql`delete from influencer_sync_migrations where name = '0002_webhooks'`.execute(db);
  for (const look of [pendingMigrations, migrate])
    await expect(look(db)).rejects.toMatchObject({
      details: { code: 'database_of_another_version', message: expect.stringContaining('0002_webhooks') },
    });
  // Nothing was dropped before the check failed.
  await sql`select from bi.runs`.execute(db);
});

it('a migration that fails leaves all views of bi, and the version that was there before still works', async () => {
  const { db } = await setup();
  const views = async () =>
    (
      await sql<{ view: string }>`
        select v.schemaname || '.' || v.viewname || ' ' || v.definition as view, obj_description(to_regclass('bi.' || v.viewname)) as comment
        from pg_views v where v.schemaname = 'bi' order by 1`.execute(db)
    ).rows;
  const before = await views();
  expect(before.length).toBeGreaterThan(29);
  // What the migration makes exists, so that it fails.
  const { rows: later } = await sql<{ name: string; timestamp: string }>`
    delete from influencer_sync_migrations returning name, timestamp`.execute(db);
  await expect(migrate(db)).rejects.toMatchObject({
    details: {
      code: 'migration_failed',
      exitCode: 1,
      message: expect.stringContaining('0095_baseline'),
      safe: expect.stringContaining('Nothing was changed'),
    },
  });
  expect(await views()).toEqual(before);
  for (const { name, timestamp } of later)
    await sql`insert into influencer_sync_migrations values (${name}, ${timestamp})`.execute(db);
  // As the earlier version sees it: it has all that it needs.
  expect(await pendingMigrations(db)).toEqual([]);
  expect((await sql`select * from bi.orders`.execute(db)).rows).toEqual([]);
});

it('a process that serves from such a database does nothing, and readyz gives the reason', async () => {
  const { db } = await setup();
  await sql`insert into influencer_sync_migrations values ('0999_not_released', now()::text)`.execute(db);
  const looked: unknown[] = [];
  const trouble: unknown[] = [];
  const schedule = keepSchedule({
    db,
    scheduler: {
      look: async () => void looked.push('look'),
      atWork: () => [],
      stop() {},
      ended: async () => {},
    },
    draining: new AbortController().signal,
    findLedgerProblem: async () => null,
    onTrouble: (error) => trouble.push(error),
    onRecovered: () => {},
  });
  await schedule.poll();
  await schedule.poll();
  expect(looked).toEqual([]);
  expect(trouble).toHaveLength(1);
  expect(schedule.readiness()).toMatchObject({
    ready: false,
    checks: { database: { ok: false, code: 'database_of_another_version' }, migrations: { ok: false } },
  });
});

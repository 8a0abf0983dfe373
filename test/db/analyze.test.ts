import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { analyzeGrown } from '../../src/db/analyze.ts';
import { connect, type Database } from '../../src/db/connect.ts';
import { createRoles } from '../../src/db/create-roles.ts';
import { setup, setupEmbedded } from '../support/setup.ts';

async function fill(db: Database, rows: number): Promise<void> {
  await sql`insert into intake.code_lists (job, content_hash) select gen_random_uuid()::text, 'h' from generate_series(1, ${rows}::integer)`.execute(
    db,
  );
}

/** Returns the row count of the table that the server assumes. */
async function believed(db: Database): Promise<number> {
  const { rows } = await sql<{ rows: number }>`
    select reltuples as rows from pg_class where oid = 'intake.code_lists'::regclass`.execute(db);
  return Number(rows[0]?.rows);
}

async function expectAnalysed(db: Database): Promise<void> {
  await fill(db, 2_000);
  await analyzeGrown(db, ['intake.code_lists']);
  expect(await believed(db)).toBe(2_000);
  await fill(db, 100);
  await analyzeGrown(db, ['intake.code_lists']);
  expect(await believed(db), 'a small run').toBe(2_000);
  await fill(db, 10_000);
  await analyzeGrown(db, ['intake.code_lists']);
  expect(await believed(db)).toBe(12_100);
}

describe('after a phase the statistics of the server are updated', () => {
  test('if a table has grown by more than a tenth', async () => {
    const { db } = await setup();
    await expectAnalysed(db);
  });

  test('in the embedded database, which has no autovacuum', async () => {
    const db = await setupEmbedded();
    await expectAnalysed(db);
  });

  test('if a vacuum after a rolled-back load has left wrong statistics', async () => {
    const { db } = await setup();
    await fill(db, 2_000);
    await sql`update pg_class set reltuples = 0, relpages = 10000 where oid = 'intake.code_lists'::regclass`.execute(
      db,
    );
    await analyzeGrown(db, ['intake.code_lists']);
    expect(await believed(db)).toBe(2_000);
  });

  test('if the role that runs jobs does not own the tables', async () => {
    const { db, databaseUrl } = await setup();
    await createRoles(db);
    const url = new URL(databaseUrl);
    const app = await connect({ url: url.href, embeddedFolder: '', maxConnections: 1 });
    try {
      await sql`set role influencer_sync_app`.execute(app);
      await fill(app, 2_000);
      await analyzeGrown(app, ['intake.code_lists']);
      expect(await believed(db)).toBe(2_000);
      await expect(sql`select ops.analyze_table('pg_authid')`.execute(app)).rejects.toThrow(
        'is not one of our tables',
      );
      await sql`set role bi_reader`.execute(app);
      await expect(sql`select ops.analyze_table('intake.code_lists')`.execute(app)).rejects.toThrow(
        'permission denied',
      );
    } finally {
      await app.destroy();
    }
  });

  test('without waiting for another process that locks the same table', async () => {
    const { db } = await setup();
    await fill(db, 2_000);
    await db.transaction().execute(async (trx) => {
      await sql`lock table intake.code_lists in share update exclusive mode`.execute(trx);
      await analyzeGrown(db, ['intake.code_lists']);
    });
    expect(await believed(db)).not.toBe(2_000);
  });

  test('but not within a plan, whose rows are rolled back while its statistics would stay', async () => {
    const { db } = await setup();
    const before = await believed(db);
    const trx = await db.startTransaction().execute();
    await fill(trx, 2_000);
    await analyzeGrown(trx, ['intake.code_lists']);
    await trx.rollback().execute();
    expect(await believed(db)).toBe(before);
  });
});

import { sql } from 'kysely';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { KEEPS_PLAN, keepsPlan } from '../../src/db/keeps-plan.ts';
import type { WireClient } from '../../src/db/server/cancel-request.ts';
import { preparingExecutor } from '../../src/db/server/prepared-statements.ts';
import { setup } from '../support/setup.ts';

/** Looks up a row of a table that the test makes. */
async function look(db: Database): Promise<number> {
  const { rows } = await sql`select n from public.numbers where n = ${1}::integer ${keepsPlan}`.execute(db);
  return rows.length;
}

async function makeNumbers(db: Database): Promise<void> {
  await sql`create table public.numbers (n integer primary key) with (autovacuum_enabled = false)`.execute(
    db,
  );
  await sql`insert into public.numbers select generate_series(1, 10)`.execute(db);
  await sql`analyze public.numbers`.execute(db);
}

async function planOf(db: Database): Promise<string> {
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain execute kept1(1)`.execute(db);
  return rows[0]?.['QUERY PLAN'] ?? '';
}

it('a statement that keeps its plan is prepared once, and planned again after a table has grown', async () => {
  const { db } = await setup();
  await makeNumbers(db);
  await db.connection().execute(async (session) => {
    for (let times = 0; times < 20; times += 1) await look(session);
    const { rows } = await sql`select name from pg_prepared_statements where name like 'kept%'`.execute(
      session,
    );
    expect(rows).toEqual([{ name: 'kept1' }]);
    expect(await planOf(session)).toMatch(/^Seq Scan/);
    await sql`insert into public.numbers select generate_series(11, 100000)`.execute(session);
    expect(await planOf(session)).toMatch(/^Seq Scan/);
    for (let times = 0; times < 64; times += 1) await look(session);
    expect(await planOf(session)).toMatch(/^Index/);
  });
});

it('a statement is executed even if its session has lost what was prepared', async () => {
  const { db } = await setup();
  await makeNumbers(db);
  await db.connection().execute(async (session) => {
    await look(session);
    await sql`deallocate all`.execute(session);
    expect(await look(session)).toBe(1);
    expect(await look(session)).toBe(1);
  });
});

it('behind a pooler nothing is prepared', async () => {
  const { databaseUrl } = await setup();
  const client = new pg.Client(databaseUrl);
  await client.connect();
  onTestFinished(() => client.end());
  const prepared = `select name from pg_prepared_statements ${KEEPS_PLAN}`;
  const behind = preparingExecutor(client as unknown as WireClient, { ownsSession: false });
  expect((await behind(prepared, [])).rows).toEqual([]);
  const direct = preparingExecutor(client as unknown as WireClient, { ownsSession: true });
  expect((await direct(prepared, [])).rows).toEqual([{ name: 'kept1' }]);
});

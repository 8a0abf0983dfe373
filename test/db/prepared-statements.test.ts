import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { KEEPS_PLAN, keepsPlan } from '../../src/db/keeps-plan.ts';
import type { WireClient } from '../../src/db/server/cancel-request.ts';
import { explainFailure } from '../../src/db/server/explain-failure.ts';
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

/** Changes the type of a column, as a migration does in another process. */
async function widenNumbers(db: Database): Promise<void> {
  await sql`alter table public.numbers alter column n type bigint`.execute(db);
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

it('a statement is executed even if a migration has changed its result, and is prepared again', async () => {
  const { db } = await setup();
  await makeNumbers(db);
  await db.connection().execute(async (session) => {
    await look(session);
    await widenNumbers(db);
    expect(await look(session)).toBe(1);
    expect(await look(session)).toBe(1);
    const { rows } = await sql`select name from pg_prepared_statements where name = 'kept2'`.execute(session);
    expect(rows).toHaveLength(1);
  });
});

describe('within a transaction', () => {
  it('the error of a session that has lost its statements is not hidden, and the repeated transaction succeeds', async () => {
    const { db } = await setup();
    await makeNumbers(db);
    await db.connection().execute(async (session) => {
      await look(session);
      const lost = await session
        .transaction()
        .execute(async (trx) => {
          await sql`deallocate all`.execute(trx);
          return look(trx);
        })
        .catch((error: unknown) => error);
      expect(lost).toMatchObject({ code: '26000' });
      expect(explainFailure(lost)?.details).toMatchObject({ code: 'session_exchanged' });
      expect(await session.transaction().execute(look)).toBe(1);
    });
  });

  it('the error of a statement whose result a migration has changed is not hidden, and the repeated transaction succeeds', async () => {
    const { db } = await setup();
    await makeNumbers(db);
    await db.connection().execute(async (session) => {
      await look(session);
      await widenNumbers(db);
      const changed = await session
        .transaction()
        .execute(look)
        .catch((error: unknown) => error);
      expect(changed).toMatchObject({ code: '0A000' });
      expect(explainFailure(changed)?.details).toMatchObject({ code: 'table_changed' });
      expect(await session.transaction().execute(look)).toBe(1);
    });
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

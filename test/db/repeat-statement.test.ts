import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { setup } from '../support/setup.ts';

/** Creates a function that the server rolls back a number of times, as it does in favour of another statement. */
async function createUndone(db: Database, times: number, state = '40001'): Promise<void> {
  await sql.raw('create sequence public.calls').execute(db);
  await sql
    .raw(`create function public.call() returns bigint language plpgsql as $$
      declare
        n bigint := nextval('public.calls');
      begin
        if n <= ${times} then raise exception 'undone' using errcode = '${state}'; end if;
        return n;
      end $$`)
    .execute(db);
}

const call = sql<{ n: string }>`select public.call() as n`;

async function callsOf(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ n: string }>`select last_value as n from public.calls`.execute(db);
  return rows[0]?.n;
}

it('a statement that the server rolled back in favour of another one is repeated until it succeeds', async () => {
  const { db } = await setup();
  await createUndone(db, 3);
  expect((await call.execute(db)).rows).toEqual([{ n: '4' }]);
});

it('it is repeated seven times at most, in a transaction never, and after no other error', async () => {
  const { db } = await setup();
  await createUndone(db, 100, '40P01');
  await expect(inTransaction(db, (trx) => call.execute(trx))).rejects.toThrow('undone');
  expect(await callsOf(db)).toBe('1');
  await expect(call.execute(db)).rejects.toThrow('undone');
  expect(await callsOf(db)).toBe('9');
  await sql.raw('drop function public.call; drop sequence public.calls').execute(db);
  await createUndone(db, 100, '22012');
  await expect(call.execute(db)).rejects.toThrow('undone');
  expect(await callsOf(db)).toBe('1');
});

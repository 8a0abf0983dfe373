import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { KEEPS_PLAN } from '../../../src/db/keeps-plan.ts';
import { type EndedStatement, inPhase } from '../../../src/db/phase.ts';
import { rowsRead } from '../../support/rows-read.ts';
import { setup } from '../../support/setup.ts';
import { continuation, openShop, order, rejection, type Shop, useDatabase } from '../story.ts';

const database = useDatabase('a Postgres server');

/** The statements that a file takes, from its begin to its seal, with the limits of transactions. */
async function textsOf(shop: Shop, ...given: Parameters<Shop['read']>): Promise<readonly string[]> {
  const texts: string[] = [];
  const onStatement = ({ text }: EndedStatement): void => void texts.push(text);
  const sealed = await inPhase({ onStatement }, () => shop.read(...given));
  expect(sealed.kind).toBe('sealed');
  return texts;
}

async function statementsOf(shop: Shop, ...given: Parameters<Shop['read']>): Promise<number> {
  return (await textsOf(shop, ...given)).length;
}

// A source may have thousands of such files, and each statement takes as long as reading a hundred orders.
it('a small file of new orders takes 7 statements, and a few more if something has to be settled', async () => {
  const shop = await openShop(database());
  const orders = [order('1'), order('2'), order('3')];
  const column = { orderIdColumn: { name: 'Id', isFallback: false } };
  expect(await statementsOf(shop, { orders }, column)).toBe(7);
  // Known orders and rows of other orders have to be settled, and what was noted about them is deleted.
  expect(await statementsOf(shop, { orders }, column)).toBe(9);
  const later = { orders: [order('4')], continuations: [continuation('4')] };
  expect(await statementsOf(shop, later, column)).toBe(11);
});

// A commit waits for the disk.
it('a small file is staged and sealed by one commit, after the one that begins it', async () => {
  const shop = await openShop(database());
  const texts = await textsOf(shop, { orders: [order('1')], rejected: [rejection()] });
  const [begun, ...rest] = texts;
  expect(begun).toContain('insert into intake.source_files');
  expect(rest.at(0)).toMatch(/^begin/);
  expect(rest.filter((text) => text === 'commit')).toHaveLength(1);
  expect(rest.at(-1)).toBe('commit');
});

it('a small file whose sealing fails leaves no rows, and is read again', async () => {
  const shop = await openShop(database());
  const orders = [order('1')];
  const uri = 'file:///again.csv';
  // Postgres refuses the NUL when the rows are already staged.
  const broken = { name: 'I\0d', isFallback: false };
  await expect(shop.read({ orders }, { uri, orderIdColumn: broken })).rejects.toThrow();
  const { rows } = await sql<{ state: string; orders: string }>`
    select state, (select count(*) from intake.orders where source = ${shop.source}) as orders
    from intake.source_files where source = ${shop.source}`.execute(shop.db);
  expect(rows).toEqual([{ state: 'reading', orders: '0' }]);
  expect(await shop.read({ orders }, { uri })).toMatchObject({ kind: 'sealed', ordersNew: 1 });
});

// Planning such a statement takes longer than executing it for a few rows.
it('a small file is staged, counted and sealed by prepared statements, a larger one by statements that are planned', async () => {
  const shop = await openShop(database());
  const prepared = async (from: number, count: number): Promise<readonly string[]> => {
    const orders = Array.from({ length: count }, (_, index) => order(String(from + index)));
    const texts = await textsOf(shop, { orders });
    return texts.filter((text) => text.endsWith(KEEPS_PLAN));
  };
  const few = await prepared(1, 3);
  expect(few).toEqual(await prepared(4, 5));
  expect(few).toHaveLength(5);
  const many = await prepared(101, 200);
  expect(few.filter((text) => !many.includes(text))).toEqual([
    expect.stringContaining('insert into intake.orders'),
    expect.stringContaining('from staged'),
  ]);
});

// After five executions, Postgres keeps a plan unless plans for the parameters of one execution seem cheaper.
it('the statements of small files keep their plans', async () => {
  const { db } = await setup();
  const shop = await openShop(db);
  for (let from = 0; from < 30; from += 3)
    await shop.read({ orders: [order(`${from}`), order(`${from + 1}`), order(`${from + 2}`)] });
  const plans = await db
    .connection()
    .execute((session) =>
      sql<{ generic: number }>`select generic_plans::int as generic from pg_prepared_statements`.execute(
        session,
      ),
    );
  expect(plans.rows.map(({ generic }) => generic)).toEqual([5, 5, 5, 5, 5]);
});

// A prefix that a shop has filled for years has a million files. Looking through them took 0.2 s for each new file.
it('reading a file does not look through the files that are known', async () => {
  // A database of its own, because a session keeps plans that were made while a table was small.
  const { db: empty } = await setup();
  const { of } = await rowsRead(empty, async (db) => {
    const shop = await openShop(db);
    await sql`
      insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, sealed_at, order_id_column, run_id)
      select ${shop.source}, 'old/' || n, 'v', 1, 'l', 'h', 'sealed', now(), 'Id', ${shop.runId}::bigint from generate_series(1, 5000) n`.execute(
      db,
    );
    await sql`analyze intake.source_files`.execute(db);
    const orderIdColumn = { name: 'Id', isFallback: false };
    // Postgres plans a prepared statement without its parameters from the sixth time on.
    for (let file = 1; file <= 10; file += 1)
      await shop.read({ orders: [order(String(file))] }, { orderIdColumn });
  });
  expect(of('intake.source_files')).toBeLessThan(5_000);
});

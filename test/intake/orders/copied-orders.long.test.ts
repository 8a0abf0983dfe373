import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { StagedOrder } from '../../../src/core/order.ts';
import type { Database } from '../../../src/db/connect.ts';
import { copyInto, TextRows, toCopyCell } from '../../../src/db/copy-rows.ts';
import { inPhase } from '../../../src/db/phase.ts';
import { stageBatch } from '../../../src/intake/orders/create-stager.ts';
import { setupEmbedded } from '../../support/setup.ts';
import { ENGINES, open, openShop, order, type Shop, toBatch, useDatabase } from '../story.ts';

const [SERVER] = ENGINES;
/** Enough orders for COPY. */
const COUNT = 600;

/** Texts with a meaning in the text format of COPY, in arrays or in JSON. */
const ODD_TEXTS = [
  '\\N',
  '\\.',
  '\\',
  'a\\tb',
  'a\tb',
  'a\nb',
  'a\r\nb',
  '',
  ' ',
  'null',
  '{}',
  '{a,b}',
  '"',
  "'",
  'é😀',
  'a\0b',
  'a\ud800b',
];

describe('a large batch of new orders', () => {
  const database = useDatabase(SERVER);

  test('is copied, and stored as single orders are, whatever its texts contain', async () => {
    const orders = Array.from({ length: COUNT }, (_, at) => oddOrder(`c${at}`, at));
    const copied = await stage(database(), orders);
    expect(copied.statements.some((text) => text.trim().startsWith('copy intake.orders'))).toBe(true);
    expect(copied.counts).toEqual({ new: COUNT, changed: 0, unchanged: 0, repeated: 0 });

    const single = await database()
      .transaction()
      .execute(async (trx) => {
        const { shop } = await stage(trx, orders);
        return rowsOf(trx, shop);
      });
    expect(single).toHaveLength(COUNT);
    expect(await rowsOf(database(), copied.shop)).toEqual(single);
  });

  test('is not copied if an order between its least and its greatest id is known, which is then a changed one', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('c300', { total: '1.00' })] });
    const orders = Array.from({ length: COUNT }, (_, at) => order(`c${at}`));
    const { counts, statements } = await stage(database(), orders, shop);
    expect(statements.filter((text) => text.trim().startsWith('copy'))).toEqual([]);
    expect(counts).toEqual({ new: COUNT - 1, changed: 1, unchanged: 0, repeated: 0 });
  });

  test('is merged into the orders that the file has stated before', async () => {
    const shop = await openShop(database());
    const read = { sourceFileId: await open({ ...shop, reader: READER }), reader: READER };
    const orders = Array.from({ length: COUNT }, (_, at) => order(`c${at}`));
    const options = { ...read, ...shop, batch: toBatch({ orders }), sums: false };
    expect(await stageBatch(shop.db, options)).toMatchObject({ new: COUNT });
    expect(await stageBatch(shop.db, options)).toMatchObject({ new: 0, repeated: COUNT });
  });

  test('of a reader that has lost the file is not stored', async () => {
    const shop = await openShop(database());
    const uri = 'file:///orders.csv';
    const lost = { sourceFileId: await open({ ...shop, uri, reader: READER }), reader: READER };
    await open({ ...shop, uri, reader: randomUUID() });
    const batch = toBatch({ orders: Array.from({ length: COUNT }, (_, at) => order(`c${at}`)) });
    expect(await stageBatch(shop.db, { ...lost, ...shop, batch, sums: false })).toBeNull();
    expect(await rowsOf(shop.db, shop)).toEqual([]);
  });

  test('that the database refuses is not stored at all, and the connection stays usable', async () => {
    const shop = await openShop(database());
    const orders = Array.from({ length: COUNT }, (_, at) => order(`c${at}`));
    const bad = [...orders, order('c-bad', { currency: 'euro' })];
    await expect(stage(database(), bad, shop)).rejects.toMatchObject({ code: '23514' });
    expect(await rowsOf(shop.db, shop)).toEqual([]);
    expect((await stage(database(), orders, shop)).counts).toMatchObject({ new: COUNT });
  });
});

describe('orders of a large file', () => {
  const database = useDatabase(SERVER);

  test('are copied beside those that are known with the same content, which are not sent again', async () => {
    const shop = await openShop(database());
    const orders = Array.from({ length: COUNT }, (_, at) => oddOrder(`c${at}`, at));
    await shop.read({ orders: orders.filter((_, at) => at % 2 === 0) });
    const { counts, statements } = await stage(database(), orders, shop);
    expect(statements.filter((text) => text.trim().startsWith('copy'))).toHaveLength(1);
    expect(counts).toEqual({ new: COUNT / 2, changed: 0, unchanged: COUNT / 2, repeated: 0 });
    expect(await rowsOf(database(), shop)).toHaveLength(COUNT);
  });

  test('are stored as single orders are if one of them is known, whatever their texts contain', async () => {
    const orders = Array.from({ length: COUNT }, (_, at) => oddOrder(`c${at}`, at));
    const known = { orders: [order('c300', { total: '1.00' })] };
    const shop = await openShop(database());
    await shop.read(known);
    const { counts, statements } = await stage(database(), orders, shop);
    expect(statements.filter((text) => text.trim().startsWith('copy'))).toEqual([]);
    expect(counts).toEqual({ new: COUNT - 1, changed: 1, unchanged: 0, repeated: 0 });

    const single = await database()
      .transaction()
      .execute(async (trx) => {
        const other = await openShop(trx);
        await other.read(known);
        await stage(trx, orders, other);
        return rowsOf(trx, other);
      });
    expect(single).toHaveLength(COUNT + 1);
    expect(await rowsOf(database(), shop)).toEqual(single);
  });

  test('are merged if the file states one of them twice', async () => {
    const shop = await openShop(database());
    const orders = Array.from({ length: COUNT }, (_, at) => order(`c${at}`));
    const { counts, statements } = await stage(database(), [...orders, order('c7')], shop);
    expect(statements.filter((text) => text.trim().startsWith('copy'))).toHaveLength(1);
    expect(counts).toEqual({ new: COUNT, changed: 0, unchanged: 0, repeated: 1 });
  });

  test('get the number of the current key of customers', async () => {
    const shop = await openShop(database());
    const orders = Array.from({ length: COUNT }, (_, at) =>
      order(`c${at}`, { customerKey: `${at}`.padStart(32, '0') as StagedOrder['customerKey'] }),
    );
    const numbers = () =>
      sql<{
        keyNo: number;
      }>`select distinct customer_key_no as "keyNo" from intake.orders where source = ${shop.source}`.execute(
        database(),
      );
    try {
      await sql`insert into intake.customer_key (fingerprint, key_no) values ('test', 2)`.execute(database());
      const { statements } = await stage(database(), orders, shop);
      expect(statements.filter((text) => text.trim().startsWith('copy'))).toHaveLength(1);
      expect((await numbers()).rows).toEqual([{ keyNo: 2 }]);
    } finally {
      await sql`delete from intake.customer_key`.execute(database());
    }
  });

  test('are all stored once, from the first one that is asked for to the last one that waits for the end', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('n19000', { total: '1.00' })] });
    const orders = Array.from({ length: 25_300 }, (_, at) => order(`n${10_000 + at}`));
    const batches = Array.from({ length: 50 }, (_, at) => ({
      orders: orders.slice(at * 512, (at + 1) * 512),
    }));
    const statements: string[] = [];
    const sealed = await inPhase({ name: 'test', onStatement: ({ text }) => statements.push(text) }, () =>
      shop.read(batches),
    );
    expect(sealed).toMatchObject({ kind: 'sealed', ordersNew: 25_299, ordersChanged: 1, orderRows: 25_300 });
    expect(statements.filter((text) => text.trim().startsWith('copy')).length).toBeGreaterThan(1);
    const { rows } = await sql<{ orders: string; ids: string }>`
      select count(*) as orders, count(distinct order_id) as ids from intake.orders
      where source = ${shop.source} and is_current`.execute(database());
    expect(rows).toEqual([{ orders: '25300', ids: '25300' }]);
  });
});

test('a large batch of new orders is stored in the embedded database too, which cannot copy', async () => {
  const shop = await openShop(await setupEmbedded());
  const orders = Array.from({ length: COUNT }, (_, at) => oddOrder(`c${at}`, at));
  expect((await stage(shop.db, orders, shop)).counts).toMatchObject({ new: COUNT });
});

describe('rows that are copied', () => {
  const database = useDatabase(SERVER);

  test('arrive as they are, but without what Postgres refuses in text', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...ODD_TEXTS));
    const rows = fc.array(fc.tuple(fc.option(text), fc.option(fc.integer()), fc.option(text)), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const copied = new TextRows();
        for (const cells of given) copied.add(cells.map(toCopyCell));
        const read = await database()
          .transaction()
          .execute(async (trx) => {
            await sql`create temporary table given (place integer generated always as identity, a text, b bigint, c text) on commit drop`.execute(
              trx,
            );
            await copyInto(trx, 'copy given (a, b, c) from stdin', copied.toCopyRows());
            return sql<{
              a: string | null;
              b: string | null;
              c: string | null;
            }>`select a, b, c from given order by place`.execute(trx);
          });
        const storable = (cell: string | null) => cell?.replaceAll('\0', '').toWellFormed() ?? null;
        expect(read.rows).toEqual(
          given.map(([a, b, c]) => ({ a: storable(a), b: b === null ? null : String(b), c: storable(c) })),
        );
      }),
      { numRuns: 60 },
    );
  });
});

const READER = randomUUID();

/** Stages orders of a new file. */
async function stage(db: Database, orders: readonly StagedOrder[], known?: Shop) {
  const shop = known ?? (await openShop(db));
  const read = { sourceFileId: await open({ ...shop, db, reader: READER }), reader: READER };
  const statements: string[] = [];
  const counts = await inPhase({ name: 'test', onStatement: ({ text }) => statements.push(text) }, () =>
    stageBatch(db, { ...read, runId: shop.runId, batch: toBatch({ orders }), sums: false }),
  );
  return { shop, counts, statements };
}

/** Orders of a source as they are stored, without what differs between two files. */
async function rowsOf(db: Database, { source }: Pick<Shop, 'source'>): Promise<unknown[]> {
  const { rows } = await sql`
    select to_jsonb(o) - '{order_version_id,source,source_file_id,first_seen_at,replaces}'::text[] as said
    from intake.orders o where source = ${source} order by order_version_id`.execute(db);
  return rows;
}

function oddOrder(id: string, at: number): StagedOrder {
  const text = (offset: number) => ODD_TEXTS[(at + offset) % ODD_TEXTS.length] ?? '';
  const isEven = at % 2 === 0;
  return order(id, {
    orderName: isEven ? text(0) : null,
    status: text(1),
    total: isEven ? '12345678901234.5678' : null,
    refunded: isEven ? null : '-0.01',
    codes: at % 3 === 0 ? [] : [`${text(2)}X`, text(3), 'É 20'],
    links: at % 5 === 0 ? [text(4)] : [],
    influencerHandle: text(5),
    dealId: isEven ? text(6) : null,
    placedAt: isEven ? '2026-04-10T09:00:00.123456Z' : null,
    cancelledAt: at % 7 === 0 ? '2026-04-11T00:00:00Z' : null,
    exclusion: at % 11 === 0 ? 'test' : null,
    rowCount: 1 + (at % 3),
    customerKey: at % 4 === 0 ? (`${String(at).padStart(32, '0')}` as StagedOrder['customerKey']) : null,
    lines:
      at % 6 === 0
        ? [
            [text(7).replaceAll('\ud800', ''), '1.00'],
            ['sku', '-2.50'],
          ]
        : null,
  });
}

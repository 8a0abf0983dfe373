import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { beginFile } from '../../src/intake/files/begin-file.ts';
import { holdFile } from '../../src/intake/files/seal-read.ts';
import { stageBatch } from '../../src/intake/orders/create-stager.ts';
import { sealFile } from '../../src/intake/orders/seal-file.ts';
import {
  continuation,
  currentOrders,
  ENGINES,
  open,
  openShop,
  order,
  rejectedRows,
  rejection,
  toBatch,
  useDatabase,
} from './story.ts';

const THRESHOLDS = {
  source: 'shop',
  maxRejectedShare: 1,
  maxCancelledShare: 1,
  maxZeroRevenueShare: 1,
  maxUnlistedShare: 1,
  expected: { revenue: 'total', credited: null, listed: null, mayLackStatus: false, currency: null },
} as const;

describe.each(ENGINES)('staging a file on %s', (engine) => {
  const database = useDatabase(engine);

  test('hides orders until their file is sealed', async () => {
    const shop = await openShop(database());
    const read = { sourceFileId: await open({ ...shop, reader: READER }), reader: READER };
    const batch = toBatch({ orders: [order('1')] });
    expect(await stageBatch(shop.db, { ...read, ...shop, batch, sums: false })).toMatchObject({ new: 1 });
    expect(await currentOrders(shop)).toEqual([]);

    const sealed = await sealFile(shop.db, {
      ...read,
      ...shop,
      sums: false,
      rowsRead: 1,
      contentSha256: 'x',
      thresholds: THRESHOLDS,
    });
    expect(sealed).toMatchObject({ kind: 'sealed', ordersNew: 1, orderRows: 1, rejectedRows: 0 });
    expect(await currentOrders(shop)).toEqual(['1 10']);
  });

  test('keeps the loose form of ids that other tools may write otherwise, and none of plain ones', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('#1001'), order('1002'), order('A-7')] });
    const { rows } = await sql`
      select order_id, similar_to from intake.orders where source = ${shop.source} order by order_id collate "C"`.execute(
      shop.db,
    );
    expect(rows).toEqual([
      { order_id: '#1001', similar_to: '1001' },
      { order_id: '1002', similar_to: null },
      { order_id: 'A-7', similar_to: 'a-7' },
    ]);
  });

  test('starts again after a dead reader and deletes what that had staged', async () => {
    const shop = await openShop(database());
    const uri = 'file:///orders.csv';
    const dead = { sourceFileId: await open({ ...shop, uri, reader: READER }), reader: READER };
    const partial = toBatch({
      orders: [order('1'), order('2')],
      continuations: [continuation('3')],
      rejected: [rejection()],
    });
    await stageBatch(shop.db, { ...dead, ...shop, batch: partial, sums: false });

    expect(await shop.read({ orders: [order('2'), order('3')] }, { uri })).toMatchObject({
      kind: 'sealed',
      ordersNew: 2,
    });
    expect(await currentOrders(shop)).toEqual(['2 10', '3 10']);
    expect(await rejectedRows(shop)).toEqual([]);
  });

  test('does not block the orders of a file that a dead reader had staged', async () => {
    const shop = await openShop(database());
    const dead = { sourceFileId: await open({ ...shop, reader: READER }), reader: READER };
    const batch = toBatch({ orders: [order('1', { total: '1.00' })] });
    await stageBatch(shop.db, { ...dead, ...shop, batch, sums: false });

    expect(await shop.read({ orders: [order('1')] })).toMatchObject({ kind: 'sealed', ordersNew: 1 });
    expect(await currentOrders(shop)).toEqual(['1 10']);
  });

  test('refuses batches, sealing and holding by a reader that has lost the file', async () => {
    const shop = await openShop(database());
    const uri = 'file:///orders.csv';
    const old = { sourceFileId: await open({ ...shop, uri, reader: READER }), reader: READER };
    const reader = randomUUID();
    const read = { sourceFileId: await open({ ...shop, uri, reader }), reader };
    const batch = toBatch({
      orders: [order('1')],
      continuations: [continuation('1')],
      rejected: [rejection()],
    });

    for (const orders of [batch.orders, Array.from({ length: 600 }, (_, at) => order(String(at)))])
      expect(
        await stageBatch(shop.db, { ...old, ...shop, batch: { ...batch, orders }, sums: false }),
      ).toBeNull();
    const onlyRows = toBatch({ rejected: [rejection()] });
    expect(await stageBatch(shop.db, { ...old, ...shop, batch: onlyRows, sums: false })).toBeNull();
    const sealing = { ...shop, sums: false, rowsRead: 0, contentSha256: 'x', thresholds: THRESHOLDS };
    expect(await sealFile(shop.db, { ...old, ...sealing })).toEqual({ kind: 'lost' });
    const reason = { code: 'cut', message: 'cut', help: 'fix' };
    expect(await holdFile(shop.db, { ...old, reason })).toBe(false);

    expect(await sealFile(shop.db, { ...read, ...sealing })).toMatchObject({ kind: 'sealed', orderRows: 0 });
    expect(await rejectedRows(shop)).toEqual([]);
  });

  test('finds an order that is known, or that the file has stated, wherever its id is among those of a batch', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: ['B', 'a', '10', 'Ä', '#9', '999'].map((id) => order(id)) });
    const read = { sourceFileId: await open({ ...shop, reader: READER }), reader: READER };
    const stage = (ids: readonly string[]) => {
      const batch = toBatch({ orders: ids.map((id) => order(id, { total: '11' })) });
      return stageBatch(shop.db, { ...read, ...shop, batch, sums: false });
    };

    expect(await stage(['B'])).toMatchObject({ changed: 1, new: 0 });
    expect(await stage(['1', '10'])).toMatchObject({ changed: 1, new: 1 });
    expect(await stage(['a', 'b', '~'])).toMatchObject({ changed: 1, new: 2 });
    expect(await stage(['!', '#9', 'Ä', '999', 'ÿ'])).toMatchObject({ changed: 3, new: 2 });
    expect(await stage(['!', 'c'])).toMatchObject({ repeated: 1, new: 1 });
    expect(await stage(['0', '1'])).toMatchObject({ repeated: 1, new: 1 });
    expect(await stage(['ÿ'])).toMatchObject({ repeated: 1, new: 0 });
  });

  test('skips a sealed file, but reads a held one again if its layout changes, on request, or if the reason is temporary', async () => {
    const shop = await openShop(database());
    const file = { uri: 'file:///orders.csv', version: 'v1', sizeBytes: 1 };
    const begin = (given: { layoutHash?: string; again?: boolean }) =>
      beginFile(shop.db, { ...shop, file, layout: 'test', layoutHash: 'h1', reader: READER, ...given });
    const hold = async (isTransient: boolean) => {
      const begun = await begin({ again: true });
      const { sourceFileId } = begun;
      const reason = { code: 'bad_header', message: 'It does not fit.', help: 'Mend it.', isTransient };
      expect(await holdFile(shop.db, { sourceFileId, reader: READER, reason })).toBe(true);
    };
    await hold(false);
    expect(await begin({})).toMatchObject({ kind: 'known', state: 'held' });
    expect(await begin({ again: true })).toMatchObject({ kind: 'read' });
    await hold(false);
    expect(await begin({ layoutHash: 'h2' })).toMatchObject({ kind: 'read' });
    await hold(true);
    expect(await begin({})).toMatchObject({ kind: 'read' });

    await shop.read({ orders: [order('1')] }, { uri: file.uri });
    expect(await begin({ again: true })).toMatchObject({ kind: 'known', state: 'sealed' });
  });

  test('leaves only the reason of a held file', async () => {
    const shop = await openShop(database());
    const read = { sourceFileId: await open({ ...shop, reader: READER }), reader: READER };
    const batch = toBatch({ orders: [order('1')], rejected: [rejection()] });
    await stageBatch(shop.db, { ...read, ...shop, batch, sums: false });
    await holdFile(shop.db, {
      ...read,
      reason: { code: 'cut_short', message: 'It ends early.', help: 'Send it again.' },
    });

    const { rows } =
      await sql`select state, hold_code, hold_message, hold_help, reader from intake.source_files
      where source_file_id = ${read.sourceFileId}::bigint`.execute(shop.db);
    expect(rows).toEqual([
      {
        state: 'held',
        hold_code: 'cut_short',
        hold_message: 'It ends early.',
        hold_help: 'Send it again.',
        reader: null,
      },
    ]);
    const { rows: left } = await sql`select from intake.orders where source = ${shop.source}`.execute(
      shop.db,
    );
    expect(left).toHaveLength(0);
    expect(await rejectedRows(shop)).toEqual([]);
  });

  test('keeps every field of an order exactly, and folds its codes and links', async () => {
    const shop = await openShop(database());
    await shop.read({
      orders: [
        order('00123456789012345678', {
          total: '12345678901234.5678',
          codes: ['Été 20', 'ＭＩＲＡ\u{00a0}5'],
          links: ['@Mira.Glow'],
          influencerHandle: 'mira"\\\u{1f600}',
          rowCount: 3,
        }),
      ],
    });
    const { rows } = await sql`
      select order_id, total, codes, codes_folded, links_folded, influencer_handle, row_count, placed_at
      from intake.orders where source = ${shop.source}`.execute(shop.db);
    expect(rows).toEqual([
      {
        order_id: '00123456789012345678',
        total: '12345678901234.5678',
        codes: ['Été 20', 'ＭＩＲＡ\u{00a0}5'],
        codes_folded: ['été20', 'mira5'],
        links_folded: ['@mira.glow'],
        influencer_handle: 'mira"\\\u{1f600}',
        row_count: 3,
        placed_at: new Date('2026-04-10T09:00:00Z'),
      },
    ]);
  });

  test('accepts NUL and lone surrogates, which Postgres refuses', async () => {
    const shop = await openShop(database());
    await shop.read({ orders: [order('1', { orderName: 'a\u0000b\ud800' })] });
    const { rows } = await sql`select order_name from intake.orders where source = ${shop.source}`.execute(
      shop.db,
    );
    expect(rows).toEqual([{ order_name: 'ab\ufffd' }]);
  });
});

const READER = randomUUID();

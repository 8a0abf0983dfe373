import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../src/core/checks/check-result.ts';
import type { StagedOrder } from '../../../src/core/order.ts';
import { type EndedStatement, inPhase } from '../../../src/db/phase.ts';
import { sealTogether, type WholeFile } from '../../../src/intake/orders/seal-together.ts';
import { setup } from '../../support/setup.ts';
import { countBlocked, waitFor } from '../../support/wait-for.ts';
import { currentOrders, ENGINES, open, openShop, order, type Shop, useDatabase } from '../story.ts';

/** Small files `1.csv` and up of one order each, whose id is the name. */
function filesOf(count: number, given: Partial<Parameters<typeof order>[1]> = {}): WholeFile[] {
  return Array.from({ length: count }, (_, index) => {
    const name = String(index + 1);
    return {
      file: { uri: `file:///${name}.csv`, version: 'v1', sizeBytes: 1 },
      orders: [order(name, given)],
      rowsRead: 1,
      contentSha256: `sha-${name}`,
      check: { arrivedAt: null, sizeBytes: 1, header: () => ['Id'], judge: () => [] },
    };
  });
}

async function readTogether({ db, source, runId }: Shop, files: readonly WholeFile[]): Promise<boolean> {
  const expected = {
    revenue: 'total',
    credited: null,
    listed: null,
    mayLackStatus: false,
    currency: null,
  } as const;
  const limits = { maxRejectedShare: 1, maxCancelledShare: 1, maxZeroRevenueShare: 1, maxUnlistedShare: 1 };
  const sealed = await sealTogether(db, {
    source,
    runId,
    layout: 'test',
    layoutHash: 'h1',
    files,
    orderIdColumn: { name: 'Id', isFallback: false },
    thresholds: { source, ...limits, expected },
  });
  return sealed !== null;
}

/** The states of the files of a source, by name. */
async function statesOf({ db, source }: Shop): Promise<readonly string[]> {
  const { rows } = await sql<{ said: string }>`
    select substr(uri, 9) || ' ' || state as said from intake.source_files where source = ${source} order by source_file_id`.execute(
    db,
  );
  return rows.map(({ said }) => said);
}

const UNUSUAL: CheckResult = {
  check: 'rows',
  subject: null,
  verdict: 'warn',
  seen: '1',
  expected: '2',
  message: 'Unusual.',
  sample: null,
};

describe.each(ENGINES)('small files in %s', (engine) => {
  const database = useDatabase(engine);

  it('are sealed together, in their order', async () => {
    const shop = await openShop(database());
    expect(await readTogether(shop, filesOf(3))).toBe(true);
    expect(await statesOf(shop)).toEqual(['1.csv sealed', '2.csv sealed', '3.csv sealed']);
    expect(await currentOrders(shop)).toEqual(['1 10', '2 10', '3 10']);
  });

  it.each<{
    what: string;
    before?: (shop: Shop) => Promise<unknown>;
    change?: (file: WholeFile) => WholeFile;
  }>([
    {
      what: 'one of them is known',
      before: (shop) => shop.read({ orders: [order('9')] }, { uri: 'file:///2.csv' }),
    },
    {
      what: 'a dead reader has left another file of the source',
      before: (shop) => open({ ...shop, uri: 'file:///0.csv', reader: crypto.randomUUID() }),
    },
    {
      what: 'the content of one of them was read under another name',
      before: (shop) => shop.read({ orders: [order('9')] }, { uri: 'file:///0.csv', content: 'sha-2' }),
    },
    {
      what: 'an order of one of them is known',
      before: (shop) => shop.read({ orders: [order('2')] }, { uri: 'file:///0.csv' }),
    },
    {
      what: 'an order of each of two is known, unchanged',
      before: (shop) => shop.read({ orders: [order('1'), order('2')] }, { uri: 'file:///0.csv' }),
    },
    {
      what: 'an earlier file identified its orders by another column',
      before: (shop) =>
        shop.read(
          { orders: [order('9')] },
          { uri: 'file:///0.csv', orderIdColumn: { name: 'Name', isFallback: false } },
        ),
    },
    {
      what: 'Postgres refuses an order of one of them',
      change: (file) => ({ ...file, orders: [order('2', { currency: 'euro' })] }),
    },
    { what: 'the rows of one of them do not add up', change: (file) => ({ ...file, rowsRead: 2 }) },
    {
      what: 'a check finds something unusual about one of them',
      change: (file) => ({ ...file, check: { ...file.check, judge: () => [UNUSUAL] } }),
    },
  ])('are not changed if $what', async ({ before, change = (file) => file }) => {
    const shop = await openShop(database());
    await before?.(shop);
    const [states, orders] = [await statesOf(shop), await currentOrders(shop)];
    const files = filesOf(3).map((file, place) => (place === 1 ? change(file) : file));
    expect(await readTogether(shop, files)).toBe(false);
    expect(await statesOf(shop)).toEqual(states);
    expect(await currentOrders(shop)).toEqual(orders);
    const { rows } = await sql`
      select from intake.orders o left join intake.source_files f using (source_file_id)
      where o.source = ${shop.source} and f.source_file_id is null`.execute(shop.db);
    expect(rows).toEqual([]);
  });
});

it('orders of files that are read together are stored as each would be alone, with all columns', async () => {
  const { db } = await setup();
  const [together, alone] = [await openShop(db), await openShop(db)];
  const full = {
    orderName: 'a\\N"b',
    status: null,
    subtotal: null,
    refunded: '-0.01',
    rowCount: 3,
    codes: ['MIA10', 'É 20', '{}'],
    links: ['https://shop.example/?a="b"'],
    exclusion: 'test',
    influencerHandle: 'mia.test',
    dealId: 'D1',
    collabId: 'C1',
    brandId: '4819',
    placedAt: null,
    paidAt: '2026-04-10T09:00:00.123456Z',
    cancelledAt: '2026-04-11T00:00:00Z',
    customerKey: '0'.repeat(32) as StagedOrder['customerKey'],
    lines: [['sku', '-2.50']] as const,
  };
  const files = filesOf(4).map((file, place) => {
    const orders = [order(`${place}-b`, place % 2 === 0 ? full : {}), order(`${place}-a`, full)];
    return { ...file, orders, rowsRead: orders.reduce((sum, { rowCount }) => sum + rowCount, 0) };
  });
  expect(await readTogether(together, files)).toBe(true);
  for (const { orders } of files) await alone.read({ orders });
  const rows = await rowsOf(together);
  expect(rows).toHaveLength(8);
  expect(rows).toEqual(await rowsOf(alone));
});

/** The orders of a source in the order in which they were stored, except for ids and times. */
async function rowsOf({ db, source }: Shop): Promise<readonly unknown[]> {
  const { rows } = await sql`
    select to_jsonb(o) - '{order_version_id,source,source_file_id,first_seen_at}'::text[] as said
    from intake.orders o where source = ${source} order by order_version_id`.execute(db);
  return rows;
}

// Each statement of a file of a few orders takes as long as those orders.
it('16 small files take two statements more than one', async () => {
  const { db } = await setup();
  const shop = await openShop(db);
  const texts: string[] = [];
  const onStatement = ({ text }: EndedStatement): void => void texts.push(text);
  expect(await inPhase({ onStatement }, () => readTogether(shop, filesOf(16)))).toBe(true);
  expect(texts).toHaveLength(9);
});

it('of two readers that read the same small files at a time, the second finds that they are known', async () => {
  const { db } = await setup();
  const shop = await openShop(db);
  let later: Promise<boolean> | undefined;
  await db.transaction().execute(async (trx) => {
    expect(await readTogether({ ...shop, db: trx }, filesOf(3))).toBe(true);
    // Another version of the program may read them otherwise.
    later = readTogether(
      shop,
      filesOf(3).map((file) => ({ ...file, orders: [order(`other ${file.contentSha256}`)] })),
    );
    await waitForLock(shop);
  });
  expect(await later).toBe(false);
  const { rows } =
    await sql`select order_id from intake.orders where source = ${shop.source} order by 1`.execute(db);
  expect(rows).toEqual([{ order_id: '1' }, { order_id: '2' }, { order_id: '3' }]);
});

it('a reader that begins a file while another seals it among others finds that it is known', async () => {
  const { db } = await setup();
  const shop = await openShop(db);
  let later: Promise<string> | undefined;
  await db.transaction().execute(async (trx) => {
    expect(await readTogether({ ...shop, db: trx }, filesOf(3))).toBe(true);
    later = open({ ...shop, uri: 'file:///2.csv', reader: crypto.randomUUID() });
    later.catch(() => {});
    await waitForLock(shop);
  });
  await expect(later).rejects.toThrow('file:///2.csv is known');
});

/** Waits until a session waits for a lock. */
async function waitForLock({ db }: Shop): Promise<void> {
  await waitFor(async () => (await countBlocked(db)) === 1);
}

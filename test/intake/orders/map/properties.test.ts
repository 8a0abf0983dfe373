import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StagedOrder } from '../../../../src/core/order.ts';
import { type Mapped, mapText } from './map-text.ts';

const HEADER =
  'Name,Id,Financial Status,Currency,Total,Discount Code,Created at,Lineitem name,Note Attributes';

/** An order as rows: the first with its values, followed by line items, some with quoted line breaks. */
const order = fc.record({
  items: fc.integer({ min: 0, max: 4 }),
  total: fc.bigInt({ min: 0n, max: 10n ** 14n }),
  id: fc.bigInt({ min: 10n ** 19n, max: 10n ** 20n - 1n }),
  code: fc.constantFrom('', 'ADA10', '"ADA10, BOB"', '"Summer ""sale"""'),
  note: fc.constantFrom('', '"utm_campaign: ada\nx: y"', '"a\r\nb"'),
});
const orders = fc.uniqueArray(order, { selector: ({ id }) => id, maxLength: 12 });
type Order = typeof order extends fc.Arbitrary<infer One> ? One : never;

function cents(total: bigint): string {
  return `${total / 100n}.${String(total % 100n).padStart(2, '0')}`;
}

function rowsOf(made: readonly Order[]): string[][] {
  return made.map(({ items, total, id, code, note }, index) => [
    `#${index},${id},paid,EUR,${cents(total)},${code},2026-04-10 11:00:00 +0200,Hat,${note}`,
    ...Array.from({ length: items }, () => `#${index},,,,,,,Scarf,`),
  ]);
}

function toText(rows: readonly string[]): string {
  return [HEADER, ...rows, ''].join('\n');
}

function meaningOf(mapped: Mapped): Record<string, readonly [string, number]> {
  return Object.fromEntries(
    mapped.orders.map((one: StagedOrder) => [one.orderId, [one.contentHash, one.rowCount] as const]),
  );
}

test('any split of a file yields the same orders', async () => {
  await fc.assert(
    fc.asyncProperty(
      orders,
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 5 }),
      async (made, pieceBytes, batchBytes, generationOrders) => {
        const text = toText(rowsOf(made).flat());
        const options = { layout: 'shopify-orders', reduced: true, generationOrders };
        const { batches: _, ...whole } = await mapText(text, options);
        const { batches: __, ...split } = await mapText(text, { ...options, pieceBytes, batchBytes });
        expect(split).toEqual(whole);
      },
    ),
  );
});

test('every row is accounted for, and money and IDs stay exact', async () => {
  await fc.assert(
    fc.asyncProperty(
      orders,
      fc.array(fc.constantFrom(',,,,,,,,', 'x"y', '#1,,', '#0,9,paid,EUR,1.00,,,,', '#99,,,,,,,Sock,'), {
        maxLength: 5,
      }),
      async (made, extra) => {
        const rows = rowsOf(made).flat();
        const { rowsRead } = await mapText(toText([...rows, ...extra]), {
          layout: 'shopify-orders',
          reduced: true,
          generationOrders: 2,
        });
        expect(rowsRead).toBe(rows.length + extra.filter((row) => row !== ',,,,,,,,').length);
        const clean = await mapText(toText(rows), { layout: 'shopify-orders', reduced: true });
        expect(clean.orders.map(({ orderId, total }) => [orderId, total])).toEqual(
          made.map(({ id, total }) => [String(id), cents(total)]),
        );
      },
    ),
  );
});

test('shuffled rows yield the same orders', async () => {
  const shuffled = orders.chain((made) => {
    const rows = rowsOf(made).flat();
    return fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length }));
  });
  await fc.assert(
    fc.asyncProperty(shuffled, async ([rows, mixed]) => {
      const inOrder = await mapText(toText(rows), { layout: 'shopify-orders', reduced: true });
      const apart = await mapText(toText(mixed), { layout: 'shopify-orders', reduced: true });
      expect(meaningOf(apart)).toEqual(meaningOf(inOrder));
      expect(apart.rejected).toEqual([]);
    }),
  );
});

test('every row beyond the window belongs to an order, to a continuation or to the rejected rows', async () => {
  const shuffled = orders.chain((made) =>
    fc.shuffledSubarray(rowsOf(made).flat(), { minLength: rowsOf(made).flat().length }),
  );
  await fc.assert(
    fc.asyncProperty(shuffled, async (rows) => {
      const {
        rowsRead,
        rejected,
        orders: found,
        continuations,
      } = await mapText(toText(rows), { layout: 'shopify-orders', reduced: true, generationOrders: 1 });
      expect(rejected).toEqual([]);
      expect(rowsRead).toBe(rows.length);
      expect(found).toHaveLength(rows.filter((row) => row.includes('paid')).length);
      const known = new Set(found.map(({ groupKey }) => groupKey));
      expect(continuations.every(({ groupKey }) => known.has(groupKey))).toBe(true);
    }),
  );
});

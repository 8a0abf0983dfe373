import { expect, test } from 'vitest';
import { layoutFor } from '../../../src/intake/layout/layout-for.ts';
import { loadLayouts } from '../../../src/intake/layout/load-layout.ts';
import { EXAMPLE_REVENUE, exampleRow } from '../../support/example-row.ts';
import { mapText } from '../orders/map/map-text.ts';

const ORDERS = loadLayouts().filter((layout) => layoutFor(layout, 'orders') !== null);

test.each(ORDERS.map((layout) => [layout.name, layout] as const))(
  'the example of %s maps to one order that can be credited',
  async (_, layout) => {
    const example = exampleRow(layout);
    const { orders, rejected } = await mapText(example.text(), { layout, source: example.source });
    expect(rejected).toEqual([]);
    expect(orders).toHaveLength(1);
    const [order] = orders;
    expect(order).toMatchObject({ currency: layout.currency ?? 'EUR', exclusion: null, cancelledAt: null });
    expect(Number(order?.total ?? order?.subtotal)).toBe(Number(EXAMPLE_REVENUE));
    expect(Number(order?.refunded ?? 0)).toBe(0);
    expect(order?.placedAt).toMatch(/^2026-05-1[34]T/);
    const { credited } = layout.status;
    if (credited !== null) expect(credited).toContain(order?.status);
  },
);

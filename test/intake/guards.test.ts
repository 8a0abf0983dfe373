import { describe, expect, test } from 'vitest';
import type { StagedOrder } from '../../src/core/order.ts';
import { ENGINES, openShop, order, rejection, useDatabase } from './story.ts';

/** Returns `count` orders whose ids start at `from`. */
function some(count: number, given: Partial<StagedOrder> = {}, from = 0): StagedOrder[] {
  return Array.from({ length: count }, (_, at) => order(`${from + at}`, given));
}

const LIMITS = { maxZeroRevenueShare: 0.9, maxUnlistedShare: 0.9 };

describe.each(ENGINES)('a file of similar orders, on %s,', (engine) => {
  const database = useDatabase(engine);

  test('is held if nine in ten orders to be credited have no revenue, with the setting that releases it', async () => {
    const shop = await openShop(database());
    const free = [...some(18, { total: '0.00' }), ...some(2, { total: '5.00' }, 100)];
    const held = await shop.read({ orders: free }, LIMITS);
    expect(held).toMatchObject({
      kind: 'held',
      reason: {
        code: 'zero_revenue',
        message: expect.stringContaining('18 of 20 orders'),
        help: expect.stringContaining('sources.shop.limits.max_zero_revenue_share: 1'),
      },
    });
    const released = await shop.read({ orders: free }, { ...LIMITS, maxZeroRevenueShare: 1 });
    expect(released).toMatchObject({ kind: 'sealed', ordersNew: 20 });
  });

  test('is judged by the amount that the job reads, including blank ones, and by the orders that it would credit', async () => {
    const shop = await openShop(database());
    const bySubtotal = { ...LIMITS, expected: { revenue: 'subtotal' } } as const;
    const orders = some(12, { total: '5.00', subtotal: null });
    expect(await shop.read({ orders }, LIMITS)).toMatchObject({ kind: 'sealed' });
    expect(
      await shop.read({ orders: some(12, { total: '5.00', subtotal: '0.00' }, 50) }, bySubtotal),
    ).toMatchObject({ reason: { code: 'zero_revenue', message: expect.stringContaining('subtotal') } });
    const pending = some(12, { total: null, status: 'pending' }, 100);
    const expected = { credited: ['paid'], listed: ['paid', 'pending'] };
    expect(await shop.read({ orders: pending }, { ...LIMITS, expected })).toMatchObject({ kind: 'sealed' });
    const excluded = some(12, { total: '0.00', exclusion: 'replacement' }, 200);
    expect(await shop.read({ orders: excluded }, LIMITS)).toMatchObject({ kind: 'sealed' });
  });

  test('is not held for nine orders, but for similar new orders among many known ones', async () => {
    const shop = await openShop(database());
    expect(await shop.read({ orders: some(9, { total: '0.00' }) }, LIMITS)).toMatchObject({ kind: 'sealed' });
    const known = some(40, { total: '5.00' }, 100);
    await shop.read({ orders: known }, LIMITS);
    const grown = [...known, ...some(10, { total: '0.00' }, 500)];
    expect(await shop.read({ orders: grown }, LIMITS)).toMatchObject({ reason: { code: 'zero_revenue' } });
  });

  test('is held if nine in ten orders have an unlisted status, and the reason names that status', async () => {
    const shop = await openShop(database());
    const expected = { credited: ['paid'], listed: ['paid', 'refunded'] };
    const orders = [...some(19, { status: 'betaald' }), ...some(1, { status: 'paid' }, 100)];
    const held = await shop.read({ orders }, { ...LIMITS, expected });
    expect(held).toMatchObject({
      kind: 'held',
      reason: {
        code: 'unlisted_status',
        message: expect.stringContaining('"betaald"'),
        help: expect.stringContaining('sources.shop.limits.max_unlisted_share: 1'),
      },
    });
    const anyStatus = await shop.read({ orders }, { ...LIMITS, expected: { credited: null, listed: null } });
    expect(anyStatus).toMatchObject({ kind: 'sealed' });
    const listed = some(20, { status: 'refunded' }, 200);
    expect(await shop.read({ orders: listed }, { ...LIMITS, expected })).toMatchObject({ kind: 'sealed' });
  });

  test('is held without showing the values of a column that is not a status', async () => {
    const shop = await openShop(database());
    const names = Array.from({ length: 20 }, (_, at) => order(`${at}`, { status: `jane_doe_${at}` }));
    const expected = { credited: ['paid'], listed: ['paid'] };
    const held = await shop.read({ orders: names }, { ...LIMITS, expected });
    expect(held).toMatchObject({ reason: { code: 'unlisted_status' } });
    expect(JSON.stringify(held)).not.toContain('jane');
  });

  test('is held if nine in ten orders have a currency other than that of the source', async () => {
    const shop = await openShop(database());
    const orders = some(20, { currency: 'USD' });
    const held = await shop.read({ orders }, { ...LIMITS, expected: { currency: 'EUR' } });
    expect(held).toMatchObject({ kind: 'held', reason: { code: 'other_currency' } });
    expect(await shop.read({ orders }, LIMITS)).toMatchObject({ kind: 'sealed' });
  });

  test('is held for too many rejected rows with the path of the limit in pipeline.yaml', async () => {
    const shop = await openShop(database());
    const rejected = Array.from({ length: 10 }, () => rejection());
    const held = await shop.read({ orders: some(20), rejected }, { maxRejectedShare: 0.2 });
    expect(held).toMatchObject({
      reason: { help: expect.stringContaining('sources.shop.limits.max_rejected_share') },
    });
  });
});

import { sql } from 'kysely';
import { describe, expect, it, test } from 'vitest';
import { type HintedDeal, hintAtDoubts } from '../../src/core/money/reconciliation.ts';
import { describeHint } from '../../src/reports/doubts/doubt-hints.ts';
import { describeEvidence } from '../../src/reports/doubts/doubts.ts';
import { startTestConsole, textOf } from '../console/console-server.ts';
import { openWorkshop, type Workshop } from '../runs/workshop.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  mirror: {kind: mirror-account, refresh_after_hours: 0}
reconcile: {account_currency: EUR}
`;

const ORDERS = `order_id,order_revenue,currency,discount_codes,placed_at,status
1,10.00,EUR,MIA10,2026-04-10T11:11:26Z,paid
2,20.00,EUR,MIA10,2026-04-10T11:11:26Z,paid
`;

async function post({ sandbox }: Workshop, path: string, body: object): Promise<void> {
  const answer = await fetch(`${sandbox.url}${path}`, {
    method: 'POST',
    headers: { 'X-API-KEY': sandbox.key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.ok).toBe(true);
}

/**
 * Posts two orders between two readings of their deal. The service answers the second one with an error, after or
 * before it processed it.
 */
async function openWorld(fault: 'error_after' | 'error_before'): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW });
  await shop.cli('run', 'mirror');
  await post(shop, '/_sandbox/faults', [
    { kind: fault, operation: 'new_influencer_referral', match: { body: { order_id: '2' } } },
  ]);
  shop.drop('orders.csv', ORDERS);
  expect((await shop.cli('run', 'orders')).exitCode).toBe(6);
  return shop;
}

/** Reads the deal again, and returns what the commands and the page of the doubt say, without instants. */
async function readAll(shop: Workshop): Promise<readonly string[]> {
  await shop.cli('run', 'mirror');
  const { rows } = await sql<{ id: string; state: string }>`
    select entry_id as id, state from ledger.entries where order_id = '2'`.execute(shop.db);
  expect(rows).toMatchObject([{ state: 'in_doubt' }]);
  const { get } = await startTestConsole(shop);
  return [
    (await shop.cli('reconcile')).stdout,
    (await shop.cli('review')).stdout,
    textOf((await get(`/doubts?entry=${rows[0]?.id}`)).text),
    textOf((await get('/money/reconciliation?deal=DEALMIA')).text),
  ].map((text) => text.replace(/\s+/g, ' ').replace(/\d{4}-\d\d-\d\d \S+/g, 'then'));
}

const SUGGESTS =
  'On then UTC, the service counted exactly 1 order more than is proven. Amounts cannot be compared. This order was probably recorded.';

describe('totals of a deal', () => {
  it('are the same whether the doubt was recorded or another tool posted its amount, so they suggest, but settle nothing', async () => {
    const recorded = await openWorld('error_after');
    const other = await openWorld('error_before');
    await post(other, '/v1/crm/new_influencer_referral', {
      deal_id: 'DEALMIA',
      order_id: 'pos-1',
      order_revenue: 20,
      order_platform: 'pos',
    });
    const [one, two] = [await readAll(recorded), await readAll(other)];
    for (const text of [...one, ...two]) {
      expect(text).toContain(SUGGESTS);
      expect(text).toContain('another tool may have posted an order of the same amount');
    }
    expect(two[0]).toBe(one[0]);
    const id = /Entry (\d+)/i.exec(one[2] ?? '')?.[1];
    expect(one[0]).toContain(`npx influencer-sync review ${id} --accepted --reason '…'`);
    const totals = await Promise.all(
      [recorded, other].map(
        async ({ db }) =>
          (
            await sql`select total_referrals::text, total_sales::text from mirror.deal_versions where is_latest and deal_id = 'DEALMIA'`.execute(
              db,
            )
          ).rows,
      ),
    );
    expect(totals[1]).toEqual(totals[0]);
  });

  it('suggest that a doubt was not recorded if they count no other order, until the doubt is settled', async () => {
    const shop = await openWorld('error_before');
    const [reconciled = '', reviewed = ''] = await readAll(shop);
    const suggests =
      'the service counted no order more than is proven. This order was probably not recorded, unless the total was late.';
    expect(reconciled).toContain(suggests);
    expect(reviewed).toContain(suggests);
    // Sending it again is a decision for which a person must look into the service.
    expect(reconciled).not.toContain('--resend');
    await shop.cli('review', '2', '--write-off', '--reason', 'a test');
    const { get } = await startTestConsole(shop);
    expect(textOf((await get('/money/reconciliation?deal=DEALMIA')).text)).not.toContain('than is proven');
    expect((await shop.cli('reconcile')).stdout.replace(/\s+/g, ' ')).not.toContain('than is proven');
  });
});

const CLEAR: HintedDeal = {
  dealId: 'D1',
  readAt: new Date(0),
  others: 0,
  doubts: 2,
  writtenOff: 0,
  late: 0,
  creditedTwice: 0,
  unexplained: 0,
  accountCurrency: 'EUR',
  unproven: 2,
  unprovenAmount: '30.0000',
  doubtsAmount: '30.0000',
  doubtIds: ['1', '2'],
};

describe('a hint', () => {
  test.each<[string, Partial<HintedDeal>]>([
    ['another tool posts orders of the deal', { others: 1 }],
    ['an order was written off', { writtenOff: 1 }],
    ['an order was in flight while the total was read', { late: 1 }],
    ['an order was credited twice', { creditedTwice: 1 }],
    ['the service counts too many or too few', { unexplained: -1 }],
    ['the total is unknown', { unproven: null }],
    ['the doubts are not known one by one', { doubtIds: null }],
    ['the amount differs by a cent', { unprovenAmount: '30.0100' }],
    ['no order more is counted, but sales grew', { unproven: 0, unprovenAmount: '0.0100' }],
  ])('is not given if %s', (_, change) => {
    expect(hintAtDoubts(CLEAR)?.counted).toBe('all');
    expect(hintAtDoubts({ ...CLEAR, ...change })).toBeNull();
  });

  it('names the amount if it fits to the cent', () => {
    const hint = hintAtDoubts(CLEAR);
    expect(hint && describeHint(hint)).toBe(
      'On 1970-01-01 00:00:00 UTC, the service counted exactly 2 orders more than is proven, with exactly 30.00 EUR. These 2 orders were probably recorded.',
    );
    const some = hintAtDoubts({ ...CLEAR, unproven: 1 });
    expect(some && describeHint(some)).toContain(
      'exactly 1 order more than is proven, and 2 are in doubt. So 1 of them was probably recorded; the total does not say which.',
    );
  });

  it('names no amount if amounts cannot be compared, and no order if only some are counted', () => {
    expect(hintAtDoubts({ ...CLEAR, unprovenAmount: null })).toMatchObject({ counted: 'all', amount: null });
    const some = hintAtDoubts({ ...CLEAR, unproven: 1, unprovenAmount: '10' });
    expect(some).toMatchObject({ counted: 'some', amount: null });
    const none = hintAtDoubts({ ...CLEAR, unproven: 0, unprovenAmount: '0.0000' });
    expect(none).toMatchObject({ counted: 'none', amount: null });
  });
});

it('evidence is shown with what it says, and what was sent if that is not the same', () => {
  const event = {
    kind: 'webhook_order',
    dealId: 'D1',
    collabId: null,
    isLegible: true,
    receivedAt: '2026-05-01T10:00:00.000Z',
  };
  const say = (amount: string | null, currency: string | null) =>
    describeEvidence({ ...event, amount, currency }, { amount: '100.0000', currency: 'EUR' });
  expect(say('100.00', 'EUR')).toBe('webhook order, deal D1, 100.00 EUR');
  expect(say(null, null)).toBe('webhook order, deal D1');
  const other = 'but 100.00 EUR was sent: look which order the service has';
  expect(say('90', 'EUR')).toBe(`webhook order, deal D1, 90.00 EUR, ${other}`);
  expect(say('100', 'USD')).toBe(`webhook order, deal D1, 100.00 USD, ${other}`);
  expect(say(null, 'USD')).toBe(`webhook order, deal D1, ${other}`);
  const unread = { ...event, amount: null, currency: null, isLegible: false };
  expect(describeEvidence(unread, { amount: '1', currency: 'EUR' })).toContain(
    'something that cannot be read',
  );
});

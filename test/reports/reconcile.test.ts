import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { ReconciledDeal } from '../../src/core/money/reconciliation.ts';
import type { Database } from '../../src/db/connect.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import {
  keepReconciliation,
  listDisputedOrders,
  listPayouts,
  listReconciled,
  reconcileDeals,
  sumUnexplained,
} from '../../src/reports/money/reconcile-deals.ts';
import { openWorkshop, type Workshop } from '../runs/workshop.ts';
import { setup } from '../support/setup.ts';

/** The mirror read the deal first on May 1 and last on June 1. */
const READ = { first: '2026-05-01T00:00:00Z', last: '2026-06-01T00:00:00Z' } as const;

type Sent = {
  readonly id: string;
  readonly amount: string;
  readonly currency?: string;
  readonly state?: 'accepted' | 'in_doubt' | 'written_off';
  readonly claimedAt: string;
  readonly changedAt?: string;
};

/**
 * The orders sent for D1: one before the first reading, two in between, one after the last, and three that
 * the service may or may not have counted.
 */
const SENT: readonly Sent[] = [
  { id: 'before', amount: '10', claimedAt: '2026-04-20T00:00:00Z' },
  { id: 'b', amount: '10', claimedAt: '2026-05-10T00:00:00Z' },
  { id: 'c', amount: '10', claimedAt: '2026-05-11T00:00:00Z' },
  { id: 'doubt', amount: '20', state: 'in_doubt', claimedAt: '2026-05-12T00:00:00Z' },
  { id: 'lost', amount: '15', state: 'written_off', claimedAt: '2026-05-13T00:00:00Z' },
  { id: 'late', amount: '5', claimedAt: '2026-05-31T23:59:59Z', changedAt: '2026-06-01T00:00:02Z' },
  { id: 'after', amount: '99', claimedAt: '2026-06-02T00:00:00Z' },
];

/**
 * Creates a deal whose first totals were 10 orders and 100 EUR, the orders sent for it, and two events, one
 * of them about another program's order.
 */
async function tellStory(): Promise<{ readonly db: Database; readonly runId: string }> {
  const { db } = await setup();
  const runId = await beginRun(db, { job: 'mirror', kind: 'mirror-account' });
  for (const order of SENT) await send(db, runId, order);
  await readDeal(db, runId);
  await tellOfOrder(db, { id: 'b', amount: '10', account: '10' });
  await tellOfOrder(db, { id: 'shop-1', amount: '33', account: '30' });
  return { db, runId };
}

/** Reconciles with these totals as the service's last reading. */
async function reconcileAt(db: Database, orders: number, sales: number): Promise<ReconciledDeal> {
  await sql`update mirror.deal_versions set total_referrals = ${orders}, total_sales = ${sales} where is_latest`.execute(
    db,
  );
  const [deal] = await reconcileDeals(db, { accountCurrency: null });
  if (deal === undefined) throw new Error('the deal is missing');
  return deal;
}

describe('the comparison of posted orders with the counts of the service', () => {
  it('is explained to the cent by earlier orders, other channels, doubts, written-off and late orders', async () => {
    const { db } = await tellStory();
    expect(await reconcileAt(db, 16, 190)).toEqual({
      dealId: 'D1',
      influencerHandle: 'mia.test',
      firstReadAt: new Date(READ.first),
      readAt: new Date(READ.last),
      theirs: 16,
      ours: 3,
      before: 9,
      others: 1,
      doubts: 1,
      writtenOff: 1,
      late: 1,
      creditedTwice: 0,
      afterwards: 1,
      unexplained: 0,
      accountCurrency: 'EUR',
      theirsAmount: '190',
      oursAmount: '30.0000',
      otherCurrency: 0,
      unexplainedAmount: '0.0000',
      paidAmount: '7',
      unproven: 3,
      unprovenAmount: '40.0000',
      doubtsAmount: '20.0000',
      doubtIds: [expect.stringMatching(/^\d+$/)],
    });
    // None of the orders that may or may not be counted is counted.
    expect(await reconcileAt(db, 13, 150)).toMatchObject({ unexplained: 0, unexplainedAmount: '0.0000' });
  });

  it('states how many orders and how much money the service has too much or too little', async () => {
    const { db } = await tellStory();
    expect(await reconcileAt(db, 18, 200.5)).toMatchObject({ unexplained: 2, unexplainedAmount: '10.5000' });
    expect(await reconcileAt(db, 12, 149.99)).toMatchObject({
      unexplained: -1,
      unexplainedAmount: '-0.0100',
    });
  });

  it('omits amounts if an order is in another currency and no event states its amount in the account currency', async () => {
    const { db, runId } = await tellStory();
    await sql`update ledger.entries set currency = 'USD' where order_id in ('b', 'c')`.execute(db);
    const deal = await reconcileAt(db, 16, 190);
    // An event reports the amount of order b.
    expect(deal).toMatchObject({
      otherCurrency: 1,
      oursAmount: null,
      unexplainedAmount: null,
      unexplained: 0,
    });
    // The orders agree, and whether the amounts do is not known: somebody must look at it.
    await keepReconciliation(db, { accountCurrency: null, runId });
    expect(await listReconciled(db, { limit: 9, isOpen: true })).toMatchObject([
      { dealId: 'D1', unexplained: 0, unexplainedAmount: null },
    ]);
  });

  it('does not show the amount of some posted orders as that of all', async () => {
    const { db } = await tellStory();
    await sql`update ledger.entries set currency = 'USD' where order_id = 'before'`.execute(db);
    expect(await reconcileAt(db, 16, 190)).toMatchObject({ ours: 3, otherCurrency: 0, oursAmount: null });
  });

  it('lists orders of the service that no job posted, and posted orders without an event if the service counts fewer', async () => {
    const { db } = await tellStory();
    // For orders before the first event, it is unknown whether an event should exist.
    const orders = await listDisputedOrders(db, { fewerIn: ['D1'] });
    expect(orders.map(({ kind, orderId, theirsAmount }) => [kind, orderId, theirsAmount])).toEqual([
      ['no_event', 'after', null],
      ['no_event', 'late', null],
      ['not_ours', 'shop-1', '33.0000'],
    ]);
    await tellOfOrder(db, { id: 'c', amount: '11', account: '11', dealId: 'D2' });
    const more = await listDisputedOrders(db, { fewerIn: [] });
    expect(more.map(({ kind, orderId, dealId, oursAmount }) => [kind, orderId, dealId, oursAmount])).toEqual([
      ['not_ours', 'shop-1', 'D1', null],
      ['other_amount', 'c', 'D2', '10.0000'],
      ['other_deal', 'c', 'D2', '10.0000'],
    ]);
  });

  it.each([
    ['the first total may include it', sql`update ledger.attempts set claimed_at = '2026-04-30T00:00:00Z'`],
    [
      'an order was sent again',
      sql`update ledger.entries set attempt = 2, resends_approved = 1 where order_id = 'c'`,
    ],
    [
      'an order is being sent',
      sql`update ledger.entries set state = 'sending', owner = gen_random_uuid() where order_id = 'lost'`,
    ],
  ])('names no doubt if %s, because growth then says nothing about it', async (_, change) => {
    const { db } = await tellStory();
    expect((await reconcileAt(db, 16, 190)).doubtIds).toHaveLength(1);
    await sql`alter table ledger.attempts disable trigger user`.execute(db);
    await change.execute(db);
    expect(await reconcileAt(db, 16, 190)).toMatchObject({ doubtIds: null });
  });

  it('is stored completely each time the mirror publishes, for notices and analysts', async () => {
    const { db, runId } = await tellStory();
    await reconcileAt(db, 18, 200.5);
    for (const _ of [1, 2]) await keepReconciliation(db, { accountCurrency: null, runId });
    const sumAbove = (ordersAbove: number, amountAbove: string) =>
      sumUnexplained(db, { ordersAbove, amountAbove });
    await sql`update reporting.reconciliation set unexplained_amount = null`.execute(db);
    const unknown = [{ job: 'mirror', deals: 1, amount: null, withoutAmount: 1 }];
    expect(await sumAbove(1, '1000')).toMatchObject(unknown);
    expect(await sumAbove(2, '0')).toEqual([]);
    // As much in the other direction, and an amount that is known, count alike.
    await sql`update reporting.reconciliation set unexplained = -2, unexplained_amount = -30, account_currency = 'EUR'`.execute(
      db,
    );
    const known = [{ deals: 1, amount: '-30.0000', currency: 'EUR', withoutAmount: 0 }];
    expect(await sumAbove(1, '1000')).toMatchObject(known);
    expect(await sumAbove(2, '29.99')).toMatchObject(known);
    expect(await sumAbove(2, '30')).toEqual([]);
    await sql`update reporting.reconciliation set unexplained = 2`.execute(db);
    const { rows } = await sql`
      select counted_orders, posted_orders, unexplained_orders from bi.reconciliation`.execute(db);
    expect(rows).toEqual([{ counted_orders: '18', posted_orders: '3', unexplained_orders: '2' }]);
  });
});

describe('the comparison of closed statements with the payouts of the service', () => {
  it('shows earned, requested and paid amounts with their difference, or null if an amount is unknown', async () => {
    const { db } = await tellStory();
    await close(db, '2026-04-01', [
      ['D1', 'EUR', '50'],
      ['D2', 'EUR', '5'],
    ]);
    await close(db, '2026-05-01', [['D1', 'EUR', '-8.5']]);
    await requestPayout(db, 'D1', { payout_currency: 'eur', payout_amount: 20 });
    await requestPayout(db, 'D1', { payout_currency: 'eur', payout_amount: 1.5 });
    // An event that does not say how much says nothing.
    await requestPayout(db, 'D2', { payout_currency: 'eur', payout_amount: 'all' });
    const [one, other] = await listPayouts(db, { accountCurrency: null });
    expect(one).toEqual({
      dealId: 'D1',
      influencerHandle: 'mia.test',
      currency: 'EUR',
      earnedAmount: '41.5000',
      requestedAmount: '21.5000',
      paidAmount: '7.0000',
      paidBeforeAmount: '0.0000',
      differenceAmount: '34.5000',
    });
    expect(other).toMatchObject({
      dealId: 'D2',
      earnedAmount: '5.0000',
      requestedAmount: null,
      paidAmount: null,
      differenceAmount: null,
    });
  });

  it('does not subtract a total of all currencies from the earnings in one of them', async () => {
    const { db } = await tellStory();
    await close(db, '2026-04-01', [
      ['D1', 'EUR', '50'],
      ['D1', 'USD', '10'],
    ]);
    expect(
      (await listPayouts(db, { accountCurrency: null })).map(({ currency, paidAmount, differenceAmount }) => [
        currency,
        paidAmount,
        differenceAmount,
      ]),
    ).toEqual([
      ['EUR', '7.0000', null],
      ['USD', null, null],
    ]);
    // If nobody says in which currency the account is, nobody knows in which one the total is.
    await sql`update ops.webhook_events set body = '{}'`.execute(db);
    expect(await listPayouts(db, { accountCurrency: null })).toMatchObject([
      { currency: null, paidAmount: '7.0000', differenceAmount: null },
      { currency: 'EUR', paidAmount: null },
      { currency: 'USD', paidAmount: null },
    ]);
    expect(await listPayouts(db, { accountCurrency: 'USD', dealId: 'D1' })).toMatchObject([
      { currency: 'EUR', paidAmount: null },
      { currency: 'USD', paidAmount: '7.0000' },
    ]);
  });
});

/** Closes a month with one line of each deal and currency. */
async function close(
  db: Database,
  month: string,
  lines: readonly (readonly [dealId: string, currency: string, amount: string])[],
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    insert into ops.statements (month, time_zone, return_window_days, lines, closed_by, reason, previous_hash, hash)
    values (${month}::date, 'UTC', 30, ${lines.length}, 'test', 'test', '', '') returning statement_id as id`.execute(
    db,
  );
  for (const [index, [dealId, currency, amount]] of lines.entries())
    await sql`
      insert into ops.statement_lines (statement_id, line_no, kind, subject, due_on, deal_id, currency, earned_amount, closed_before, amount)
      values (${rows[0]?.id}::bigint, ${index + 1}, 'order', ${`order:${index}`}, ${month}::date, ${dealId}, ${currency}, ${amount}::numeric, 0,
        ${amount}::numeric)`.execute(db);
}

async function requestPayout(db: Database, dealId: string, body: object): Promise<void> {
  await sql`
    insert into ops.webhook_events (kind, body, body_sha256, deal_id)
    values ('new_payout_request', ${JSON.stringify(body)}::jsonb, ${JSON.stringify([dealId, body])}, ${dealId})`.execute(
    db,
  );
}

async function send(
  db: Database,
  runId: string,
  { id, amount, currency = 'EUR', state = 'accepted', claimedAt, changedAt = claimedAt }: Sent,
): Promise<void> {
  await sql`
    with entry as (
      insert into ledger.entries (effect, account_id, key, state, state_reason, attempt, doubtful_attempt, body, body_hash, job, source,
        order_platform, order_id, brand_id, amount, currency, deal_id, run_id, state_changed_at)
      values ('referral', 'ACC-1', ${id}, ${state}, 'a test', 1, case when ${state} = 'in_doubt' then 1 end, '{}', 'h', 'orders', 'shop',
        'shopify', ${id}, '4819', ${amount}::numeric, ${currency}, 'D1', ${runId}::bigint, ${changedAt}::timestamptz)
      returning entry_id),
    reported as (
      insert into reporting.order_dispositions (job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, disposition,
        disposition_at, is_open, deal_id, currency, amount)
      select 'orders', 'shop', ${id}, 1, entry_id, ${claimedAt}::timestamptz, ${claimedAt}::date, case when ${state} = 'written_off' then 'held' else ${state} end,
        ${changedAt}::timestamptz, ${state} <> 'accepted', 'D1', ${currency}, ${amount}::numeric from entry)
    insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash, claimed_at)
    select entry_id, 1, gen_random_uuid(), gen_random_uuid(), ${runId}::bigint, 'h', ${claimedAt}::timestamptz from entry`.execute(
    db,
  );
}

async function readDeal(db: Database, runId: string): Promise<void> {
  await sql`insert into mirror.known_deals (deal_id, first_way, ways, read_at) values ('D1', 'codes', '{codes}', ${READ.last})`.execute(
    db,
  );
  await sql`
    insert into mirror.deal_versions (deal_id, influencer_handle, total_referrals, total_sales, total_payouts, raw, row_hash, valid_from, valid_to,
      is_latest, first_seen_at, run_id)
    values ('D1', 'mia.test', 10, 100, 0, '{}', '1', ${READ.first}, ${READ.last}, false, ${READ.first}, ${runId}::bigint),
      ('D1', 'mia.test', 0, 0, 7, '{}', '2', ${READ.last}, null, true, ${READ.first}, ${runId}::bigint)`.execute(
    db,
  );
}

async function tellOfOrder(
  db: Database,
  { id, amount, account, dealId = 'D1' }: { id: string; amount: string; account: string; dealId?: string },
): Promise<void> {
  const order = {
    order_id: id,
    order_revenue: amount,
    account_currency: 'eur',
    account_currency_revenue: Number(account),
  };
  const digest = `${id} ${dealId}`;
  const at = '2026-05-15T00:00:00Z';
  await sql`
    insert into ops.webhook_events (kind, body, body_sha256, deal_id, received_at)
    values ('new_influencer_order', ${JSON.stringify({ order_information: order })}::jsonb, ${digest}, ${dealId}, ${at})`.execute(
    db,
  );
  await sql`
    insert into ledger.evidence (kind, order_platform, order_id, deal_id, amount, currency, body_sha256, received_at)
    values ('webhook_order', 'Shopify', ${id}, ${dealId}, ${amount}::numeric, 'EUR', ${digest}, ${at})`.execute(
    db,
  );
}

describe('reconcile', () => {
  it('does not report a deal as explained if its totals were never read', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.drop('orders.csv', ORDERS);
    await shop.run();
    const { stdout } = await shop.cli('reconcile');
    expect(stdout).toMatch(/DEALMIA +never +unknown +2 +unknown/);
    expect(stdout).toContain('No deal could be compared.');
    expect(stdout).not.toContain('Nothing is unexplained');
  });

  it('exits with 3 for an order that another tool posted, until an event explains it', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    // The deal is read before anything is posted.
    expect((await shop.cli('run', 'mirror')).exitCode).toBe(0);
    shop.drop('orders.csv', ORDERS);
    await shop.run();
    await shop.cli('run', 'mirror');
    const good = await shop.cli('reconcile');
    expect([good.exitCode, good.stdout]).toEqual([0, expect.stringContaining('Nothing is unexplained.')]);
    expect(good.stdout).toMatch(/DEALMIA +mia\.test +\S+ \S+ +2 +2 +0\n/);

    await postElsewhere(shop, 'pos-1');
    await shop.cli('run', 'mirror');
    const bad = await shop.cli('reconcile', '--deal', 'DEALMIA');
    expect([bad.exitCode, bad.stdout]).toEqual([3, expect.stringContaining('deal DEALMIA: 1 order more')]);

    await tellOfOrder(shop.db, { id: 'pos-1', amount: '10', account: '10', dealId: 'DEALMIA' });
    // The event arrived at the time of a deal reading, so it lies between the readings that count.
    await sql`alter table ledger.evidence disable trigger user`.execute(shop.db);
    await sql`update ledger.evidence set received_at = (select read_at from mirror.known_deals where deal_id = 'DEALMIA')`.execute(
      shop.db,
    );
    const told = await shop.cli('reconcile', '--json');
    expect([told.exitCode, told.stdout]).toEqual([0, expect.stringContaining('"kind":"not_ours"')]);
  });
});

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  mirror: {kind: mirror-account, refresh_after_hours: 0}
`;

const ORDERS = `order_id,order_revenue,currency,discount_codes,placed_at,status
1,10.00,EUR,MIA10,2026-04-10T11:11:26Z,paid
2,20.00,EUR,MIA10,2026-04-10T11:11:26Z,paid
`;

/** Posts an order as the shop's own integration would. */
async function postElsewhere({ sandbox }: Workshop, orderId: string): Promise<void> {
  const answer = await fetch(`${sandbox.url}/v1/crm/new_influencer_referral`, {
    method: 'POST',
    headers: { 'X-API-KEY': sandbox.key, 'content-type': 'application/json' },
    body: JSON.stringify({ deal_id: 'DEALMIA', order_id: orderId, order_revenue: 10, order_platform: 'pos' }),
  });
  expect(answer.status).toBe(200);
}

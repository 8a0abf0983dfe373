import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { keepEarnings } from '../../src/money/kept-earnings.ts';
import {
  adoptRates,
  adoptReturnRules,
  type ReturnRules,
  updateReturns,
} from '../../src/money/update-returns.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { setup } from '../support/setup.ts';
import { termsOf as rowOf, rulesOf } from '../support/terms.ts';

const termsOf = (given: Parameters<typeof rowOf>[0]) => rowOf({ ratePercent: '10', ...given });
const RULES: ReturnRules = {
  ...rulesOf([termsOf({ ratePercent: '10' })]),
  marginPercent: '50',
  exchange: null,
};

type Order = {
  readonly at: string;
  /** Null: the export does not say who ordered. */
  readonly customer: number | null;
  readonly total?: string | null;
  readonly currency?: string;
  readonly refunded?: string;
  readonly exclusion?: string;
  readonly isCancelled?: boolean;
  /** False: it was replaced by a later version. */
  readonly isCurrent?: boolean;
  /** False: its file was never read to its end. */
  readonly isSealed?: boolean;
  /** Null: no influencer was credited. */
  readonly dealId?: string | null;
  readonly brandId?: string;
  /** Creator to whom it was credited. */
  readonly handle?: string;
  /** True: the export states no total, and this as the subtotal. */
  readonly isSubtotal?: boolean;
};

async function openShop(): Promise<{
  readonly db: Database;
  add(...orders: readonly Order[]): Promise<void>;
}> {
  const { db } = await setup();
  await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
  await sql`insert into intake.revenue_rules (job, source, revenue) values ('orders', 'shop', 'total')`.execute(
    db,
  );
  await sql`
    insert into intake.source_files (source_file_id, source, uri, version, size_bytes, layout, layout_hash, state, run_id, rows_read, sealed_at, hold_code)
      overriding system value
    values (1, 'shop', '1.csv', '1', 1, 'generic', '', 'sealed', 1, 0, now(), null),
      (2, 'shop', '2.csv', '1', 1, 'generic', '', 'held', 1, 0, null, 'rows_do_not_add_up')`.execute(db);
  let id = 0;
  async function addOne(order: Order): Promise<void> {
    const { at, customer, total = '100', currency = 'EUR', dealId = null, brandId = '1' } = order;
    id += 1;
    await sql`
      insert into intake.orders (order_version_id, source, order_id, source_file_id, is_current, content_hash, group_key, currency, total, subtotal,
        refunded, placed_at, cancelled_at, exclusion, line_no, record_no, row_count, customer_key) overriding system value
      values (${id}, 'shop', ${String(id)}, ${order.isSealed === false ? 2 : 1}, ${order.isCurrent !== false}, '', '', ${currency},
        ${order.isSubtotal === true ? null : total}::numeric, ${order.isSubtotal === true ? total : null}::numeric,
        ${order.refunded ?? null}::numeric, ${at}, ${order.isCancelled === true ? at : null}::timestamptz, ${order.exclusion ?? null}, 1, 1, 1,
        ${customer === null ? null : `00000000-0000-0000-0000-00000000000${customer}`}::uuid)`.execute(db);
    if (dealId === null) return;
    await sql`
      insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, source, order_platform, order_id,
        amount, currency, deal_id, brand_id, run_id) overriding system value
      values (${id}, 'referral', 'a', ${String(id)}, 'accepted', 1, '{}', '', 'orders', 'shop', 'shopify', ${String(id)}, ${total}, ${currency},
        ${dealId}, ${brandId}, 1)`.execute(db);
    await sql`
      insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, matched_value, target, influencer_handle, currency,
        entry_id, is_pending, rules_hash)
      values ('orders', 'shop', ${String(id)}, ${id}, 'attributed', 'link', 'x', ${`deal:${dealId}`}, ${order.handle ?? null}, ${currency}, ${id},
        false, '')`.execute(db);
    await sql`
      insert into reporting.order_dispositions (job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, disposition,
        disposition_at, is_open, brand_id, deal_id, currency, amount)
      values ('orders', 'shop', ${String(id)}, ${id}, ${id}, ${at}, (${at}::timestamptz at time zone 'UTC')::date, 'accepted', now(), false,
        ${brandId}, ${dealId}, ${currency}, ${total})`.execute(db);
  }
  return {
    db,
    add: async (...orders) => {
      for (const order of orders) await addOne(order);
    },
  };
}

async function monthsOf(
  db: Database,
  rules: ReturnRules = RULES,
): Promise<readonly Record<string, unknown>[]> {
  await keepEarnings(db, { rules });
  await updateReturns(db, { rules });
  const { rows } = await sql<Record<string, unknown>>`
    select to_char(month_utc, 'YYYY-MM') as month, deal_id, brand_id, currency, orders::integer, sent_amount::float8 as sent, net_amount::float8 as net,
      commission_amount::float8 as commission, unrated_orders::integer as unrated, unvalued_orders::integer as unvalued,
      unlined_orders::integer as unlined, new_customers::integer as new, returning_orders::integer as returning,
      unknown_orders::integer as unknown, repeat_customers::integer as repeated, net_30_amount::float8 as net_30,
      net_90_amount::float8 as net_90, net_365_amount::float8 as net_365, to_char(last_won_at at time zone 'UTC', 'MM-DD') as last_won,
      influencer_handle as handle, fee_amount::float8 as fee, net_converted::float8, commission_converted::float8, fee_converted::float8,
      unconverted_orders::integer as unconverted
    from reporting.return_months order by deal_id, month_utc, brand_id, currency`.execute(db);
  return rows;
}

/** The first order of a known customer. For 90 days, nobody can know who has ordered before. */
const FIRST: Order = { at: '2025-01-01T00:00:00Z', customer: 1 };
const D1 = { dealId: 'D1' } as const;

describe('a customer is won by an order of a deal', () => {
  it('if no earlier order is known in any channel, and customers have been known for 90 days', async () => {
    const { db, add } = await openShop();
    await add(
      FIRST,
      { ...D1, at: '2025-03-31T23:59:59Z', customer: 2 },
      { ...D1, at: '2025-04-01T00:00:00Z', customer: 3 },
      { ...D1, at: '2025-04-02T00:00:00Z', customer: 1 },
      { ...D1, at: '2025-04-02T00:00:00Z', customer: null },
      // What an earlier order is not: cancelled, a test, replaced by a later version, or of a file that was not read.
      { at: '2025-02-01T00:00:00Z', customer: 4, isCancelled: true },
      { at: '2025-02-01T00:00:00Z', customer: 4, exclusion: 'test' },
      { at: '2025-02-01T00:00:00Z', customer: 4, isCurrent: false },
      { at: '2025-02-01T00:00:00Z', customer: 4, isSealed: false },
      { ...D1, at: '2025-04-03T00:00:00Z', customer: 4 },
      // A draft may be an order.
      { at: '2025-02-01T00:00:00Z', customer: 5, exclusion: 'draft' },
      { ...D1, at: '2025-04-04T00:00:00Z', customer: 5 },
      // An order that was cancelled after it was credited wins nobody, and is no order of its customer.
      { ...D1, at: '2025-04-05T00:00:00Z', customer: 6, isCancelled: true },
    );
    expect(await monthsOf(db)).toMatchObject([
      { month: '2025-03', orders: 1, new: 0, returning: 0, unknown: 1, last_won: null },
      { month: '2025-04', orders: 6, new: 2, returning: 2, unknown: 1, last_won: '04-03' },
    ]);
    // A month that changes leaves the others of its deal as they are.
    await add({ ...D1, at: '2025-04-06T00:00:00Z', customer: null });
    await sql`insert into reporting.changed_deals (deal_id, month_utc) values ('D1', '2025-04-01')`.execute(
      db,
    );
    expect(await monthsOf(db)).toMatchObject([
      { month: '2025-03', orders: 1 },
      { month: '2025-04', orders: 7, unknown: 2 },
    ]);
  });

  it('and what the customer orders within 30, 90 and 365 days in its currency, less refunds, is counted with it', async () => {
    const { db, add } = await openShop();
    const at = '2025-05-01T00:00:00Z';
    const daysLater = (days: number, ms = 0) =>
      new Date(Date.parse(at) + days * 86_400_000 + ms).toISOString();
    await add(
      FIRST,
      { ...D1, at, customer: 2, total: '1000', refunded: '1' },
      { at: daysLater(30, -1000), customer: 2, total: '10' },
      { at: daysLater(30), customer: 2, total: '20' },
      { at: daysLater(90), customer: 2, total: '40' },
      { at: daysLater(365), customer: 2, total: '80' },
      { at: daysLater(2), customer: 2, total: '3', refunded: '1', isSubtotal: true },
      // No money, not below zero, or not in this currency.
      { at: daysLater(1), customer: 2, total: '50', refunded: '60' },
      { at: daysLater(1), customer: 2, total: '500', currency: 'USD' },
      { at: daysLater(1), customer: 2, total: '500', isCancelled: true },
      { at: daysLater(1), customer: 2, total: '500', isSealed: false },
      { at: daysLater(1), customer: 2, total: '500', isCurrent: false },
      { ...D1, at, customer: 3 },
    );
    expect(await monthsOf(db)).toMatchObject([
      { orders: 2, new: 2, repeated: 1, net: 1099, sent: 1100, net_30: 1111, net_90: 1131, net_365: 1171 },
    ]);
  });

  it('and from the first of these orders whose amount is unknown, it is unknown what the customer is worth', async () => {
    const { db, add } = await openShop();
    const day = (date: string) => ({ at: `${date}T00:00:00Z`, customer: 2 });
    await add(
      FIRST,
      { ...D1, ...day('2025-05-01'), total: '10' },
      { ...day('2025-05-02'), total: '5' },
      { ...day('2025-06-15'), total: null },
    );
    expect(await monthsOf(db)).toMatchObject([{ new: 1, net_30: 15, net_90: null, net_365: null }]);
  });
});

describe('the revenue and cost of a deal in a month', () => {
  it('are those of its accepted orders; what is unknown is counted and not added up', async () => {
    const { db, add } = await openShop();
    const at = '2025-05-01T00:00:00Z';
    await add(
      { ...D1, at, customer: null },
      { ...D1, at: '2025-05-31T23:59:59Z', customer: null, refunded: '40' },
      { ...D1, at: '2025-06-01T00:00:00Z', customer: null },
      { ...D1, at, customer: null, refunded: '101' },
      { ...D1, at, customer: null, currency: 'USD', total: '7' },
      { dealId: 'D2', at, customer: null, handle: '@Ben' },
      { dealId: 'D2', at, customer: null, refunded: '101', handle: 'ben' },
      { dealId: 'D3', at, customer: null, handle: 'mia' },
      { dealId: 'D3', at, customer: null, handle: 'zoe', refunded: '100' },
    );
    const gifts = termsOf({ dealId: 'D3', excludedSkus: ['gift-*'] });
    const known = { unrated: 0, unlined: 0, unvalued: 0 };
    expect(await monthsOf(db, { ...RULES, terms: [termsOf({}), gifts] })).toMatchObject([
      {
        ...known,
        month: '2025-05',
        currency: 'EUR',
        orders: 3,
        sent: 300,
        net: 160,
        commission: 16,
        unvalued: 1,
      },
      { ...known, month: '2025-05', currency: 'USD', orders: 1, net: 7, commission: 0.7 },
      { ...known, month: '2025-06', orders: 1, net: 100, commission: 10 },
      // Whatever is unknown of an order whose net revenue is unknown, it counts once. A month may be of one creator, or of several.
      {
        ...known,
        deal_id: 'D2',
        orders: 2,
        net: 100,
        commission: 0,
        unrated: 1,
        unvalued: 1,
        handle: expect.stringMatching(/^@?ben$/i),
      },
      { ...known, deal_id: 'D3', orders: 2, net: 100, commission: 0, unlined: 1, handle: null },
    ]);
  });

  it('contain a fee once, in its month and currency, whatever number of brands the deal has', async () => {
    const { db, add } = await openShop();
    const at = '2025-05-01T00:00:00Z';
    const order = { ...D1, at, customer: null };
    await add(
      order,
      { ...order, brandId: '2' },
      { ...order, currency: 'USD' },
      { ...order, at: '2025-06-01T00:00:00Z' },
    );
    const fee = (validFrom: string, fixedFee: string) =>
      termsOf({ ratePercent: '10', fixedFee, currency: 'EUR', validFrom, validTo: validFrom });
    const terms = [fee('2025-05-02', '30'), fee('2025-05-31', '5')];
    expect(
      (await monthsOf(db, { ...RULES, terms })).map(({ month, brand_id: brand, currency, fee }) => [
        month,
        brand,
        currency,
        fee,
      ]),
    ).toEqual([
      ['2025-05', '1', 'EUR', 35],
      ['2025-05', '1', 'USD', 0],
      ['2025-05', '2', 'EUR', 0],
      ['2025-06', '1', 'EUR', 0],
    ]);
  });

  it('are converted at the rate of the day of the order, and nothing is converted without one', async () => {
    const { db, add } = await openShop();
    const usd = { ...D1, customer: null, currency: 'USD' };
    await add(
      { ...usd, at: '2025-05-01T00:00:00Z' },
      { ...usd, at: '2025-05-02T00:00:00Z', total: '10' },
      { ...usd, at: '2025-05-03T00:00:00Z', isCancelled: true },
      { ...usd, at: '2025-05-01T00:00:00Z', currency: 'EUR' },
    );
    const rate = (day: string, rate: string) => ({ currency: 'USD', day, rate });
    // That of another currency never counts.
    const pounds = ['2025-05-01', '2025-05-02'].map((day) => ({ ...rate(day, '3'), currency: 'GBP' }));
    const exchange = { reportingCurrency: 'EUR', rates: [...pounds, rate('2025-05-01', '0.5')] };
    const fee = (day: string) => termsOf({ fixedFee: '20', currency: 'USD', validFrom: day });
    const converted = async (rules: Partial<ReturnRules>) =>
      (await monthsOf(db, { ...RULES, ...rules })).map(
        (row) =>
          `${row.currency}: ${row.net_converted}, ${row.commission_converted}, ${row.fee_converted}, without a rate: ${row.unconverted}`,
      );
    // The cancelled order came to nothing, which is nothing in any currency.
    expect(await converted({ exchange })).toEqual([
      'EUR: 100, 10, 0, without a rate: 0',
      'USD: 50, 5, 0, without a rate: 1',
    ]);
    const later = { ...exchange, rates: [...exchange.rates, rate('2025-05-02', '0.25')] };
    expect(await converted({ exchange: later, terms: [termsOf({}), fee('2025-05-02')] })).toEqual([
      'EUR: 100, 10, 0, without a rate: 0',
      'USD: 52.5, 5.25, 5, without a rate: 0',
    ]);
    // Of two brands, the first has the fee, converted or not; if one of two fees has no rate, it is unknown what they come to.
    await add({ ...usd, at: '2025-05-01T00:00:00Z', brandId: '2' });
    await sql`insert into reporting.changed_deals values ('D1', '2025-05-01')`.execute(db);
    expect(await converted({ exchange: later, terms: [termsOf({}), fee('2025-05-02')] })).toEqual([
      'EUR: 100, 10, 0, without a rate: 0',
      'USD: 52.5, 5.25, 5, without a rate: 0',
      'USD: 50, 5, 0, without a rate: 0',
    ]);
    const two = [termsOf({}), fee('2025-05-01'), { ...fee('2025-05-03'), line: 9 }];
    expect((await converted({ exchange: later, terms: two }))[1]).toBe(
      'USD: 52.5, 5.25, null, without a rate: 0',
    );
    await sql`delete from intake.attributions where order_id = '5'`.execute(db);
    await sql`delete from reporting.order_dispositions where order_id = '5'`.execute(db);
    // A fee without a rate is unknown, and not zero.
    expect(await converted({ exchange, terms: [termsOf({}), fee('2025-05-02')] })).toEqual([
      'EUR: 100, 10, 0, without a rate: 0',
      'USD: 50, 5, null, without a rate: 1',
    ]);
    expect(await converted({ exchange: null })).toEqual([
      'EUR: 0, 0, 0, without a rate: 1',
      'USD: 0, 0, 0, without a rate: 2',
    ]);
  });
});

describe('returns are computed again', () => {
  it('for all deals if a rule has changed that they depend on, and not for another margin', async () => {
    const { db, add } = await openShop();
    await add({ ...D1, at: '2025-05-01T00:00:00Z', customer: null });
    const adopt = (rules: Partial<ReturnRules> = {}) =>
      inTransaction(db, (trx) => adoptReturnRules(trx, { ...RULES, ...rules }));
    expect([await adopt(), await adopt(), await adopt({ marginPercent: null })]).toEqual([
      true,
      false,
      false,
    ]);
    const { rows } = await sql`select margin_percent from reporting.return_rules`.execute(db);
    expect(rows).toEqual([{ margin_percent: null }]);
    const fee = { terms: [termsOf({ fixedFee: '5', currency: 'USD', validFrom: '2025-05-01' })] };
    const exchange = (day: string, rate: string) => ({
      exchange: { reportingCurrency: 'EUR', rates: [{ currency: 'USD', day, rate }] },
    });
    for (const rules of [
      { timeZone: 'Asia/Tokyo' },
      fee,
      { ...fee, ...exchange('2025-05-02', '1') },
      { ...fee, ...exchange('2025-05-01', '1') },
      { ...fee, ...exchange('2025-05-01', '2') },
    ])
      expect([await adopt(rules), await adopt(rules)], JSON.stringify(rules)).toEqual([true, false]);
    // Who is new depends on since when customers are known.
    const rules = { ...fee, ...exchange('2025-05-01', '2') };
    await add(FIRST);
    expect([await adopt(rules), await adopt(rules)]).toEqual([true, false]);
  });

  it('for the deals whose orders have earned something else since, by the rates of the service', async () => {
    const { db, add } = await openShop();
    await add({ ...D1, at: '2025-05-01T00:00:00Z', customer: null });
    await add({ dealId: 'D2', at: '2025-05-31T23:00:00Z', customer: null });
    // An entry may name its deal by the address.
    await sql`
      update ledger.entries set collab_id = replace(deal_id, 'D', 'C'),
        deal_id = case deal_id when 'D2' then 'https://app.example.com/deal/D2?tab=1' else deal_id end`.execute(
      db,
    );
    const rules = { ...RULES, terms: [], timeZone: 'Europe/Amsterdam' };
    const commissions = async () => {
      await keepEarnings(db, { rules });
      const { rows } = await sql<{ deal: string }>`
        select distinct deal_id as deal from reporting.changed_deals order by 1`.execute(db);
      const months = await monthsOf(db, rules);
      return [rows.map(({ deal }) => deal), months.map(({ unrated, commission }) => [unrated, commission])];
    };
    const rate = (collab: string, percent: number) =>
      sql`
        insert into mirror.collaboration_versions (collab_id, deal_id, commission_perc, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
        values (${collab}, ${collab.replace('C', 'D')}, ${percent}, '{}', '1', now(), true, now(), 1)`.execute(
        db,
      );
    await rate('C1', 10);
    expect(await commissions()).toEqual([
      ['D1', 'D2'],
      [
        [0, 10],
        [1, 0],
      ],
    ]);
    // In the time zone of the statements, its order is of June.
    await rate('C2', 5);
    const known = [
      [0, 10],
      [0, 5],
    ];
    expect(await commissions()).toEqual([['D2'], known]);
    // A rate that is unsure after the earnings are kept, and sure again before they are kept the next time.
    await sql`insert into reporting.changed_deals values ('D1', '2025-05-01')`.execute(db);
    await sql`
      insert into mirror.known_deals (deal_id, first_way, ways, read_at) values ('D1', 'list', '{list}', '2025-01-02');
      insert into ops.webhook_events (kind, body, body_sha256, deal_id, collab_id, received_at)
      values ('update_commission', '{"webhook_timestamp":"1746000000","commission_information":{"old_commission_perc":5,"new_commission_perc":7}}',
        'x', 'D1', null, '2025-04-30')`.execute(db);
    await updateReturns(db, { rules });
    await sql`update mirror.known_deals set read_at = '2025-06-01'`.execute(db);
    expect(await commissions()).toEqual([[], known]);
    // Rates by which another process keeps the earnings are not those of these returns: they stay noted.
    await sql`insert into reporting.changed_deals values ('D1', '2025-05-01')`.execute(db);
    await keepEarnings(db, { rules: { ...rules, timeZone: 'UTC' } });
    await updateReturns(db, { rules });
    expect((await commissions())[0]).toContain('D1');
  });

  it('in a plan, for the other months of a deal with tiers, too, whose orders come after those that changed', async () => {
    const { db, add } = await openShop();
    await add(
      ...['2025-05-10T00:00:00Z', '2025-06-10T00:00:00Z'].flatMap((at) =>
        ['D1', 'D2'].map((dealId) => ({ dealId, at, customer: null })),
      ),
    );
    const tiers = ['D1', 'D2'].map((dealId, at) =>
      termsOf({ dealId, line: 2 + at, ratePercent: '20', fromOrders: 2, tier: 'all' }),
    );
    const rules = { ...RULES, terms: tiers };
    const rated = (trx: Database) =>
      sql<{ row: string }>`
      select concat_ws(' ', deal_id, extract(month from month_utc), trim_scale(commission_amount), unrated_orders) as row
      from reporting.return_months order by 1`
        .execute(trx)
        .then(({ rows }) => rows.map(({ row }) => row));
    await monthsOf(db, rules);
    expect(await rated(db)).toEqual(['D1 5 0 1', 'D1 6 20 0', 'D2 5 0 1', 'D2 6 20 0']);
    await inTransaction(db, async (trx) => {
      await sql`
        insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, run_id)
        values (1, 'cancelled', 100, null, 'EUR', '', 1)`.execute(trx);
      await sql`insert into reporting.changed_deals values ('D1', '2025-05-01')`.execute(trx);
      await updateReturns(trx, { rules });
      expect(await rated(trx)).toEqual(['D1 5 0 0', 'D1 6 0 1', 'D2 5 0 1', 'D2 6 20 0']);
    });
  });

  it('for the months of the days whose rate is new, other or gone: in another time zone, the first is in two', async () => {
    const { db } = await setup();
    const adopt = (...rates: readonly (readonly [day: string, rate: string])[]) =>
      inTransaction(db, (trx) =>
        adoptRates(trx, {
          reportingCurrency: 'EUR',
          rates: rates.map(([day, rate]) => ({ currency: 'USD', day, rate })),
        }),
      );
    const middle = ['2025-05-15', '1'] as const;
    expect(await adopt(middle, ['2025-05-16', '1'])).toEqual(['2025-05-01']);
    expect(await adopt(middle, ['2025-05-16', '1.0'])).toEqual([]);
    expect(await adopt(middle, ['2025-05-16', '1.5'])).toEqual(['2025-05-01']);
    expect((await adopt(middle, ['2025-05-16', '1.5'], ['2025-06-30', '1'])).toSorted()).toEqual([
      '2025-06-01',
      '2025-07-01',
    ]);
    expect((await adopt(middle, ['2025-05-16', '1.5'])).toSorted()).toEqual(['2025-06-01', '2025-07-01']);
    expect(await inTransaction(db, (trx) => adoptRates(trx, null))).toEqual(['2025-05-01']);
    expect((await sql`select from reporting.exchange_rates`.execute(db)).rows).toEqual([]);
  });
});

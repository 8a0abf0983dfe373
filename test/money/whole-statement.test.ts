import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction, unlessDryRun } from '../../src/db/in-transaction.ts';
import { closeStatement, verifyStatements } from '../../src/money/close-statement.ts';
import { keepEarnings } from '../../src/money/kept-earnings.ts';
import { readCreatorStatement } from '../../src/money/read-creator-statement.ts';
import { readClosed, readStatement, refuseContained } from '../../src/money/read-statement.ts';
import { type ReplayedMonth, replayTerms, sumReplay } from '../../src/money/replay-terms.ts';
import {
  type LineKey,
  listDealLines,
  listOpenMonths,
  listStatements,
  sumStatement,
} from '../../src/money/sum-statement.ts';
import { describeToPay } from '../../src/reports/money/statement.ts';
import { rulesOf, termsOf } from '../support/terms.ts';
import { open } from './few-orders.ts';

const RULES = rulesOf(
  [
    termsOf({ line: 2, text: 'ten', ratePercent: '10' }),
    termsOf({ line: 3, text: 'mia', dealId: null, codeFolded: 'mia', ratePercent: '15' }),
    termsOf({ line: 4, text: 'min', dealId: 'D2', ratePercent: '20', minPayout: '50', currency: 'EUR' }),
    termsOf({ line: 5, text: 'fee', fixedFee: '100', currency: 'EUR', validFrom: '2025-03-05' }),
    termsOf({
      line: 6,
      text: 'of code',
      dealId: null,
      codeFolded: 'mia',
      fixedFee: '7',
      currency: 'USD',
      validFrom: '2025-03-01',
    }),
    termsOf({ line: 7, dealId: 'DX', fixedFee: '9', currency: 'EUR', validFrom: '2025-03-31' }),
    termsOf({ line: 8, fixedFee: '1', currency: 'EUR', validFrom: '2025-04-01' }),
    termsOf({ line: 9, dealId: null, excludedSkus: ['gift-*'] }),
    termsOf({ line: 10, text: 'four', dealId: 'D4', ratePercent: '10' }),
  ],
  { returnWindowDays: 10 },
);

/** A shop whose February is closed, and whose order 1 has been refunded in part since. */
async function openMarch(): Promise<Database> {
  const db = await open(
    {
      at: '2025-02-10T23:59:59Z',
      lines: [
        ['gift-1', '40'],
        ['shirt', '60'],
      ],
    },
    { at: '2025-03-01', code: 'Mia', total: 50, lines: [['shirt', '50']] },
    { at: '2025-03-21', total: 80, lines: [['shirt', '80']] },
    { at: '2025-03-22', total: 90, lines: [['shirt', '90']] },
    { at: '2025-03-02', deal: 'D2', lines: [['shirt', '100']] },
    { at: '2025-03-02', total: 200, currency: 'USD', lines: [['shirt', '1']] },
    { at: '2025-03-03', deal: 'D3', total: 40, lines: [['shirt', '1']] },
    { at: '2025-03-03', total: 30, refunded: 31, lines: [['shirt', '1']] },
    { at: '2025-03-04', total: 20 },
    { at: '2025-02-18', total: 12, lines: [['shirt', '12']] },
    { at: '2025-03-05', deal: 'D4', total: 10, lines: [['shirt', '10']] },
    // Nothing is left of it, so it earns nothing, whatever was bought.
    { at: '2025-03-06', total: 5, refunded: 5 },
    { at: '2025-03-26', total: 5, refunded: 5 },
  );
  await sql`update ledger.entries set brand_id = 'B1', collab_id = 'C1' where deal_id = 'D1'`.execute(db);
  await sql`update intake.attributions set influencer_handle = 'mia' where target = 'deal:D1'`.execute(db);
  const closed = await inTransaction(db, (trx) =>
    closeStatement(trx, { month: '2025-02', rules: RULES, closedBy: 'jane', reason: 'paid' }),
  );
  expect(closed).toMatchObject({ kind: 'closed', lines: 2 });
  await sql`update intake.orders set refunded = 50 where order_id = '1'`.execute(db);
  return db;
}

/** Every value of a row, in its order. */
const told = (row: object): string =>
  Object.values(row)
    .map((value: unknown) => (value === null ? '-' : Array.isArray(value) ? value.join(',') : String(value)))
    .join(' ');

/** kind, subject, entry, source, platform, order, day, due, deal, collaboration, brand, creator, currency, sent, net, excluded, rate, from, lines, text, earned, before, amount. */
const LINES = [
  'correction order:1 1 shop shopify 1 2025-02-10 2025-02-20 D1 C1 B1 mia EUR 100.0000 50.0000 20.0000 10 deal 2 line 2: ten 3.0000 6.0000 -3.0000',
  'fixed_fee fee:deal D1:2025-03-05 - - - - - 2025-03-05 D1 - - - EUR - - - - - 5 line 5: fee 100.0000 0.0000 100.0000',
  'order order:2 2 shop shopify 2 2025-03-01 2025-03-11 D1 C1 B1 mia EUR 50.0000 50.0000 - 15 code 3 line 3: mia 7.5000 0.0000 7.5000',
  'order order:3 3 shop shopify 3 2025-03-21 2025-03-31 D1 C1 B1 mia EUR 80.0000 80.0000 - 10 deal 2 line 2: ten 8.0000 0.0000 8.0000',
  'order order:6 6 shop shopify 6 2025-03-02 2025-03-12 D1 C1 B1 mia USD 200.0000 200.0000 - 10 deal 2 line 2: ten 20.0000 0.0000 20.0000',
  'order order:11 11 shop shopify 11 2025-03-05 2025-03-15 D4 - - - EUR 10.0000 10.0000 - 10 deal 10 line 10: four 1.0000 0.0000 1.0000',
  'fixed_fee fee:code mia:2025-03-01 - - - - - 2025-03-01 - - - - USD - - - - - 6 line 6: of code 7.0000 0.0000 7.0000',
];
/** reason, deal, creator, currency, orders, those that are due, net, earned. */
const UNCOUNTED = [
  'pending D1 mia EUR 1 0 90.0000 9.0000',
  'unknown_lines D1 mia EUR 1 1 20.0000 -',
  'unknown_net D1 mia EUR 1 1 - -',
  'unknown_rate D3 - EUR 1 1 40.0000 -',
];
const CARRIED = [
  { dealId: 'D2', influencerHandle: null, currency: 'EUR', amount: '20.0000', minimum: '50.0000' },
];
const UNKNOWN_FEES = [{ dealId: 'DX', code: null, dueOn: '2025-03-31', currency: 'EUR', amount: '9.0000' }];
const MARCH = { month: '2025-03', rules: RULES };
/** Rates of the days of one line in dollars, of the day after, and of another currency. */
const EXCHANGE = {
  reportingCurrency: 'EUR',
  rates: [
    { currency: 'USD', day: '2025-03-12', rate: '0.9' },
    { currency: 'USD', day: '2025-03-13', rate: '7' },
    { currency: 'GBP', day: '2025-03-12', rate: '5' },
  ],
};
const OPEN = {
  month: '2025-03',
  closed: null,
  exchange: null,
  timeZone: 'UTC',
  returnWindowDays: 10,
  held: [],
};

it('a statement has each line whole, and a reason for each order, deal and fee that is in none', async () => {
  const db = await openMarch();
  for (const kept of [false, true]) {
    if (kept) await keepEarnings(db, { rules: RULES });
    const { lines, uncounted, ...rest } = await readStatement(db, MARCH);
    expect(lines.map(told), kept ? 'kept' : 'computed').toEqual(LINES);
    expect(uncounted.map(told)).toEqual(UNCOUNTED);
    expect(rest).toEqual({ ...OPEN, carried: CARRIED, unknownFees: UNKNOWN_FEES });
    // Of one deal, it has what belongs to that deal.
    const ofDeal = await readStatement(db, { ...MARCH, dealId: 'D2' });
    expect([ofDeal.lines, ofDeal.uncounted, ofDeal.carried, ofDeal.unknownFees]).toEqual([
      [],
      [],
      CARRIED,
      [],
    ]);
    const first = await readStatement(db, { ...MARCH, dealId: 'D1' });
    expect(first.lines.map(told)).toEqual(LINES.slice(0, 5));
    expect(first.uncounted.map(told)).toEqual(UNCOUNTED.slice(0, 3));

    const {
      deals,
      currencies,
      days,
      uncounted: reasons,
      uncountedSums,
      ...sums
    } = await sumStatement(db, { ...MARCH, limit: 10, withDays: true });
    // deal, creator, currency, orders, net, commission, corrections, fees, amount.
    const sumOf = ({ dealId, influencerHandle, currency, orders, ...of }: (typeof deals)[number]) =>
      told([
        dealId,
        influencerHandle,
        currency,
        orders,
        of.netAmount,
        of.commission,
        of.corrections,
        of.fees,
        of.amount,
      ]);
    const byDeal = [
      'D1 mia EUR 2 130.0000 15.5000 -3.0000 100.0000 112.5000',
      'D4 - EUR 1 10.0000 1.0000 - - 1.0000',
      '- - USD 0 - - - 7.0000 7.0000',
      'D1 mia USD 1 200.0000 20.0000 - - 20.0000',
    ];
    expect(deals.map(sumOf)).toEqual(byDeal);
    expect(currencies).toEqual([
      { currency: 'EUR', lines: 5, amount: '113.5000' },
      { currency: 'USD', lines: 2, amount: '27.0000' },
    ]);
    expect(days.map(({ currency, dueOn, amount }) => told([currency, dueOn, amount]))).toEqual([
      ...['EUR 2025-02-20 -3.0000', 'EUR 2025-03-05 100.0000', 'EUR 2025-03-11 7.5000'],
      'EUR 2025-03-15 1.0000',
      ...['EUR 2025-03-31 8.0000', 'USD 2025-03-01 7.0000', 'USD 2025-03-12 20.0000'],
    ]);
    const reasonOf = ({
      why,
      dealId,
      influencerHandle,
      currency,
      orders,
      dueOrders,
      netAmount,
      earnedAmount,
    }: (typeof reasons)[number]) =>
      told([why, dealId, influencerHandle, currency, orders, dueOrders, netAmount, earnedAmount]);
    expect(reasons.map(reasonOf)).toEqual(UNCOUNTED);
    expect(uncountedSums.map((one) => told([one.why, one.currency, one.orders, one.netAmount]))).toEqual([
      ...[
        'pending EUR 1 90.0000',
        'unknown_lines EUR 1 20.0000',
        'unknown_net EUR 1 -',
        'unknown_rate EUR 1 40.0000',
      ],
    ]);
    expect(sums).toEqual({ ...OPEN, carried: CARRIED, unknownFees: UNKNOWN_FEES });
    // A page begins after a deal. Sums of all deals stay those of all, in one currency if one is asked for.
    const page = async (given: object) => {
      const of = await sumStatement(db, { ...MARCH, limit: 1, ...given });
      return [
        of.deals.map(sumOf),
        of.currencies.map(({ currency, lines }) => `${currency} ${lines}`),
        of.days,
      ];
    };
    const [ofBoth, ofUsd] = [['EUR 5', 'USD 2'], ['USD 2']];
    const [mia, four, fee, inUsd] = byDeal;
    expect(await page({})).toEqual([[mia, fee, inUsd], ofBoth, []]);
    expect(await page({ after: 'C' })).toEqual([[mia, inUsd], ofBoth, []]);
    expect(await page({ after: 'D1' })).toEqual([[four], ['EUR 5'], []]);
    expect(await page({ after: 'D4' })).toEqual([[], [], []]);
    expect(await page({ currency: 'USD' })).toEqual([[fee, inUsd], ofUsd, []]);
    expect(await page({ currency: 'USD', after: '' })).toEqual([[inUsd], ofUsd, []]);
    expect(await page({ dealId: 'D1' })).toEqual([[mia, inUsd], ['EUR 4', 'USD 1'], []]);

    const linesFrom = async (after: LineKey | null, dealId = 'D1') =>
      (await listDealLines(db, { ...MARCH, dealId, limit: 2, after })).map(told);
    expect(await linesFrom(null)).toEqual(LINES.slice(0, 2));
    const second = {
      currency: 'EUR',
      dueOn: '2025-03-05',
      kind: 'fixed_fee',
      subject: 'fee:deal D1:2025-03-05',
    } as const;
    expect(await linesFrom(second)).toEqual(LINES.slice(2, 4));
    expect(await linesFrom({ ...second, dueOn: '2025-03-31' })).toEqual(LINES.slice(3, 5));
    expect(await linesFrom(null, 'D2')).toEqual([]);
  }
  expect(await listOpenMonths(db, { limit: 2 })).toEqual([
    // Those of March are in its own amount.
    { month: '2025-04', orders: 1, amount: '9.0000', currency: 'EUR', unknownOrders: 0 },
    { month: '2025-03', orders: 4, amount: '33.5000', currency: 'EUR', unknownOrders: 3 },
  ]);
  // One that counts in April is in the amount of April, also if it was placed in March.
  await sql`update reporting.deal_earnings set due_month = '2025-04-01' where standing = 'unknown_rate'`.execute(
    db,
  );
  const unknown = async (limit: number) =>
    (await listOpenMonths(db, { limit })).map((one) => `${one.month} ${one.currency} ${one.unknownOrders}`);
  expect(await unknown(2)).toEqual(['2025-04 EUR 1', '2025-03 EUR 2']);
  expect(await unknown(1)).toEqual(['2025-04 EUR 1']);
  // What counts in a month without an amount of its own is in the next one.
  await sql`update reporting.deal_earnings set due_month = '2025-02-01' where standing = 'unknown_rate'`.execute(
    db,
  );
  expect(await unknown(2)).toEqual(['2025-04 EUR 0', '2025-03 EUR 3']);
  await sql`delete from reporting.deal_earnings where due_month <= '2025-03-01' and standing in ('new', 'correction')`.execute(
    db,
  );
  expect(await unknown(2)).toEqual(['2025-04 EUR 3']);
});

it('a month comes to at least its amount by the unknown orders that count in it, not by those that can be returned', async () => {
  const db = await openMarch();
  await sql`update intake.orders set placed_at = '2025-03-28' where order_id = '9'`.execute(db);
  const mayPay = { unknownFees: [] };
  for (const kept of [false, true]) {
    if (kept) await keepEarnings(db, { rules: RULES });
    for (const [month, due, said] of [
      ['2025-03', 0, '1.00 EUR'],
      ['2025-04', 1, 'at least 1.00 EUR, 1 order unknown'],
    ] as const) {
      const whole = await readStatement(db, { month, rules: RULES });
      const sums = await sumStatement(db, { month, rules: RULES, limit: 10 });
      for (const uncounted of [whole.uncounted, sums.uncounted, sums.uncountedSums]) {
        const lines = uncounted.filter(({ why }) => why === 'unknown_lines');
        expect(lines, `${month} ${kept}`).toMatchObject([{ orders: 1, dueOrders: due }]);
        expect(describeToPay([{ amount: '1', currency: 'EUR' }], { ...mayPay, uncounted: lines })).toBe(said);
      }
    }
  }
});

it('a closed statement is read as it was closed, whole or by deal, whatever came later', async () => {
  const db = await openMarch();
  const march = await inTransaction(db, (trx) =>
    closeStatement(trx, { ...MARCH, exchange: EXCHANGE, closedBy: 'ann', reason: 'mail to x@shop.example' }),
  );
  if (march.kind !== 'closed') throw new Error('it was not closed');
  await sql`update intake.orders set refunded = 0 where order_id = '1'`.execute(db);
  // What is carried forward is what it was, too.
  await sql`update intake.orders set refunded = 10 where order_id = '5'`.execute(db);
  const closed = await readClosed(db, '2025-03');
  expect(closed?.lines.map(told)).toEqual(LINES);
  const { lines: _, exchange, ...rest } = closed ?? { lines: [], exchange: null };
  // The rates are those of the days of its lines; a line whose day has none has no rate.
  expect([exchange?.reportingCurrency, exchange?.rates.map(told).toSorted()]).toEqual([
    'EUR',
    [
      ...['02-20', '03-05', '03-11'].map((day) => `2025-${day} 1.000000000000 EUR`),
      '2025-03-12 0.900000000000 USD',
      ...['03-15', '03-31'].map((day) => `2025-${day} 1.000000000000 EUR`),
    ],
  ]);
  const { exchange: _none, ...open } = OPEN;
  expect(rest).toEqual({
    ...open,
    carried: CARRIED,
    unknownFees: [],
    uncounted: [],
    closed: { statementId: march.statementId, by: 'ann', at: expect.any(Date), hash: march.hash },
  });
  expect((await readClosed(db, '2025-03', 'D1'))?.lines.map(told)).toEqual(LINES.slice(0, 5));
  expect(await readClosed(db, '2025-03', 'D1')).toMatchObject({ carried: [], lines: { length: 5 } });
  expect(await readClosed(db, '2025-03', 'D2')).toMatchObject({ carried: CARRIED, lines: [] });
  expect(await readClosed(db, '2025-04')).toBeNull();
  const sums = await sumStatement(db, { ...MARCH, limit: 1, after: 'C', withDays: true });
  expect([sums.deals.map(({ amount }) => amount), sums.currencies, sums.uncounted, sums.unknownFees]).toEqual(
    [
      ...[
        ['112.5000', '20.0000'],
        [
          { currency: 'EUR', lines: 5, amount: '113.5000' },
          { currency: 'USD', lines: 2, amount: '27.0000' },
        ],
      ],
      ...[[], []],
    ],
  );
  expect([sums.carried, sums.exchange?.reportingCurrency]).toEqual([CARRIED, 'EUR']);
  // Without the days, nothing is converted.
  const withoutDays = await sumStatement(db, { ...MARCH, limit: 1, dealId: 'D1' });
  expect([withoutDays.carried, withoutDays.exchange, withoutDays.days]).toEqual([[], null, []]);
  expect((await listDealLines(db, { ...MARCH, dealId: 'D1', limit: 9 })).map(told)).toEqual(
    LINES.slice(0, 5),
  );
  const months = async (given: object) =>
    (await listStatements(db, { limit: 9, ...given })).map(({ month, lines, amounts, by, reason, hash }) =>
      told([month, lines, ...amounts.map(told), by, reason, hash.length]),
    );
  const [february, newest] = [
    '2025-02 2 7.2000 EUR jane paid 64',
    '2025-03 7 113.5000 EUR 27.0000 USD ann mail to x***@*** 64',
  ];
  expect(await months({})).toEqual([newest, february]);
  expect(await months({ limit: 1 })).toEqual([newest]);
  expect(await months({ after: '2025-03' })).toEqual([february]);

  // What was closed to nobody who is known is corrected to the creator who has the deal by now.
  await sql`
    insert into intake.codes (job, line_no, code, code_folded, influencer_handle, handle_folded, deal_id, target)
    values ('orders', 1, 'DAN', 'dan', 'dan', 'dan', 'D4', '')`.execute(db);
  await sql`update intake.orders set refunded = 5 where order_id = '11'`.execute(db);
  const { lines: corrections } = await readStatement(db, { ...MARCH, month: '2025-04' });
  expect(
    corrections
      .filter(({ kind }) => kind === 'correction')
      .map((one) => told([one.subject, one.influencerHandle, one.amount])),
  ).toEqual(['order:1 mia 3.0000', 'order:11 dan -0.5000']);

  // It is closed once, no earlier month is closed after it, and none before it is over.
  const closing = (month: string) =>
    inTransaction(db, (trx) =>
      closeStatement(trx, { month, rules: RULES, closedBy: 'eve', reason: 'again' }),
    );
  expect(await closing('2025-03')).toEqual({ kind: 'closed_already', by: 'ann', at: expect.any(Date) });
  expect(await closing('2025-01')).toEqual({ kind: 'later_is_closed', month: '2025-03' });
  for (const month of [new Date().toISOString().slice(0, 7), '9998-12'])
    expect(await closing(month)).toEqual({ kind: 'month_not_over' });
  // Whatever is changed in spite of the triggers, the statement is named, and the next one if its link is broken.
  const broken = (...statements: string[]) => statements.map((month) => expect.objectContaining({ month }));
  const ofMarch = sql`where statement_id = ${march.statementId}`;
  for (const [change, statements, names] of [
    [sql`select 1`, 2, []],
    [sql`update ops.statement_lines set terms_text = 'x' ${ofMarch} and line_no = 1`, 2, ['2025-03']],
    [sql`update ops.statement_lines set excluded_amount = 1 ${ofMarch} and line_no = 1`, 2, ['2025-03']],
    [sql`update ops.statement_lines set exchange_rate = 2 ${ofMarch} and line_no = 1`, 2, ['2025-03']],
    [sql`update ops.statement_lines set deal_id = 'DZ' where line_no = 1`, 2, ['2025-02', '2025-03']],
    [
      sql`delete from ops.statement_lines where statement_id <> ${march.statementId} and line_no = 2`,
      2,
      ['2025-02'],
    ],
    [sql`update ops.statements set reporting_currency = 'USD' ${ofMarch}`, 2, ['2025-03']],
    [sql`update ops.statements set carried = null ${ofMarch}`, 2, ['2025-03']],
    [sql`update ops.statements set month = '2025-04-01' ${ofMarch}`, 2, ['2025-04']],
    [sql`update ops.statements set lines = lines + 1 ${ofMarch}`, 2, ['2025-03']],
    [sql`update ops.statements set hash = 'x' ${ofMarch}`, 2, ['2025-03']],
    [sql`update ops.statements set hash = 'x'`, 2, ['2025-02', '2025-03']],
    [sql`delete from ops.statements where statement_id <> ${march.statementId}`, 1, ['2025-03']],
  ] as const)
    await unlessDryRun(db, true, async (trx) => {
      for (const table of ['statements', 'statement_lines'])
        await sql`alter table ${sql.table(`ops.${table}`)} disable trigger all`.execute(trx);
      await change.execute(trx);
      expect(await verifyStatements(trx)).toEqual({ statements, broken: broken(...names) });
    });
});

it('a month is open with what no closed one has, at the earliest after the last closed one, and with what is unknown until then', async () => {
  const db = await open();
  const rows = [
    // Standing, deal, currency, months of the orders and in which they are due, orders, earned, closed.
    ['new', 'D1', 'EUR', 1, 2, 2, 20, 0],
    ['correction', 'D1', 'EUR', 1, 1, 1, 5, 8],
    ['new', 'D2', 'USD', 3, 3, 1, 7, 0],
    ['nothing', 'D1', 'EUR', 1, 2, 3, 0, 0],
    ['unknown_rate', 'D1', 'EUR', 2, 2, 4, 0, 0],
    ['unknown_net', 'D1', 'EUR', 3, 3, 1, 0, 0],
    ['unknown_rate', 'D2', 'USD', 1, 1, 2, 0, 0],
  ] as const;
  for (const [standing, deal, currency, ordered, due, orders, earned, closed] of rows)
    await sql`
      insert into reporting.deal_earnings (deal_id, currency, standing, ordered_month, due_month, influencer_handle, orders, net_amount,
        earned_amount, closed_amount)
      values (${deal}, ${currency}, ${standing}, make_date(2025, ${ordered}, 1), make_date(2025, ${due}, 1), '', ${orders}, 0, ${earned},
        ${closed})`.execute(db);
  const months = async (limit: number) => (await listOpenMonths(db, { limit })).map(told);
  // Month, orders, amount, currency, and orders of which it is unknown what they earned until the end of the month.
  const [march, february] = ['2025-03 1 7.0000 USD 2', '2025-02 2 20.0000 EUR 4'];
  expect(await months(9)).toEqual([march, february, '2025-01 0 -3.0000 EUR 0']);
  expect(await months(2)).toEqual([march, february]);
  for (const month of [1, 2])
    await sql`
      insert into ops.statements (month, time_zone, return_window_days, lines, closed_by, reason, previous_hash, hash)
      values (make_date(2025, ${month}, 1), 'UTC', 0, 0, 'jane', 'x', '', ${String(month)})`.execute(db);
  expect(await months(9)).toEqual(['2025-03 2 17.0000 EUR 5', march]);
});

it('the statement for a creator has what is about one deal: whose it is, what people call its orders, and what was said before', async () => {
  const db = await openMarch();
  await sql`
    insert into mirror.known_deals (deal_id, first_way, ways) select unnest(array['D1', 'D3', 'DZ']), 'list', array['list']`.execute(
    db,
  );
  await sql`
    insert into mirror.deal_versions (deal_id, influencer_handle, brand_id, raw, row_hash, valid_from, first_seen_at, run_id)
    values ('D1', 'mia.now', 'B9', '{}', '', now(), now(), 1), ('D3', null, 'B8', '{}', '', now(), now(), 1),
      ('DZ', 'zoe', null, '{}', '', now(), now(), 1)`.execute(db);
  await sql`
    insert into mirror.brand_versions (brand_id, name, raw, row_hash, valid_from, first_seen_at, seen_at, run_id)
    values ('B9', 'Nine', '{}', '', now(), now(), now(), 1), ('B1', 'One', '{}', '', now(), now(), now(), 1)`.execute(
    db,
  );
  const owners = [
    ...[
      ['D1', 'ben'],
      ['D2', 'eva'],
      ['D2', 'ida'],
      ['D3', '@Cleo'],
      ['D3', 'cleo'],
      ['D4', ''],
    ],
    ...[
      ['D4', 'dan'],
      ['DX', 'max'],
    ],
  ];
  for (const [line, [deal, handle = '']] of owners.entries())
    await sql`
      insert into intake.codes (job, line_no, code, code_folded, influencer_handle, handle_folded, deal_id, target)
      values ('orders', ${line}, ${String(line)}, ${String(line)}, ${handle}, ledger.fold_handle(${handle}), ${deal}, '')`.execute(
      db,
    );
  await sql`update intake.orders set order_name = '#' || order_id where order_id in ('2', '6', '4')`.execute(
    db,
  );
  // A former version, and the order of another source with the same id.
  await sql`
    insert into intake.orders (order_version_id, source, order_id, order_name, source_file_id, is_current, content_hash, group_key, currency,
      line_no, record_no, row_count) overriding system value
    values (91, 'shop', '3', 'former', 2, false, '', '', 'EUR', 1, 1, 1), (92, 'web', '3', 'other', 3, true, '', '', 'EUR', 1, 1, 1)`.execute(
    db,
  );
  await sql`
    insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, run_id)
    select entry_id, 'held', amount, amount, currency, '', 1 from ledger.entries where order_id in ('4', '7')`.execute(
    db,
  );
  const read = async (
    dealId: string,
    month = '2025-03',
    { rules = RULES, creator = null }: { rules?: typeof RULES | null; creator?: string | null } = {},
  ) => {
    const found = await readCreatorStatement(db, { month, dealId, creator, rules });
    if (found === null) return null;
    const { statement, orderNames, earlier, former, formerCreators, hasMoved, ...whose } = found;
    return {
      whose: Object.values(whose).join(' '),
      lines: statement.lines.map(told),
      former,
      formerCreators,
      hasMoved,
      held: statement.held.map(told),
      orderNames: [...orderNames],
      earlier: [...earlier],
    };
  };
  const before = { subject: 'order:1', netAmount: '100.0000', ratePercent: '10' };
  // What is new is of the creator whom the mirror knows, and a fee of that brand. A correction is of the one of before.
  const lines = LINES.slice(0, 5).map((one) =>
    one.replace('D1 - - - EUR', 'D1 - B9 mia.now EUR').replace(/^(order .* D1 C1 B1) mia /, '$1 mia.now '),
  );
  const isCorrection = (one: string) => one.startsWith('correction');
  const march = {
    whose: 'D1 mia.now B9 Nine',
    held: ['D1 EUR 1 90.0000'],
    formerCreators: ['mia'],
    hasMoved: false,
    former: null,
    lines: lines.filter((one) => !isCorrection(one)),
    orderNames: [
      ['2', '#2'],
      ['6', '#6'],
    ],
    earlier: [],
  };
  expect(await read('D1')).toEqual(march);
  const ofMia = {
    whose: 'D1 mia B9 Nine',
    held: [],
    formerCreators: ['mia'],
    hasMoved: true,
    orderNames: [],
    former: 'mia',
    lines: lines.filter(isCorrection),
    earlier: [['order:1', before]],
  };
  expect(await read('D1', '2025-03', { creator: '@Mia' })).toEqual(ofMia);
  expect(await read('D1', '2025-03', { creator: 'mia.now' }), 'of today').toEqual(march);
  expect(await read('D1', '2025-03', { creator: 'dan' }), 'of another deal').toBeNull();
  const none = {
    lines: [],
    held: [],
    former: null,
    formerCreators: [],
    hasMoved: false,
    orderNames: [],
    earlier: [],
  };
  expect(await read('D2'), 'of two creators').toEqual({ ...none, whose: 'D2   ' });
  expect(await read('D3')).toMatchObject({
    whose: expect.stringMatching(/^D3 @?cleo B8 $/i),
    held: ['D3 EUR 1 40.0000'],
  });
  expect(await read('D4')).toMatchObject({
    whose: 'D4 dan  ',
    lines: LINES.filter((one) => one.includes(' D4 ')).map((one) => one.replace('D4 - - -', 'D4 - - dan')),
  });
  expect(await read('DZ'), 'without an order').toEqual({ ...none, whose: 'DZ zoe  ' });
  expect(await read('DX'), 'that only codes name').toMatchObject({
    whose: 'DX max  ',
    lines: [expect.stringContaining('DX - - max EUR')],
  });
  expect(await read('D9'), 'that nothing names').toBeNull();
  await expect(read('D1', '2025-03', { rules: null })).rejects.toThrow('cannot be read without its rules');

  // Once it is closed, it says whose the deal was then, without the rules of today.
  await inTransaction(db, (trx) => closeStatement(trx, { ...MARCH, closedBy: 'ann', reason: 'x' }));
  await sql`update mirror.deal_versions set influencer_handle = 'eve', brand_id = 'B1'`.execute(db);
  await sql`update intake.orders set refunded = 60 where order_id = '1'`.execute(db);
  expect(await read('D1', '2025-03', { rules: null })).toEqual({ ...march, held: [], hasMoved: true });
  expect(await read('D1', '2025-03', { rules: null, creator: 'mia' })).toEqual(ofMia);
  // What is open has the creator of today, and of two statements before it, the last one counts.
  expect(await read('D1', '2025-04')).toMatchObject({ whose: 'D1 eve B1 One' });
  expect(await read('D1', '2025-04', { creator: 'mia' })).toMatchObject({
    earlier: [['order:1', { ...before, netAmount: '50.0000' }]],
  });
  expect(await read('D2', '2025-02', { rules: null }), 'a closed one without the deal').toMatchObject({
    whose: 'D2   ',
  });
  expect(await readCreatorStatement(db, { month: '2025-02', dealId: 'D1', rules: null })).toMatchObject({
    brandId: 'B1',
    brandName: null,
    earlier: new Map(),
  });
  // A month before a closed one is in that one.
  for (const month of ['2025-01', '2024-12'])
    await expect(refuseContained(db, month)).rejects.toMatchObject({
      message: `The statement of 2025-02 is closed, and it includes the orders of ${month}.`,
      details: {
        code: 'statement_contained',
        exitCode: 2,
        where: month,
        safe: 'Nothing was changed.',
        help: 'See it with  npx influencer-sync statement --month 2025-02',
      },
    });
  for (const month of ['2025-02', '2025-03', '2025-04'])
    expect(await refuseContained(db, month)).toBeUndefined();
});

it('terms are replayed by month, and by deal in all months, with what today and the draft leave unknown', async () => {
  const db = await openMarch();
  const draft = rulesOf(
    [
      ...[termsOf({ ratePercent: '20' }), termsOf({ line: 3, dealId: 'D3', ratePercent: '10' })],
      ...['2025-03-01', '2025-04-01'].map((validFrom, index) =>
        termsOf({
          line: 4 + index,
          dealId: null,
          codeFolded: 'mia',
          fixedFee: '7',
          currency: 'USD',
          validFrom,
        }),
      ),
    ],
    { returnWindowDays: 10 },
  );
  const said = ({ today, draft: other, ...of }: Omit<ReplayedMonth, 'month'>) =>
    told([...Object.values(of), ...Object.values(today), '|', ...Object.values(other)]);
  const replay = (from: string, to: string) => replayTerms(db, { today: RULES, draft, from, to });
  // Month, deal, code, creator, currency, orders, today and the draft, each with what is unknown.
  const march = [
    '2025-03 D1 - mia EUR 5 115.5000 2 | 30.0000 1',
    '2025-03 D1 - mia USD 1 20.0000 0 | 40.0000 0',
    '2025-03 D2 - - EUR 1 20.0000 0 | 0.0000 1',
    '2025-03 D3 - - EUR 1 0.0000 1 | 4.0000 0',
    '2025-03 D4 - - EUR 1 1.0000 0 | 0.0000 1',
    '2025-03 DX - - EUR 0 0.0000 1 | 0.0000 0',
    '2025-03 - mia - USD 0 7.0000 0 | 7.0000 0',
  ];
  expect((await replay('2025-03', '2025-03')).map(said)).toEqual(march);
  const all = await replay('2025-02', '2025-04');
  expect(all.map(said)).toEqual([
    '2025-02 D1 - mia EUR 2 4.2000 0 | 12.4000 0',
    ...march,
    '2025-04 D1 - mia EUR 2 10.0000 0 | 18.0000 0',
    '2025-04 - mia - USD 0 0.0000 0 | 7.0000 0',
  ]);
  // A month may name no creator.
  const unnamed = all.map((row) => ({
    ...row,
    influencerHandle: row.month === '2025-03' ? row.influencerHandle : null,
  }));
  for (const months of [all, unnamed])
    expect(sumReplay(months).map(said)).toEqual([
      'D1 - mia EUR 9 129.7000 2 | 60.4000 1',
      'D1 - mia USD 1 20.0000 0 | 40.0000 0',
      ...march.slice(2, -1).map((row) => row.slice('2025-03 '.length)),
      '- mia - USD 0 7.0000 0 | 14.0000 0',
    ]);
});

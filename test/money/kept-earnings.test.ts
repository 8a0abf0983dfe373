import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { closedTo, findKept, keepEarnings } from '../../src/money/kept-earnings.ts';
import { readStatement } from '../../src/money/read-statement.ts';
import type { Terms } from '../../src/money/statement.ts';
import { sumStatement } from '../../src/money/sum-statement.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { keepAccruals } from '../../src/reports/payments/accruals.ts';
import { setup } from '../support/setup.ts';
import { rulesOf, termsOf } from '../support/terms.ts';
import { countBlocked, waitFor } from '../support/wait-for.ts';
import { addedUp, compare, type History, MONTHS, perform, type Step, toTerms } from './earnings-history.ts';

it('a month with nothing to accrue has a row, so that the month before it is not the last', async () => {
  const { db } = await setup();
  await keepAccruals(db, { rules: rulesOf([]), payments: { from: null } });
  const { rows } = await sql`select state, currency, accrued_amount::float8 from bi.accruals`.execute(db);
  expect(rows).toEqual([{ state: 'nothing', currency: null, accrued_amount: 0 }]);
});

it('accruals that another process has kept later are not replaced by what was known before', async () => {
  const { db } = await setup();
  const keep = () => keepAccruals(db, { rules: rulesOf([]), payments: { from: null } });
  const isWaiting = async () => {
    const { rows } = await sql`
      select from pg_locks where relation = 'reporting.accruals'::regclass and not granted`.execute(db);
    return rows.length > 0;
  };
  const other = await db.startTransaction().execute();
  await sql`lock table reporting.accruals in share row exclusive mode`.execute(other);
  const kept = keep();
  await waitFor(isWaiting);
  await sql`
    insert into reporting.accruals (at_end_of, standing, currency, orders, amount, kept_at)
    select date_trunc('month', now() at time zone 'UTC') - interval '1 month', 'closed', 'EUR', 0, 7,
      clock_timestamp()`.execute(other);
  await other.commit().execute();
  await kept;
  const { rows } = await sql`select state, accrued_amount::float8 from bi.accruals`.execute(db);
  expect(rows).toEqual([{ state: 'closed', accrued_amount: 7 }]);
});

/** D1 earns 10 %, D2 nothing but a fee, D4 nothing for gifts, MIA 20 %, and D3 what the service says. */
const TERMS = [
  { of: 'D1', rate: 10, fee: null, sku: null, month: '2025-01' },
  { of: 'D2', rate: 0, fee: 9, sku: null, month: '2025-01' },
  { of: 'D4', rate: 10, fee: null, sku: 'gift-*', month: '2025-01' },
  { of: 'MIA', rate: 20, fee: null, sku: null, month: '2025-01' },
].map(toTerms);
const RULES = rulesOf(TERMS);

const order = (given: Partial<Extract<Step, { kind: 'order' }>>): Step => ({
  kind: 'order',
  dealId: 'D1',
  collabId: null,
  currency: 'EUR',
  code: null,
  handle: 'mia',
  state: 'accepted',
  hasLines: true,
  dayNo: 3,
  amount: 1_000,
  ...given,
});
/** At least one order of each standing in January. */
const ORDERS: readonly Step[] = [
  order({ code: 'MIA' }),
  order({ handle: null, dayNo: 5, amount: 200 }),
  order({ dealId: 'D2', currency: 'JPY', code: 'BEN', handle: 'ben', amount: 5_000 }),
  order({ dealId: 'D3', collabId: 'C1', handle: 'ben' }),
  order({ dealId: 'D4', hasLines: false }),
  order({ dealId: null, currency: 'JPY' }),
  order({ dealId: 'D4', currency: 'JPY', amount: 999 }),
  order({ state: 'in_doubt' }),
  order({ dayNo: 40, amount: 300 }),
  order({ dealId: 'D3', collabId: 'C2', dayNo: 60 }),
];

async function open(): Promise<{
  readonly db: Database;
  readonly happens: (...steps: Step[]) => Promise<void>;
}> {
  const { db } = await setup();
  await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
  const history: History = { orders: 0, versions: 0, rates: 0, closed: -1, terms: TERMS };
  const happens = async (...steps: Step[]) => {
    for (const step of steps) await perform(db, step, history);
  };
  await happens(...ORDERS, { kind: 'rate', collabId: 'C1', rate: 15, dayNo: 0 });
  return { db, happens };
}
const keep: Step = { kind: 'keep' };

describe('the kept earnings of orders', () => {
  it('give each statement, sum and page as all orders do, while orders, rates and closed months change', async () => {
    const { db, happens } = await open();
    const isSame = async (month: string) => {
      expect(await compare(db, RULES, month), 'kept earnings are used').toBe(1);
    };
    await happens(keep);
    const restated = { dayNo: 5, code: null, outcome: 'attributed', isOtherCurrency: false } as const;
    await happens(
      { kind: 'adjust', of: 0, amount: 700 },
      // It earns nothing before and after.
      { kind: 'adjust', of: 2, amount: 4_000 },
      { kind: 'restate', of: 1, ...restated, refunded: -1 },
      { kind: 'accept', of: 7 },
      // One without a deal, so that no heading says to whom it was closed, and one that comes to nothing.
      order({ dealId: null, code: 'MIA', dayNo: 4 }),
      order({ dayNo: 6, amount: 0 }),
      { kind: 'rate', collabId: 'C1', rate: 30, dayNo: 1 },
      { kind: 'rate', collabId: 'C2', rate: 5, dayNo: 1 },
      { kind: 'unlink', of: 6 },
    );
    await isSame('2025-01');
    await happens(keep);
    expect(await addedUp(db)).toEqual([]);
    await happens(
      { kind: 'close' },
      keep,
      { kind: 'revenue', revenue: 'total' },
      { kind: 'adjust', of: 0, amount: null },
      { kind: 'restate', of: 3, ...restated, code: 'MIA', refunded: 3 },
      { kind: 'adjust', of: 8, amount: 400, isElsewhere: true },
      { kind: 'restate', of: 9, ...restated, dayNo: 2, outcome: 'held', refunded: null },
    );
    await isSame('2025-02');
    await happens(keep);
    await isSame('2025-02');
    expect(await addedUp(db)).toEqual([]);
    const { rows } = await sql<{ entry_id: string; standing: string }>`
      select entry_id, standing from reporting.order_earnings order by entry_id`.execute(db);
    expect(rows.map(({ entry_id: id, standing }) => `${id} ${standing}`)).toEqual([
      ...['1 correction', '2 unknown_net', '3 nothing', '4 correction', '5 unknown_lines', '6 unknown_rate'],
      ...['8 settled', '9 new', '10 new', '11 settled', '12 nothing'],
    ]);
  });

  it('were closed to the creator of the heading, else of the line, if all that name one name the same', async () => {
    const { db } = await setup();
    for (const [lines, wanted] of [
      [[['mia', null]], 'mia'],
      [[['mia', 'ben']], 'ben'],
      [
        [
          ['mia', 'Ben'],
          ['ben', null],
          [null, null],
          ['', null],
        ],
        'Ben',
      ],
      [
        [
          ['@Mia', null],
          ['mia', null],
        ],
        '@Mia',
      ],
      [
        [
          ['mia', 'ben'],
          ['mia', null],
        ],
        null,
      ],
      [
        [
          ['', null],
          [null, null],
        ],
        null,
      ],
      [[], null],
    ] as const) {
      const { rows } = await sql<{ handle: string | null }>`
        select ${closedTo} as handle from unnest(
          ${lines.map(([line]) => line)}::text[], ${lines.map(([, heading]) => heading)}::text[]) x(line, heading)
        cross join lateral (select x.line as influencer_handle) l cross join lateral (select x.heading as influencer_handle) h`.execute(
        db,
      );
      expect([lines, rows]).toEqual([lines, [{ handle: wanted }]]);
    }
  });

  it('are computed again for the collaboration whose rate an event tells, and once more when the mirror has read its deal', async () => {
    const { db, happens } = await open();
    const ratesOf = async () => {
      expect(
        await inTransaction(db, (trx) => findKept(trx, { month: '2025-01', rules: RULES })),
      ).not.toBeNull();
      await happens(keep);
      const { rows } = await sql<{ rate: string }>`
        select coalesce(rate_percent::text, standing) as rate from reporting.order_earnings where deal_id = 'D3' order by entry_id`.execute(
        db,
      );
      return rows.map(({ rate }) => rate);
    };
    await happens({ kind: 'rate', collabId: 'C2', rate: 5, dayNo: 0 }, { kind: 'read', dayNo: 1 }, keep);
    expect(await ratesOf()).toEqual(['15', '5']);
    await happens({ kind: 'told', collabId: 'C1', rates: [15, 20], dayNo: 2 });
    expect(await ratesOf()).toEqual(['unknown_change', '5']);
    await happens({ kind: 'told', collabId: 'C1', rates: [20, 15], dayNo: 2.5 });
    await happens({ kind: 'told', collabId: 'C2', rates: [5, 9], dayNo: 50 });
    expect(await ratesOf()).toEqual(['unknown_change', 'unknown_change']);
    // It reads the rate that it read before, to which the events lead, too.
    await happens({ kind: 'read', dayNo: 10 });
    expect(await ratesOf()).toEqual(['15', 'unknown_change']);
    // An event that names no collaboration may be about each one, until the mirror has read the deal.
    await happens({ kind: 'rate', collabId: 'C2', rate: 9, dayNo: 52 }, { kind: 'read', dayNo: 52 });
    expect(await ratesOf()).toEqual(['15', '9']);
    await happens({ kind: 'told', collabId: null, rates: [9, 9], dayNo: 59 });
    expect(await ratesOf()).toEqual(['unknown_change', 'unknown_change']);
    await happens({ kind: 'read', dayNo: 70 });
    expect(await ratesOf()).toEqual(['15', '9']);
  });

  it('are computed again with other rules, and with the same ones only for orders that changed', async () => {
    const { db, happens } = await open();
    await happens(keep);
    const stored = async () => {
      const { rows } = await sql<{ id: string; version: string; earned: string | null }>`
        select entry_id as id, xmin::text as version, trim_scale(earned_amount)::text as earned
        from reporting.order_earnings order by entry_id`.execute(db);
      return rows;
    };
    const before = await stored();
    expect(before.map(({ earned }) => earned)).toEqual(
      // Those of 5, 6 and 10 are unknown, and 8 is in doubt. Of 7, 25 of 28 is a gift: 892 of 999.
      ['200', '20', '0', '150', null, null, '11', '30', null],
    );
    // By the same rules, nothing is noted again.
    const noted = async () => {
      const { rows } =
        await sql`select last_value from pg_sequences where sequencename like 'changed_earnings%'`.execute(
          db,
        );
      return rows;
    };
    const last = await noted();
    await happens(keep);
    expect([last.length, await noted()]).toEqual([1, last]);
    await happens({ kind: 'rate', collabId: 'C1', rate: 30, dayNo: 1 }, keep);
    const after = await stored();
    expect(after.filter(({ version }, at) => version !== before[at]?.version)).toMatchObject([
      { id: '4', earned: '300' },
    ]);
    const double = rulesOf(TERMS.map((row) => (row.dealId === 'D1' ? { ...row, ratePercent: '20' } : row)));
    await keepEarnings(db, { rules: double });
    expect((await stored()).map(({ earned }) => earned)).toEqual([
      '200',
      '40',
      '0',
      '300',
      null,
      null,
      '11',
      '60',
      null,
    ]);
  });

  it('are used only with the rules by which they were kept, after all closed months, and with few changes', async () => {
    const { db, happens } = await open();
    await happens(keep);
    const find = (given: { month?: string; rules?: typeof RULES } = {}) =>
      inTransaction(db, (trx) => findKept(trx, { month: '2025-02', rules: RULES, ...given }));
    expect(await find()).toEqual({ hasChanges: false });
    for (const rules of [
      { ...RULES, returnWindowDays: 15 },
      { ...RULES, timeZone: 'Europe/Paris' },
      { ...RULES, terms: [] },
      { ...RULES, customersSince: { shop: '2025-01-01' } },
      ...[
        { cap: '5', currency: 'EUR' },
        { ratePercent: '5', customer: 'new' },
        { flat: '5', currency: 'EUR' },
      ].map((given) => ({ ...RULES, terms: [...TERMS, termsOf({ line: 9, ...given } as Partial<Terms>)] })),
    ])
      expect(await find({ rules }), JSON.stringify(rules.terms.at(-1))).toBeNull();
    // Fees are not kept, so another one changes nothing.
    expect(await find({ rules: rulesOf(TERMS.map((row) => ({ ...row, fixedFee: null }))) })).not.toBeNull();
    await happens({ kind: 'close' });
    expect(await find()).toEqual({ hasChanges: true });
    const usable = async () => Promise.all(['2024-12', '2025-01', '2025-02'].map((month) => find({ month })));
    expect(await usable()).toEqual([null, null, { hasChanges: true }]);
    await sql`truncate reporting.changed_earnings`.execute(db);
    const change = (times: number) =>
      sql`insert into reporting.changed_earnings (entry_id) select 1 from generate_series(1, ${times}::integer)`.execute(
        db,
      );
    await change(20_000);
    expect(await find()).toEqual({ hasChanges: true });
    await change(1);
    expect(await find()).toBeNull();
    // A step takes 20,000 changes.
    let steps = 0;
    const onStep = () => {
      steps += 1;
    };
    await keepEarnings(db, { rules: RULES, onStep });
    expect([steps, await find()]).toEqual([2, { hasChanges: false }]);
  });

  it('are updated by one process at a time', async () => {
    const { db } = await open();
    const holder = await db.startTransaction().execute();
    await sql`select from reporting.refresh for update`.execute(holder);
    const keeping = keepEarnings(db, { rules: RULES });
    await waitFor(async () => (await countBlocked(db)) > 0);
    await holder.rollback().execute();
    await keeping;
    const count = async () => (await sql`select from reporting.order_earnings`.execute(db)).rows.length;
    expect(await count()).toBe(9);
  });
});

describe('the sums of a month', () => {
  it('have the deals page by page in the order of their ids, those without a deal first', async () => {
    const { db, happens } = await open();
    await happens(keep);
    const month = MONTHS[1] ?? '';
    const page = async (given: { limit: number; after?: string; currency?: string }) => {
      const { deals, currencies } = await sumStatement(db, { month, rules: RULES, ...given });
      return [
        deals.map(({ dealId, currency, amount }) => `${dealId} ${Number(amount)} ${currency}`),
        currencies.map(({ currency, lines, amount }) => `${lines}: ${Number(amount)} ${currency}`),
      ];
    };
    const all = ['5: 409 EUR', '1: 11 JPY'];
    expect(await page({ limit: 9 })).toEqual([['D1 250 EUR', 'D2 9 EUR', 'D3 150 EUR', 'D4 11 JPY'], all]);
    expect(await page({ limit: 1 })).toEqual([['D1 250 EUR', 'D4 11 JPY'], all]);
    expect(await page({ limit: 1, after: 'D1' })).toEqual([['D2 9 EUR', 'D4 11 JPY'], all]);
    expect(await page({ limit: 9, currency: 'JPY' })).toEqual([['D4 11 JPY'], ['1: 11 JPY']]);
    const { uncounted, unknownFees } = await readStatement(db, { month, rules: RULES });
    expect(
      uncounted.map(
        ({ why, dealId, orders, netAmount, earnedAmount }) =>
          `${why} ${dealId}: ${orders}, ${Number(netAmount)}, ${earnedAmount}`,
      ),
    ).toEqual(['unknown_lines D4: 1, 1000, null', 'unknown_rate null: 1, 1000, null']);
    expect(unknownFees).toEqual([]);
    // Of each reason, those without a deal come last.
    const march = await sumStatement(db, { month: MONTHS[2] ?? '', rules: RULES, limit: 1 });
    expect(march.uncounted.map(({ why, dealId }) => `${why} ${dealId}`)).toEqual([
      'unknown_lines D4',
      'unknown_rate D3',
    ]);
    // What may still be returned when the month ends is not counted in it, and is said.
    const late = { code: 'MIA', dayNo: 27, amount: 70 };
    await happens(order({ ...late, dealId: 'D0' }), order({ ...late, code: null }), keep);
    const january = await sumStatement(db, { month: MONTHS[0] ?? '', rules: RULES, limit: 9 });
    expect(january.uncountedSums.map(({ why, currency, orders }) => `${why} ${currency} ${orders}`)).toEqual([
      ...['pending EUR 2', 'unknown_lines EUR 1', 'unknown_rate JPY 1'],
    ]);
    expect(
      january.uncounted.map(
        ({ why, dealId, orders, netAmount }) => `${why} ${dealId} ${orders} ${Number(netAmount)}`,
      ),
    ).toEqual(['pending D0 1 70', 'pending D1 1 70', 'unknown_lines D4 1 1000', 'unknown_rate null 1 1000']);
    // A deal without a line takes no place of one that has some.
    const [first] = (await sumStatement(db, { month: MONTHS[0] ?? '', rules: RULES, limit: 1 })).deals;
    expect([first?.dealId, first?.currency]).toEqual(['D1', 'EUR']);
  });

  it('have no exchange rates once it is closed, if no currency was configured for its total', async () => {
    const { db, happens } = await open();
    await happens({ kind: 'close' });
    const { closed, exchange, lines } = await readStatement(db, { month: MONTHS[0] ?? '', rules: RULES });
    expect([closed?.by, exchange, lines.length]).toEqual(['test', null, 5]);
  });
});

import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { keepEarnings } from '../../src/money/kept-earnings.ts';
import { readStatement } from '../../src/money/read-statement.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { setup } from '../support/setup.ts';
import { rulesOf, termsOf } from '../support/terms.ts';
import { addedUp, compare, MONTHS, perform, type Step, toTerms } from './earnings-history.ts';
import { addMany } from './few-orders.ts';

const CURRENCIES = ['EUR', 'JPY'] as const;
const DEALS = ['D1', 'D2', 'D3', 'D4', null] as const;
const COLLABS = ['C1', 'C2', null] as const;

const amount = fc.integer({ min: 0, max: 20_000 });
const dayNo = fc.integer({ min: 0, max: 70 });
const anOrder = {
  dealId: fc.constantFrom(...DEALS),
  collabId: fc.constantFrom(...COLLABS),
  currency: fc.constantFrom(...CURRENCIES),
  code: fc.constantFrom('MIA', 'BEN', null),
  handle: fc.constantFrom('mia', 'ben', null),
  state: fc.constantFrom<('accepted' | 'in_doubt')[]>('accepted', 'accepted', 'accepted', 'in_doubt'),
  hasLines: fc.boolean(),
  dayNo,
  amount,
};
const someTerms = fc.array(
  fc.record({
    of: fc.constantFrom('D1', 'D2', 'MIA', 'BEN', ''),
    rate: fc.integer({ min: 0, max: 40 }),
    fee: fc.option(fc.integer({ min: 1, max: 9 })),
    sku: fc.option(fc.constantFrom('gift-*', 'shirt')),
    cap: fc.option(fc.integer({ min: 0, max: 400 }), { freq: 1 }),
    fromOrders: fc.option(fc.integer({ min: 2, max: 5 }), { freq: 1 }),
    month: fc.constantFrom(...MONTHS.slice(0, 6)),
  }),
  { maxLength: 5 },
);
/** Everything earns something at first, so that histories are about amounts. */
const FIRST_TERMS = ['D1', 'D2', 'D3', 'D4'].map((of, index) =>
  toTerms({ of, rate: 10, fee: null, sku: null, month: '2025-01' }, index),
);
const kindOf = <const Kind extends string>(kind: Kind) => fc.constant(kind);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: kindOf('order'), ...anOrder }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: kindOf('adjust'),
      of: fc.nat(),
      amount: fc.option(amount, { freq: 2 }),
      isHeld: fc.constantFrom(false, false, true),
      isElsewhere: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kindOf('accept'), of: fc.nat() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: kindOf('restate'),
      of: fc.nat(),
      dayNo,
      code: anOrder.code,
      outcome: fc.constantFrom<('attributed' | 'held')[]>('attributed', 'attributed', 'held'),
      isOtherCurrency: fc.constantFrom(false, false, true),
      refunded: fc.constantFrom(null, 0, 3, 5_000, -1, 30_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kindOf('revenue'),
      revenue: fc.constantFrom('total', 'subtotal', 'total_less_refunds'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kindOf('unlink'), of: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: kindOf('rate'),
      collabId: fc.constantFrom('C1', 'C2'),
      rate: fc.nat(30),
      dayNo,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kindOf('terms'), terms: someTerms }) },
  { weight: 3, arbitrary: fc.record({ kind: kindOf('close') }) },
  { weight: 6, arbitrary: fc.record({ kind: kindOf('keep') }) },
);

it('an open month taken from kept earnings is the same as computed from all orders, whatever has changed since they were kept', async () => {
  let used = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      // Each history needs its own database, because entries and adjustments are append-only.
      const { db } = await setup();
      await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
      const history = { orders: 0, versions: 0, rates: 0, closed: -1, terms: FIRST_TERMS };
      for (const [index, each] of steps.entries()) {
        await perform(db, each, history);
        if (index % 4 === 3)
          used += await compare(db, rulesOf(history.terms), MONTHS[history.closed + 1] ?? '2026-01');
      }
      await keepEarnings(db, { rules: rulesOf(history.terms) });
      used += await compare(db, rulesOf(history.terms), MONTHS[history.closed + 1] ?? '2026-01');
      expect(await addedUp(db)).toEqual([]);
    }),
    { numRuns: propertyRuns(3), endOnFailure: true },
  );
  // Otherwise the test would compare what was computed with itself.
  expect(used).toBeGreaterThan(5);
});

it('the rates of thousands of orders are found in seconds, whatever number of rows the terms have', async () => {
  const { db } = await setup();
  await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
  const orders = Array.from({ length: 4_000 }, (_, at) => ({
    dealId: `DEAL${at}`,
    codes: ['MIA'],
    dayNo: 1,
  }));
  await addMany(db, orders);
  const terms = Array.from({ length: 50_000 }, (_, at) =>
    termsOf({ line: at + 2, dealId: `DEAL${49_999 - at}`, ratePercent: '10' }),
  );
  const { lines } = await inTransaction(db, async (trx) => {
    // It takes 0.6 s. Comparing each order with each row takes more than 30 s.
    await sql`set local statement_timeout = '25s'`.execute(trx);
    return readStatement(trx, { month: '2025-12', rules: rulesOf(terms, { returnWindowDays: 0 }) });
  });
  expect(lines).toHaveLength(4_000);
});

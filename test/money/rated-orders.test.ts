import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { ratedOrders } from '../../src/money/rated-orders.ts';
import { readStatement } from '../../src/money/read-statement.ts';
import type { Terms } from '../../src/money/statement.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { setup } from '../support/setup.ts';
import { rulesOf, termsOf } from '../support/terms.ts';
import { type History, toTerms as ofStep, perform, type Step } from './earnings-history.ts';

const FIRST_DAY_MS = Date.UTC(2025, 0, 1);
const DAY_MS = 86_400_000;
const dayOf = (no: number): string => new Date(FIRST_DAY_MS + no * DAY_MS).toISOString().slice(0, 10);

const DEALS = ['D1', 'D2', 'D3'] as const;
const CODES = ['MIA', 'BEN', 'ZOE'] as const;
/** The rates that the service states for the collaboration of the third deal, and the days since when. */
const SERVED = [
  { day: 20, rate: '7' },
  { day: 40, rate: '8.5' },
] as const;

/**
 * Each row of terms is for a deal, for a code, or for everybody. The lowest rate, 0.04 %, earns a cent of 25,
 * so that no commission is rounded to 0, which has no line.
 */
const someTerms = fc.array(
  fc.record({
    of: fc.constantFrom(...DEALS, ...CODES, ''),
    rate: fc.option(fc.integer({ min: 4, max: 5_000 })),
    sku: fc.option(fc.constantFrom('gift-*', 'shirt', 'gift-1'), { freq: 2 }),
    from: fc.option(fc.integer({ min: 0, max: 60 })),
    days: fc.option(fc.integer({ min: 0, max: 30 })),
  }),
  { maxLength: 12 },
);
const someOrders = fc.array(
  fc.record({
    dealId: fc.constantFrom(...DEALS),
    codes: fc.subarray([...CODES]),
    dayNo: fc.integer({ min: 0, max: 60 }),
  }),
  { minLength: 1, maxLength: 12 },
);
type SomeOrder = { readonly dealId: string; readonly codes: readonly string[]; readonly dayNo: number };

/** The lines of every order: amounts of 25 and 75. */
const LINES = [
  ['gift-1', '25'],
  ['shirt', '75'],
] as const;

describe('the rate and the excluded products of an order', () => {
  it('are those of the rows of its codes, its deal and everybody on its day, whatever periods they have', async () => {
    const { db } = await setup();
    await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
    await fc.assert(
      fc.asyncProperty(someTerms, someOrders, async (given, orders) => {
        const terms = given.map(toTerms);
        const rows = await inTransaction(db, async (trx) => {
          await sql`savepoint fresh`.execute(trx);
          await addOrders(trx, orders);
          for (const { day, rate } of SERVED)
            await sql`
              insert into mirror.collaboration_versions (collab_id, deal_id, commission_perc, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
              values ('C3', 'D3', ${rate}, '{}', ${rate}, ${new Date(FIRST_DAY_MS + day * DAY_MS)}, ${day === 40}, now(), 1)`.execute(
              trx,
            );
          const { lines } = await readStatement(trx, {
            month: '2025-12',
            rules: rulesOf(terms, { returnWindowDays: 0 }),
          });
          await sql`rollback to savepoint fresh`.execute(trx);
          return lines;
        });
        const found = rows.map(({ orderId, ratePercent, rateFrom, excludedAmount }) => [
          ...[orderId, ratePercent, rateFrom, Number(excludedAmount ?? 0)],
        ]);
        const wanted = orders.flatMap((order, index) => {
          const { rate, from, excluded } = expectedOf(order, terms);
          // An order that earns nothing, or something unknown, has no line.
          return rate === null || excluded === 100 ? [] : [[String(index + 1), rate, from, excluded]];
        });
        expect(found.toSorted()).toEqual(wanted.toSorted());
      }),
      { numRuns: propertyRuns(40) },
    );
  });

  it.each(['-5', '100.01'])(
    'are unknown from the day on which the service states %s percent',
    async (rate) => {
      const { db } = await setup();
      await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
      await addOrders(db, [
        { dealId: 'D3', codes: [], dayNo: 10 },
        { dealId: 'D3', codes: [], dayNo: 30 },
      ]);
      for (const [day, percent] of [
        [0, '7'],
        [20, rate],
      ] as const)
        await sql`
        insert into mirror.collaboration_versions (collab_id, deal_id, commission_perc, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
        values ('C3', 'D3', ${percent}, '{}', ${percent}, ${new Date(FIRST_DAY_MS + day * DAY_MS)}, ${day === 20}, now(), 1)`.execute(
          db,
        );
      const { lines, uncounted } = await readStatement(db, {
        month: '2025-12',
        rules: rulesOf([], { returnWindowDays: 0 }),
      });
      expect(lines.map(({ orderId, amount }) => [orderId, amount])).toEqual([['1', '7.0000']]);
      expect(uncounted).toMatchObject([{ why: 'unknown_rate', orders: 1 }]);
    },
  );

  it('are found in seconds for thousands of orders and tens of thousands of rows of terms', {
    timeout: 60_000,
  }, async () => {
    const { db } = await setup();
    await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
    const orders = Array.from({ length: 4_000 }, (_, index) => ({
      dealId: `DEAL${index}`,
      codes: ['MIA'],
      dayNo: 1,
    }));
    await addOrders(db, orders);
    const terms = Array.from({ length: 50_000 }, (_, index) =>
      toTerms({ of: `DEAL${49_999 - index}`, rate: 1_000, sku: null, from: null, days: null }, index),
    );
    const lines = await inTransaction(db, async (trx) => {
      // It takes 0.6 s. Comparing each order with each row takes more than 30 s.
      await sql`set local statement_timeout = '25s'`.execute(trx);
      return readStatement(trx, {
        month: '2025-12',
        rules: rulesOf(terms, { returnWindowDays: 0 }),
      });
    });
    expect(lines.lines).toHaveLength(4_000);
  });
});

/** A step of an order, whose number is filled in. */
type Change = Omit<Extract<Step, { kind: 'adjust' }>, 'of'> | Omit<Extract<Step, { kind: 'restate' }>, 'of'>;
const adjusted = (
  amount: number | null,
  given: { isHeld?: true; isElsewhere?: true; isOfLastState?: true } = {},
): Change => ({
  ...{ kind: 'adjust', amount, ...given },
});
const restated = (given: Partial<Extract<Step, { kind: 'restate' }>>): Change => ({
  ...{
    kind: 'restate',
    dayNo: 3,
    code: 'MIA',
    outcome: 'attributed',
    isOtherCurrency: false,
    refunded: null,
    ...given,
  },
});

/** Orders of 100 EUR by MIA, what happened to them since, and what they have earned at 20 %, or why that is unknown. */
const CHANGED: readonly (readonly [what: string, changes: readonly Change[], earned: string])[] = [
  ['nothing', [], '100 × 20'],
  ['a refund', [restated({ refunded: 3 })], '97 × 20'],
  ['a refund of all', [restated({ refunded: 100 })], 'nothing'],
  ['a refund of more than the total', [restated({ refunded: 101 })], 'unknown_net'],
  ['a refund below zero', [restated({ refunded: -1 })], 'unknown_net'],
  ['another currency', [restated({ isOtherCurrency: true, refunded: 99 })], '100 × 20'],
  [
    'a refund, and then another currency',
    [restated({ refunded: 30 }), restated({ isOtherCurrency: true, refunded: 99 })],
    '70 × 20',
  ],
  ['another amount', [adjusted(60)], '60 × 20'],
  ['hardly anything', [adjusted(1)], '1 × 20'],
  [
    'less, in another currency',
    [restated({ isOtherCurrency: true }), adjusted(5, { isOfLastState: true })],
    '100 × 20',
  ],
  [
    'nothing any more, in another currency',
    [restated({ isOtherCurrency: true }), adjusted(null, { isOfLastState: true })],
    'nothing',
  ],
  ['a cancellation', [adjusted(null)], 'nothing'],
  // What counts no more is nothing, whatever is unknown of it.
  [
    'a cancellation after a refund of more than the total',
    [restated({ refunded: 101 }), adjusted(null)],
    'nothing',
  ],
  [
    'another currency, with a refund of more than the total',
    [restated({ isOtherCurrency: true, refunded: 101 })],
    '100 × 20',
  ],
  ['less, in a state that is held', [adjusted(80, { isHeld: true })], '80 × 20'],
  ['more, in a state that is held', [adjusted(150, { isHeld: true })], '100 × 20'],
  ['less, and more in a state that is held', [adjusted(60), adjusted(80, { isHeld: true })], '60 × 20'],
  ['a state that was held, and then another one', [adjusted(80, { isHeld: true }), adjusted(90)], '90 × 20'],
  [
    'less, in a state that is held, and then another currency',
    [adjusted(40, { isHeld: true }), restated({ isOtherCurrency: true }), adjusted(null, { isHeld: true })],
    '40 × 20',
  ],
  ['a state without an amount that is held', [adjusted(null, { isHeld: true })], '100 × 20'],
  ['less, according to another source', [adjusted(5, { isElsewhere: true })], '100 × 20'],
  ['held, so that any of its codes may win', [restated({ outcome: 'held' })], 'unknown_rate'],
  ['held, and no code has terms', [restated({ outcome: 'held', code: 'BEN' })], '100 × 10'],
  ['another code, without terms', [restated({ code: 'BEN' })], '100 × 10'],
  ['another code, in another currency', [restated({ code: 'BEN', isOtherCurrency: true })], 'unknown_rate'],
  [
    'no code any more, in another currency',
    [restated({ code: null, isOtherCurrency: true })],
    'unknown_rate',
  ],
];

it('an order earns its rate of what is left of it, and what is not known is not more than before', async () => {
  const { db } = await setup();
  await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
  const terms = [
    { of: 'D1', rate: 10, fee: null, sku: null, month: '2025-01' },
    { of: 'MIA', rate: 20, fee: null, sku: null, month: '2025-01' },
  ].map(ofStep);
  const history: History = { orders: 0, versions: 0, rates: 0, closed: -1, terms };
  await perform(db, { kind: 'revenue', revenue: 'total' }, history);
  // Another job reads another revenue from the same source.
  await sql`insert into intake.revenue_rules (job, source, revenue) select 'other', source, 'subtotal' from intake.revenue_rules`.execute(
    db,
  );
  for (const [, changes] of CHANGED) {
    const of = history.orders;
    const about = { dealId: 'D1', collabId: null, currency: 'EUR', code: 'MIA', handle: null } as const;
    await perform(
      db,
      { kind: 'order', ...about, state: 'accepted', hasLines: true, dayNo: 3, amount: 100 },
      history,
    );
    for (const change of changes) await perform(db, { ...change, of }, history);
  }
  const { rows } = await sql<{ id: string; said: string }>`
    with ${ratedOrders(rulesOf(terms))}
    select entry_id as id, case when net_amount is null then 'unknown_net' when net_amount = 0 then 'nothing'
      when earned_amount is null then 'unknown_rate' else trim_scale(net_amount) || ' × ' || trim_scale(rate_percent) end as said
    from earnings order by entry_id`.execute(db);
  expect(rows.map(({ id, said }) => [CHANGED[Number(id) - 1]?.[0], said])).toEqual(
    CHANGED.map(([what, , earned]) => [what, earned]),
  );
});

function toTerms(
  {
    of,
    rate,
    sku,
    from,
    days,
  }: { of: string; rate: number | null; sku: string | null; from: number | null; days: number | null },
  index: number,
): Terms {
  return termsOf({
    line: index + 2,
    dealId: of.startsWith('D') ? of : null,
    codeFolded: of === '' || of.startsWith('D') ? null : of,
    ratePercent: rate === null || of === '' ? null : String(rate / 100),
    excludedSkus: sku === null ? [] : [sku],
    validFrom: from === null ? null : dayOf(from),
    validTo: days === null ? null : dayOf((from ?? 0) + days),
  });
}

/**
 * Compares an order with each row of the terms, as docs/statements.md says. Of its codes, the last one won: its owner
 * has the deal.
 */
function expectedOf({ dealId, codes, dayNo }: SomeOrder, terms: readonly Terms[]) {
  const day = dayOf(dayNo);
  const valid = terms.filter(
    ({ validFrom, validTo }) => (validFrom ?? day) <= day && day <= (validTo ?? day),
  );
  const hasCode = (row: Terms): boolean => row.codeFolded !== null && codes.at(-1) === row.codeFolded;
  const rateBy = (isIt: (row: Terms) => boolean): string | null =>
    valid.find((row) => isIt(row) && row.ratePercent !== null)?.ratePercent ?? null;
  const byCode = rateBy(hasCode);
  const byDeal = rateBy((row) => row.dealId === dealId);
  const served = dealId === 'D3' ? SERVED[dayNo >= SERVED[1].day ? 1 : 0].rate : null;
  const skus = valid
    .filter(
      (row) => hasCode(row) || row.dealId === dealId || (row.dealId === null && row.codeFolded === null),
    )
    .flatMap(({ excludedSkus }) => excludedSkus);
  const isOut = (sku: string): boolean =>
    skus.some((one) => one === sku || (one.endsWith('*') && sku.startsWith(one.slice(0, -1))));
  return {
    rate: byCode ?? byDeal ?? served,
    from: byCode !== null ? 'code' : byDeal !== null ? 'deal' : 'service',
    excluded: LINES.reduce((sum, [sku, amount]) => sum + (isOut(sku) ? Number(amount) : 0), 0),
  };
}

async function addOrders(
  db: Parameters<typeof inTransaction>[0],
  orders: readonly SomeOrder[],
): Promise<void> {
  const given = JSON.stringify(
    orders.map(({ dealId, codes, dayNo }, index) => ({
      id: index + 1,
      deal: dealId,
      codes,
      day: dayOf(dayNo),
    })),
  );
  const each = sql`jsonb_to_recordset(${given}::jsonb) as g (id bigint, deal text, codes text[], day date)`;
  await sql`
    insert into intake.orders (order_version_id, source, order_id, source_file_id, is_current, content_hash, group_key, currency, total, placed_at,
      line_no, record_no, row_count, lines, codes, codes_folded) overriding system value
    select id, 'shop', id::text, 1, true, '', '', 'EUR', 100, day + interval '6 hours', 1, 1, 1, ${JSON.stringify(LINES)}::jsonb, codes, codes from ${each}`.execute(
    db,
  );
  await sql`
    insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, source, order_platform, order_id,
      amount, currency, deal_id, collab_id, run_id) overriding system value
    select id, 'referral', 'a', id::text, 'accepted', 1, '{}', '', 'orders', 'shop', 'shopify', id::text, 100, 'EUR', deal,
      case deal when 'D3' then 'C3' end, 1 from ${each}`.execute(db);
  await sql`
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, matched_value, target, currency, entry_id,
      is_pending, rules_hash)
    select 'orders', 'shop', id::text, id, 'attributed', case when codes = '{}' then 'link' else 'code' end, codes[cardinality(codes)],
      'deal:' || deal, 'EUR', id, false, '' from ${each}`.execute(db);
}

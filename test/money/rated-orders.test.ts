import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { ratedOrders } from '../../src/money/rated-orders.ts';
import { listHeld, readStatement } from '../../src/money/read-statement.ts';
import type { Terms } from '../../src/money/statement.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { setup } from '../support/setup.ts';
import { rulesOf, termsOf } from '../support/terms.ts';
import { type History, perform, type Step } from './earnings-history.ts';
import { addMany, DAY_MS, dayOf, FIRST_DAY_MS, LINES, type SomeOrder } from './few-orders.ts';

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

describe('the rate and the excluded products of an order', () => {
  it('are those of the rows of its codes, its deal and everybody on its day, whatever periods they have', async () => {
    const { db } = await setup();
    await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
    await fc.assert(
      fc.asyncProperty(someTerms, someOrders, async (given, orders) => {
        const terms = given.map(toTerms);
        const rows = await inTransaction(db, async (trx) => {
          await sql`savepoint fresh`.execute(trx);
          await addMany(trx, orders);
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
      { numRuns: propertyRuns(20) },
    );
  });

  it.each(['-5', '100.01'])(
    'are unknown from the day on which the service states %s percent',
    async (rate) => {
      const { db } = await setup();
      await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
      await addMany(db, [
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
});

/** A step of an order, whose number is filled in. */
type Change = Omit<Extract<Step, { kind: 'adjust' }>, 'of'> | Omit<Extract<Step, { kind: 'restate' }>, 'of'>;
const adjusted = (
  amount: number | null,
  given: Partial<Omit<Extract<Step, { kind: 'adjust' }>, 'kind' | 'amount'>> = {},
): Change => ({ kind: 'adjust', amount, ...given });
const restated = (given: Partial<Extract<Step, { kind: 'restate' }>>): Change => ({
  kind: 'restate',
  dayNo: 3,
  code: 'MIA',
  outcome: 'attributed',
  isOtherCurrency: false,
  refunded: null,
  ...given,
});

/** Its export has another currency under a new name; under the one with which it was sent, 25 are refunded. */
const RENAMED = 'another name and currency';
/** The same, and no export has it under the old name any more. */
const RENAMED_ONLY = 'only another name and currency';
/** Orders of 100 EUR by MIA, what happened to them since, and what they have earned at 20 %, or why that is unknown. */
const CHANGED: readonly (readonly [what: string, changes: readonly Change[], earned: string])[] = [
  ['nothing', [], '100 × 20 of the code'],
  ['a refund', [restated({ refunded: 3 })], '97 × 20 of the code'],
  ['a refund of all', [restated({ refunded: 100 })], 'nothing'],
  ['a refund of more than the total', [restated({ refunded: 101 })], 'unknown_net'],
  ['a refund below zero', [restated({ refunded: -1 })], 'unknown_net'],
  ['another currency', [restated({ isOtherCurrency: true, refunded: 99 })], '100 × 20 of the code'],
  [
    'a refund, and then another currency',
    [restated({ refunded: 30 }), restated({ isOtherCurrency: true, refunded: 99 })],
    '70 × 20 of the code',
  ],
  ['another amount', [adjusted(60)], '60 × 20 of the code'],
  ['another amount, twice', [adjusted(60), adjusted(30)], '30 × 20 of the code'],
  ['hardly anything', [adjusted(1)], '1 × 20 of the code'],
  [
    'less, in another currency',
    [restated({ isOtherCurrency: true }), adjusted(5, { isOfLastState: true })],
    '100 × 20 of the code',
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
    '100 × 20 of the code',
  ],
  // A state that is held takes nothing away as a whole: whether it counts no more is what a person decides.
  ['nothing, in a state that is held', [adjusted(0, { isHeld: true })], '100 × 20 of the code'],
  ['hardly anything, in a state that is held', [adjusted(1, { isHeld: true })], '1 × 20 of the code'],
  ['less, in a state that is held', [adjusted(80, { isHeld: true })], '80 × 20 of the code'],
  ['more, in a state that is held', [adjusted(150, { isHeld: true })], '100 × 20 of the code'],
  [
    'less and then more, in states that are held',
    [adjusted(70, { isHeld: true }), adjusted(80, { isHeld: true })],
    '80 × 20 of the code',
  ],
  [
    'less, and more in a state that is held',
    [adjusted(60), adjusted(80, { isHeld: true })],
    '60 × 20 of the code',
  ],
  [
    'a state that was held, and then another one',
    [adjusted(80, { isHeld: true }), adjusted(90)],
    '90 × 20 of the code',
  ],
  [
    'less, in a state that is held, and then another currency',
    [adjusted(40, { isHeld: true }), restated({ isOtherCurrency: true }), adjusted(null, { isHeld: true })],
    '40 × 20 of the code',
  ],
  ['a state without an amount that is held', [adjusted(null, { isHeld: true })], '100 × 20 of the code'],
  ['less, according to another source', [adjusted(5, { isElsewhere: true })], '100 × 20 of the code'],
  ['held, so that any of its codes may win', [restated({ outcome: 'held' })], 'unknown_rate'],
  ['held, and no code has terms', [restated({ outcome: 'held', code: 'BEN' })], '100 × 10 of the deal'],
  ['held, and a code has a rate for products', [restated({ outcome: 'held', code: 'ZOE' })], 'unknown_rate'],
  ['held, and a code has a flat amount', [restated({ outcome: 'held', code: 'EVA' })], 'unknown_rate'],
  ['held, and a code has only a fee', [restated({ outcome: 'held', code: 'IDA' })], '100 × 10 of the deal'],
  [RENAMED_ONLY, [restated({ isOtherCurrency: true, refunded: 99 })], 'unknown_net'],
  [RENAMED, [restated({ isOtherCurrency: true, refunded: 99 })], '75 × 20 of the code'],
  ['another code, without terms', [restated({ code: 'BEN' })], '100 × 10 of the deal'],
  [
    'another one to credit, by the same code',
    [adjusted(90, { isReattributed: true })],
    '90 × 20 of the code',
  ],
  [
    'another one to credit, by another code',
    [restated({ code: 'BEN' }), adjusted(90, { isReattributed: true })],
    'unknown_rate',
  ],
  [
    'another one to credit, by a link',
    [restated({ code: null }), adjusted(90, { isReattributed: true })],
    'unknown_rate',
  ],
  [
    'another one to credit, by a link beside the code that was sent',
    [restated({ isByLink: true }), adjusted(90, { isReattributed: true })],
    '90 × 10 of the deal',
  ],
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
  const ofCode = (codeFolded: string) => termsOf({ dealId: null, codeFolded });
  const [ofDeal, fee] = [
    termsOf({ line: 2, ratePercent: '10' }),
    { ...ofCode('IDA'), line: 6, fixedFee: '5', currency: 'EUR', validFrom: '2025-01-01' },
  ];
  const terms = [
    ...[ofDeal, { ...ofCode('MIA'), line: 3, ratePercent: '20' }, fee],
    { ...ofCode('ZOE'), line: 4, ratePercent: '30', onlySkus: ['box'] },
    { ...ofCode('EVA'), line: 5, flat: '5', currency: 'EUR' },
  ];
  const history: History = { orders: 0, versions: 0, rates: 0, closed: -1, terms };
  await perform(db, { kind: 'revenue', revenue: 'total' }, history);
  // Another job reads another revenue from the same source, and this one from another source.
  await sql`
    insert into intake.revenue_rules (job, source, revenue)
    values ('other', 'shop', 'total_less_refunds'), ('orders', 'web', 'total_less_refunds')`.execute(db);
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
  const [renamed, renamedOnly] = [RENAMED, RENAMED_ONLY].map((name) =>
    String(CHANGED.findIndex(([what]) => what === name) + 1),
  );
  await sql`update intake.orders set refunded = 25 where order_id = ${renamed} and is_current`.execute(db);
  await sql`update intake.orders set replaces = null where order_id in (${renamed}, ${renamedOnly}) and not is_current`.execute(
    db,
  );
  // An order of another source with the same id is another one.
  await sql`update intake.orders set source = 'web' where order_id = ${renamedOnly} and is_current`.execute(
    db,
  );
  // What another job decided of an order is not about its entry, and what another tool credited is in its statements.
  await sql`
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, target, currency, entry_id, is_pending, rules_hash)
    select 'other', source, order_id, order_version_id, outcome, 'link', target, currency, entry_id, false, ''
    from intake.attributions where order_id = '1'`.execute(db);
  const about = { dealId: 'D1', collabId: null, currency: 'EUR', code: 'MIA', handle: null } as const;
  await perform(
    db,
    { kind: 'order', ...about, state: 'accepted', hasLines: true, dayNo: 3, amount: 100 },
    history,
  );
  await perform(db, { ...adjusted(80, { isHeld: true }), of: history.orders - 1 }, history);
  await sql`update ledger.entries set attempt = 0 where entry_id = ${history.orders}`.execute(db);
  const earnedBy = async (rows: readonly Terms[]) => {
    const { rows: found } = await sql<{ id: string; said: string }>`
    with ${ratedOrders(rulesOf(rows))}
    select entry_id as id, case when net_amount is null then 'unknown_net' when net_amount = 0 and earned_amount = 0 then 'nothing'
      -- Of an unknown rate, nothing says whose it is.
      when earned_amount is null then concat_ws(' ', unknown_why, rate_percent, rate_from, terms_lines::text)
      else concat_ws(' ', trim_scale(net_amount), '×', trim_scale(rate_percent), 'of the', rate_from) end as said
    from earnings order by entry_id`.execute(db);
    return found;
  };
  const rows = await earnedBy(terms);
  expect(rows.map(({ id, said }) => [CHANGED[Number(id) - 1]?.[0], said])).toEqual(
    CHANGED.map(([what, , earned]) => [what, earned]),
  );
  // If no code has a rate, which one won decides nothing.
  expect((await earnedBy([ofDeal, fee])).filter(({ said }) => said.includes('unknown_rate'))).toEqual([]);
  // Those whose last own change is one to a state that is held are listed, with what was sent.
  const isHeld = ([, changes]: (typeof CHANGED)[number]) => {
    const own = changes.filter((change) => change.kind === 'adjust' && change.isElsewhere !== true);
    const last = own.at(-1);
    return last?.kind === 'adjust' && last.isHeld === true;
  };
  const held = CHANGED.filter(isHeld).length;
  expect(held).toBeGreaterThan(5);
  expect(await listHeld(db)).toEqual([
    { dealId: 'D1', currency: 'EUR', orders: held, sentAmount: `${held}00.0000` },
  ]);
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

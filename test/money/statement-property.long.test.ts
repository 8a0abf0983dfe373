import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { closeStatement, verifyStatements } from '../../src/money/close-statement.ts';
import { readStatement } from '../../src/money/read-statement.ts';
import type { StatementRules, Terms } from '../../src/money/statement.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { setup } from '../support/setup.ts';
import { termsOf, rulesOf as withRules } from '../support/terms.ts';

/** Minor units of each currency: cents of euros, whole yen, thousandths of dinars. */
const DIGITS = { EUR: 2, JPY: 0, KWD: 3 } as const;
type Currency = keyof typeof DIGITS;

/** An order in the model of this test. Amounts are in ten-thousandths, rates in hundredths of a percent. */
type Order = {
  readonly dealId: string;
  readonly currency: Currency;
  readonly dayNo: number;
  /** The order lines; null if the export does not contain them. */
  readonly lines: readonly (readonly [sku: string, amount: bigint])[] | null;
  net: bigint;
};

/** Products that earn nothing, by deal. The empty key applies to all deals. */
type Exclusions = ReadonlyMap<string, readonly string[]>;

/**
 * Conditions of the first two deals: D1 has a rate from an order on, another one for the days 30 to 49, which are its first
 * ones, and a minimum payout in euros. D2 has a cap in euros.
 */
type Conditions = {
  readonly tier: { readonly fromOrders: number; readonly rate: number; readonly of: 'month' | 'all' } | null;
  readonly firstRate: number | null;
  readonly minimum: bigint | null;
  readonly cap: bigint | null;
};
const BEGAN = 30;
const FIRST_DAYS = 20;
const CAP_LINE = 12;

const RETURN_WINDOW_DAYS = 14;
const MONTHS = Array.from({ length: 12 }, (_, index) => `2025-${String(index + 1).padStart(2, '0')}`);
const FIRST_DAY_MS = Date.UTC(2025, 0, 1);
const DAY_MS = 86_400_000;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('order' as const),
      dealId: fc.constantFrom('D1', 'D1', 'D2', 'D2', 'D3'),
      currency: fc.constantFrom<Currency[]>('EUR', 'EUR', 'EUR', 'JPY', 'KWD'),
      dayNo: fc.integer({ min: 0, max: 75 }),
      amount: fc.bigInt({ min: 0n, max: 10_000_000n }),
      lines: fc.option(
        fc.array(
          fc.tuple(
            fc.constantFrom('gift-1', 'gift-22', 'shirt', ''),
            fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 5_000_000n })),
          ),
          { minLength: 1, maxLength: 3 },
        ),
        { freq: 8 },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('exclude' as const),
      of: fc.constantFrom('', 'D1', 'D2'),
      skus: fc.constantFrom([], ['gift-*'], ['gift-22', 'none'], ['shirt', 'gift-1*']),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('conditions' as const),
      tier: fc.option(
        fc.record({
          fromOrders: fc.integer({ min: 2, max: 3 }),
          rate: fc.integer({ min: 0, max: 5_000 }),
          of: fc.constantFrom('month' as const, 'all' as const),
        }),
        { freq: 3 },
      ),
      firstRate: fc.option(fc.integer({ min: 0, max: 5_000 })),
      minimum: fc.option(fc.bigInt({ min: 1n, max: 300n }).map((euros) => euros * 10_000n)),
      cap: fc.option(fc.bigInt({ min: 0n, max: 60n }).map((euros) => euros * 10_000n)),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('adjust' as const),
      order: fc.nat(),
      amount: fc.option(fc.bigInt({ min: 0n, max: 10_000_000n })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('rate' as const),
      dealId: fc.constantFrom('D1', 'D2'),
      rate: fc.integer({ min: 0, max: 5_000 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('close' as const), months: fc.constantFrom(1, 1, 1, 2) }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Orders on the days before and in which the first days of D1 begin and end. */
const EDGES: Step[] = [
  ...[BEGAN - 1, BEGAN, BEGAN + FIRST_DAYS - 1, BEGAN + FIRST_DAYS].map((dayNo) => ({
    kind: 'order' as const,
    dealId: 'D1' as const,
    currency: 'EUR' as const,
    dayNo,
    amount: 1_000_000n,
    lines: null,
  })),
  { kind: 'close', months: 2 },
  { kind: 'close', months: 1 },
];

it('all closed lines of an order add up to its earnings, whatever is refunded, excluded, late or closed in any order, and whatever conditions the terms get', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 50 }), async (steps) => {
      // Each history needs its own database, because entries and adjustments are append-only.
      const { db } = await setup();
      await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
      await sql`
        insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, deal_id, run_id, state_changed_at)
          overriding system value
        values (1000, 'create_deal', 'a', 'd1', 'accepted', 1, '{}', '', 'deals', 'D1', 1, ${new Date(FIRST_DAY_MS + BEGAN * DAY_MS)})`.execute(
        db,
      );
      const orders: Order[] = [];
      let conditions: Conditions = {
        tier: { fromOrders: 3, rate: 2_000, of: 'all' },
        firstRate: 1_500,
        minimum: null,
        cap: 500_000n,
      };
      // The rate of the third deal is unknown.
      const rates = new Map([
        ['D1', 1_000],
        ['D2', 1_250],
      ]);
      const exclusions = new Map<string, readonly string[]>();
      let closed = -1;
      let before: Readonly<Record<string, bigint>> = {};
      for (const each of steps) {
        if (each.kind === 'order') {
          orders.push({ ...each, net: each.amount });
          await addOrder(db, orders.length, { ...each });
        } else if (each.kind === 'adjust') {
          const order = orders[each.order % Math.max(1, orders.length)];
          if (order === undefined) continue;
          await adjust(db, orders.indexOf(order) + 1, {
            from: order.net,
            to: each.amount,
            currency: order.currency,
          });
          order.net = each.amount ?? 0n;
        } else if (each.kind === 'rate') rates.set(each.dealId, each.rate);
        else if (each.kind === 'exclude') exclusions.set(each.of, each.skus);
        else if (each.kind === 'conditions') conditions = each;
        else {
          closed = Math.min(MONTHS.length - 1, closed + each.months);
          const month = MONTHS[closed] ?? '';
          const rules = rulesOf(rates, exclusions, conditions);
          const open = await readStatement(db, { month, rules });
          const end = await inTransaction(db, (trx) =>
            closeStatement(trx, { month, rules, closedBy: 'test', reason: 'test' }),
          );
          if (end.kind !== 'closed') {
            expect([end.kind, closed]).toEqual(['closed_already', MONTHS.length - 1]);
            continue;
          }
          expect((await readStatement(db, { month, rules })).lines).toEqual(open.lines);
          const known = await knownBefore(db);
          before = expected(orders, { month, rates, exclusions, conditions, known, before });
          expect(await sums(db)).toEqual(before);
          await eachLineCanBeChecked(db);
        }
      }
      expect((await verifyStatements(db)).broken).toEqual([]);
    }),
    { numRuns: propertyRuns(4), examples: [[EDGES]], endOnFailure: true },
  );
});

/** Recalculates each line: net revenue less the excluded amount, times the rate, rounded once. */
async function eachLineCanBeChecked(db: Database): Promise<void> {
  const { rows } = await sql<
    Record<'net' | 'excluded' | 'rate' | 'earned', string> & { currency: Currency; isCapped: boolean }
  >`
    select (net_amount * 10000)::bigint as net, (coalesce(excluded_amount, 0) * 10000)::bigint as excluded,
      coalesce(rate_percent * 100, 0)::integer as rate, (earned_amount * 10000)::bigint as earned, currency, ${CAP_LINE} = any (terms_lines) as "isCapped"
    from ops.statement_lines where entry_id is not null`.execute(db);
  for (const { net, excluded, rate, earned, currency, isCapped } of rows) {
    const uncapped = share(BigInt(net) - BigInt(excluded), [BigInt(rate), 10_000n], currency);
    if (isCapped) expect(uncapped).toBeGreaterThan(BigInt(earned));
    else expect(uncapped).toBe(BigInt(earned));
  }
}

function rulesOf(
  rates: ReadonlyMap<string, number>,
  exclusions: Exclusions,
  { tier, firstRate, minimum, cap }: Conditions,
): StatementRules {
  const terms = ['', ...rates.keys()].map((dealId, index): Terms => {
    const rate = rates.get(dealId);
    return termsOf({
      line: index + 2,
      dealId: dealId === '' ? null : dealId,
      ratePercent: rate === undefined ? null : (rate / 100).toFixed(2),
      excludedSkus: exclusions.get(dealId) ?? [],
    });
  });
  const percent = (rate: number): string => (rate / 100).toFixed(2);
  const conditional: readonly (Partial<Terms> | null)[] = [
    tier && { line: 9, ratePercent: percent(tier.rate), fromOrders: tier.fromOrders, tier: tier.of },
    firstRate === null ? null : { line: 10, ratePercent: percent(firstRate), firstDays: FIRST_DAYS },
    minimum === null ? null : { line: 11, currency: 'EUR', minPayout: decimal(minimum) },
    cap === null ? null : { line: CAP_LINE, dealId: 'D2', currency: 'EUR', cap: decimal(cap) },
  ];
  return withRules([...terms, ...conditional.flatMap((row) => (row === null ? [] : termsOf(row)))], {
    returnWindowDays: RETURN_WINDOW_DAYS,
  });
}

/** The month in which an order is due, from 0. */
function dueMonthOf({ dayNo }: Order): number {
  return new Date(FIRST_DAY_MS + (dayNo + RETURN_WINDOW_DAYS) * DAY_MS).getUTCMonth();
}

/** What each order earns, in ten-thousandths. Null: it is unknown. Undefined: it has no rate. */
function earningsOf(
  orders: readonly Order[],
  {
    rates,
    exclusions,
    conditions: { tier, firstRate, cap },
  }: {
    readonly rates: ReadonlyMap<string, number>;
    readonly exclusions: Exclusions;
    readonly conditions: Conditions;
  },
): ReadonlyMap<Order, bigint | null> {
  const earned = new Map<Order, bigint | null>();
  const counts = new Map<string, number>();
  const paid = new Map<string, bigint>();
  const idOf = (order: Order): string => String(orders.indexOf(order) + 1);
  const inTurn = orders.toSorted(
    (one, other) => one.dayNo - other.dayNo || (idOf(one) < idOf(other) ? -1 : 1),
  );
  for (const order of inTurn) {
    const { dealId, dayNo, net, currency } = order;
    const month = dueMonthOf(order);
    const turn = `${dealId} ${tier?.of === 'month' ? month : ''}`;
    const before = counts.get(turn) ?? 0;
    if (net > 0n) counts.set(turn, before + 1);
    const base = rates.get(dealId);
    if (base === undefined) continue;
    const isFirst = dayNo >= BEGAN && dayNo < BEGAN + FIRST_DAYS;
    const hasTier = tier !== null && before >= tier.fromOrders - 1;
    const rate =
      dealId !== 'D1' ? base : isFirst && firstRate !== null ? firstRate : hasTier ? tier.rate : base;
    const excluded = excludedOf(order, exclusions);
    const uncapped = excluded === null ? null : share(net - excluded, [BigInt(rate), 10_000n], currency);
    if (cap === null || dealId !== 'D2' || uncapped === null) earned.set(order, uncapped);
    else if (currency !== 'EUR') earned.set(order, uncapped === 0n ? 0n : null);
    else {
      const soFar = paid.get(String(month)) ?? 0n;
      paid.set(String(month), soFar + uncapped);
      const left = cap > soFar ? cap - soFar : 0n;
      earned.set(order, uncapped < left ? uncapped : left);
    }
  }
  return earned;
}

/**
 * Returns the earnings, in ten-thousandths, of each order that counts by the end of the month. Orders that
 * earned nothing are omitted.
 */
function expected(
  orders: readonly Order[],
  {
    month,
    rates,
    exclusions,
    conditions,
    known,
    before,
  }: {
    readonly month: string;
    readonly rates: ReadonlyMap<string, number>;
    readonly exclusions: Exclusions;
    readonly conditions: Conditions;
    /** Subjects of closed lines. */
    readonly known: ReadonlySet<string>;
    /**
     * Totals of the earlier statements. They remain in force for an order whose earnings have become unknown.
     */
    readonly before: Readonly<Record<string, bigint>>;
  },
): Record<string, bigint> {
  const nextMonthMs = Date.UTC(2025, Number(month.slice(5)), 1);
  const earnings = earningsOf(orders, { rates, exclusions, conditions });
  const counted = orders.flatMap((order, index) => {
    const amount = earnings.get(order);
    const dueMs = FIRST_DAY_MS + (order.dayNo + RETURN_WINDOW_DAYS) * DAY_MS;
    const subject = `order:${index + 1}`;
    if (amount === undefined || (dueMs >= nextMonthMs && !known.has(subject))) return [];
    const closed = before[subject] ?? 0n;
    return [{ order, subject, closed, earned: amount ?? closed }];
  });
  const ofMinimum = counted.filter(({ order }) => order.dealId === 'D1' && order.currency === 'EUR');
  const sum = ofMinimum.reduce((total, { earned, closed }) => total + earned - closed, 0n);
  const isCarried = conditions.minimum !== null && sum >= 0n && sum < conditions.minimum;
  return Object.fromEntries(
    counted.flatMap((one) => {
      const amount = isCarried && ofMinimum.includes(one) ? one.closed : one.earned;
      return amount === 0n ? [] : [[one.subject, amount]];
    }),
  );
}

/** Returns the part of an order that earns nothing. Null if it is unknown because the order lines are. */
function excludedOf({ dealId, lines, net, currency }: Order, exclusions: Exclusions): bigint | null {
  const skus = [...(exclusions.get('') ?? []), ...(exclusions.get(dealId) ?? [])];
  if (skus.length === 0 || net === 0n) return 0n;
  if (lines === null) return null;
  const isOut = (sku: string): boolean =>
    skus.some((one) => (one.endsWith('*') ? sku.startsWith(one.slice(0, -1)) : sku === one));
  const sum = (some: typeof lines): bigint => some.reduce((total, [, amount]) => total + amount, 0n);
  const out = lines.filter(([sku]) => isOut(sku));
  if (out.length === lines.length) return net;
  if (sum(lines) === 0n) return 0n;
  const excluded = share(net, [sum(out), sum(lines)], currency);
  return excluded < net ? excluded : net;
}

/** Returns a share of an amount, rounded to a minor unit. Halves are rounded up. */
function share(amount: bigint, [part, whole]: readonly [bigint, bigint], currency: Currency): bigint {
  const unit = 10n ** BigInt(4 - DIGITS[currency]);
  return ((amount * part * 2n + whole * unit) / (2n * whole * unit)) * unit;
}

async function sums(db: Database): Promise<Record<string, bigint>> {
  const { rows } = await sql<{ subject: string; amount: string }>`
    select subject, (sum(amount) * 10000)::bigint as amount from ops.statement_lines group by 1 having sum(amount) <> 0`.execute(
    db,
  );
  return Object.fromEntries(rows.map(({ subject, amount }) => [subject, BigInt(amount)]));
}

async function knownBefore(db: Database): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ subject: string }>`select distinct subject from ops.statement_lines`.execute(
    db,
  );
  return new Set(rows.map(({ subject }) => subject));
}

function decimal(tenThousandths: bigint): string {
  const digits = String(tenThousandths).padStart(5, '0');
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

async function addOrder(
  db: Database,
  id: number,
  order: {
    readonly dealId: string;
    readonly currency: Currency;
    readonly dayNo: number;
    readonly amount: bigint;
    readonly lines: Order['lines'];
  },
): Promise<void> {
  const amount = decimal(order.amount);
  const lines = order.lines && JSON.stringify(order.lines.map(([sku, cents]) => [sku, decimal(cents)]));
  const placedAt = new Date(FIRST_DAY_MS + order.dayNo * DAY_MS + 3_600_000);
  await sql`
    insert into intake.orders (order_version_id, source, order_id, source_file_id, is_current, content_hash, group_key, currency, total, placed_at,
      line_no, record_no, row_count, lines) overriding system value
    values (${id}, 'shop', ${String(id)}, 1, true, '', '', ${order.currency}, ${amount}, ${placedAt}, 1, 1, 1, ${lines}::jsonb)`.execute(
    db,
  );
  await sql`
    insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, source, order_platform, order_id,
      amount, currency, deal_id, run_id) overriding system value
    values (${id}, 'referral', 'a', ${String(id)}, 'accepted', 1, '{}', '', 'orders', 'shop', 'shopify', ${String(id)}, ${amount},
      ${order.currency}, ${order.dealId}, 1)`.execute(db);
  await sql`
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, target, currency, entry_id, is_pending, rules_hash)
    values ('orders', 'shop', ${String(id)}, ${id}, 'attributed', 'code', ${`deal:${order.dealId}`}, ${order.currency}, ${id}, false, '')`.execute(
    db,
  );
}

async function adjust(
  db: Database,
  id: number,
  { from, to, currency }: { readonly from: bigint; readonly to: bigint | null; readonly currency: Currency },
): Promise<void> {
  await sql`
    insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, run_id)
    values (${id}, ${to === null ? 'cancelled' : 'changed'}, ${decimal(from)}, ${to === null ? null : decimal(to)}, ${currency}, '', 1)`.execute(
    db,
  );
}

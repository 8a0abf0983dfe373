import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { type DatabaseTransaction, inTransaction } from '../../src/db/in-transaction.ts';
import { closeStatement } from '../../src/money/close-statement.ts';
import { keepEarnings } from '../../src/money/keep-earnings.ts';
import { earnedOrders, findKept, type Kept, keptColumns } from '../../src/money/kept-earnings.ts';
import { readStatement } from '../../src/money/read-statement.ts';
import type { StatementRules, Terms } from '../../src/money/statement.ts';
import { listDealLines, sumStatement } from '../../src/money/sum-statement.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { setup } from '../support/setup.ts';

vi.setConfig({ testTimeout: 180_000 });

const MONTHS = Array.from({ length: 12 }, (_, index) => `2025-${String(index + 1).padStart(2, '0')}`);
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
  state: fc.constantFrom('accepted', 'accepted', 'accepted', 'in_doubt'),
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
    month: fc.constantFrom(...MONTHS.slice(0, 6)),
  }),
  { maxLength: 5 },
);
/** Everything earns something at first, so that histories are about amounts. */
const FIRST_TERMS = ['D1', 'D2', 'D3', 'D4'].map((of, index) =>
  toTerms({ of, rate: 10, fee: null, sku: null, month: '2025-01' }, index),
);
const kindOf = <const Kind extends string>(kind: Kind) => fc.constant(kind);
const step = fc.oneof(
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
      outcome: fc.constantFrom('attributed', 'attributed', 'held'),
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
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

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

type History = { orders: number; versions: number; rates: number; closed: number; terms: readonly Terms[] };

async function perform(db: Database, each: Step, history: History): Promise<void> {
  const idOf = (of: number) => (of % Math.max(1, history.orders)) + 1;
  history.versions += 1;
  if (each.kind === 'order') {
    history.orders += 1;
    await addOrder(db, history.orders, { ...each, versionId: history.versions });
  } else if (each.kind === 'terms') history.terms = each.terms.map(toTerms);
  else if (each.kind === 'keep') await keepEarnings(db, { rules: rulesOf(history.terms) });
  else if (each.kind === 'close') {
    const month = MONTHS[history.closed + 1];
    if (month === undefined) return;
    history.closed += 1;
    const closing = await inTransaction(db, (trx) =>
      closeStatement(trx, { month, rules: rulesOf(history.terms), closedBy: 'test', reason: 'test' }),
    );
    expect(closing.kind).toBe('closed');
  } else if (each.kind === 'rate') {
    history.rates += 1;
    await sql`
      insert into mirror.collaboration_versions (collab_id, deal_id, commission_perc, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
      values (${each.collabId}, 'D3', ${each.rate}, '{}', ${String(history.rates)}, ${placedAt(each.dayNo)}::timestamptz + ${history.rates} * interval '1 second',
        false, now(), 1)`.execute(db);
  } else if (each.kind === 'revenue')
    await sql`
      insert into intake.revenue_rules (job, source, revenue) values ('orders', 'shop', ${each.revenue})
      on conflict (job, source) do update set revenue = excluded.revenue`.execute(db);
  else if (history.orders === 0) return;
  else if (each.kind === 'adjust')
    await sql`
      insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, is_elsewhere, run_id)
      select entry_id, ${each.isHeld ? 'held' : each.amount === null ? 'cancelled' : 'changed'}, amount, ${each.amount}::numeric, currency, '',
        ${each.isElsewhere}, 1
      from ledger.entries where entry_id = ${idOf(each.of)}`.execute(db);
  else if (each.kind === 'accept')
    await sql`
      update ledger.entries set state = 'accepted', state_reason = 'settled', deal_id = coalesce(deal_id, 'D1')
      where entry_id = ${idOf(each.of)} and state = 'in_doubt'`.execute(db);
  else if (each.kind === 'unlink')
    await sql`update intake.attributions set entry_id = null where entry_id = ${idOf(each.of)}`.execute(db);
  else {
    const versionId = history.versions;
    const id = idOf(each.of);
    const { rows } = await sql<{ currency: string; amount: number; version: number }>`
      select e.currency, e.amount::float8 as amount, a.order_version_id::float8 as version
      from ledger.entries e join intake.attributions a on a.order_id = e.order_id where e.entry_id = ${id}`.execute(
      db,
    );
    const [sent] = rows;
    if (sent === undefined) throw new Error('the order is missing');
    await addVersion(db, id, {
      ...each,
      versionId,
      currency: each.isOtherCurrency ? 'SEK' : sent.currency,
      amount: sent.amount,
      replaces: sent.version,
      hasLines: true,
      isCurrent: false,
    });
    await sql`
      update intake.attributions
      set order_version_id = ${versionId}, outcome = ${each.outcome}, reason = ${each.outcome === 'held' ? 'ambiguous_codes' : null},
        target = ${each.outcome === 'held' ? null : 'deal:D'}, matched_value = ${each.code},
        matched_by = ${each.outcome === 'held' ? null : each.code === null ? 'link' : 'code'}
      where order_id = ${String(id)}`.execute(db);
  }
}

/** Compares all queries. @returns 1 if kept earnings were used. */
async function compare(db: Database, rules: StatementRules, next: string): Promise<number> {
  const computed = <Result>(work: (trx: DatabaseTransaction) => Promise<Result>) => inTransaction(db, work);
  for (const month of [next, '2026-02']) {
    expect(await readStatement(db, { month, rules })).toEqual(
      await computed((trx) => readStatement(trx, { month, rules })),
    );
    for (const page of [
      { limit: 100, withDays: true },
      { limit: 1 },
      { limit: 2 },
      { limit: 1, after: 'D1', currency: 'EUR' },
      { limit: 1, after: 'D2' },
      { limit: 2, dealId: 'D1' },
    ])
      expect(await sumStatement(db, { month, rules, ...page })).toEqual(
        await computed((trx) => sumStatement(trx, { month, rules, ...page })),
      );
    for (const dealId of ['D1', 'D3']) {
      const given = { month, rules, dealId, limit: 2 };
      expect(await listDealLines(db, given)).toEqual(await computed((trx) => listDealLines(trx, given)));
    }
  }
  const kept = await computed((trx) => findKept(trx, { month: null, rules }));
  if (kept !== null)
    expect(await inTransaction(db, (trx) => differentEarnings(trx, rules, kept))).toEqual([]);
  return (await computed((trx) => findKept(trx, { month: next, rules }))) === null ? 0 : 1;
}

/** @returns the orders, of two thirds of all, for which the kept earnings differ from the computed ones. */
async function differentEarnings(
  trx: DatabaseTransaction,
  rules: StatementRules,
  kept: Kept,
): Promise<readonly unknown[]> {
  const entries = sql`select entry_id from ledger.entries where entry_id % 3 > 0`;
  const earned = (from: Kept | null) =>
    sql`(with ${earnedOrders(rules, { kept: from, entries })} select ${keptColumns()} from earned)`;
  const { rows } = await sql`
    (${earned(kept)} except ${earned(null)}) union all (${earned(null)} except ${earned(kept)})`.execute(trx);
  return rows;
}

/** @returns the sums that differ from the kept orders. */
async function addedUp(db: Database): Promise<readonly unknown[]> {
  const sums = sql`count(*) as orders, sum(coalesce(net_amount, 0)) as net_amount, sum(coalesce(earned_amount, 0)) as earned_amount, sum(coalesce(closed_amount, 0)) as closed_amount
    from reporting.order_earnings where standing <> 'settled'`;
  const { rows } = await sql`
    with deals as (
      select currency, coalesce(deal_id, '') as deal_id, standing, date_trunc('month', ordered_on)::date as ordered_month,
        date_trunc('month', due_on)::date as due_month, coalesce(influencer_handle, '') as influencer_handle, ${sums} group by 1, 2, 3, 4, 5, 6
    ),
    days as (select currency, standing, ordered_on, due_on, ${sums} group by 1, 2, 3, 4)
    select 'deal' as what, d.deal_id from (
      (table deals except table reporting.deal_earnings) union all (table reporting.deal_earnings except table deals)) d
    union all
    select 'day', d.currency from (
      (table days except table reporting.earning_days) union all (table reporting.earning_days except table days)) d`.execute(
    db,
  );
  return rows;
}

function rulesOf(terms: readonly Terms[]): StatementRules {
  return { terms, returnWindowDays: 14, timeZone: 'UTC' };
}

function toTerms(
  {
    of,
    rate,
    fee,
    sku,
    month,
  }: { of: string; rate: number; fee: number | null; sku: string | null; month: string },
  index: number,
): Terms {
  const isDeal = of.startsWith('D');
  return {
    line: index + 2,
    dealId: isDeal ? of : null,
    codeFolded: isDeal || of === '' ? null : of,
    ratePercent: of === '' ? null : String(rate),
    fixedFee: fee === null || of === '' ? null : String(fee),
    currency: fee === null || of === '' ? null : 'EUR',
    excludedSkus: sku === null ? [] : [sku],
    // A deal has at most one fee on a day.
    validFrom: fee === null ? null : `${month}-0${index + 1}`,
    validTo: null,
  };
}

function placedAt(day: number): string {
  return new Date(Date.UTC(2025, 0, 1) + day * 86_400_000 + 3_600_000).toISOString();
}

type Version = {
  readonly versionId: number;
  readonly currency: string;
  readonly amount: number;
  readonly dayNo: number;
  readonly code: string | null;
  readonly hasLines: boolean;
  readonly isCurrent: boolean;
  readonly refunded?: number | null;
  readonly replaces?: number | null;
};

async function addVersion(
  db: Database,
  id: number,
  {
    versionId,
    currency,
    amount: total,
    dayNo: day,
    code,
    hasLines,
    isCurrent,
    refunded = null,
    replaces = null,
  }: Version,
): Promise<void> {
  const lines = hasLines
    ? JSON.stringify([
        ['gift-1', '25'],
        ['shirt', String(day)],
      ])
    : null;
  await sql`
    insert into intake.orders (order_version_id, source, order_id, source_file_id, is_current, content_hash, group_key, currency, total, placed_at,
      line_no, record_no, row_count, lines, codes, codes_folded, refunded, replaces) overriding system value
    values (${versionId}, 'shop', ${String(id)}, ${versionId}, ${isCurrent}, '', '', ${currency}, ${total}, ${placedAt(day)}, 1, 1, 1, ${lines}::jsonb,
      ${code === null ? [] : [code]}, ${code === null ? [] : [code]}, ${refunded}::numeric, ${replaces}::bigint)`.execute(
    db,
  );
}

async function addOrder(
  db: Database,
  id: number,
  order: Omit<Version, 'isCurrent'> & {
    readonly dealId: string | null;
    readonly collabId: string | null;
    readonly handle: string | null;
    readonly state: string;
  },
): Promise<void> {
  await addVersion(db, id, { ...order, isCurrent: true });
  await sql`
    insert into ledger.entries (entry_id, effect, account_id, key, state, state_reason, attempt, doubtful_attempt, body, body_hash, job, source,
      order_platform, order_id, amount, currency, deal_id, collab_id, run_id) overriding system value
    values (${id}, 'referral', 'a', ${String(id)}, ${order.state}, 'why', 1, ${order.state === 'in_doubt' ? 1 : null}, '{}', '', 'orders', 'shop',
      'shopify', ${String(id)}, ${order.amount}, ${order.currency}, ${order.dealId}, ${order.collabId}, 1)`.execute(
    db,
  );
  await sql`
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, matched_value, target, influencer_handle, currency, entry_id,
      is_pending, rules_hash)
    values ('orders', 'shop', ${String(id)}, ${order.versionId}, 'attributed', ${order.code === null ? 'link' : 'code'}, ${order.code}, 'deal:D', ${order.handle},
      ${order.currency}, ${id}, false, '')`.execute(db);
}

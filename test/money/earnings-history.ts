import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { type DatabaseTransaction, inTransaction } from '../../src/db/in-transaction.ts';
import { closeStatement } from '../../src/money/close-statement.ts';
import {
  changedOrders,
  earnedOrders,
  findKept,
  keepEarnings,
  keptColumns,
} from '../../src/money/kept-earnings.ts';
import { readStatement } from '../../src/money/read-statement.ts';
import type { StatementRules, Terms } from '../../src/money/statement.ts';
import { listDealLines, sumStatement } from '../../src/money/sum-statement.ts';
import { rulesOf, termsOf } from '../support/terms.ts';

export const MONTHS = Array.from({ length: 12 }, (_, index) => `2025-${String(index + 1).padStart(2, '0')}`);

/** Terms of a deal, of a code, or of everybody, whose `of` is empty. A fee is owed from a day of the month. */
export type SomeTerms = {
  readonly of: string;
  readonly rate: number;
  readonly fee: number | null;
  readonly sku: string | null;
  readonly month: string;
  /** In euros a month. */
  readonly cap?: number | null;
  /** Instead of a rate from the first order on. */
  readonly fromOrders?: number | null;
};

/** One thing that happens to what orders earn. `of` is a number of an order; `dayNo` counts from 1 January. */
export type Step =
  | ({ readonly kind: 'order' } & Omit<NewOrder, 'versionId'>)
  | {
      readonly kind: 'adjust';
      readonly of: number;
      readonly amount: number | null;
      readonly isHeld?: boolean;
      readonly isElsewhere?: boolean;
      /** True: the amount is that of an order that was credited to somebody else by then. */
      readonly isReattributed?: boolean;
      /** True if it was recorded because of the last state that was read. */
      readonly isOfLastState?: boolean;
    }
  | { readonly kind: 'accept'; readonly of: number }
  | { readonly kind: 'unlink'; readonly of: number }
  | {
      readonly kind: 'restate';
      readonly of: number;
      readonly dayNo: number;
      readonly code: string | null;
      readonly outcome: 'attributed' | 'held';
      readonly isOtherCurrency: boolean;
      readonly refunded: number | null;
      /** True: a link won, although the order has the code. */
      readonly isByLink?: boolean;
    }
  | { readonly kind: 'revenue'; readonly revenue: 'total' | 'subtotal' | 'total_less_refunds' }
  | { readonly kind: 'rate'; readonly collabId: string; readonly rate: number; readonly dayNo: number }
  /** An event of a rate that came on a day; null: of another collaboration of the deal. */
  | {
      readonly kind: 'told';
      readonly collabId: string | null;
      readonly rates: readonly [number, number];
      readonly dayNo: number;
    }
  /** The mirror reads the deal of the collaborations. */
  | { readonly kind: 'read'; readonly dayNo: number }
  | { readonly kind: 'terms'; readonly terms: readonly SomeTerms[] }
  | { readonly kind: 'close' }
  | { readonly kind: 'keep' };

export type History = {
  orders: number;
  versions: number;
  rates: number;
  /** Index of the last closed month; -1: none. */
  closed: number;
  terms: readonly Terms[];
};

/** Lets a step happen. */
export async function perform(db: Database, each: Step, history: History): Promise<void> {
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
  } else if (each.kind === 'told') {
    const at = Date.parse(placedAt(each.dayNo));
    const [old, rate] = each.rates;
    const commission_information = { old_commission_perc: old, new_commission_perc: rate };
    await sql`
      insert into ops.webhook_events (kind, body, body_sha256, deal_id, collab_id, received_at)
      values ('update_commission', ${JSON.stringify({ webhook_timestamp: String(at / 1_000), commission_information })}::jsonb,
        ${String(history.versions)}, 'D3', ${each.collabId}, ${new Date(at)})`.execute(db);
  } else if (each.kind === 'read') {
    await sql`
      insert into mirror.known_deals (deal_id, first_way, ways) values ('D3', 'list', '{list}') on conflict do nothing`.execute(
      db,
    );
    await sql`update mirror.known_deals set read_at = ${placedAt(each.dayNo)}`.execute(db);
  } else if (each.kind === 'revenue')
    await sql`
      insert into intake.revenue_rules (job, source, revenue) values ('orders', 'shop', ${each.revenue})
      on conflict (job, source) do update set revenue = excluded.revenue`.execute(db);
  else if (history.orders === 0) return;
  else if (each.kind === 'adjust')
    await sql`
      insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, is_elsewhere, order_version_id, run_id)
      select entry_id, ${adjustmentOf(each)}, amount, ${each.amount}::numeric, currency, '',
        ${each.isElsewhere === true}, case when ${each.isOfLastState === true} then (
          select max(o.order_version_id) from intake.orders o where o.order_id = ${String(idOf(each.of))}) end, 1
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
        target = ${each.outcome === 'held' ? null : 'deal:D'}, matched_value = ${each.isByLink === true ? 'mia.test' : each.code},
        matched_by = ${each.outcome === 'held' ? null : each.code === null || each.isByLink === true ? 'link' : 'code'}
      where order_id = ${String(id)}`.execute(db);
  }
}

function adjustmentOf({ isHeld, isReattributed, amount }: Extract<Step, { kind: 'adjust' }>): string {
  if (isHeld === true) return 'held';
  if (amount === null) return 'cancelled';
  return isReattributed === true ? 'reattributed' : 'changed';
}

/** Expects that each query of an open month returns the same from kept earnings as from all orders. @returns 1 if kept earnings were used. */
export async function compare(db: Database, rules: StatementRules, next: string): Promise<number> {
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
  // A month that is after each closed one.
  const kept = await computed((trx) => findKept(trx, { month: '2099-12', rules }));
  if (kept !== null) expect(await inTransaction(db, (trx) => differentEarnings(trx, rules))).toEqual([]);
  return (await computed((trx) => findKept(trx, { month: next, rules }))) === null ? 0 : 1;
}

/** @returns the orders, of two thirds of all, for which the kept earnings differ from the computed ones. */
async function differentEarnings(
  trx: DatabaseTransaction,
  rules: StatementRules,
): Promise<readonly unknown[]> {
  const entries = sql`select entry_id from ledger.entries where entry_id % 3 > 0`;
  const computed = sql`(with ${earnedOrders(rules, { areKept: false, entries })} select ${keptColumns()} from earned)`;
  const current = sql`(
    with ${changedOrders(rules)}
    select ${keptColumns('k')} from reporting.order_earnings k
    where k.entry_id = any (array(${entries})) and k.entry_id not in (select entry_id from changed)
    union all select ${keptColumns('l')} from live l where l.entry_id in (${entries}))`;
  const { rows } = await sql`
    (${current} except ${computed}) union all (${computed} except ${current})`.execute(trx);
  return rows;
}

/** @returns the sums that differ from the kept orders. */
export async function addedUp(db: Database): Promise<readonly unknown[]> {
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

export function toTerms(
  { of, rate, fee, sku, month, cap = null, fromOrders = null }: SomeTerms,
  index: number,
): Terms {
  const isDeal = of.startsWith('D');
  const hasTier = fromOrders !== null && of !== '';
  return termsOf({
    line: index + 2,
    dealId: isDeal ? of : null,
    codeFolded: isDeal || of === '' ? null : of,
    ratePercent: of === '' ? null : String(rate),
    fixedFee: fee === null || of === '' ? null : String(fee),
    currency: (fee === null && cap === null) || of === '' ? null : 'EUR',
    cap: cap === null || !isDeal ? null : String(cap),
    fromOrders: hasTier ? fromOrders : null,
    tier: hasTier ? (fromOrders % 2 === 0 ? 'all' : 'month') : null,
    excludedSkus: sku === null ? [] : [sku],
    // A deal has at most one fee on a day.
    validFrom: fee === null ? null : `${month}-0${index + 1}`,
  });
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

type NewOrder = Omit<Version, 'isCurrent'> & {
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly handle: string | null;
  readonly state: 'accepted' | 'in_doubt';
};

async function addOrder(db: Database, id: number, order: NewOrder): Promise<void> {
  await addVersion(db, id, { ...order, isCurrent: true });
  await sql`
    insert into ledger.entries (entry_id, effect, account_id, key, state, state_reason, attempt, doubtful_attempt, body, body_hash, job, source,
      order_platform, order_id, amount, currency, deal_id, collab_id, run_id) overriding system value
    values (${id}, 'referral', 'a', ${String(id)}, ${order.state}, 'why', 1, ${order.state === 'in_doubt' ? 1 : null},
      ${JSON.stringify(order.code === null ? {} : { order_discount_codes_used: order.code })}, '', 'orders', 'shop',
      'shopify', ${String(id)}, ${order.amount}, ${order.currency}, ${order.dealId}, ${order.collabId}, 1)`.execute(
    db,
  );
  await sql`
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, matched_value, target, influencer_handle, currency, entry_id,
      is_pending, rules_hash)
    values ('orders', 'shop', ${String(id)}, ${order.versionId}, 'attributed', ${order.code === null ? 'link' : 'code'}, ${order.code}, 'deal:D', ${order.handle},
      ${order.currency}, ${id}, false, '')`.execute(db);
}

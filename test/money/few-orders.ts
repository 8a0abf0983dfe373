import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { setup } from '../support/setup.ts';

/** An order of the source `shop`. */
export type FewOrder = {
  /** A day, or an instant. Null: the export does not say when. */
  readonly at: string | null;
  /** Null: no deal, so it earns nothing. */
  readonly deal?: string | null;
  readonly code?: string;
  readonly total?: number;
  readonly refunded?: number;
  readonly currency?: string;
  readonly customer?: number;
  readonly lines?: readonly (readonly [sku: string, amount: string])[];
};

/** A shop with these orders, numbered from 1. */
export async function open(...orders: readonly FewOrder[]): Promise<Database> {
  const { db } = await setup();
  await beginRun(db, { job: 'orders', kind: 'attribute-orders' });
  await sql`insert into intake.revenue_rules (job, source, revenue) values ('orders', 'shop', 'total')`.execute(
    db,
  );
  await sql`
    insert into intake.source_files (source_file_id, source, uri, version, size_bytes, layout, layout_hash, state, run_id, rows_read, sealed_at)
      overriding system value
    values (1, 'shop', '1.csv', '1', 1, 'generic', '', 'sealed', 1, 0, now())`.execute(db);
  await add(db, orders);
  return db;
}

/** Adds orders, numbered from `first`. */
export async function add(db: Database, orders: readonly FewOrder[], first = 1): Promise<void> {
  for (const [index, order] of orders.entries()) {
    const { at, deal = 'D1', code = null, total = 100, currency = 'EUR', customer, lines } = order;
    const id = first + index;
    await sql`
      insert into intake.orders (order_version_id, source, order_id, source_file_id, is_current, content_hash, group_key, currency, total, refunded,
        placed_at, first_seen_at, line_no, record_no, row_count, codes, codes_folded, lines, customer_key) overriding system value
      values (${id}, 'shop', ${String(id)}, 1, true, '', '', ${currency}, ${total}, ${order.refunded ?? null}::numeric,
        ${at}::timestamptz, '2025-01-15', 1, 1, 1, ${code === null ? [] : [code]}, ${code === null ? [] : [code.toLowerCase()]},
        ${lines === undefined ? null : JSON.stringify(lines)}::jsonb,
        ${customer === undefined ? null : `00000000-0000-0000-0000-00000000000${customer}`}::uuid)`.execute(
      db,
    );
    if (deal === null) continue;
    await sql`
      insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, source, order_platform, order_id,
        amount, currency, deal_id, run_id) overriding system value
      values (${id}, 'referral', 'a', ${String(id)}, 'accepted', 1, '{}', '', 'orders', 'shop', 'shopify', ${String(id)}, ${total},
        ${currency}, ${deal}, 1)`.execute(db);
    await sql`
      insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, matched_value, target, currency, entry_id,
        is_pending, rules_hash)
      values ('orders', 'shop', ${String(id)}, ${id}, 'attributed', ${code === null ? 'link' : 'code'}, ${code}, ${`deal:${deal}`}, ${currency},
        ${id}, false, '')`.execute(db);
  }
}

export const FIRST_DAY_MS = Date.UTC(2025, 0, 1);
export const DAY_MS = 86_400_000;
/** The day after so many days of 2025. */
export const dayOf = (no: number): string => new Date(FIRST_DAY_MS + no * DAY_MS).toISOString().slice(0, 10);

/** The lines of each of many orders: amounts of 25 and 75. */
export const LINES = [
  ['gift-1', '25'],
  ['shirt', '75'],
] as const;
export type SomeOrder = {
  readonly dealId: string;
  readonly codes: readonly string[];
  readonly dayNo: number;
};

/** Adds many orders of 100 EUR at once, by their day. Those of D3 have a collaboration, C3. */
export async function addMany(db: Database, orders: readonly SomeOrder[]): Promise<void> {
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

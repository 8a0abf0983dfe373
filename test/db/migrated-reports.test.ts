import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { keepEarnings } from '../../src/money/kept-earnings.ts';
import { type ReturnRules, updateReturns } from '../../src/money/update-returns.ts';
import { refreshReporting } from '../../src/rollups/refresh-reporting.ts';
import { migrateUpTo } from '../support/migrate-by.ts';
import { setup } from '../support/setup.ts';
import { rulesOf, termsOf } from '../support/terms.ts';

const RULES: ReturnRules = {
  ...rulesOf([termsOf({ ratePercent: '10' })]),
  marginPercent: '50',
  exchange: null,
};

/** An order as an earlier version left it: `amount` is what the decision names, and `kept` what the reports have. */
type Order = {
  readonly day: string;
  readonly outcome: string | null;
  readonly reason?: string;
  readonly code?: string;
  readonly total?: number;
  readonly subtotal?: number;
  readonly amount?: number;
  readonly kept: number;
  readonly currency?: string;
  readonly customer?: number;
  /** Deal that the answer named. */
  readonly dealId?: string;
  /** Whom the code named, and who was sent. */
  readonly target?: string;
  readonly sentTo?: string;
  readonly keptHandle?: string;
};

const sent = { outcome: 'attributed', code: 'OWNED', total: 10, amount: 10, kept: 10 } as const;
const unknown = { outcome: 'held', reason: 'unknown_amount', code: 'OWNED', kept: 0 } as const;
const unowned = { outcome: 'unattributed', reason: 'unknown_code' } as const;

const ORDERS: Readonly<Record<string, Order>> = {
  first: { day: '2024-01-01', outcome: 'organic', total: 1, amount: 1, kept: 1, customer: 1 },
  known: { ...sent, day: '2026-04-01', customer: 2, dealId: 'D1', target: 'deal:D1', keptHandle: 'mia.test' },
  alsoKnown: { ...unowned, day: '2026-04-01', code: 'LOST5', total: 3, amount: 3, kept: 3 },
  // The customer whom `known` won has ordered something of an unknown amount since.
  organic: { day: '2026-04-02', outcome: 'organic', kept: 0, customer: 2 },
  held: { ...unknown, day: '2026-04-02' },
  dollars: { ...unknown, day: '2026-04-02', currency: 'USD' },
  free: { day: '2026-04-02', outcome: 'excluded', reason: 'zero_revenue', total: 0, amount: 0, kept: 0 },
  lost: { ...unowned, day: '2026-04-02', code: 'LOST5', total: 20, amount: 20, kept: 20 },
  alsoLost: { ...unowned, day: '2026-04-02', code: 'LOST5', kept: 0 },
  gone: { ...unowned, day: '2026-04-02', code: 'GONE7', kept: 0 },
  // The job credits totals, and the export states a subtotal only.
  otherRule: { ...unowned, day: '2026-04-03', code: 'GONE7', subtotal: 7, kept: 7 },
  // The job has not decided about it.
  undecided: { day: '2026-04-04', outcome: null, total: 8, kept: 8 },
  forHandle: { ...sent, day: '2026-04-05', dealId: 'D2', target: 'handle:ben.test', sentTo: 'ben.test' },
  forAddress: { ...sent, day: '2026-04-06', dealId: 'D3', target: 'handle:x', sentTo: 'zoe@shop.test' },
  mirrored: { ...sent, day: '2026-04-07', dealId: 'D4', target: 'handle:old.test', sentTo: 'old.test' },
  forDeal: { ...sent, day: '2026-04-08', dealId: 'D5', target: 'deal:D5' },
};

it('the reports of an earlier version have unknown amounts and creators after an upgrade as if they were computed anew', async () => {
  const { db } = await setup('empty');
  await migrateUpTo(db, '0150_ages_of_contradictions');
  await fill(db);
  await keepSumsOfEarlierVersion(db);

  await migrate(db);
  const { rows: kept } = await sql<{ id: string; amount: string | null; handle: string | null }>`
    select order_id as id, amount::float8::text as amount, influencer_handle as handle
    from reporting.order_dispositions`.execute(db);
  const amounts = Object.fromEntries(kept.map(({ id, amount }) => [id, amount]));
  expect(amounts).toEqual(
    Object.fromEntries(
      Object.entries(ORDERS).map(([id, { amount }]) => [id, amount === undefined ? null : String(amount)]),
    ),
  );
  expect(
    Object.fromEntries(kept.flatMap(({ id, handle }) => (handle === null ? [] : [[id, handle]]))),
  ).toEqual({ known: 'mia.test', forHandle: 'ben.test', forAddress: 'z***@***', mirrored: 'cleo.test' });
  expect((await sql`select order_id, amount from reporting.conflicts`.execute(db)).rows).toEqual([
    { order_id: 'held', amount: null },
  ]);
  const { rows: marked } = await sql<{ day: string }>`
    select day_utc::text as day from reporting.changed_days order by 1`.execute(db);
  expect(marked.map(({ day }) => day.slice(-2))).toEqual(['02', '03', '04', '05', '06', '07']);

  const { rows: deals } = await sql<{ deal: string }>`
    select deal_id as deal from reporting.changed_deals where month_utc = '2026-04-01' order by 1`.execute(
    db,
  );
  expect(deals.map(({ deal }) => deal)).toEqual(['D1', 'D2', 'D3', 'D4', 'D5']);

  const { orders } = await update(db);
  // What the migration changed is what a comparison finds.
  expect(orders).toBe(0);
  const updated = await readSums(db);
  expect(updated).toMatchObject({
    funnel_days: expect.arrayContaining([
      expect.objectContaining({
        day_utc: '2026-04-02',
        disposition: 'held',
        currency: 'EUR',
        orders: 1,
        amount: null,
        without_amount: 1,
      }),
      expect.objectContaining({
        day_utc: '2026-04-02',
        disposition: 'excluded',
        orders: 1,
        amount: 0,
        without_amount: 0,
      }),
      expect.objectContaining({
        day_utc: '2026-04-02',
        disposition: 'unattributed',
        orders: 3,
        amount: 20,
        without_amount: 2,
      }),
    ]),
    code_days: [
      expect.objectContaining({
        day_utc: '2026-04-01',
        code: 'LOST5',
        orders: 1,
        amount: 3,
        without_amount: 0,
      }),
      expect.objectContaining({
        day_utc: '2026-04-02',
        code: 'GONE7',
        orders: 1,
        amount: null,
        without_amount: 1,
      }),
      expect.objectContaining({
        day_utc: '2026-04-02',
        code: 'LOST5',
        orders: 2,
        amount: 20,
        without_amount: 1,
      }),
      expect.objectContaining({
        day_utc: '2026-04-03',
        code: 'GONE7',
        orders: 1,
        amount: null,
        without_amount: 1,
      }),
    ],
  });
  expect(updated.return_months).toContainEqual(
    expect.objectContaining({ deal_id: 'D1', new_customers: 1, net_30_amount: null, net_365_amount: null }),
  );

  for (const table of [...SUMS, 'order_dispositions', 'counted_files', 'conflicts'])
    await sql`delete from ${sql.table(`reporting.${table}`)}`.execute(db);
  await update(db);
  expect(updated).toEqual(await readSums(db));
});

const SUMS = ['funnel_days', 'code_days', 'deal_days', 'deal_totals', 'brand_days', 'return_months'];

async function update(db: Database) {
  const refreshed = await refreshReporting(db, { job: 'orders' });
  await keepEarnings(db, { rules: RULES });
  await updateReturns(db, { rules: RULES });
  return refreshed;
}

/** The sums, and the conflicts, in the order of their text. */
async function readSums(db: Database): Promise<Record<string, readonly unknown[]>> {
  const sums: Record<string, readonly unknown[]> = {};
  for (const table of [...SUMS, 'conflicts']) {
    const { rows } = await sql<{ row: unknown }>`
      select to_jsonb(t) as row from ${sql.table(`reporting.${table}`)} t order by t::text`.execute(db);
    sums[table] = rows.map(({ row }) => row);
  }
  return sums;
}

async function fill(db: Database): Promise<void> {
  await sql
    .raw(`do $fill$ begin
    insert into ops.runs (job, kind, host, pid, status, finished_at) values ('orders', 'attribute-orders', 'h', 1, 'ok', now());
    insert into intake.revenue_rules (job, source, revenue) values ('orders', 'shop', 'total');
    insert into intake.source_files (source_file_id, source, uri, version, size_bytes, layout, layout_hash, state, run_id, rows_read, sealed_at)
      overriding system value values (1, 'shop', '1.csv', '1', 1, 'generic', '', 'sealed', 1, 0, now());
    insert into intake.attributed_files (job, source_file_id, rules_hash, attributed_at) values ('orders', 1, '', '2026-05-01');
    insert into reporting.counted_files (job, source_file_id, attributed_at) values ('orders', 1, '2026-05-01');
    insert into intake.order_claims (job, source, order_id, place, kind, written, target, influencer_handle, deal_id)
      values ('orders', 'shop', 'held', 1, 'code', 'OWNED', 'deal:D1', 'mia.test', 'D1'),
        ('orders', 'shop', 'held', 2, 'code', 'OTHER', 'deal:D2', 'ben.test', 'D2');
    insert into mirror.deal_versions (deal_id, influencer_handle, raw, row_hash, valid_from, first_seen_at, run_id)
      values ('D4', 'cleo.test', '{}', 'h', '2026-05-02', '2026-05-02', 1);
  end $fill$`)
    .execute(db);
  let id = 0;
  for (const [orderId, order] of Object.entries(ORDERS)) {
    id += 1;
    const { day, outcome, code, total, subtotal, amount, currency = 'EUR', customer, dealId, target } = order;
    const at = `${day}T12:00:00Z`;
    const handle = target?.startsWith('handle:') === true ? target.slice('handle:'.length) : null;
    const codes = code === undefined ? [] : [code];
    await sql`
      insert into intake.orders (order_version_id, source, order_id, source_file_id, is_current, content_hash, group_key, currency, total, subtotal,
        codes, codes_folded, placed_at, line_no, record_no, row_count, customer_key) overriding system value
      values (${id}, 'shop', ${orderId}, 1, true, '', '', ${currency}, ${total ?? null}::numeric, ${subtotal ?? null}::numeric,
        ${codes}::text[], ${codes}::text[], ${at}, 1, 1, 1,
        ${customer === undefined ? null : `00000000-0000-0000-0000-00000000000${customer}`}::uuid)`.execute(
      db,
    );
    if (dealId !== undefined)
      await sql`
        insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, source, order_platform, order_id,
          amount, currency, deal_id, brand_id, run_id, state_changed_at) overriding system value
        values (${id}, 'referral', 'a', ${orderId}, 'accepted', 1, ${JSON.stringify({ influencer_handle: order.sentTo })}, '', 'orders', 'shop',
          'shopify', ${orderId}, ${amount ?? null}::numeric, ${currency}, ${dealId}, '4819', 1, '2026-05-01')`.execute(
        db,
      );
    if (outcome !== null)
      await sql`
        insert into intake.attributions (job, source, order_id, order_version_id, outcome, reason, matched_by, matched_value, target, influencer_handle,
          brand_id, deal_id, amount, currency, entry_id, is_pending, rules_hash, decided_at)
        values ('orders', 'shop', ${orderId}, ${id}, ${outcome}, ${order.reason ?? null}, ${target === undefined ? null : 'code'}, ${code ?? null},
          ${target ?? null}, ${order.keptHandle ?? handle}, ${target === undefined ? null : '4819'}, ${handle === null ? (dealId ?? null) : null},
          ${amount ?? null}::numeric, ${currency}, ${dealId === undefined ? null : id}::bigint, false, '', '2026-05-01')`.execute(
        db,
      );
    await sql`
      insert into reporting.order_dispositions (job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, disposition, disposition_reason,
        disposition_at, is_open, matched_by, matched_value, target, brand_id, deal_id, influencer_handle, currency, amount)
      select 'orders', 'shop', ${orderId}, ${id}, e.entry_id, ${at}, ${day}::date,
        case when e.entry_id is null then coalesce(a.outcome, 'unaccounted') else e.state end, a.reason,
        coalesce(e.state_changed_at, a.decided_at, o.first_seen_at), a.order_id is null, a.matched_by, a.matched_value, 'deal:' || e.deal_id,
        coalesce(e.brand_id, a.brand_id), e.deal_id, ${order.keptHandle ?? null}, ${currency}, ${order.kept}
      from intake.orders o
      left join intake.attributions a using (order_id) left join ledger.entries e using (entry_id)
      where o.order_version_id = ${id}`.execute(db);
  }
}

/** The sums that an earlier version kept: the unknown counts as 0. */
async function keepSumsOfEarlierVersion(db: Database): Promise<void> {
  await sql
    .raw(`do $fill$ begin
    insert into reporting.funnel_days (day_utc, job, source, currency, disposition, disposition_reason, orders, amount)
      select day_utc, job, source, currency, disposition, disposition_reason, count(*), sum(amount)
      from reporting.order_dispositions group by 1, 2, 3, 4, 5, 6;
    insert into reporting.code_days (day_utc, job, source, code_folded, code, carried_as, currency, orders, amount)
      select day_utc, job, source, matched_value, matched_value, 'code', currency, count(*), sum(amount)
      from reporting.order_dispositions where disposition = 'unattributed' group by 1, 2, 3, 4, 5, 6, 7;
    insert into reporting.deal_days (day_utc, target, brand_id, deal_id, influencer_handle, currency, attributed_orders, accepted_orders, ready_orders,
        in_doubt_orders, held_orders, rejected_orders, attributed_amount, accepted_amount, in_doubt_amount)
      select day_utc, target, brand_id, deal_id, max(influencer_handle), currency, count(*), count(*), 0, 0, 0, 0, sum(amount), sum(amount), 0
      from reporting.order_dispositions where target is not null group by day_utc, target, brand_id, deal_id, currency;
    insert into reporting.brand_days (day_utc, brand_id, currency, deals, attributed_orders, accepted_orders, ready_orders, in_doubt_orders, held_orders,
        rejected_orders, attributed_amount, accepted_amount, in_doubt_amount)
      select day_utc, brand_id, currency, count(*), sum(attributed_orders), sum(accepted_orders), 0, 0, 0, 0, sum(attributed_amount),
        sum(accepted_amount), 0
      from reporting.deal_days group by 1, 2, 3;
    insert into reporting.deal_totals (target, currency, deal_id, influencer_handle, orders, amount)
      select target, currency, deal_id, influencer_handle, accepted_orders, accepted_amount from reporting.deal_days;
    insert into reporting.conflicts (job, source, order_id, ordered_at, day_utc, conflict, currency, amount, disposition, first_target, last_target)
      select job, source, order_id, ordered_at, day_utc, 'codes', currency, amount, disposition, 'deal:D1', 'deal:D2'
      from reporting.order_dispositions where order_id = 'held';
    insert into reporting.return_months (month_utc, deal_id, brand_id, currency, orders, sent_amount, net_amount, commission_amount, unrated_orders,
        new_customers, returning_orders, unknown_orders, repeat_customers, net_30_amount, net_90_amount, net_365_amount, last_won_at)
      select '2026-04-01', deal_id, brand_id, currency, 1, 10, 10, 1, 0, (deal_id = 'D1')::integer, 0, 0, (deal_id = 'D1')::integer,
        case when deal_id = 'D1' then 10 else 0 end, case when deal_id = 'D1' then 10 else 0 end, case when deal_id = 'D1' then 10 else 0 end,
        case when deal_id = 'D1' then timestamptz '2026-04-01 12:00Z' end
      from reporting.order_dispositions where deal_id is not null;
    update reporting.refresh set refreshed_at = '2026-05-01', totalled_at = '2026-05-01', conflicts_at = '2026-05-01';
  end $fill$`)
    .execute(db);
}

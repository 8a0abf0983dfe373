import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { applyViews, areViewsStale } from '../../src/db/apply-views.ts';
import type { Database } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { refreshReporting } from '../../src/rollups/refresh-reporting.ts';
import { setup } from '../support/setup.ts';
import { tellStory } from './story.ts';

type Column = { readonly view: string; readonly name: string; readonly type: string };

/** The views that the issue guarantees to analysts. */
const PROMISED = [
  'accruals',
  'adjustments',
  'attribution_funnel_daily',
  'brand_performance_daily',
  'brands',
  'clicks',
  'clicks_posted',
  'code_use_daily',
  'conflicts',
  'creators_imported',
  'credit_claims',
  'customer_cohorts',
  'deal_history',
  'deal_performance_daily',
  'dealflows',
  'deals',
  'doubts',
  'influencers_among_customers',
  'mirror_coverage',
  'orders',
  'orders_attributed',
  'outreach_submissions',
  'payments',
  'reconciliation',
  'rejected_rows',
  'returns_monthly',
  'run_amounts',
  'run_health',
  'runs',
  'self_purchases',
  'statement_deals',
  'statement_lines',
  'statements',
  'unattributed_revenue',
];

/** Column names that could hold contact or identifying data. */
const PERSONAL =
  /e_?mail|phone|first_name|last_name|full_name|address|street|zip|postcode|contact|hash|hmac|body|raw|host|pid|decided_by/;

describe('the views of schema bi', () => {
  it('are exactly the promised ones', async () => {
    const { db } = await setup();
    expect([...new Set((await columnsOf(db)).map(({ view }) => view))]).toEqual(PROMISED);
  });

  it('follow one naming scheme: is_…, …_at, …_utc (or …_local, the day of an export), …_id as text', async () => {
    const { db } = await setup();
    const wrong = (await columnsOf(db)).filter(({ name, type }) => {
      if (type === 'boolean') return !name.startsWith('is_');
      if (type === 'timestamp with time zone') return !/(_at|^valid_from|^valid_to)$/.test(name);
      if (type === 'date') return !/_(utc|local)$/.test(name);
      return (
        /^is_|_at$|_utc$|_local$/.test(name) ||
        /^(timestamp|time|jsonb?|ARRAY|bytea|uuid|real|double)/.test(type)
      );
    });
    expect(wrong).toEqual([]);
  });

  it('return IDs as text, except for the counters of this database', async () => {
    const { db } = await setup();
    const ours = /^(run|entry|order_version|adjustment|click|creator|source_file|last_run|statement)_id$/;
    const ids = (await columnsOf(db)).filter(({ name }) => name.endsWith('_id'));
    expect(ids.length).toBeGreaterThan(20);
    expect(ids.filter(({ name, type }) => type !== (ours.test(name) ? 'bigint' : 'text'))).toEqual([]);
  });

  it('return money as numeric, beside its currency or with the currency in its name', async () => {
    const { db } = await setup();
    const columns = await columnsOf(db);
    const money = columns.filter(({ name }) => /amount|revenue|spent|_in_account_currency$/.test(name));
    expect(money.length).toBeGreaterThan(20);
    const wrong = money.filter(
      ({ view, name, type }) =>
        type !== 'numeric' ||
        !(
          name.endsWith('_in_account_currency') ||
          columns.some((other) => other.view === view && other.name === 'currency' && other.type === 'text')
        ),
    );
    expect(wrong).toEqual([]);
  });

  it('have no column with personal data', async () => {
    const { db } = await setup();
    expect((await columnsOf(db)).filter(({ name }) => PERSONAL.test(name))).toEqual([]);
  });

  it('never show an e-mail address, whichever column contains one', async () => {
    const { db } = await setup();
    const address = 'jane.doe@example.com';
    await tellStory(db);
    await sql`update intake.orders set codes = array[${address}], links = array[${address}], status = 'paid'`.execute(
      db,
    );
    await sql`update intake.orders set influencer_handle = ${address}, codes = '{}', links = '{}' where order_id = '1008'`.execute(
      db,
    );
    await sql`update intake.attributions set influencer_handle = ${address} where outcome = 'attributed'`.execute(
      db,
    );
    await sql`update ledger.entries set deal_id = null, body = ${JSON.stringify({ influencer_handle: address })}
      where state <> 'accepted'`.execute(db);
    await sql`update intake.attributions set matched_value = ${address} where outcome = 'unattributed'`.execute(
      db,
    );
    await sql`update intake.attributed_files set attributed_at = now()`.execute(db);
    await refreshReporting(db, { job: 'attribute-orders' });
    for (const view of PROMISED) {
      const { rows } = await sql<{
        row: string;
      }>`select to_json(v)::text as row from ${sql.table(`bi.${view}`)} v`.execute(db);
      expect(rows.length, view).toBeGreaterThan(0);
      expect(
        rows.filter(({ row }) => /doe@/i.test(row)),
        view,
      ).toEqual([]);
    }
    const { rows } = await sql<{
      codes: string;
    }>`select distinct discount_codes as codes from bi.orders where order_id <> '1008'`.execute(db);
    expect(rows).toEqual([{ codes: 'j***@***' }]);
  });
});

describe('applying the views', () => {
  it('does nothing if they are up to date', async () => {
    const { db } = await setup();
    expect(await areViewsStale(db)).toBe(false);
    expect(await applyViews(db)).toBe(false);
  });

  it('replaces the whole schema bi by the definitions of the files if their digest differs', async () => {
    const { db } = await setup();
    await sql`drop view bi.runs cascade`.execute(db);
    await sql`create view bi.of_somebody as select 1 as one`.execute(db);
    await sql`update reporting.applied_views set content_hash = 'of another version'`.execute(db);
    expect(await areViewsStale(db)).toBe(true);
    expect(await migrate(db)).toEqual(['bi (views)']);
    expect([...new Set((await columnsOf(db)).map(({ view }) => view))]).toEqual(PROMISED);
  });

  it('happens once if several processes do it at the same time', async () => {
    const { db } = await setup();
    await sql`update reporting.applied_views set content_hash = 'of another version'`.execute(db);
    expect((await Promise.all([applyViews(db), applyViews(db), applyViews(db)])).sort()).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('never drops objects that others have built on them, and reports what blocks the change', async () => {
    const { db } = await setup();
    await sql`create schema theirs`.execute(db);
    await sql`create view theirs.report as select * from bi.orders`.execute(db);
    await sql`update reporting.applied_views set content_hash = 'of another version'`.execute(db);
    await expect(migrate(db)).rejects.toMatchObject({
      details: { code: 'views_in_use', exitCode: 2, message: expect.stringContaining('theirs.report') },
    });
    expect((await sql`select * from theirs.report`.execute(db)).rows).toEqual([]);
  });
});

async function columnsOf(db: Database): Promise<readonly Column[]> {
  const { rows } = await sql<Column>`
    select table_name as view, column_name as name, data_type as type from information_schema.columns
    where table_schema = 'bi' order by table_name, ordinal_position`.execute(db);
  return rows;
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { renderBlocks } from '../../src/render/render-blocks.ts';
import { createTerminal } from '../../src/render/terminal.ts';
import { describeLeaks } from '../../src/reports/money/leaks.ts';
import { keepReconciliation } from '../../src/reports/money/reconcile-deals.ts';
import { startTestConsole, textOf } from '../console/console-server.ts';
import { openWorkshop, type Workshop } from '../runs/workshop.ts';
import { readMoneyTable } from '../support/read-questions.ts';
import { reducedExport } from '../support/reduced-export.ts';

const FLOW = `
customers: {hash_key: "test-only-0123456789abcdef0123456789abcdef"}
sources:
  shop: {uri: ./exports/, layout: shopify-orders, order_platform: shopify, customer_key: true, missing_columns: ${JSON.stringify(reducedExport('shopify-orders'))}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  mirror: {kind: mirror-account}
statements: {terms: ./terms.csv, margin_percent: 50, time_zone: UTC}
`;
const TERMS = `deal_id,rate,fixed_fee,currency,valid_from
DEALMIA,10,50,EUR,2025-12-01
`;
const HEADER = 'Name,Email,Financial Status,Currency,Total,Discount Code,Created at,Note Attributes,Id';

/** In May, MIA wins one customer and keeps another, BEN has no rate, and two orders name both. */
const ROWS = [
  '#1,ann@example.com,paid,EUR,10.00,,2026-01-05 10:00:00 +0000,,1',
  '#2,ann@example.com,paid,EUR,100.00,MIA10,2026-05-20 10:00:00 +0000,,2',
  '#3,bea@example.com,paid,EUR,60.00,MIA10,2026-05-21 10:00:00 +0000,,3',
  '#4,,paid,EUR,40.00,BEN15,2026-05-23 10:00:00 +0000,,4',
  '#5,,paid,EUR,70.00,BEN15,2026-05-24 10:00:00 +0000,utm_campaign: mia.test,5',
  '#6,,paid,EUR,20.00,"MIA10, BEN15",2026-05-25 10:00:00 +0000,,6',
];

async function openShop(): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW });
  shop.write('terms.csv', TERMS);
  shop.drop('orders.csv', `${[HEADER, ...ROWS].join('\n')}\n`);
  return shop;
}

/** The text of each page that a test has written. */
const pages: string[] = [];

/** Runs a job with a page, and returns the text of the page. */
async function pageOf(shop: Workshop, job: string): Promise<string> {
  const result = await shop.cli('run', job, '--report', 'run.html');
  expect(result.stderr).toContain('Report: run.html');
  const page = readFileSync(join(shop.folder, 'run.html'), 'utf8')
    .replace(/<style>.*?<\/style>|<[^>]*>/gs, ' ')
    .replace(/\s+/g, ' ');
  pages.push(page);
  return page;
}

/** Returns the cells of the rows about deals that a command prints. */
async function rowsOf(
  shop: Workshop,
  ...command: readonly string[]
): Promise<readonly (readonly string[])[]> {
  const { stdout } = await shop.cli(...command, '--from', '2026-05', '--to', '2026-05');
  return stdout
    .split('\n')
    .filter((line) => /\d \w{3}\b/.test(line) && /DEAL|no influencer/.test(line))
    .map((line) => line.trim().split(/ {2,}/));
}

describe('the page of a run', () => {
  it('shows returns, customers won and conflicts of the newest month, exactly like the commands', async () => {
    const shop = await openShop();
    const page = await pageOf(shop, 'orders');
    const listed = [
      ...(await rowsOf(shop, 'returns')),
      ...(await rowsOf(shop, 'returns', 'customers')),
      ...(await rowsOf(shop, 'conflicts')).filter(([first]) => !first?.startsWith('2026')),
    ];
    for (const cells of listed) expect(page).toContain(cells.join(' '));
    expect(listed.map(([first]) => first)).toEqual([
      'DEALMIA',
      'DEALBEN',
      '2026-05',
      'ben.test (deal:DEALBEN)',
      'mia.test (deal:DEALMIA)',
      'no influencer',
    ]);
    // 160.00 at 50 % less 16.00 is 64.00, four times the cost. One of the two customers is new.
    expect(page).toContain('DEALMIA mia.test 2 160.00 EUR 16.00 EUR 400.00 % 1 16.00 EUR');
    expect(page).toContain('DEALBEN ben.test 2 110.00 EUR unknown unknown unknown unknown');
    expect(page).toContain(
      'rate, because neither your terms nor what the mirror has read of the service state a commission rate',
    );
    expect(page).toContain('npx influencer-sync returns --from 2026-05 --to 2026-05');
    expect(page).not.toContain('@');
  });

  it('shows what the service counts, as the mirror last read it, and names differences that nothing explains', async () => {
    const shop = await openShop();
    expect(await pageOf(shop, 'orders')).toContain('the mirror has published no totals');
    await sql`
      insert into mirror.known_deals (deal_id, first_way, ways, read_at) values ('DEALMIA', 'codes', '{codes}', now())`.execute(
      shop.db,
    );
    await sql`
      insert into mirror.deal_versions (deal_id, total_referrals, raw, row_hash, valid_from, valid_to, is_latest, first_seen_at, run_id)
      values ('DEALMIA', 10, '{}', '1', now() - interval '2 days', now() - interval '1 day', false, now(), 1),
        ('DEALMIA', 17, '{}', '2', now() - interval '1 day', null, true, now(), 1)`.execute(shop.db);
    await keepReconciliation(shop.db, { accountCurrency: null, runId: '1' });
    const page = await pageOf(shop, 'orders');
    // Of seven more orders, two were posted.
    expect(page).toMatch(/DEALMIA \S+ \S+ 17 2 10 \+5 /);
    expect(page).toContain('deal DEALMIA: 5 orders more');
    expect(page).not.toContain('Payouts are not compared');
    expect(page).toContain('Amounts are not compared, because the currency of the account is unknown');
    const mirrored = await pageOf(shop, 'mirror');
    expect(mirrored).toContain('Posted orders compared with those that the service counts');
    expect(mirrored).not.toContain('What each deal brought and cost');
    expect(mirrored).toContain('Payouts are not compared: no statement is closed');
  });

  it('shows what closed statements come to and what was paid out, the largest differences first', async () => {
    const shop = await openWorkshop({ flow: `${FLOW}reconcile: {account_currency: EUR}\n` });
    await shop.cli('run', 'mirror');
    const deals = Array.from({ length: 13 }, (_, index) => `D${String(index).padStart(2, '0')}`);
    for (const [index, deal] of deals.entries()) {
      await sql`
        insert into ops.statement_lines (statement_id, line_no, kind, subject, due_on, deal_id, currency, earned_amount, closed_before, amount)
        values (1, ${index + 1}, 'order', ${`order:${deal}`}, '2026-04-05', ${deal}, 'EUR', 50, 0, 50)`.execute(
        shop.db,
      );
      await sql`
        insert into mirror.deal_versions (deal_id, total_payouts, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
        values (${deal}, ${10 * index}, '{}', '1', now(), true, now(), 1)`.execute(shop.db);
    }
    await sql`
      insert into ops.statements (month, time_zone, return_window_days, lines, closed_by, reason, previous_hash, hash)
      values ('2026-04-01', 'UTC', 30, 13, 'ann', 'paid out', '', '')`.execute(shop.db);
    const page = await pageOf(shop, 'mirror');
    const [, panel = ''] = page.split('Earned and paid out');
    const shown = [...panel.matchAll(/(D\d\d) [\d.]+ EUR/g)].map(([, deal]) => deal);
    expect(shown.join(' ')).toBe('D12 D11 D00 D10 D01 D09 D02 D08 D03 D07');
    expect(panel).toContain('D10 50.00 EUR unknown 100.00 EUR 100.00 EUR -50.00 EUR');
    expect(panel).toContain('the 10 rows with the largest differences. All: npx influencer-sync reconcile');
  });

  it('lists influencers among customers who have no deal yet', async () => {
    const job =
      '  customers: {kind: identify-customers, source: shop, brand_id: 4819, consent: not_refused}\n';
    const shop = await openWorkshop({ flow: FLOW.replace('statements:', `${job}statements:`) });
    shop.drop('orders.csv', `${[HEADER, ...ROWS].join('\n')}\n`);
    expect(await pageOf(shop, 'customers')).not.toContain('Influencers among customers');
    await sql`
      insert into intake.lookups (brand_id, customer_hash, outcome, username, platform, followers, run_id)
      values ('4819', '00000000-0000-0000-0000-000000000001', 'influencer', 'ivy', 'tiktok', 900, 1), ('4819', '00000000-0000-0000-0000-000000000002', 'influencer', 'nora', 'instagram', 12000, 1),
        ('4819', '00000000-0000-0000-0000-000000000003', 'influencer', 'mia.test', 'instagram', 50000, 1)`.execute(
      shop.db,
    );
    await sql`
      insert into mirror.deal_versions (deal_id, influencer_handle, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
      values ('DEALMIA', '@Mia.Test', '{}', '1', now(), true, now(), 1)`.execute(shop.db);
    const page = await pageOf(shop, 'customers');
    expect(page).not.toContain('mia.test');
    expect(page).toMatch(
      /Influencers among customers.* nora instagram 4819 12,000 unknown unknown ivy tiktok 4819 900 /,
    );
    // The console lists those with a deal, too, and how far the customers of each brand came.
    const { get } = await startTestConsole(shop);
    expect(textOf((await get('/customers')).text)).toMatch(
      /Influencers 4819 0 0 0 0 0 3 3 Refused by the service .* mia\.test instagram 50,000 DEALMIA .* nora instagram 12,000 none .* ivy tiktok 900 none /,
    );
  });

  it('lists orders that creators may have placed themselves, and so do the command and the console', async () => {
    const shop = await openShop();
    await shop.run();
    await sql`update intake.orders set placed_at = now() - interval '2 days' where order_id = '3'`.execute(
      shop.db,
    );
    await sql`
      insert into intake.lookups (brand_id, customer_hash, outcome, username, run_id)
      select '4819', customer_key, 'influencer', '@Mia.Test', 1 from intake.orders where order_id = '3'`.execute(
      shop.db,
    );
    await sql`update reporting.order_dispositions set day_utc = current_date - 2 where order_id = '3'`.execute(
      shop.db,
    );
    const row =
      /Orders that creators may have placed themselves.*?\d{4}-\d\d-\d\d +3 +DEALMIA +@?Mia\.Test +60\.00 EUR/is;
    expect(await pageOf(shop, 'orders')).toMatch(row);
    expect((await shop.cli('returns', 'customers')).stdout).toMatch(row);
    const { get } = await startTestConsole(shop);
    expect(textOf((await get('/money/customers?show=own')).text)).toMatch(row);
    expect(textOf((await get('/money/customers')).text)).not.toMatch(row);
  });

  it('is written even if the part about money cannot be read', async () => {
    const shop = await openShop();
    await sql`drop view bi.conflicts`.execute(shop.db);
    const page = await pageOf(shop, 'orders');
    expect(page).toContain('What creators brought and cost could not be read from the database (42P01)');
    expect(page).toContain('Credited to influencers');
  });

  it('has each panel that docs/money.md names', () => {
    const leaked = {
      code: 'MIA10',
      dealId: null,
      influencerHandle: null,
      since: '2026-05-20',
      began: null,
      acknowledged: null,
      day: 1,
      days: 1,
      orders: 9,
      withoutLink: 9,
      usualOrders: 10,
      usualWithoutLink: 1,
      usualShare: 0.1,
      known: 0,
      returning: 0,
    };
    pages.push(renderBlocks(describeLeaks([leaked]), createTerminal(process.stdout, {})));
    const panels = readMoneyTable().map(([, , , panel = '']) => panel);
    expect(panels.filter((panel) => !pages.some((page) => page.includes(panel)))).toEqual([]);
  });
});

import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/reports/list-audit.ts';
import { keepReconciliation } from '../../src/reports/money/reconcile-deals.ts';
import { openWorkshop, type Workshop } from '../runs/workshop.ts';
import { reducedExport } from '../support/reduced-export.ts';
import { startTestConsole, textOf } from './console-server.ts';

const FLOW = `
customers: {hash_key: "test-only-0123456789abcdef0123456789abcdef"}
sources:
  shop: {uri: ./exports/, layout: shopify-orders, order_platform: shopify, customer_key: true, missing_columns: ${JSON.stringify(reducedExport('shopify-orders'))}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements: {terms: ./terms.csv, margin_percent: 50, time_zone: UTC}
`;
const TERMS = `deal_id,rate,fixed_fee,currency,valid_from
DEALMIA,10,50,EUR,2025-12-01
`;
const HEADER = 'Name,Email,Financial Status,Currency,Total,Discount Code,Created at,Note Attributes,Id';
const DAY_MS = 86_400_000;

/**
 * MIA has an order in April from a customer of January and one from a new customer. BEN has an order whose
 * rate and customer are unknown.
 */
const ORDERS: readonly (readonly [
  day: string,
  email: string,
  code: string,
  total: string,
  currency: string,
])[] = [
  ['2026-01-05', 'ann@example.com', '', '10.00', 'EUR'],
  ['2026-04-20', 'ann@example.com', 'MIA10', '100.00', 'EUR'],
  ['2026-04-21', 'bea@example.com', 'MIA10', '60.00', 'EUR'],
  ['2026-04-22', 'cleo@example.com', 'MIA10', '8.00', 'USD'],
  ['2026-04-23', '', 'BEN15', '40.00', 'EUR'],
  ['2026-05-24', 'bea@example.com', 'MIA10', '30.00', 'EUR'],
];

async function openShop(rows: readonly string[]): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW });
  shop.write('terms.csv', TERMS);
  shop.drop('orders.csv', `${[HEADER, ...rows].join('\n')}\n`);
  await shop.run();
  return shop;
}

const earned = ORDERS.map(
  ([day, email, code, total, currency], index) =>
    `#${index + 1},${email},paid,${currency},${total},${code},${day} 10:00:00 +0000,,${index + 1}`,
);

/** Two orders a day through a creator's link, and 14 orders of yesterday with the code alone. */
const leaked = Array.from({ length: 134 }, (_, index) => {
  const daysAgo = index < 120 ? 61 - Math.floor(index / 2) : 1;
  const at = new Date(Date.now() - daysAgo * DAY_MS).toISOString().replace('T', ' ').slice(0, 19);
  const link = index < 120 ? 'utm_campaign: spring' : '';
  return `#${index},ann${index % 20}@example.com,paid,EUR,10.00,MIA10,${at} +0000,${link},${index + 1}`;
});

describe('the pages about money', () => {
  it('show the revenue and cost of each deal like the command, and mark unknown amounts', async () => {
    const shop = await openShop(earned);
    const { get } = await startTestConsole(shop);
    const listed = (await shop.cli('returns', '--from', '2026-04', '--to', '2026-04')).stdout;
    // 160.00 at 50 % less 16.00 is 64.00, four times the cost. One of the two customers is new.
    expect(listed).toMatch(/DEALMIA +mia\.test +2 +160\.00 EUR +16\.00 EUR +400\.00 % +1 +16\.00 EUR/);
    expect(listed).toMatch(/DEALBEN +ben\.test +1 +40\.00 EUR +unknown +unknown +unknown +unknown/);
    expect(listed).toMatch(/DEALMIA +mia\.test +1 +8\.00 USD +0\.80 USD/);
    const page = textOf((await get('/money?by=deal&from=2026-04&to=2026-04')).text);
    expect(page).toContain('DEALMIA mia.test 2 160.00 EUR 16.00 EUR 64.00 EUR 400.00 % 1 1 16.00 EUR');
    expect(page).toMatch(
      /DEALBEN ben\.test 1 40\.00 EUR unknown unknown unknown unknown unknown unknown commission rate, who is a new customer .* commission rate, because neither your terms nor what the mirror has read of the service state/,
    );
    // What nothing states is unknown: of the creator, of the open months and of the one that can be closed.
    expect(textOf((await get('/creators/ben.test')).text)).toContain('In open statements unknown');
    expect(textOf((await get('/statements')).text)).toContain(
      'It is unknown what 1 order earns: the month in which it counts comes to at least its amount.',
    );
    expect(textOf((await get('/statements')).text)).toMatch(
      /2026-05 can be closed \d at least [\d.]+ EUR, 1 order unknown 2026-05 can be closed 1 0\.80 USD/,
    );
    const closing = textOf((await get('/statements/2026-05')).text);
    expect(closing).toMatch(
      /To pay in EUR: at least [\d.]+ EUR, 1 order unknown .* To pay in USD: 0\.80 USD/,
    );
    expect(closing).toMatch(/when you pay it out: at least [\d.]+ EUR, [\d.]+ USD, 1 order unknown\./);
    const home = textOf((await get('/')).text);
    expect(home).toMatch(
      /2026-05 is over and can be closed\. Commission: at least [\d.]+ EUR, 1 order unknown; 0\.80 USD, without fixed fees\. Check/,
    );
    // Months are compared by the same day, also in a currency without an order in the last one.
    expect(home).toMatch(/0\.00 USD, 0 orders 8\.00 USD, 1 order in all of 2026-04/);
    // By default it shows the newest month that is over, beside the month before, and a year as bars that lead to their months.
    const newest = await get('/money');
    expect(textOf(newest.text)).toMatch(
      /Money in 2026-05 .* Credited orders of 2026-05, .* Net revenue, EUR 30\.00 EUR −85 % on 2026-04 Cost, EUR 3\.00 EUR Orders in EUR 1 −67 % on 2026-04 .* mia\.test 1 30\.00 EUR 3\.00 EUR 12\.00 EUR 400.00 % 0 1 none/,
    );
    // A figure leads to the orders that it adds up, or to none.
    const toOrders = (deal: string) =>
      `/orders?outcome=credited&amp;${deal}from=2026-05-01&amp;to=2026-05-31"`;
    expect(newest.text).toContain(toOrders(''));
    expect((await get('/money?deal=DEALMIA')).text).toContain(toOrders('deal=DEALMIA&amp;'));
    expect((await get('/money?handle=mia')).text).not.toContain('/orders?outcome=credited');
    expect(newest.text).toContain('href="/money?from=2026-04&amp;to=2026-04" tabindex="-1"');
    // The scale of a picture: its highest value, and the first and the last month.
    expect(newest.text).toMatch(/>200<\/text>.*>2025-12<\/text>.*>2026-05<\/text>/s);
    const months = (await get('/money?by=month&from=2025-12')).text;
    expect(textOf(months)).toMatch(
      /2026-05 1 30\.00 EUR .* 2026-04 3 200\.00 EUR at least 16\.00 EUR, 1 order unknown unknown unknown .* 2025-12 0 0\.00 EUR 50\.00 EUR/,
    );
    // One deal without a rate hides neither the month nor the brand, and is named.
    expect(months).toContain(
      'Orders of unknown cost are in <a href="/deals/DEALBEN">DEALBEN</a>. To make it known, run the mirror if it has not read these deals yet, or add a row with the rate of the deal to statements.terms. The next run then computes the cost.',
    );
    const byMonth = (await shop.cli('returns', '--by', 'month')).stdout;
    expect(byMonth).toMatch(/2025-12 +0 +0\.00 EUR +50\.00 EUR/);
    expect(byMonth).toMatch(/2026-04 +3 +200\.00 EUR +at least 16\.00 EUR, 1 order unknown/);
    const { rows } = await sql`
      select sum(cost_amount) as cost, sum(cost_at_least_amount) as at_least, sum(uncosted_orders) as unknown
      from bi.returns_monthly where month_utc = '2026-04-01' and currency = 'EUR'`.execute(shop.db);
    expect(rows).toEqual([{ cost: '16.0000', at_least: '16.0000', unknown: '1' }]);
    expect(textOf((await get('/money?by=creator&handle=BEN')).text)).not.toContain('mia.test');
    // A handle of which nothing else is known leads to a page, and not back to the search that led to it.
    await sql`
      insert into reporting.deal_totals (target, currency, influencer_handle, orders, amount)
      values ('zz.okoro', 'EUR', 'zz.okoro', 1, 1)`.execute(shop.db);
    // Of six such deals, five are named.
    await sql`
      insert into reporting.return_months
      select (jsonb_populate_record(m, jsonb_build_object('deal_id', 'DEALX' || n))).*
      from reporting.return_months m, generate_series(1, 5) n
      where m.deal_id = 'DEALBEN' and m.month_utc = '2026-04-01'`.execute(shop.db);
    expect(textOf((await get('/money?by=month&from=2025-12')).text)).toMatch(
      / DEALBEN , DEALX1 , DEALX2 , DEALX3 , DEALX4 and other deals\./,
    );
    const nobody = await get('/search?q=zz.okoro');
    expect([nobody.status, textOf(nobody.text)]).toEqual([
      404,
      expect.stringContaining('No deal, no code and no order of this creator is known.'),
    ]);
  });

  it('show the customers whom a deal won, and whether their period is over', async () => {
    const shop = await openShop(earned);
    const { get } = await startTestConsole(shop);
    const page = textOf((await get('/money/customers')).text);
    const { rows } = await sql<{ new_customers: string; repeat_customers: string; net_90_amount: string }>`
      select new_customers, repeat_customers, net_90_amount from bi.customer_cohorts where currency = 'EUR'`.execute(
      shop.db,
    );
    expect(rows).toEqual([{ new_customers: '1', repeat_customers: '1', net_90_amount: '90.0000' }]);
    expect(page).toMatch(/2026-04 DEALMIA mia\.test 1 1 60\.00 EUR 90\.00 EUR not known yet/);
  });

  it('list leaked codes with their evidence, and acknowledge one exactly like the command', async () => {
    const [byCommand, byForm] = [await openShop(leaked), await openShop(leaked)];
    const { get, post } = await startTestConsole(byForm);
    const evidence =
      /14 of (1\d) orders in 2 days without a link; usually (\d(?:\.\d)?), and (\d+) % of all orders\. Of (\d+) known customers, (\d+) had/.exec(
        (await byForm.cli('leaks')).stdout.replace(/\s+/g, ' '),
      );
    const [, orders, usual, share, known, returning] = evidence ?? [];
    const page = await get('/money/leaks');
    expect(textOf(page.text)).toMatch(
      new RegExp(
        `mia10 \\(mia\\.test, deal DEALMIA\\), since \\S+: 14 of ${orders} orders in 2 days without a link; usually ${usual}, and ${share} % of all orders\\. Of ${known} known customers, ${returning} had`,
      ),
    );
    const reason = 'jane@example.com told us: a podcast';
    expect((await post('/money/leaks/acknowledge', { code: 'ben15', reason })).status).toBe(409);
    expect((await post('/money/leaks/acknowledge', { code: 'mia10', reason: ' ' })).status).toBe(400);
    expect((await post('/money/leaks/acknowledge', { code: 'mia10', reason })).status).toBe(200);
    await byCommand.cli('leaks', 'acknowledge', 'mia10', '--reason', reason);
    const kept = async ({ db }: Workshop) =>
      (await listAudit(db, { limit: 10 })).map(({ action, subject, summary, reason: why }) => [
        action,
        subject,
        summary,
        why,
      ]);
    expect(await kept(byForm)).toEqual(await kept(byCommand));
    expect((await kept(byForm))[0]?.[3]).toBe('j***@*** told us: a podcast');
    expect((await byForm.cli('leaks')).exitCode).toBe(0);
    expect(textOf((await get('/money/leaks?state=acknowledged')).text)).toContain(
      'Acknowledged by tester: j***@***',
    );
    expect(textOf((await get('/money/leaks?state=open')).text)).toContain('Nothing matches this filter.');
    const viewers = await startTestConsole(byForm, {
      tokens: [{ name: 'ben', role: 'viewer', token: 't'.repeat(32) }],
    });
    const headers = { authorization: `Bearer ${'t'.repeat(32)}`, 'sec-fetch-site': 'same-origin' };
    expect((await viewers.post('/money/leaks/acknowledge', { code: 'mia10', reason }, headers)).status).toBe(
      403,
    );
    expect((await viewers.get('/money/leaks', headers)).text).not.toContain(
      'action="/money/leaks/acknowledge"',
    );
  });

  it('show what a void of a code would change, and write exactly that into the terms', async () => {
    const shop = await openShop(earned);
    expect((await shop.cli('statement', 'close', '--month', '2026-05', '--reason', 'paid')).exitCode).toBe(0);
    const { get, post } = await startTestConsole(shop);
    const path = '/codes/assign?code=MIA10&void=2026-04-21';
    const page = await get(path);
    expect(textOf(page.text)).toMatch(
      /3 orders with the code since then: 0 with a link of the creator, 3 without\..* In closed statements, so the next one takes it back: 6\.00 EUR, 0\.80 USD\. In months that are over and not closed: 3\.00 EUR\..* 2026-05 DEALMIA mia\.test 16\.00 EUR 10\.00 EUR -6\.00 EUR correction .* 2026-06 DEALMIA mia\.test 3\.00 EUR 0\.00 EUR -3\.00 EUR open/,
    );
    const without = textOf((await get('/orders?code=mia10&link=without&from=2026-04-21')).text);
    expect(without).toMatch(/#3 .*#6|#6 .*#3/);
    expect(without).not.toMatch(/#2 |#5 /);
    expect((await get('/orders?code=mia10&link=with')).text).toContain('Nothing matches this filter.');
    const shown = /name="shown" value="(\w+)"/.exec(page.text)?.[1] ?? '';
    const form = { code: 'mia10', day: '2026-04-21', shown, reason: 'on a coupon site' };
    expect((await post('/codes/void', { ...form, day: '2026-04-22' })).status).toBe(409);
    shop.write('terms.csv.new', '');
    const refused = await post('/codes/void', form);
    expect([refused.status, textOf(refused.text)]).toEqual([
      409,
      expect.stringMatching(/terms\.csv\.new exists.* Add this row yourself, .*: ,0,,,2026-04-21,mia10,on a/),
    ]);
    rmSync(join(shop.folder, 'terms.csv.new'));
    expect(await listAudit(shop.db, { limit: 9 })).toHaveLength(1);
    chmodSync(join(shop.folder, 'terms.csv'), 0o640);
    expect((await post('/codes/void', { ...form, return_to: path })).status).toBe(200);
    expect(statSync(join(shop.folder, 'terms.csv')).mode & 0o777).toBe(0o640);
    expect(readFileSync(join(shop.folder, 'terms.csv'), 'utf8')).toBe(
      'deal_id,rate,fixed_fee,currency,valid_from,code,reason\nDEALMIA,10,50,EUR,2025-12-01,,\n,0,,,2026-04-21,mia10,on a coupon site\n',
    );
    expect(await listAudit(shop.db, { limit: 1 })).toMatchObject([
      { action: 'void_code', subject: 'mia10', reason: 'on a coupon site', actor: 'tester' },
    ]);
    expect((await shop.cli('statement', '--month', '2026-06')).stdout).toMatch(
      /DEALMIA +mia\.test +0 +-6\.00 +-6\.00 EUR/,
    );
    expect((await post('/codes/void', form)).status).toBe(409);
    const again = ['leaks', 'void', 'BEN15', '--from', '2026-04-23', '--reason', 'moved'];
    expect((await shop.cli(...again)).stdout).toContain('Written to ');
    expect(readFileSync(join(shop.folder, 'terms.csv'), 'utf8')).toContain('\n,0,,,2026-04-23,ben15,moved\n');
    expect((await shop.cli(...again)).exitCode).toBe(2);
    // A process that ended between the file and its commit left the file alone: the same decision again records it.
    await sql`alter table ops.audit disable trigger all`.execute(shop.db);
    await sql`delete from ops.audit where subject = 'ben15'`.execute(shop.db);
    const repeated = [await shop.cli(...again), await shop.cli(...again)];
    expect(repeated.map(({ exitCode }) => exitCode)).toEqual([0, 2]);
    expect(repeated[0]?.stdout.replace(/\s+/g, ' ')).toContain('terms.csv had the row already');
    expect(await listAudit(shop.db, { limit: 1 })).toMatchObject([{ action: 'void_code', subject: 'ben15' }]);
  });

  it('show what the service counts like reconcile, deals with the largest unexplained difference first', async () => {
    const shop = await openShop(earned);
    const { get } = await startTestConsole(shop);
    for (const show of ['unexplained', 'all'])
      expect(textOf((await get(`/money/reconciliation?show=${show}`)).text)).toContain(
        'Nothing was compared yet: the mirror has published no totals.',
      );
    const run = `(select max(run_id) from ops.runs)`;
    await sql`
      insert into mirror.known_deals (deal_id, first_way, ways, read_at)
      select 'D' || lpad(n::text, 3, '0'), 'codes', '{codes}', now() from generate_series(1, 60) n`.execute(
      shop.db,
    );
    await sql`
      insert into mirror.deal_versions (deal_id, total_referrals, raw, row_hash, valid_from, valid_to, is_latest, first_seen_at, run_id)
      select 'D' || lpad(n::text, 3, '0'), case v when 1 then 10 else 10 + n end, '{}', n || '.' || v, now() - interval '1 day' * (3 - v),
        case v when 1 then now() - interval '1 day' end, v = 2, now(), ${sql.raw(run)}
      from generate_series(1, 60) n, generate_series(1, 2) v`.execute(shop.db);
    await keepReconciliation(shop.db, { accountCurrency: null, runId: '1' });
    const listed = (await shop.cli('reconcile', '--deal', 'D060')).stdout;
    expect(listed).toMatch(/D060 .* 70 +0 +10 +\+60/);
    const seen: string[] = [];
    let next: string | null = '/money/reconciliation?show=unexplained';
    while (next !== null && seen.length < 200) {
      const { text } = await get(next);
      expect(textOf(text)).toContain('62 deals compared. Only those with a difference');
      if (seen.length === 0) expect(textOf(text)).toMatch(/D060 20\S+ \S+ UTC 70 0 70 10 0 0 \+60 unknown/);
      seen.push(...[...text.matchAll(/deal=(D\d+)"/g)].map(([, id = '']) => id));
      next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => `D${String(60 - index).padStart(3, '0')}`));
    const one = textOf((await get('/money/reconciliation?deal=D060')).text);
    expect(one).toMatch(/Counted 70, unknown Posted 0, unknown Before 10 .* Unexplained \+60, unknown/);
    const all = textOf((await get('/money/reconciliation?show=all')).text);
    for (const said of [listed, all, one])
      expect(said.replace(/\s+/g, ' ')).toContain(
        'Amounts are not compared, because the currency of the account is unknown. It comes from events of orders, or from reconcile.account_currency.',
      );
    expect((await get('/money/reconciliation?deal=NONE')).status).toBe(404);
    // Without a difference, an amount that could not be compared is no agreement.
    await sql`update reporting.reconciliation set unexplained = 0`.execute(shop.db);
    const agreed = async () => textOf((await get('/money/reconciliation')).text);
    expect(await agreed()).toContain(
      '62 deals were compared: no count differs, and whether the amounts of 62 agree is not known.',
    );
    await sql`update reporting.reconciliation set unexplained_amount = 0`.execute(shop.db);
    expect(await agreed()).toContain('62 deals were compared: no count differs, and no amount differs.');
  });

  it('show orders with evidence for several creators, and what each rule would credit, like the command', async () => {
    const shop = await openShop([
      ...earned,
      '#90,,paid,EUR,70.00,BEN15,2026-04-24 10:00:00 +0000,utm_campaign: mia.test,90',
      '#91,,paid,EUR,20.00,"MIA10, BEN15",2026-05-25 10:00:00 +0000,,91',
      '#89,,paid,EUR,5.00,"MIA10, BEN15",2026-02-25 10:00:00 +0000,,89',
    ]);
    const { get } = await startTestConsole(shop);
    const listed = (await shop.cli('conflicts')).stdout;
    expect(listed).toMatch(/ben\.test \(deal:DEALBEN\) +70\.00 EUR +0\.00 EUR +95\.00 EUR +0\.00 EUR/);
    expect(listed).toMatch(/mia\.test \(deal:DEALMIA\) +0\.00 EUR +95\.00 EUR +0\.00 EUR +0\.00 EUR/);
    expect(listed).toMatch(/no influencer +25\.00 EUR +0\.00 EUR +0\.00 EUR +95\.00 EUR/);
    expect(listed).toMatch(/2026-05-25 +91 +20\.00 EUR +held +code MIA10, code BEN15/);
    const evidence = 'link mia.test → deal DEALMIA, code BEN15 → deal DEALBEN';
    expect((await shop.cli('explain', 'order', '90')).stdout.replace(/\s+/g, ' ')).toContain(
      `evidence for several owners: ${evidence}`,
    );
    expect(textOf((await get('/orders/shop/90')).text)).toContain(`Evidence for several owners ${evidence}`);
    const conflicts = (await get('/money/conflicts')).text;
    expect(conflicts).toMatch(/href="\/creators\/ben\.test">ben\.test<.*href="\/deals\/DEALBEN">DEALBEN</);
    const page = textOf(conflicts);
    expect(page).toContain('what other rules would credit, for 2026-03 to 2026-05;');
    expect(page).toMatch(/ben\.test deal DEALBEN 70\.00 EUR 0\.00 EUR 90\.00 EUR 0\.00 EUR/);
    expect(page).toMatch(/no creator 20\.00 EUR 0\.00 EUR 0\.00 EUR 90\.00 EUR/);
    expect(page).toMatch(
      /91 2026-05-25 20\.00 EUR codes of several owners code MIA10, code BEN15 no creator held mia\.test deal DEALMIA ben\.test deal DEALBEN no creator 90 2026-04-24 70\.00 EUR a link and a code link mia\.test, code BEN15 ben\.test/,
    );
    expect(textOf((await get('/money/conflicts?kind=codes&from=2026-05')).text)).not.toContain('70.00 EUR');
    expect(page).not.toContain('2026-02-25');
    expect(textOf((await get('/money/conflicts?to=2026-03')).text)).toContain('89 2026-02-25 5.00 EUR');
    expect(textOf((await get('/money/conflicts?to=2026-01')).text)).toContain('Nothing matches this filter.');
  });

  it('show many deals in pages, each deal once', async () => {
    const shop = await openShop(earned);
    await sql`
      insert into reporting.return_months (month_utc, deal_id, brand_id, currency, orders, sent_amount, net_amount, commission_amount,
        unrated_orders, new_customers, returning_orders, unknown_orders, repeat_customers, net_30_amount, net_90_amount, net_365_amount, last_won_at)
      select '2026-06-01', 'D' || lpad(n::text, 3, '0'), '4819', case when n % 2 = 0 then 'EUR' else 'USD' end, 1, n / 4, n / 4, 1, 0, 1, 0, 0, 0, 1, 1, 1, now()
      from generate_series(1, 160) n`.execute(shop.db);
    const others = ['CHF', 'SEK', 'GBP'].map((currency) => sql`(${currency})`);
    await sql`
      insert into reporting.return_months (month_utc, deal_id, brand_id, currency, orders, sent_amount, net_amount, commission_amount,
        unrated_orders, new_customers, returning_orders, unknown_orders, repeat_customers, net_30_amount, net_90_amount, net_365_amount, last_won_at)
      select '2026-06-01', 'other', '4819', c, case c when 'SEK' then 9 else 1 end, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, now()
      from (values ${sql.join(others)}) v (c)`.execute(shop.db);
    const { get } = await startTestConsole(shop);
    // The figures are of the currencies with the most orders; the others are named.
    expect(textOf((await get('/money')).text)).toMatch(
      /Net revenue, EUR .* Net revenue, USD .* Net revenue, SEK .* Also in CHF, GBP: see by month \./,
    );
    for (const path of ['/money?by=deal', '/money/customers?from=2026-06']) {
      const seen: string[] = [];
      let next: string | null = path;
      while (next !== null && seen.length < 500) {
        const { text } = await get(next);
        seen.push(...[...text.matchAll(/href="\/deals\/(D\d+|other)"/g)].map(([, id = '']) => id));
        next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;
      }
      expect(seen.toSorted()).toEqual([
        ...Array.from({ length: 160 }, (_, index) => `D${String(index + 1).padStart(3, '0')}`),
        ...others.map(() => 'other'),
      ]);
    }
  });
});

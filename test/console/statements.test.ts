import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { listOpenMonths } from '../../src/money/sum-statement.ts';
import { listAudit } from '../../src/reports/list-audit.ts';
import { HEADER, openWorkshop, type Workshop } from '../runs/workshop.ts';
import { pdfText } from '../support/pdf-text.ts';
import { hiddenFields } from './bulk-shop.ts';
import { startTestConsole, textOf } from './console-server.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements: {terms: ./terms.csv, return_window_days: 30, time_zone: Europe/Amsterdam}
`;
const TERMS = `deal_id,code,rate,fixed_fee,currency,valid_from,valid_to
DEALMIA,,10,,,,
,BEN15,12.5,200,EUR,2026-03-01,
`;

/**
 * Opens a shop with orders of one deal in two currencies, an order of another deal, and one that is pending
 * at the end of April.
 */
async function openEarned(settings = ''): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW.replace('terms.csv,', `terms.csv,${settings}`) });
  shop.write('terms.csv', TERMS);
  const row = (cells: string) => `${cells.replace('@', 'T10:30:00Z')},paid`;
  shop.drop(
    'orders.csv',
    `${[
      HEADER,
      row('A1,100.00,EUR,MIA10,2026-03-01@'),
      row('A2,33.33,EUR,MIA10,2026-03-20@'),
      row('A4,10.00,USD,MIA10,2026-03-20@'),
      row('B1,80.00,EUR,BEN15,2026-03-02@'),
      row('A3,50.00,EUR,MIA10,2026-04-10@'),
    ].join('\n')}\n`,
  );
  await shop.run();
  return shop;
}

describe('a statement', () => {
  it('shows a table for each currency with the numbers of the command, and its lines as CSV', async () => {
    const shop = await openEarned();
    const { get, url } = await startTestConsole(shop);
    const listed = (await shop.cli('statement', '--month', '2026-04')).stdout;
    expect(listed).toMatch(/DEALMIA +mia\S* +2 +133\.33 +13\.33 +13\.33 EUR/);
    expect(listed).toMatch(/Pending: 1 order\n[\s\S]*DEALMIA +mia\.test +1 +50\.00 EUR +5\.00 EUR/);
    const page = textOf((await get('/statements/2026-04')).text);
    expect(page).toContain('To pay 223.33 EUR, 1.00 USD');
    expect(page).toMatch(
      /To pay in EUR: 223\.33 EUR .* To pay fees of codes ben\.test 0 200\.00 200\.00 EUR DEALBEN ben\.test 1 80\.00 10\.00 10\.00 EUR DEALMIA mia\.test 2 133\.33 13\.33 13\.33 EUR To pay in USD: 1\.00 USD/,
    );
    expect(page).toMatch(/Pending: 1 order .* DEALMIA mia\.test 1 50\.00 EUR 5\.00 EUR/);
    const one = textOf((await get('/statements/2026-04?deal=DEALMIA')).text);
    expect(one).toMatch(/To pay 13\.33 EUR, 1\.00 USD .* Lines 3/);
    expect(one).toMatch(
      /2026-03-20 order A2 33\.33 EUR 10 % deal line 2: deal_id=DEALMIA rate=10 3\.33 0\.00 3\.33 EUR/,
    );
    const saved = await (await fetch(`${url}/statements/2026-04?download=csv`)).bytes();
    // Spreadsheets need the mark to read UTF-8.
    expect([...saved.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const csv = new TextDecoder().decode(saved);
    expect(csv).toBe((await shop.cli('statement', '--month', '2026-04', '--format', 'csv')).stdout);
    for (const none of ['/statements/2026-13', '/statements/x']) expect((await get(none)).status).toBe(404);
    expect((await get('/statements?month=2026-04')).url).toMatch(/\/statements\/2026-04$/);
    // Without typing a month: each that has something to pay.
    expect(textOf((await get('/statements')).text)).toMatch(
      /2026-05 can be closed 1 5\.00 EUR 2026-04 can be closed 2 13\.33 EUR 2026-04 can be closed 1 1\.00 USD 2026-03 can be closed 1 10\.00 EUR Closed/,
    );
  });

  it('can be saved as PDF: the whole month, or one deal for its creator', async () => {
    const shop = await openEarned();
    const { url } = await startTestConsole(shop);
    const save = async (query: string) => {
      const answer = await fetch(`${url}/statements/2026-04?download=pdf${query}`);
      expect(answer.headers.get('content-type')).toBe('application/pdf');
      return Buffer.from(await answer.arrayBuffer());
    };
    const whole = await save('');
    const { stdoutBytes } = await shop.cli('statement', '--month', '2026-04', '--format', 'pdf');
    expect(whole.equals(stdoutBytes)).toBe(true);
    const one = pdfText(await save('&deal=DEALMIA')).join(' ');
    expect(one).toContain('Statement for April 2026');
    expect(one).toMatch(/13\.33 EUR .* 1\.00 USD/);
    expect(one).not.toContain('DEALBEN');
  });

  it('shows the total of all currencies in one, in the words of the command', async () => {
    const shop = await openEarned(' reporting_currency: EUR, fx: ./fx.csv,');
    shop.write('fx.csv', 'day,from,to,rate\n2026-04-19,USD,EUR,0.915\n');
    const { get } = await startTestConsole(shop);
    const page = async () => textOf((await get('/statements/2026-04')).text);
    // 223.33 EUR and 1.00 USD.
    expect(await page()).toContain(
      'In one currency Total: 224.25 EUR, with each line at the exchange rate of the day on which it counts.',
    );
    expect((await shop.cli('statement', '--month', '2026-04')).stdout).toContain('Total: 224.25 EUR');
    shop.write('fx.csv', 'day,from,to,rate\n2026-04-18,USD,EUR,0.915\n');
    expect(await page()).toContain(
      'The total in EUR is unknown: statements.fx has no rate for USD on 2026-04-19.',
    );
    shop.write('fx.csv', 'day,from,to,rate\n2026-04-19,USD,EUR,much\n');
    expect(await page()).toContain('In one currency Unknown: the exchange rates cannot be used.');
  });

  it('is closed exactly like by the command, once, and only in the state that the page showed', async () => {
    const [byCommand, byForm] = [await openEarned(), await openEarned()];
    await byCommand.cli('statement', 'close', '--month', '2026-04', '--reason', 'paid out');
    const { get, post } = await startTestConsole(byForm);
    const of = async (creator: string) => textOf((await get(`/creators/${creator}`)).text);
    // Money leads to the first month that is over and not closed.
    expect((await get('/money')).text).toContain('href="/statements/2026-03">Check and close 2026-03</a>');
    expect(textOf((await get('/')).text)).toMatch(
      /2026-03 is over and can be closed\. Commission: 10\.00 EUR, without fixed fees\. Check and close it/,
    );
    const open = (await get('/statements/2026-04')).text;
    expect(open).toMatch(/<input type="checkbox" name="understood" value="yes" required> I have checked it/);
    const shown = hiddenFields(open, '/statements/close');
    expect(shown.shown).toBe('223.33 EUR in 4 lines, 1.00 USD in 1 line');
    const unticked = await post('/statements/close', { ...shown, reason: 'paid out' });
    expect([unticked.status, textOf(unticked.text)]).toEqual([400, expect.stringContaining('Tick the box')]);
    const fields = { ...shown, understood: 'yes', reason: 'paid out' };
    byForm.write('terms.csv', TERMS.replace('DEALMIA,,10', 'DEALMIA,,20'));
    const stale = await post('/statements/close', fields);
    expect([stale.status, textOf(stale.text)]).toEqual([
      409,
      expect.stringContaining('is now 236.67 EUR in 4 lines, 2.00 USD in 1 line.'),
    ]);
    byForm.write('terms.csv', TERMS);
    const closed = await post('/statements/close', fields);
    expect(textOf(closed.text)).toContain('The statement of 2026-04 is closed: 5 lines.');
    const again = await post('/statements/close', fields);
    expect([again.status, textOf(again.text)]).toEqual([
      409,
      expect.stringContaining('The statement of 2026-04 was closed by tester'),
    ]);
    const lasting = async ({ db }: Workshop) => [
      (
        await sql`select to_jsonb(l) - 'statement_id' as line from ops.statement_lines l order by line_no`.execute(
          db,
        )
      ).rows,
      (await sql`select month::text, lines, reason from ops.statements`.execute(db)).rows,
      await listOpenMonths(db, { limit: 10 }),
      (await listAudit(db, { limit: 10 })).map(({ action, subject, summary, reason }) => ({
        action,
        subject,
        summary,
        reason,
      })),
    ];
    expect(await lasting(byForm)).toEqual(await lasting(byCommand));
    // What was closed is open no longer, before any further run.
    expect(textOf((await get('/statements')).text)).toMatch(
      /Commission 2026-05 can be closed 1 5\.00 EUR Closed/,
    );
    expect((await byForm.cli('statement', 'verify')).exitCode).toBe(0);
    const page = await get('/statements/2026-04');
    expect(textOf(page.text)).toContain('223.33 EUR, 1.00 USD Payments in no payment Closed');
    expect(page.text).not.toContain('action="/statements/close"');
    expect(page.text).toContain('href="/money/payments">in no payment</a>');
    expect((await get('/money')).text).toContain('href="/statements/2026-05">Check and close 2026-05</a>');
    // A month that the closed one contains is named once.
    expect(textOf((await get('/statements/2026-03')).text)).not.toContain('2026-04. 2026-04.');
    expect(textOf((await get('/statements')).text)).toMatch(
      /2026-04 5 223\.33 EUR, 1\.00 USD .* tester paid out/,
    );
    expect(page.text).toContain('href="/statements/2026-04?deal=DEALBEN&amp;download=pdf">PDF</a>');
    expect(textOf((await get('/statements/2099-01')).text)).toContain('2099-01 is not over.');
    // A fee is in the open amount of its creator, as in the statement.
    byForm.write('terms.csv', `${TERMS}DEALBEN,,,25,EUR,2026-04-01,\n`);
    expect(await of('ben.test')).toMatch(
      /ben\.test 25\.00 EUR can be closed and paid: .* Check and close 2026-05 .* In open statements 25\.00 EUR In closed statements 10\.00 EUR .* 2026-05 DEALBEN can be closed 0 25\.00 EUR PDF 2026-04 DEALBEN closed [^E]* 1 10\.00 EUR in no payment PDF/,
    );
    byForm.write('terms.csv', 'deal_id\n1,2\n');
    expect(textOf((await get('/')).text)).toContain(
      '2026-05 is over and can be closed. Commission: 5.00 EUR, without fixed fees. Check and close it',
    );
    expect(await of('ben.test')).toMatch(/In open statements nothing .* shown without fixed fees\./);
    // A deal that has another creator by now: the statement stays that of the creator who had it.
    expect(await of('mia.test')).toMatch(/In closed statements \d/);
    // What was closed stays, also in a currency in which nothing else is known of the creator.
    await sql`delete from reporting.return_months where currency = 'USD'`.execute(byForm.db);
    expect(await of('mia.test')).toMatch(/In closed statements [\d.]+ EUR 1\.00 USD/);
    // Neither another spelling nor an unknown one makes it that of somebody else.
    await sql`alter table ops.statement_headings disable trigger all`.execute(byForm.db);
    const closedTo = (handle: string | null) =>
      sql`update ops.statement_headings set influencer_handle = ${handle} where deal_id = 'DEALMIA'`.execute(
        byForm.db,
      );
    await closedTo(null);
    expect(await of('mia.test')).toMatch(/In closed statements nothing/);
    await closedTo('@Mia. Test');
    expect(await of('mia.test')).toMatch(/In closed statements \d/);
    await sql`update intake.codes set influencer_handle = 'next.test', handle_folded = 'next.test' where deal_id = 'DEALMIA'`.execute(
      byForm.db,
    );
    expect(await of('next.test')).toMatch(/Net revenue \d.* In closed statements nothing/);
  });

  it('shows many deals in pages once it is closed, also without its terms', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    await sql`
      insert into ops.statement_lines (statement_id, line_no, kind, subject, due_on, deal_id, currency, earned_amount, closed_before, amount)
      select 1, n, 'fixed_fee', 'fee:' || n, '2026-04-01', 'D' || lpad((n / 2)::text, 3, '0'), case when n = 242 then 'JPY' when n % 2 = 0 then 'EUR' else 'USD' end, 1, 0, 1
      from generate_series(2, 242) n`.execute(shop.db);
    await sql`
      insert into ops.statements (statement_id, month, time_zone, return_window_days, lines, closed_by, reason, previous_hash, hash)
      overriding system value values (1, '2026-04-01', 'UTC', 30, 241, 'ann', 'paid', '', 'h')`.execute(
      shop.db,
    );
    const { get } = await startTestConsole(shop);
    // No amount has more decimals than its currency.
    expect(textOf((await get('/statements/2026-04?deal=D121')).text)).toMatch(/ fee 1 0 1 JPY/);
    const seen: string[] = [];
    let next: string | null = '/statements/2026-04';
    while (next !== null && seen.length < 200) {
      const { text } = await get(next);
      const inDollars = text.slice(text.indexOf('To pay in USD'));
      expect(textOf(inDollars)).toContain('To pay in USD: 120.00 USD');
      seen.push(...[...inDollars.matchAll(/deal=(D\d+)"/g)].map(([, id = '']) => id));
      next = /href="([^"]+currency=USD[^"]*)"/.exec(inDollars)?.[1]?.replaceAll('&amp;', '&') ?? null;
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `D${String(index + 1).padStart(3, '0')}`));
  });
});

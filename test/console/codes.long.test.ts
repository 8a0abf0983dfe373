import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { parseCodes } from '../../src/codes/parse-codes.ts';
import { startTestConsole, textOf } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

const ASSIGN = {
  job: 'orders',
  code: 'NOBODY',
  deal_id: 'DEALZOE',
  reason: 'she told us',
  understood: 'yes',
};

describe('codes in the console', () => {
  it('can be assigned if they have no owner, and the next run credits their orders', async () => {
    const { shop } = await openConsoleShop();
    const { get, post } = await startTestConsole(shop);
    expect(textOf((await get('/codes')).text)).toMatch(/NOBODY 1 7\.00 EUR 2026-04-10 orders/);
    const preview = textOf((await get('/codes/assign?job=orders&code=NOBODY')).text);
    expect(preview).toMatch(
      /Code NOBODY No creator owns this code\. 1 order \(7\.00 EUR\) has no owner\. .* A3 2026-04-10 11:11 UTC no owner unknown code NOBODY 7\.00 EUR/,
    );
    // A mistyped owner is refused unless the person says that it may be new.
    for (const typo of [
      { deal_id: 'DEALMAI' },
      { deal_id: '', influencer_handle: 'mai.test' },
      { deal_id: '', collab_id: 'COLLAB9' },
      { deal_id: 'DEALMIA', brand_id: '4918' },
    ]) {
      const refused = await post('/codes/assign', { ...ASSIGN, ...typo, understood: '' });
      expect([refused.status, textOf(refused.text)]).toEqual([
        409,
        expect.stringMatching(
          /Neither the mirror nor a code knows the (deal DEALMAI|handle mai\.test|collaboration COLLAB9|brand 4918)\./,
        ),
      ]);
      // What was answered to a form is not replaced by an update of the page.
      expect(refused.text).toContain('data-answer');
    }
    const done = await post('/codes/assign', { ...ASSIGN, return_to: '/codes?show=assigned' });
    expect(done.status).toBe(200);
    expect(done.url).toContain('/codes?show=assigned&done=1');
    expect(textOf(done.text)).toContain(
      'The code NOBODY is assigned to DEALZOE. The next run of orders matches its orders again.',
    );
    // Until that run, no page asks for its owner again.
    expect(textOf((await get('/fix')).text)).not.toContain('NOBODY');
    expect(textOf((await get('/codes')).text)).toContain('NOBODY assigned to DEALZOE from the next run on');
    expect(textOf((await get('/codes/assign?job=orders&code=NOBODY')).text)).toMatch(
      /It is assigned to DEALZOE\. The next run of orders credits 1 order \(7\.00 EUR\) if its rules allow\./,
    );
    const ofOrder = await get('/orders/shop/A3');
    expect(textOf(ofOrder.text)).toContain(
      'Not credited yet: the code NOBODY is assigned to DEALZOE. The next run of orders decides again.',
    );
    expect(ofOrder.text).not.toContain('>Assign the code<');
    expect(await shop.run()).toMatchObject({ finished: { counts: { entries: { accepted: 1 } } } });
    expect(await shop.posted()).toEqual(['A1', 'A2', 'A3']);
    // A second assigned code does not stop the job, and a known owner needs no confirmation.
    const second = { ...ASSIGN, code: 'OTHER', deal_id: 'DEALMIA', understood: '' };
    expect((await post('/codes/assign', second)).status).toBe(200);
    expect((await shop.run()).exitCode).not.toBe(1);
    expect(textOf((await get('/audit')).text)).toMatch(
      /tester console The code NOBODY is assigned.* she told us code NOBODY after job: orders; code: NOBODY; /,
    );
    expect(textOf((await get('/codes')).text)).not.toContain('NOBODY');
    // Its page tells its owners over time, and its orders by day.
    await sql`insert into reporting.code_use_days (day_utc, code_folded, orders, without_link) values (current_date - 1, 'nobody', 3, 2)`.execute(
      shop.db,
    );
    const owned = await get('/codes/assign?job=orders&code=nobody');
    expect(owned.text).toMatch(/href="\/orders\?code=nobody&amp;link=either&amp;from=(\S+)&amp;to=\1"/);
    // A bar leads to the orders that carry the code on its day.
    const carried = '/orders?code=nobody&link=either&from=2026-04-10&to=2026-04-10';
    expect(textOf((await get(carried)).text)).toContain('1 order, newest first');
    expect(textOf(owned.text)).toMatch(
      /Code NOBODY It is assigned to DEALZOE\. .* 3 orders, 2 without a link .* Owners .* deal DEALZOE .* assigned here .* by tester Assign another owner/,
    );
  });

  it('yield to a row of codes.csv for the same code', async () => {
    const { shop } = await openConsoleShop();
    const { get, post } = await startTestConsole(shop);
    await post('/codes/assign', ASSIGN);
    shop.write(
      'codes.csv',
      'code,brand_id,influencer_handle,deal_id\nMIA10,4819,mia.test,DEALMIA\nNOBODY,4819,ben.test,DEALBEN\n',
    );
    await shop.run();
    expect((await shop.cli('explain', 'order', 'A3')).stdout).toContain('deal DEALBEN');
    expect(textOf((await get('/codes?show=assigned')).text)).toContain(
      'no: line 3 of codes.csv takes precedence',
    );
    const listed = await post('/codes/assign', ASSIGN);
    expect([listed.status, textOf(listed.text)]).toEqual([
      409,
      expect.stringContaining('Line 3 of codes.csv gives the code to an owner. Change it there.'),
    ]);
  });

  it('have no owner after they are withdrawn, while credited orders stay credited', async () => {
    const { shop } = await openConsoleShop();
    const { post } = await startTestConsole(shop);
    await post('/codes/assign', ASSIGN);
    await shop.run();
    const withdraw = { job: 'orders', code: 'NOBODY', reason: 'it was a typo' };
    expect((await post('/codes/withdraw', withdraw)).status).toBe(200);
    expect((await post('/codes/withdraw', withdraw)).status).toBe(409);
    shop.drop(
      'june.csv',
      'order_id,order_revenue,currency,discount_codes,placed_at,status\nA9,4.00,EUR,NOBODY,2026-04-11T11:11:26Z,paid\n',
    );
    await shop.run();
    expect(await shop.posted()).toEqual(['A1', 'A2', 'A3']);
  });

  it('show the days of their validity as they were written, in every list and in the download', async () => {
    const { shop } = await openConsoleShop();
    shop.write(
      'codes.csv',
      `code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to
MIA10,4819,mia.test,DEALMIA,,2026-01-01,2026-03-27
BEN15,4819,ben.test,DEALBEN,,2026-01-01T09:00:00+02:00,
`,
    );
    shop.drop(
      'may.csv',
      'order_id,order_revenue,currency,discount_codes,placed_at,status\nM1,5.00,EUR,MIA10,2026-05-10T11:11:26Z,paid\n',
    );
    await shop.run();
    const { get, post } = await startTestConsole(shop);
    const days = '2026-01-01 until 2026-03-27';
    for (const page of ['/codes?show=owned', '/codes/assign?job=orders&code=MIA10', '/creators/mia.test'])
      expect(textOf((await get(page)).text), page).toContain(days);
    expect(textOf((await get('/codes?show=owned')).text)).toContain('since 2026-01-01T09:00:00+02:00');
    const file = (await get('/codes/export?job=orders')).text;
    expect(file).toContain('MIA10,4819,mia.test,DEALMIA,,2026-01-01,2026-03-27');
    expect(file).toContain('BEN15,4819,ben.test,DEALBEN,,2026-01-01T09:00:00+02:00,');
    expect((await shop.cli('explain', 'code', 'MIA10')).stdout).toMatch(/2026-01-01 +2026-03-27 +orders/);
    expect((await shop.cli('explain', 'order', 'M1')).stdout.replace(/\s+/g, ' ')).toContain(
      'MIA10 (mia.test) ended on 2026-03-27',
    );
    await post('/codes/assign', { ...ASSIGN, valid_to: '2026-12-27' });
    expect(textOf((await get('/codes?show=assigned')).text)).toContain('until 2026-12-27');
  });

  it('can be downloaded as a valid codes.csv', async () => {
    const { shop } = await openConsoleShop();
    const { get, post, url } = await startTestConsole(shop);
    await post('/codes/assign', ASSIGN);
    await shop.run();
    const { headers, ...file } = await fetch(`${url}/codes/export?job=orders`).then(async (answer) => ({
      headers: answer.headers,
      bytes: Buffer.from(await answer.arrayBuffer()),
    }));
    expect(headers.get('content-disposition')).toBe('attachment; filename="codes-orders.csv"');
    // A spreadsheet takes a file without the mark for one in the encoding of the machine.
    expect(file.bytes.subarray(0, 3).toString('hex')).toBe('efbbbf');
    const { rows, problems } = parseCodes((await get('/codes/export?job=orders')).text);
    expect(problems).toEqual([]);
    expect(rows.map(({ code, dealId }) => [code, dealId])).toEqual([
      ['BEN15', 'DEALBEN'],
      ['MIA10', 'DEALMIA'],
      ['NOBODY', 'DEALZOE'],
    ]);
  });

  it('cannot be assigned to an e-mail address, without an owner or without a reason', async () => {
    const { shop } = await openConsoleShop();
    const { post, get } = await startTestConsole(shop);
    for (const [wrong, status, why] of [
      [{ deal_id: '', influencer_handle: 'ann@example.com' }, 409, 'personal data'],
      [{ deal_id: '' }, 409, 'fill in a deal, a collaboration or a handle'],
      [{ reason: ' ' }, 400, 'Say why'],
      [{ valid_from: 'soon' }, 409, 'not a readable date'],
    ] as const) {
      const answer = await post('/codes/assign', { ...ASSIGN, ...wrong });
      expect([answer.status, textOf(answer.text)]).toEqual([status, expect.stringContaining(why)]);
      expect(answer.text).not.toContain('ann@');
    }
    expect(textOf((await get('/audit')).text)).toContain('No change was made yet.');
  });

  it('can be changed only by an operator, from a page of this server, and not in a read-only console', async () => {
    const { shop } = await openConsoleShop();
    const token = 't'.repeat(32);
    const asViewer = await startTestConsole(shop, { tokens: [{ name: 'robot', role: 'viewer', token }] });
    const viewer = await asViewer.post('/codes/assign', ASSIGN, { authorization: `Bearer ${token}` });
    expect([viewer.status, textOf(viewer.text)]).toEqual([
      403,
      expect.stringContaining('Your role is viewer'),
    ]);
    expect(
      (await asViewer.get('/codes/assign?job=orders&code=NOBODY', { authorization: `Bearer ${token}` })).text,
    ).not.toContain('method="post"');
    const { post } = await startTestConsole(shop);
    expect((await post('/codes/assign', ASSIGN, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await post('/codes/assign', ASSIGN, { origin: 'http://evil.example' })).status).toBe(403);
    const readOnly = await startTestConsole(shop, { readOnly: true });
    expect((await readOnly.post('/codes/assign', ASSIGN)).status).toBe(403);
  });
});

describe('the page of a deal', () => {
  it('shows the credited orders by month and currency', async () => {
    const { shop } = await openConsoleShop();
    const { get } = await startTestConsole(shop);
    expect(textOf((await get('/deals/DEALMIA')).text)).toMatch(
      /Orders credited by this tool 1 12\.50 EUR .* 2026-04 1 0 12\.50 EUR/,
    );
    expect((await get('/deals/NONE')).status).toBe(404);
  });

  it('shows what changed with each reading of the mirror, in every field, and the clicks of each month', async () => {
    const { shop } = await openConsoleShop();
    await sql`
      insert into mirror.deal_versions (deal_id, influencer_handle, platform, brand_id, dealflow_id, is_active, funnel_step, total_clicks,
        total_referrals, total_sales, total_payouts, total_commission_earned, total_fixed_fee_earned, raw, row_hash, valid_from, valid_to,
        is_latest, first_seen_at, run_id)
      select 'DEALEVA', handle, 'tiktok', '1', 'D_1', active, step, clicks, orders, orders * 20, paid, orders * 2, fee, '{}', step || '', at,
        lead(at) over (order by at), lead(at) over (order by at) is null, '2026-03-01', 1
      from (values ('eva', true, 1, 100, 3, 0, 0, '2026-03-01T10:00Z'::timestamptz), ('eva', true, 2, 130, 4, 0, 0, '2026-03-20T10:00Z'),
        ('eva.new', false, 2, 175, 4, 9, 5, '2026-04-02T10:00Z')) v(handle, active, step, clicks, orders, paid, fee, at)`.execute(
      shop.db,
    );
    const { get } = await startTestConsole(shop);
    const page = textOf((await get('/deals/DEALEVA')).text);
    expect(page).toMatch(/2026-03: 30 clicks 2026-04: 45 clicks .* 2026-03 30 2026-04 45 History/);
    expect(page).toMatch(
      /now handle: eva → eva\.new active: yes → no clicks: 130 → 175 fixed fees: 0 → 5 paid out: 0 → 9 /,
    );
    expect(page).toMatch(/stage: 1 → 2 clicks: 100 → 130 orders: 3 → 4 sales: 60 → 80 commission: 6 → 8 /);
    expect(page).toMatch(/handle: eva platform: tiktok brand: 1 .* clicks: 100 /);
  });
});

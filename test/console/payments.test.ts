import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { blockList, showingOf } from '../../src/console/markup/parts.ts';
import { listAudit } from '../../src/reports/list-audit.ts';
import { describeUnpaid } from '../../src/reports/payments/payments.ts';
import { IBANS, openPaymentShop, PAYEES } from '../money/payments/payment-shop.ts';
import { hiddenFields } from './bulk-shop.ts';
import { repeatedRefusals, startTestConsole, textOf } from './console-server.ts';

it('the console proposes what the page showed, exports it, gives the file again, and cancels it only with a tick', async () => {
  const shop = await openPaymentShop();
  const { get, post, url } = await startTestConsole(shop);
  const PATH = '/money/payments';
  const page = await get(PATH);
  expect(textOf(page.text)).toMatch(
    /To pay \(2\) : 25\.00 EUR Creator Amount Account Of.*dealben 15\.00 EUR …4300.*mia\.test 10\.00 EUR …3000/,
  );
  expect(page.text).toContain('<a href="/creators/mia.test">mia.test</a>');
  // What is known of a payee may be a deal only: its link leads there.
  expect((await get('/creators/dealben')).url).toContain('/deals/DEALBEN');
  expect(textOf(page.text)).toMatch(/No bank data, carried forward \(1\) : 5\.00 USD/);
  const shown = hiddenFields(page.text, `${PATH}/propose`);
  // Since the page was shown, another account: nothing is proposed.
  shop.write('payees.csv', PAYEES.replace(/DE89.*?;/, `${IBANS.zoe};`));
  expect((await post(`${PATH}/propose`, { ...shown, reason: 'month end' })).status).toBe(409);
  shop.write('payees.csv', PAYEES);
  const back = { return_to: PATH };
  const proposed = await post(`${PATH}/propose`, { ...shown, ...back, reason: 'month end' });
  expect(textOf(proposed.text)).toContain('Proposal 1 pays 2 creators 25.00 EUR');
  expect((await post(`${PATH}/propose`, { ...shown, reason: 'again' })).status).toBe(409);

  // A page of newer payments hides nothing of what an export would pay.
  await sql`
    insert into ops.payments (proposal_id, creator, currency, amount, reference, state, settled_by, settle_reason)
    select 1, 'c' || n, 'EUR', 1, 'OLD-' || n, 'cancelled', 'ann', 'wrong' from generate_series(1, 100) n`.execute(
    shop.db,
  );
  expect((await get(PATH)).text).toContain('Export 2 of proposal 1: 25.00 EUR</button>');
  await sql`delete from ops.payments where reference like 'OLD-%'`.execute(shop.db);

  // Marketing may cancel none, which the page says once.
  const token = 'm'.repeat(32);
  const marketing = await startTestConsole(shop, { tokens: [{ name: 'mo', role: 'marketing', token }] });
  const asMarketing = (await marketing.get(PATH, { authorization: `Bearer ${token}` })).text;
  expect(repeatedRefusals(asMarketing)).toEqual([]);
  expect(asMarketing).toContain('Only an operator can cancel or complete payments.');
  expect(asMarketing).not.toContain('<summary>Cancel</summary>');
  for (const path of ['/money/accruals', '/statements'])
    expect((await get(`${path}?month=Oktober`)).status, path).toBe(400);

  const file = () => fetch(`${url}${PATH}/file?proposal=1&format=pain.001`);
  // What nobody exported has no file.
  expect((await file()).status).toBe(404);
  const exported = await post(`${PATH}/export`, {
    proposal: '1',
    format: 'pain.001',
    ...back,
    reason: 'pay',
  });
  expect(textOf(exported.text)).toContain('Exported 2 payments of proposal 1 as pain.001: 25.00 EUR.');
  expect(exported.text).not.toContain(IBANS.mia);
  expect(await listAudit(shop.db, { limit: 1 })).toMatchObject([
    { action: 'export_payments', subjectKind: 'proposal', subject: '1', reason: 'pay' },
  ]);
  const saved = await file();
  expect([saved.status, saved.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('application/xml'),
  ]);
  expect(await saved.text()).toContain(IBANS.mia);

  // What the file left out can only be in one of another kind: the first would be written again without it.
  await sql`
    insert into ops.payments (proposal_id, creator, currency, amount, reference, state)
    values (1, 'zoe.test', 'USD', 1, 'LEFT-1', 'proposed')`.execute(shop.db);
  const left = (await get(PATH)).text;
  expect(left).toContain('Export 1 of proposal 1: 1.00 USD</button>');
  expect([...left.matchAll(/<option value="(pain\.001|csv)"/g)].map(([, kind]) => kind)).toEqual(['csv']);
  await sql`delete from ops.payments where reference = 'LEFT-1'`.execute(shop.db);

  const cancelled = await post(`${PATH}/cancel`, { payment: '1', reason: 'wrong' });
  expect([cancelled.status, textOf(cancelled.text)]).toEqual([
    409,
    expect.stringContaining('may already be at the bank'),
  ]);
  expect((await post(`${PATH}/cancel`, { payment: '1', understood: 'yes', reason: 'stopped' })).status).toBe(
    200,
  );
  expect(textOf((await get(PATH)).text)).toMatch(/To pay \(1\) : 15\.00 EUR/);
  expect(textOf((await get('/statements/2026-04?deal=DEALMIA')).text)).toContain(
    'Payment exported as pain.001',
  );
  expect(textOf((await get('/statements/2026-04?deal=DEALBEN')).text)).toContain('Payment in no payment');
  // What no payment has is said beside what became of the others, of the deal and of the month.
  expect(textOf((await get('/statements/2026-04?deal=DEALMIA')).text)).toContain(
    'Payment exported as pain.001; in no payment: 5.00 USD',
  );
  expect(textOf((await get('/statements/2026-04')).text)).toContain(
    'Payments exported as pain.001; in no payment: 18.00 EUR, 5.00 USD',
  );
  // The bank paid a part of payment 2, and a person paid the rest.
  const rest = { payment: '2', on: '2026-07-04', reason: 'in cash' };
  expect((await post(`${PATH}/complete`, rest)).status).toBe(409);
  const { rows } = await sql<{ reference: string }>`
    select reference from ops.payments where payment_id = 2`.execute(shop.db);
  shop.write(
    'part.csv',
    `reference;amount;currency;day;type\n${rows[0]?.reference};4.00;EUR;2026-07-01;paid\n`,
  );
  await shop.cli('payments', 'read', 'part.csv');
  expect(textOf((await get(PATH)).text)).toContain('Day on which you paid the rest, 6.00 EUR');
  expect((await post(`${PATH}/complete`, { ...rest, on: '2026-06-31' })).status).toBe(400);
  const early = await post(`${PATH}/complete`, { ...rest, on: '2999-01-01' });
  expect(textOf(early.text)).toContain('This day is yet to come.');
  expect((await post(`${PATH}/complete`, rest)).status).toBe(200);
  expect((await post(`${PATH}/complete`, rest)).status).toBe(409);
  // What the bank booked of a payment that is not known is on Home and in status, until somebody decides.
  shop.write(
    'lost.csv',
    `reference;amount;currency;day;type\nIS-${'0'.repeat(26)};4.00;EUR;2026-07-01;paid\n`,
  );
  await shop.cli('payments', 'read', 'lost.csv');
  const home = await get('/');
  expect(textOf(home.text)).toMatch(/Bookings held 4\.00 EUR since .* The bank booked 1 amount of which/);
  expect(home.text).toContain('href="/money/payments">Decide about them</a>');
  const viewers = await startTestConsole(shop, {
    tokens: [{ name: 'ben', role: 'viewer', token: 't'.repeat(32) }],
  });
  const asViewer = { authorization: `Bearer ${'t'.repeat(32)}` };
  for (const path of ['/', '/statements/2026-04', '/creators/mia.test']) {
    const { status, text } = await viewers.get(path, asViewer);
    expect(status).toBe(200);
    expect(text).not.toMatch(/href="[^"]*(money\/payments|;download=pdf)/);
  }
  expect((await shop.cli('status')).stdout).toMatch(
    /Bookings that are held[\s\S]*4\.00 EUR paid on 2026-07-01/,
  );
  const held = hiddenFields((await get(PATH)).text, `${PATH}/settle-booking`);
  expect((await post(`${PATH}/settle-booking`, { ...held, reason: 'rent' })).status).toBe(400);
  const decided = await post(`${PATH}/settle-booking`, { ...held, is: 'other', reason: 'rent' });
  expect(decided.status).toBe(200);
  expect(await listAudit(shop.db, { limit: 1 })).toMatchObject([{ actor: 'tester', reason: 'rent' }]);
  expect(textOf((await get('/')).text)).not.toContain('Bookings held');
  const accruals = textOf((await get('/money/accruals?month=2026-04')).text);
  expect(accruals).toMatch(
    /Earned and not paid at the end of 2026-04, as it is known now: 28\.00 EUR, 5\.00 USD/,
  );
  expect((await get('/money/accruals?month=2026-04&download=csv')).text).toContain('2026-04,in_payment,');
  // What is of a month before the first one that is paid here counts as paid.
  const settings = readFileSync(`${shop.folder}/pipeline.yaml`, 'utf8');
  shop.write('pipeline.yaml', settings.replace('from: 2026-04', 'from: 2026-05'));
  const later = await startTestConsole(shop);
  expect(textOf((await later.get('/statements/2026-04')).text)).toMatch(
    /Payments paid on .*; paid elsewhere: 18/,
  );
  expect(textOf((await later.get('/creators/mia.test')).text)).toMatch(
    /2026-04 DEALMIA closed .* paid elsewhere/,
  );
});

it('amounts of orders without a deal have no creator whose page they could lead to', () => {
  const own = { currency: 'EUR', amount: '5', items: [], accountMark: null };
  const shown = blockList(
    describeUnpaid([
      { ...own, creator: 'mia.test without a deal', becomes: 'no_deal' },
      { ...own, creator: 'ben.test', becomes: 'no_bank_data' },
    ]),
    showingOf({ link: (path) => path, zone: 'UTC' }),
  ).toString();
  expect(shown).toContain('<a href="/creators/ben.test">ben.test</a>');
  expect(shown).toMatch(/>mia\.test without a deal<\/t/);
});

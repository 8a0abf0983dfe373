import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { repeatedRefusals, startTestConsole, textOf } from './console-server.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, include: [paid]}
`;

it('held orders are decided about on their page, with a reason, exactly those that it showed', async () => {
  const shop = await openWorkshop({ flow: FLOW });
  const blank = { status: '', revenue: '20.00' };
  shop.drop(
    'orders.csv',
    toCsv([
      { id: '1', status: 'mystery' },
      { id: '2', ...blank },
      { id: '3', ...blank, currency: 'USD' },
    ]),
  );
  await shop.run();
  const { get, post } = await startTestConsole(shop);
  const list = textOf((await get('/held')).text);
  expect(list).toContain('status "mystery" is not known');
  // A reason is explained once, whatever currencies its orders have.
  expect(list.match(/they have no status .*? orders/g)).toEqual([
    expect.stringContaining(' 2 20.00 EUR, 20.00 USD '),
  ]);
  expect(textOf((await get('/held?job=other')).text)).not.toContain('No order is held.');
  // Each order leads to its decision.
  expect((await get('/orders/shop/1')).text).toMatch(
    /<p>Held, 10\.00 EUR: .*href="\/held\?job=orders&amp;source=shop&amp;why=unknown_status&amp;order=1">Decide about it</,
  );
  const chosen = { source: 'shop', why: 'unknown_status', status: 'mystery' };
  const page = await get(`/held?${new URLSearchParams(chosen)}`);
  expect(textOf(page.text)).toMatch(/1 held order \(10\.00 EUR\) Why .* Credit it/);
  // The list of the orders may be long.
  expect(page.text).toMatch(/href="#decide">Decide about them<.*<table.*<section id="decide">/s);
  const hidden = (text: string, name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

  const decision = {
    ...chosen,
    shown: hidden(page.text, 'shown'),
    said: hidden(page.text, 'said'),
    decision: 'credit',
    reason: 'they are paid',
    return_to: '/held',
  };
  // Another order, as many and with the same amount, is not the one that the page showed.
  const swap = async (from: string, to: string) =>
    await sql`update intake.attributions set order_id = ${to} where order_id = ${from}`.execute(shop.db);
  await swap('1', '9');
  expect(textOf((await post('/held/decide', decision)).text)).toContain(
    'nothing was decided. It showed 1 held order (10.00 EUR). As many are held now, but they are other orders',
  );
  await swap('9', '1');
  const others = { ...decision, status: '(none)' };
  expect(textOf((await post('/held/decide', others)).text)).toContain(
    'It showed 1 held order (10.00 EUR). Now: 2 held orders (20.00 EUR, 20.00 USD).',
  );
  expect(textOf((await post('/held/decide', { ...decision, reason: ' ' })).text)).not.toContain(
    'may be credited',
  );
  expect(textOf((await post('/held/decide', decision)).text)).toContain(
    '1 held order (10.00 EUR) may be credited.',
  );
  // What is decided waits for the next run, and for nobody: no page asks for it again.
  const decided = await get(`/held?${new URLSearchParams(chosen)}`);
  expect(textOf(decided.text)).toContain('Decided: the next run decides about it again.');
  expect(decided.text).not.toContain('action="/held/decide"');
  expect(textOf((await get('/orders/shop/1')).text)).toMatch(/Held, 10\.00 EUR: .* Decided: the next run/);
  expect(textOf((await get('/fix')).text)).not.toContain('mystery');
  const status = (await shop.cli('status')).stdout;
  expect(status).toContain('Held orders (2): 20.00 EUR, 20.00 USD');
  expect(status).toMatch(/Held orders that are decided \(1\): 10\.00 EUR\n[\s\S]*status "mystery"/);
  expect((await get('/')).text).not.toMatch(/orders? of orders .*mystery/);
  expect(textOf((await get('/audit?subject=1')).text)).toContain('order 1');
  // A page from before that decision does not overturn it.
  const late = await post('/held/decide', { ...decision, decision: 'exclude' });
  expect(textOf(late.text)).toContain('Tick the box');
  const lateTicked = await post('/held/decide', { ...decision, decision: 'exclude', understood: 'yes' });
  expect(textOf(lateTicked.text)).toContain(
    'so nothing was decided. It showed 1 held order (10.00 EUR). Now: none waits for a decision. Look at them again.',
  );
  const gone = await post('/held/decide', { ...decision, status: 'gone', said: '' });
  expect(textOf(gone.text)).toContain(
    'so nothing was decided. Now: none waits for a decision. Look at them again.',
  );
  const blanks = await get(`/held?${new URLSearchParams({ ...chosen, status: '(none)' })}`);
  await post('/held/decide', {
    ...others,
    decision: 'exclude',
    understood: 'yes',
    reason: 'never paid',
    shown: hidden(blanks.text, 'shown'),
  });
  expect((await shop.run()).exitCode).toBe(0);
  expect(await shop.posted()).toEqual(['1']);
  expect(textOf((await get('/held')).text)).toContain('No order is held.');
});

it('orders that are stated in another currency are settled on their page, exactly those that it showed', async () => {
  const shop = await openWorkshop({
    flow: `${FLOW}statements: {terms: ./terms.csv, return_window_days: 0, time_zone: UTC}\n`,
  });
  shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\n');
  const state = async (name: string, ...orders: readonly string[]) => {
    const rest = 'MIA10,2026-04-10T10:00:00Z,paid';
    shop.drop(
      `${name}.csv`,
      `order_id,order_revenue,refunded_amount,currency,discount_codes,placed_at,status\n${orders.map((order) => `${order},${rest}\n`).join('')}`,
    );
    await shop.run();
  };
  await state('1', '1,50.00,,EUR', '2,80.00,,EUR');
  await state('2', '1,50.00,15.00,EUR');
  await state('3', '1,60.00,20.00,USD', '2,90.00,,USD');
  const { get, post } = await startTestConsole(shop);
  // The run that found them says how many it left.
  expect(textOf((await get('/runs/3')).text)).toContain(
    'Left for a person: 2 orders stated in another currency since.',
  );
  expect((await get('/fix')).text).toContain(
    '<a href="/restated?source=shop">Posted orders of shop are stated',
  );
  expect((await get('/orders/shop/1')).text).toMatch(
    /Refunded when it was last stated in EUR: 15\.00 EUR\. An export states it in USD since\..*href="\/restated\?source=shop&amp;order=1">Decide what it comes to</,
  );
  // Home, the page of notices and `status` name it with its money, although no channel is configured.
  const posted =
    '2 posted orders of job orders are stated in another currency since, so it is unknown what they come to';
  for (const path of ['/', '/notices']) {
    const { text } = await get(path);
    expect(textOf(text)).toMatch(new RegExp(`Stated in another currency 130\\.00 EUR since .* ${posted}`));
    expect(text).toContain('href="/restated?source=shop">Decide what they come to<');
    expect(textOf(text)).not.toContain('Run needs your attention');
  }
  expect((await shop.cli('status')).stdout).toMatch(
    /Posted, and stated in another currency since \(2\): sent with 130\.00 EUR\n[\s\S]*statement restated/,
  );
  const page = await get('/restated?source=shop');
  expect(textOf(page.text)).toMatch(
    /shop orders 2 130\.00 EUR .*Decide about 2 orders of shop, sent with 130\.00 EUR/,
  );
  expect(textOf(page.text)).toMatch(/ 1 shop DEALMIA 50\.00 EUR 60\.00 USD 20\.00 USD /);
  // Each way leads to the same forms: all lines of Fix, an order without its source, and an open statement.
  const all = await get('/fix?kind=other+currency&all=yes');
  expect(textOf(all.text)).toContain('Decide about 2 orders of shop, sent with 130.00 EUR');
  expect(textOf(all.text)).not.toContain('one by one');
  expect(all.text).toContain('action="/restated/settle"');
  expect(textOf((await get('/restated?order=1')).text)).toContain(
    'Decide about 1 order of shop, sent with 50.00 EUR',
  );
  expect((await get('/restated?order=NOPE')).text).not.toContain('action="/restated/settle"');
  expect((await get('/statements/2026-04')).text).toContain('href="/restated">about those');
  const shown = (text: string) => /name="shown" value="([^"]*)"/.exec(text)?.[1] ?? '';
  const alone = await get('/restated?source=shop&order=1');
  const one = { source: 'shop', order: '1', shown: shown(alone.text), reason: 'asked the shop' };
  // What has changed since, or is about other orders, is not decided.
  for (const wrong of [{ shown: shown(page.text) }, { order: '2' }, { order: 'NOPE' }])
    expect((await post('/restated/settle', { ...one, as: 'sent', ...wrong })).status).toBe(409);
  const unticked = await post('/restated/settle', { ...one, as: 'returned' });
  expect([unticked.status, textOf(unticked.text)]).toEqual([409, expect.stringContaining('Tick the box')]);
  await state('4', '1,60.00,25.00,USD');
  expect((await post('/restated/settle', { ...one, as: 'sent' })).status).toBe(409);
  const again = { ...one, shown: shown((await get('/restated?source=shop&order=1')).text) };
  const kept = await post('/restated/settle', { ...again, as: 'sent', return_to: '/restated?source=shop' });
  expect(textOf(kept.text)).toContain(
    '1 order, sent with 50.00 EUR and stated in another currency since: what they came to before stays.',
  );
  expect(textOf((await get('/statements/2026-04')).text)).toContain('To pay 11.50 EUR');
  const rest = {
    source: 'shop',
    shown: shown((await get('/restated?source=shop')).text),
    reason: 'refunded',
  };
  expect((await post('/restated/settle', { ...rest, as: 'returned', understood: 'yes' })).status).toBe(200);
  expect(textOf((await get('/statements/2026-04')).text)).toContain('To pay 3.50 EUR');
  expect(textOf((await get('/restated')).text)).toContain('No posted order waits to be settled.');
  const { rows } = await sql`
    select subject, actor, reason from ops.audit where action = 'settle_other_currency' order by audit_id`.execute(
    shop.db,
  );
  expect(rows).toEqual([
    { subject: '1', actor: expect.any(String), reason: 'asked the shop' },
    { subject: '2', actor: expect.any(String), reason: 'refunded' },
  ]);
  // The order says what it comes to now, and where that is decided otherwise.
  expect(textOf((await get('/orders/shop/1')).text)).toContain(
    'An export states it in USD since. A person decided that it stays as it was before. Decide what it comes to',
  );
  const gone = await get('/orders/shop/2');
  expect(textOf(gone.text)).toContain(
    'It does not count any more. A person decided that all of it was returned. Decide what it comes to',
  );
  expect(gone.text).toContain('href="/restated?source=shop&amp;order=2"');
  expect((await shop.cli('explain', 'order', '2')).stdout.replace(/\s+/g, ' ')).toMatch(
    /80\.00 EUR\. .* It does not count any more\. .* statement restated --order 2 --as sent/,
  );
  // A decision can be corrected.
  const decided = await get('/restated?source=shop&order=2');
  expect(textOf(decided.text)).toContain('It was decided before.');
  const correction = { source: 'shop', order: '2', shown: shown(decided.text), reason: 'wrong order' };
  expect((await post('/restated/settle', { ...correction, as: 'sent' })).status).toBe(200);
  expect(textOf((await get('/statements/2026-04')).text)).toContain('To pay 11.50 EUR');
});

it('the form of a filter loses none, and no reason credits orders of several words that are not known', async () => {
  const shop = await openWorkshop({ flow: FLOW });
  shop.drop(
    'orders.csv',
    toCsv([
      { id: 'G1', status: 'shaky' },
      { id: 'G2', status: 'odd' },
    ]),
  );
  await shop.run();
  const tokens = [
    { name: 'ann', role: 'operator' as const, token: 'o'.repeat(32) },
    { name: 'ben', role: 'viewer' as const, token: 'v'.repeat(32) },
  ];
  const { get, post } = await startTestConsole(shop, { tokens });
  const as = (letter: string) => ({
    authorization: `Bearer ${letter.repeat(32)}`,
    'sec-fetch-site': 'same-origin',
  });
  const chosen = '/held?source=shop&why=unknown+status';
  const one = (await get(`${chosen}&status=shaky`, as('o'))).text;
  expect(one).toContain('name="status" value="shaky"');
  expect(textOf(one)).toContain('Credit it');
  // Without the word, the orders of both can only be excluded.
  const both = (await get(chosen, as('o'))).text;
  expect(textOf(both)).toMatch(
    /They have 2 different words that are not known\. To credit orders, choose one word/,
  );
  expect(both).not.toContain('value="credit"');
  expect(textOf(both)).toContain('Exclude all 2');
  const refused = await post(
    '/held/decide',
    {
      source: 'shop',
      why: 'unknown_status',
      decision: 'credit',
      reason: 'paid',
      shown: /name="shown" value="([^"]*)"/.exec(both)?.[1] ?? '',
    },
    as('o'),
  );
  expect([refused.status, textOf(refused.text)]).toEqual([
    409,
    expect.stringContaining('The orders have different words that are not known: choose one of them.'),
  ]);
  // An id is found in either case, as by a search.
  expect(textOf((await get('/held?order=g1', as('o'))).text)).toContain('status "shaky" is not known');
  const asViewer = (await get(`${chosen}&status=shaky`, as('v'))).text;
  expect(repeatedRefusals(asViewer)).toEqual([]);
  expect(textOf(asViewer)).toContain('Marketing or an operator can decide about them.');
});

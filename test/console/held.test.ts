import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { startTestConsole, textOf } from './console-server.ts';

vi.setConfig({ testTimeout: 60_000 });

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
    ]),
  );
  await shop.run();
  const { get, post } = await startTestConsole(shop);
  const list = textOf((await get('/held')).text);
  expect(list).toContain('status "mystery" is not known');
  expect(list).toContain('they have no status');
  expect(textOf((await get('/held?job=other')).text)).not.toContain('No order is held.');
  // Each order leads to its decision.
  expect((await get('/orders/shop/1')).text).toMatch(
    /<p>Held, 10\.00 EUR: .*href="\/held\?job=orders&amp;source=shop&amp;why=unknown_status&amp;order=1">Decide about it</,
  );
  const chosen = { source: 'shop', why: 'unknown_status', status: 'mystery' };
  const page = await get(`/held?${new URLSearchParams(chosen)}`);
  expect(textOf(page.text)).toMatch(/1 held order \(10\.00 EUR\) Why .* Credit it/);
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
    'It showed 1 held order (10.00 EUR). Now: 1 held order (20.00 EUR).',
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
  expect(status).toContain('Held orders (1): 20.00 EUR');
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
    ...{ ...others, decision: 'exclude', understood: 'yes', reason: 'never paid' },
    shown: hidden(blanks.text, 'shown'),
  });
  expect((await shop.run()).exitCode).toBe(0);
  expect(await shop.posted()).toEqual(['1']);
  expect(textOf((await get('/held')).text)).toContain('No order is held.');
});

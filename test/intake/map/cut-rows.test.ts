import { expect, test } from 'vitest';
import { readCreators } from '../../../jobs/import-deals/read-creators.ts';
import { readClicks } from '../../../jobs/post-clicks/read-clicks.ts';
import type { SourceSettings } from '../../../src/config/source-fields.ts';
import { parseCsv } from '../../../src/intake/csv/parse-csv.ts';
import { layoutHash } from '../../../src/intake/layout/layout-hash.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import type { Layout } from '../../../src/intake/layout/to-layout.ts';
import { mapRows } from '../../../src/intake/map/map-rows.ts';
import { inPieces, PARSE_OPTIONS } from '../csv/parse-text.ts';
import { mapCustomerLines, submittedOf } from '../customers/map/map-customer-lines.ts';
import { type MapTextOptions, mapText } from '../orders/map/map-text.ts';

/** Maps a text and returns its orders as `id total doubt`. */
async function ordersOf(text: string, options: MapTextOptions = {}): Promise<string[]> {
  const { orders } = await mapText(text, options);
  return orders.map(({ orderId, total, doubt }) => `${orderId} ${total} ${doubt ?? '-'}`);
}

test('a text that ends within an amount may be cut there', async () => {
  const text = 'order_id,discount_code,order_revenue\nA-1,MIA,10.30\nA-2,MIA,10.30\n';
  expect(await ordersOf(text)).toEqual(['A-1 10.30 -', 'A-2 10.30 -']);
  for (const left of ['10', '10.3', '10.30'])
    expect(await ordersOf(text.replace(/10.30\n$/, left)), left).toEqual([
      'A-1 10.30 -',
      expect.stringMatching(/^A-2 .* may_be_cut$/),
    ]);
  expect(await ordersOf(text, { pieceBytes: 1, batchBytes: 7 })).toEqual(['A-1 10.30 -', 'A-2 10.30 -']);
  expect(await ordersOf(text.trimEnd(), { pieceBytes: 1, batchBytes: 7 })).toEqual([
    'A-1 10.30 -',
    'A-2 10.30 may_be_cut',
  ]);
});

test.each([
  ['in a column that is not read', 'order_id,order_revenue,remark\nA-1,10.00,gi'],
  ['with a closing quote', 'order_id,order_revenue\nA-1,"10.00"'],
  ['with a currency code', 'order_id,order_revenue,currency\nA-1,10.00,EUR'],
  ['with a line break of an old Mac', 'order_id,order_revenue\rA-1,10.00\r'],
  ['with blank lines', 'order_id,order_revenue\nA-1,10.00\n\n'],
  ['with a row that is rejected', 'order_id,order_revenue\nA-1,10.00\nA-2'],
  ['with blanks', 'order_id,order_revenue\nA-1,10.00\n  '],
])('a text that ends %s is whole', async (_where, text) => {
  expect(await ordersOf(text)).toEqual(['A-1 10.00 -']);
});

test('a blank last cell may be cut, too, and so may an item whose amount is added up', async () => {
  expect(await ordersOf('order_id,order_revenue,discount_code\nA-1,10.00,')).toEqual([
    'A-1 10.00 may_be_cut',
  ]);
  const amazon =
    'amazon-order-id\torder-status\tpurchase-date\tcurrency\titem-status\titem-promotion-discount\tship-promotion-discount\titem-price\n';
  const row = (id: string, price: string) =>
    `${id}\tshipped\t2026-04-10T05:41:26+00:00\tEUR\tShipped\t\t\t${price}`;
  const text = `${amazon}${row('1', '10.00')}\n${row('2', '10.00')}\n${row('2', '9')}`;
  expect(await ordersOf(text, { layout: 'amazon-orders' })).toEqual(['1 10.00 -', '2 19.00 may_be_cut']);
});

test('a layout may say that its files end without a line break, without another digest for all others', async () => {
  const layout = { ...loadLayout('generic'), endsWithoutLineBreak: true };
  expect(await ordersOf('order_id,order_revenue\nA-1,10.00', { layout })).toEqual(['A-1 10.00 -']);
  const source = { timeZone: null, currency: 'EUR', dateOrder: null, encoding: null, limits: {} };
  const digestOf = (one: typeof layout) =>
    layoutHash(one, source as unknown as SourceSettings, { readFor: 'orders' });
  const { endsWithoutLineBreak: _, ...before } = loadLayout('generic');
  expect(digestOf(loadLayout('generic'))).toBe(digestOf(before as typeof layout));
  expect(digestOf(layout)).not.toBe(digestOf(before as typeof layout));
});

/** Reads a text for its clicks or creators. @returns the number of rows, or the code of the hold. */
async function rowsOf(text: string, readFor: 'clicks' | 'creators', changes: Partial<Layout> = {}) {
  const layout = { ...loadLayout(`generic-${readFor}`), ...changes };
  const open = readFor === 'clicks' ? readClicks({ name: 'links', dateOrder: null }) : { open: readCreators };
  let rows = 0;
  try {
    const chunks = parseCsv(inPieces(text, 100), PARSE_OPTIONS);
    for await (const batch of mapRows<unknown>(chunks, { layout, readFor, ...open }))
      rows += batch.rows.length;
  } catch (error) {
    return (error as { reason: { code: string } }).reason.code;
  }
  return rows;
}

const CLICKS = 'day,link,clicks\n2026-04-10,bit.ly/MIA10,7\n2026-04-11,bit.ly/MIA10,12';

test.each([
  ['clicks', 'within a number of clicks', CLICKS],
  ['clicks', 'within a day', 'clicks,link,day\n12,bit.ly/MIA10,2026-04-1'],
  ['clicks', 'within a link that names nobody', 'day,clicks,link\n2026-04-11,12,https://acme.test/'],
  ['clicks', 'before its last cells', 'day,link,clicks\n2026-04-10,bit.ly/MIA10,7\n2026-04-11,bit'],
  [
    'clicks',
    'before a column that is read',
    'day,link,remark,clicks\n2026-04-10,bit.ly/MIA10,x,7\n2026-04-11,bit.ly/MIA10,g',
  ],
  ['creators', 'within a code', 'handle,platform,code\nmia.test,tiktok,MIA1'],
  ['creators', 'with a blank cell', 'handle,platform,code\nmia.test,tiktok,'],
] as const)('a file of %s that ends %s is held until it is read whole', async (readFor, _where, text) => {
  expect(await rowsOf(text, readFor)).toBe('may_be_cut');
  expect(await rowsOf(text, readFor, { endsWithoutLineBreak: true })).not.toBe('may_be_cut');
  expect(await rowsOf(`${text}\n`, readFor)).not.toBe('may_be_cut');
});

test.each([
  ['clicks', 'in a column that is not read', `${CLICKS.replaceAll(/(clicks|\d)(?=\n|$)/g, '$1,remark')}`, 2],
  ['clicks', 'with a closing quote', CLICKS.replace(/12$/, '"12"'), 2],
  ['creators', 'with blank lines', 'handle,platform,code\nmia.test,tiktok,MIA10\n\n  ', 1],
] as const)('a file of %s that ends %s is whole', async (readFor, _where, text, rows) => {
  expect(await rowsOf(text, readFor)).toBe(rows);
});

const CONSENT = 'Email,Accepts Email Marketing';

test.each([
  ['within an address', ['Accepts Email Marketing,Email', 'yes,ann@example.com', 'yes,jane@example.co']],
  ['within a word of consent', [CONSENT, 'ann@example.com,yes', 'jane@example.com,ye']],
  ['after a yes', [CONSENT, 'ann@example.com,yes', 'jane@example.com,yes']],
  ['before the consent', [CONSENT, 'ann@example.com,yes', 'jane@example.com']],
  ['before an address', ['Accepts Email Marketing,Email', 'yes,ann@example.com', 'yes,']],
  ['within a number of orders', [`${CONSENT},Total Orders`, 'ann@example.com,yes,12']],
])('a file of customers that ends %s is held, so that nobody in it is submitted', async (_where, lines) => {
  const options = { end: '' };
  await expect(mapCustomerLines('shopify-customers', lines, options)).rejects.toMatchObject({
    reason: { code: 'may_be_cut', message: expect.stringContaining(`line ${lines.length} `) },
  });
  const layout = { ...loadLayout('shopify-customers'), endsWithoutLineBreak: true };
  expect(submittedOf(await mapCustomerLines('shopify-customers', lines, { ...options, layout }))).toContain(
    'ann@example.com',
  );
});

test('a file of customers that ends in a column that is not read, or with a currency code, is whole', async () => {
  for (const lines of [
    [`${CONSENT},Tax Exempt`, 'ann@example.com,yes,n'],
    ['Email,Accepts Email Marketing,Currency', 'ann@example.com,yes,EUR'],
  ])
    expect(submittedOf(await mapCustomerLines('shopify-customers', lines, { end: '' }))).toEqual([
      'ann@example.com',
    ]);
});

import { expect, test } from 'vitest';
import type { StagedOrder } from '../../../src/core/order.ts';
import { foldHeader } from '../../../src/core/text/fold.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import { statusReader, statusRules } from '../../../src/intake/layout/status-rules.ts';
import { foldWord } from '../../../src/intake/values/clean-text.ts';
import { exampleRow } from '../../support/example-row.ts';
import { type MapTextOptions, mapFixture, mapText, readFixture } from '../orders/map/map-text.ts';

async function read(rows: readonly string[], layout: string, options: MapTextOptions = {}) {
  return mapText(`${rows.join('\n')}\n`, { layout, source: { timeZone: 'UTC', currency: null }, ...options });
}

function facts(order: StagedOrder): string {
  const { orderId, status, currency, total, refunded, codes, links, placedAt, exclusion } = order;
  return [
    orderId,
    status,
    currency,
    total,
    refunded,
    [...codes, ...links].join(' '),
    placedAt,
    exclusion,
  ].join(' | ');
}

test('square-sales: items are added up, a refund is a negative row with the same id, and a refund alone has no total', async () => {
  const { orders, rejected } = await read(
    [
      'Date,Time,Time Zone,Item,Qty,Gross Sales,Discounts,Net Sales,Tax,Transaction ID,Payment ID,Notes,Details,Event Type',
      '2026-05-20,09:00:00,Eastern Time (US & Canada),Mug,-1,-$8.00,$0.00,-$8.00,-$0.64,T1,P1,,,Refund',
      '2026-05-14,10:15:00,Eastern Time (US & Canada),Mug,1,$8.00,$0.00,$8.00,$0.64,T1,P1,ref: mira,,Payment',
      '2026-05-14,10:15:00,Eastern Time (US & Canada),Pot,1,"$1,250.00",-$50.00,"$1,200.00",$96.00,T1,P1,,,Payment',
      '2026-05-21,11:00:00,Eastern Time (US & Canada),Pot,-1,-$20.00,$0.00,-$20.00,$0.00,T0,P0,,,Refund',
      '2026-05-22,11:00:00,Eastern Time (US & Canada),Pot,1,$20.00,$0.00,$20.00,$0.00,T2,P2,,,Chargeback',
    ],
    'square-sales',
    { source: { timeZone: 'America/New_York', currency: 'USD' } },
  );
  expect(rejected).toEqual([]);
  expect(orders.map(facts)).toEqual([
    'T1 |  | USD | 1304.64 | 8.64 | mira | 2026-05-14T14:15:00Z | ',
    'T0 |  | USD |  | 20.00 |  |  | ',
    'T2 |  | USD |  |  |  |  | not_a_payment',
  ]);
});

test('square-sales: the export of transactions has its partial refunds in a column of their own', async () => {
  const { orders, rejected } = await read(
    [
      'Date,Time,Time Zone,Gross Sales,Discounts,Net Sales,Tax,Tip,Partial Refunds,Total Collected,Transaction ID,Payment ID,Description,Event Type',
      '2026-05-14,10:15:00,Eastern Time (US & Canada),$30.00,$0.00,$30.00,$2.40,$5.00,$0.00,$37.40,T1,P1,Mug,Payment',
      '2026-05-15,10:15:00,Eastern Time (US & Canada),$0.00,$0.00,$0.00,$0.00,$0.00,-$12.00,-$12.00,T1,P2,Mug,Refund',
    ],
    'square-sales',
    { source: { timeZone: 'America/New_York', currency: 'USD' } },
  );
  expect(rejected).toEqual([]);
  expect(orders.map(facts)).toEqual(['T1 |  | USD | 32.40 | 12.00 |  | 2026-05-14T14:15:00Z | ']);
});

test('gumroad-sales: dollars by the header, partial and full refunds, disputes, renewals, a last row of totals', async () => {
  const row = (id: string, flags: string, preorder = 0, isWon = 0): string =>
    `${id},2026-05-14,10:15:00,50.00,${flags},MIA10,spring,https://example.com/?ref=mira,${preorder},${isWon}`;
  const { orders, rejected } = await read(
    [
      'Purchase ID,Purchase Date,Purchase Time (UTC timezone),Sale Price ($),Refunded?,Partial Refund ($),Fully Refunded?,Disputed?,Recurring Charge?,Discount Code,UTM Campaign,Referrer,Pre-order authorization?,Dispute Won?',
      row('g1==', '0,0.0,0,0,0').replace(',10:15', ',2026-05-14 10:15').replace(':00,', ':00 UTC,'),
      row('g2==', '1,12.5,0,0,0'),
      row('g3==', '1,0.0,1,0,0'),
      row('g4==', '0,0.0,0,1,0'),
      row('g5==', '0,0.0,0,0,1'),
      row('g6==', '0,0.0,0,0,maybe'),
      row('g8==', '0,0.0,0,0,0', 1),
      row('g9==', '0,0.0,0,1,0', 0, 1),
      row('g10==', '0,0.0,0,?,0'),
      "'g7==,2026-05-14,10:15:00,50.00,0,0.0,0,0,0,,,,0,0",
      'Totals,,,500.00,,12.5,,,,,,,,',
    ],
    'gumroad-sales',
  );
  expect(rejected).toEqual([]);
  expect(
    orders
      .slice(0, 9)
      .map(({ orderId, currency, refunded, exclusion }) => [orderId, currency, refunded, exclusion]),
  ).toEqual([
    ['g1==', 'USD', '0.00', null],
    ['g2==', 'USD', '12.50', null],
    ['g3==', 'USD', '0.00', 'refunded'],
    ['g4==', 'USD', '0.00', 'disputed'],
    ['g5==', 'USD', '0.00', 'renewal'],
    ['g6==', 'USD', '0.00', 'unknown_renewal:recurring charge?=maybe'],
    ['g8==', 'USD', '0.00', 'preorder'],
    ['g9==', 'USD', '0.00', null],
    ['g10==', 'USD', '0.00', 'unknown_disputed:dispute that was not won=?'],
  ]);
  expect(orders).toHaveLength(10);
  expect(orders[0]).toMatchObject({
    codes: ['MIA10'],
    links: expect.arrayContaining(['spring']),
    placedAt: '2026-05-14T10:15:00Z',
  });
});

const TIENDA =
  'Número de orden;Email;Fecha;Estado de la orden;Estado del pago;Moneda;Total;Cupón de descuento;Nombre del producto;Identificador de la orden';

test.each([
  ['as written', (text: string) => text],
  ['with destroyed accents', (text: string) => text.replaceAll(/[úó]/g, '\ufffd')],
])(
  'tienda-nube-orders: semicolons, days first, later rows blank, words of the payment, %s',
  async (_, damage) => {
    const { orders, rejected } = await read(
      [
        TIENDA,
        '101;a@example.com;14/05/2026 10:15:30;Abierta;Recibido;ARS;1500.50;MIA10;Taza;9001',
        '101;;;;;;;;Plato;',
        '102;b@example.com;15/05/2026 10:15:30;Abierta;Pendiente;ARS;20.00;MIA10;Taza;9002',
        '103;c@example.com;16/05/2026 10:15:30;Cancelada;Anulado;ARS;20.00;;Taza;9003',
        '104;d@example.com;17/05/2026 10:15:30;Archivada;Reembolsado;ARS;20.00;;Taza;9004',
        '105;e@example.com;18/05/2026 10:15:30;Pausada;Recibido;ARS;20.00;;Taza;9005',
      ].map(damage),
      'tienda-nube-orders',
    );
    expect(rejected).toEqual([]);
    expect(orders.map(facts)).toEqual([
      '9001 | paid | ARS | 1500.50 |  | MIA10 | 2026-05-14T10:15:30Z | ',
      '9002 | pending | ARS | 20.00 |  | MIA10 | 2026-05-15T10:15:30Z | ',
      '9003 | voided | ARS | 20.00 |  |  | 2026-05-16T10:15:30Z | cancelled',
      '9004 | refunded | ARS | 20.00 |  |  | 2026-05-17T10:15:30Z | ',
      '9005 | paid | ARS | 20.00 |  |  | 2026-05-18T10:15:30Z | unknown_cancelled:estado de la orden=pausada',
    ]);
  },
);

const ATTRIBUTION = ['source_type', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'];

test.each(['', 'meta:', 'Meta: '])(
  'woocommerce-orders: of its own attribution, marked links and addresses are read, and channels name nobody (%j)',
  async (prefix) => {
    const columns = [...ATTRIBUTION, 'referrer', 'session_entry'].map(
      (name) => `${prefix}_wc_order_attribution_${name}`,
    );
    const visits: readonly (readonly [visit: string, links: readonly string[]])[] = [
      ['utm,mira,social,spring-mira,story,,https://l.instagram.com/,', ['mira', 'spring-mira', 'story']],
      ['utm,instagram,social,(none),(none),(none),,', ['instagram']],
      ['utm,(not set),(not set),(not set),,,,https://shop.test/?ref=mira&utm_source=x', ['mira']],
      ['organic,google,organic,(none),(none),(none),https://www.google.com/,https://shop.test/', []],
      [
        'referral,creator.test,referral,(none),/,(none),https://creator.test/mira,',
        ['/', 'creator.test/mira'],
      ],
      ['typein,(direct),(none),(none),(none),(none),,https://shop.test/cart?add-to-cart=5', []],
      ['admin,mira,,,,,,', []],
      [',mira,,,,,,', []],
      ['mystery,mira,,,,,,', []],
    ];
    const { orders, rejected } = await read(
      [
        `order_id,status,order_total,order_currency,order_date,refunded_total,${columns.join(',')}`,
        ...visits.map(([visit], at) => `${at},wc-completed,5.00,EUR,2026-05-14T10:00:00Z,,${visit}`),
      ],
      'woocommerce-orders',
    );
    expect(rejected).toEqual([]);
    expect(orders.map(({ links }) => links)).toEqual(visits.map(([, links]) => links));
  },
);

test.each(['Origin', 'Attribution'])(
  'woocommerce-analytics: of the %s, only the source of a marked link names somebody',
  async (column) => {
    const origins = [
      'Source: Mira',
      'Referral: Creator.test',
      'Organic: Google',
      'Direct',
      'Unknown',
      'Web admin',
    ];
    const { orders } = await read(
      [
        `Date,Order #,Net Sales,Status,Coupon(s),${column}`,
        ...origins.map((origin, at) => `2026-05-14 10:00:00,${at},5.00,Completed,,${origin}`),
      ],
      'woocommerce-analytics',
      { source: { timeZone: 'UTC', currency: 'EUR' } },
    );
    expect(orders.map(({ links }) => links)).toEqual([['Mira'], [], [], [], [], []]);
  },
);

test("woocommerce-orders: WooCommerce's own attribution is read, drafts are known words, and a custom status is not listed", async () => {
  const { orders } = await read(
    [
      'order_id,status,order_total,order_currency,order_date,refunded_total,_wc_order_attribution_utm_campaign,meta:_wc_order_attribution_referrer',
      '1,wc-completed,5.00,EUR,2026-05-14T10:00:00Z,,Mira-Spring,https://creator.test/mira',
      '2,wc-checkout-draft,5.00,EUR,2026-05-14T10:00:00Z,,,',
      '3,auto-draft,5.00,EUR,2026-05-14T10:00:00Z,,,',
      '4,wc-shipped,5.00,EUR,2026-05-14T10:00:00Z,,,',
    ],
    'woocommerce-orders',
  );
  expect(orders.map(({ status }) => status)).toEqual(['completed', 'checkout_draft', 'draft', 'wc-shipped']);
  expect(orders[0]?.links).toContain('Mira-Spring');
  expect(orders[0]?.links).toHaveLength(2);
});

const BULK = { layout: 'shopify-bulk-orders', source: { timeZone: null, currency: null } };

test('shopify-bulk-orders: the number within the global id, codes as a JSON list, and the money of the shop', async () => {
  const { orders, rejected } = await mapFixture('shopify-bulk-orders.csv', BULK);
  expect(rejected).toEqual([]);
  expect(orders.map(facts)).toEqual([
    '5000000001001 | paid | EUR | 65.00 | 0.00 | ADA10 VIP bob-2026 | 2026-04-10T05:41:26Z | ',
    '5000000001002 | partially_refunded | EUR | 65.00 | 15.50 | ADA10 | 2026-04-10T06:41:26Z | ',
    '5000000001003 | paid | EUR | 65.00 | 0.00 |  | 2026-04-10T07:41:26Z | test',
    '5000000001004 | voided | EUR | 65.00 | 0.00 |  | 2026-04-10T08:41:26Z | cancelled',
    '5000000001005 | paid | EUR | 65.00 | 0.00 |  | 2026-04-10T09:41:26Z | draft',
    '5000000001006 | paid | EUR | 65.00 | 0.00 |  | 2026-04-10T10:41:26Z | unknown_test:test=',
  ]);
});

test('shopify-bulk-orders: other spellings of the header are the same export, and the other currency of a customer is not read', async () => {
  const written = readFixture('shopify-bulk-orders.csv');
  const known = (await mapText(written, BULK)).orders;
  const snake = (path: string): string =>
    path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  for (const spell of [snake, (path: string) => path.replaceAll('.', '/')]) {
    const [header = '', ...rows] = written.split('\n');
    const { orders } = await mapText([spell(header), ...rows].join('\n'), BULK);
    expect(orders.map(facts)).toEqual(known.map(facts));
  }
  const shown = written.replace('totalPriceSet.shopMoney.amount', 'other');
  await expect(mapText(shown, BULK)).rejects.toMatchObject({ reason: { code: 'header_mismatch' } });
});

test('shopify-bulk-orders: rows of items, drafts and checkouts are no orders', async () => {
  const [header = '', first = ''] = readFixture('shopify-bulk-orders.csv').split('\n');
  const ids = [
    'gid://shopify/LineItem/1',
    'gid://shopify/DraftOrder/5000000001001',
    'gid://shopify/Order/',
    'gid://shopify/Order/50A',
    '#1001',
  ];
  const rows = ids.map((id) => first.replace(/^[^,]+/, id));
  const { orders, rejected } = await mapText([header, ...rows, ''].join('\n'), BULK);
  expect(orders).toEqual([]);
  expect(rejected.map(({ code, column }) => `${code} ${column}`)).toEqual(ids.map(() => 'other_id id'));
});

test("codes as Python writes a list are read as well, and a list that is cut names nobody's code", async () => {
  const header = 'order_id,order_revenue,currency,discount_codes';
  const codes = ["\"['A10', 'B5']\"", '"[""A10"", ""B5""]"', '[]', '"[""A10"",""B5"'];
  const { orders } = await mapText(
    [header, ...codes.map((cell, at) => `${at},5.00,EUR,${cell}`), ''].join('\n'),
  );
  expect(orders.map((order) => order.codes)).toEqual([['A10', 'B5'], ['A10', 'B5'], [], ['["A10"', '"B5']]);
});

test('magento-orders: a refund is in the currency of the purchased total, so only a full one is known if the totals differ', async () => {
  const header = 'ID,Purchase Date,Grand Total (Base),Grand Total (Purchased),Status,Subtotal,Total Refunded';
  const row = (id: number, amounts: string, refunded: string): string =>
    `${id},2026-04-10 21:30:00,${amounts},Complete,30.0000,${refunded}`;
  const { orders, rejected } = await read(
    [
      header,
      row(1, '36.3900,36.3900', '5.0000'),
      row(2, '36.3900,41.2500', '0.0000'),
      row(3, '36.3900,41.2500', ''),
      row(4, '36.3900,41.2500', '41.2500'),
      row(5, '36.3900,41.2500', '5.0000'),
      row(6, '36.3900,', '5.0000'),
    ],
    'magento-orders',
    { source: { timeZone: 'UTC', currency: 'EUR' } },
  );
  expect(orders.map(({ orderId, refunded }) => [orderId, refunded])).toEqual([
    ['1', '5.00'],
    ['2', '0.00'],
    ['3', null],
    ['4', '36.39'],
  ]);
  expect(rejected.map(({ line, code, column }) => [line, code, column])).toEqual([
    [6, 'other_currency', 'Grand Total (Purchased)'],
    [7, 'missing_value', 'Grand Total (Purchased)'],
  ]);
});

test('etsy-orders: an adjusted amount beside a blank one says that the refund is unknown, and one above it is no refund', async () => {
  const header =
    'Sale Date,Order ID,Currency,Order Value,Coupon Code,Order Total,Status,Card Processing Fees,Order Net,Adjusted Order Total,Adjusted Card Processing Fees,Adjusted Net Order Amount';
  const row = (id: number, amounts: string): string => `09/23/26,${id},USD,40.00,ADA10,40.00,Paid,${amounts}`;
  const { orders, rejected } = await read(
    [
      header,
      row(1, '1.45,38.55,0,1.15,28.85'),
      row(2, '1.45,,0,1.15,28.85'),
      row(3, ',38.55,0,1.15,28.85'),
      row(4, '1.45,38.55,0,1.45,48.55'),
      row(5, '1.45,,0,0,0'),
      row(6, ',,25.00,1.15,23.85'),
    ],
    'etsy-orders',
  );
  expect(orders.map(({ orderId, refunded }) => [orderId, refunded])).toEqual([
    ['1', '10.00'],
    ['4', '-10.00'],
    ['5', null],
    ['6', null],
  ]);
  expect(rejected.map(({ line, code }) => [line, code])).toEqual([
    [3, 'missing_value'],
    [4, 'missing_value'],
  ]);
});

/** Returns why each of the words excludes an order, in a column that the layout's fixture does not have. */
async function excludedBy(
  layout: string,
  column: string,
  words: readonly string[],
): Promise<readonly (readonly [string, string | null])[]> {
  const loaded = loadLayout(layout);
  const example = exampleRow(loaded);
  return Promise.all(
    words.map(async (word) => {
      const { orders } = await mapText(example.with(column, word).text(), {
        layout: loaded,
        source: example.source,
      });
      return [word, orders[0]?.exclusion ?? null] as const;
    }),
  );
}

test.each([
  [
    'stripe-payments',
    'Dispute Status',
    ['', 'won', 'warning_closed'],
    ['needs_response', 'lost'],
    'disputed',
  ],
  ['tiktok-shop-orders', 'Cancelation/Return Type', [''], ['Cancel'], 'cancelled'],
  ['shopware-orders', 'payment_state', ['paid'], ['open', 'chargeback', 'refunded'], 'not_paid'],
  ['generic', 'test', ['', 'no', '0', 'FALSE'], ['yes', '1'], 'test'],
  ['generic', 'cancelled', ['', 'false'], ['true'], 'cancelled'],
  ['generic', 'refunded', ['', 'false'], ['true'], 'refunded'],
] as const)('%s: %s lets only its known words pass', async (layout, column, passing, excluding, reason) => {
  expect(await excludedBy(layout, column, passing)).toEqual(passing.map((word) => [word, null]));
  expect(await excludedBy(layout, column, excluding)).toEqual(excluding.map((word) => [word, reason]));
  const unknown = ['12.50', 'Return/Refund', 'paid_partially'];
  expect(await excludedBy(layout, column, unknown)).toEqual(
    unknown.map((word) => [word, `unknown_${reason}:${foldHeader(column)}=${foldWord(word)}`]),
  );
});

test('generic: a refund and a time of cancellation are read if the export has them', async () => {
  const { orders } = await mapText(
    'order_id,order_revenue,currency,refunded_amount,cancelled_at\n1,50.00,EUR,12.50,\n2,50.00,EUR,,2026-05-15T10:00:00Z\n',
  );
  expect(orders.map(({ refunded, exclusion }) => [refunded, exclusion])).toEqual([
    ['12.50', null],
    [null, 'cancelled'],
  ]);
});

test('amazon-orders: a status that tells of a return is known, and not credited', () => {
  const { status } = loadLayout('amazon-orders');
  const { notCredited } = statusRules(loadLayout('amazon-orders'), {}, null);
  for (const word of [
    'Returned to Seller',
    'Returning to Seller',
    'Rejected by Buyer',
    'Lost in Transit',
    'Damaged',
  ]) {
    const read = statusReader(status)(`Shipped - ${word}`);
    expect(notCredited).toContain(read);
    expect(status.credited).not.toContain(read);
  }
});

test.each(['bigcommerce-orders'])('%s: the file shows whether the day comes first', (layout) => {
  const { formats } = loadLayout(layout).times;
  for (const format of formats.filter((one) => one.startsWith('M/D/')))
    expect(formats).toContain(format.replace('M/D/', 'D/M/'));
});

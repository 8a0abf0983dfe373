import { expect, it } from 'vitest';
import { mapText } from './map-text.ts';

const SOURCE = { timeZone: 'UTC', currency: 'EUR', orderLines: true };
const SHOPIFY =
  'Name,Financial Status,Currency,Total,Discount Code,Created at,Lineitem quantity,Lineitem price,Lineitem sku,Lineitem discount';

async function linesOf(rows: readonly string[], source: object = SOURCE) {
  const { orders, rejected } = await mapText([SHOPIFY, ...rows].join('\n'), {
    layout: 'shopify-orders',
    reduced: true,
    source: { ...SOURCE, ...source },
  });
  expect(rejected).toEqual([]);
  return orders.map(({ lines }) => lines);
}

const FIRST = '#1,paid,EUR,42.50,MIA10,2026-05-01 10:00:00 +0000';

it('an order has the amounts of its lines by SKU, after their discounts', async () => {
  expect(
    await linesOf([`${FIRST},2,10.00,Shirt-M,2.50`, '#1,,,,,,1,25.00,GIFT-25,0.00', '#1,,,,,,1,5,shirt-m,']),
  ).toEqual([
    [
      ['gift-25', '25.00'],
      ['shirt-m', '22.50'],
    ],
  ]);
});

it('a line without a SKU has an empty one, and an e-mail address in its place is masked', async () => {
  expect(await linesOf([`${FIRST},1,10.00,,`, '#1,,,,,,1,3.00,jane@shop.example,'])).toEqual([
    [
      ['', '10.00'],
      ['j***@***', '3.00'],
    ],
  ]);
});

it.each([
  ['an amount that cannot be read', '1,ten,A,'],
  ['no quantity', ',10.00,A,'],
  ['no amount', '1,,A,'],
  ['a discount above its price', '1,10.00,A,10.01'],
  ['less than a ten-thousandth', '0.3333,0.0001,A,'],
])('the lines of an order are unknown if one has %s, and the order still counts', async (_, cells) => {
  expect(await linesOf([`${FIRST},1,10.00,B,`, `#1,,,,,,${cells}`])).toEqual([null]);
});

it('the lines of an order are unknown if the source does not enable them or the file has no SKU column', async () => {
  expect(await linesOf([`${FIRST},1,10.00,A,`], { orderLines: false })).toEqual([null]);
  const { orders } = await mapText('order_id,order_revenue,currency,line_amount\n1,10.00,EUR,10.00\n', {
    source: SOURCE,
  });
  expect(orders.map(({ lines }) => lines)).toEqual([null]);
});

it('a cancelled item of an order is not a line', async () => {
  const header =
    'amazon-order-id\torder-status\tcurrency\tpurchase-date\titem-status\tsku\titem-price\titem-promotion-discount';
  const order = '1\tShipped\tEUR\t2026-05-01T10:00:00Z';
  const { orders } = await mapText(
    [header, `${order}\tShipped\tA\t10.00\t1.00`, `${order}\tCancelled\tB\t5.00\t`].join('\n'),
    { layout: 'amazon-orders', reduced: true, source: SOURCE },
  );
  expect(orders.map(({ lines }) => lines)).toEqual([[['a', '9.00']]]);
});

it('the lines of Matrixify are those of its items, and not of discounts, shipping and refunds', async () => {
  const header =
    'ID,Name,Payment: Status,Currency,Price: Total,Created At,Line: Type,Line: Title,Line: SKU,Line: Quantity,Line: Price,Line: Total';
  const rows = [
    '7,#7,paid,EUR,95.00,2026-05-01 10:00:00 +0000,Line Item,Serum,SERUM,2,40.00,70.00',
    '7,#7,,,,,Line Item,Card,GIFT-25,1,25.00,25.00',
    '7,#7,,,,,Discount,MIA10,,,,-10.00',
    '7,#7,,,,,Shipping Line,Post,,1,5.00,5.00',
    '7,#7,,,,,Refund Line,Serum,SERUM,-1,40.00,-40.00',
  ];
  const { orders, rejected } = await mapText([header, ...rows].join('\n'), {
    layout: 'matrixify-orders',
    reduced: true,
    source: SOURCE,
  });
  expect([rejected, orders.map(({ lines, codes }) => [lines, codes])]).toEqual([
    [],
    [
      [
        [
          ['gift-25', '25.00'],
          ['serum', '70.00'],
        ],
        ['MIA10'],
      ],
    ],
  ]);
});

it('the lines of WooCommerce are read from the columns of two plugins', async () => {
  const rows = [
    '7,completed,30.00,EUR,2026-05-01 10:00,Mug,12.00',
    '7,completed,30.00,EUR,2026-05-01 10:00,CARD,18.00',
  ];
  const read = async (header: string) => {
    const { orders } = await mapText([header, ...rows].join('\n'), {
      layout: 'woocommerce-orders',
      reduced: true,
      source: SOURCE,
    });
    return orders.map(({ lines }) => lines);
  };
  const lines = [
    [
      ['card', '18.00'],
      ['mug', '12.00'],
    ],
  ];
  expect(
    await read('order_id,order_status,order_total,order_currency,order_date,item_sku,item_total'),
  ).toEqual(lines);
  expect(
    await read('Order Number,Order Status,Order Total Amount,Order Currency,Order Date,SKU,Order Line Total'),
  ).toEqual(lines);
});

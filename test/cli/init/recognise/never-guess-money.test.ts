import fc from 'fast-check';
import { expect, test } from 'vitest';
import { questionsFor } from '../../../../src/cli/init/answers.ts';
import { proposeLayout } from '../../../../src/cli/init/recognise/propose-layout.ts';
import type { StatedRoles } from '../../../../src/core/layout.ts';
import { CODES_IN_TEXT } from '../../../../src/core/text/codes-in-text.ts';
import { foldHeader } from '../../../../src/core/text/fold.ts';
import { loadLayouts } from '../../../../src/intake/layout/load-layout.ts';
import { mapText } from '../../../intake/orders/map/map-text.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { folderWith, look, ordersOf, summary } from './look.ts';

const layouts = loadLayouts();

/** What `init` proposes for a table. */
function propose(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  stated?: Parameters<typeof proposeLayout>[1]['stated'],
  consentWords?: ReadonlySet<string>,
  paidWords?: ReadonlySet<string>,
) {
  const records = rows.map((cells, at) => ({ cells, line: at + 2, record: at + 1 }));
  return proposeLayout({ header, records }, { name: 'own', layouts, stated, consentWords, paidWords });
}

const WORDS = [
  ...[
    'Discount',
    'Rabatt',
    'Korting',
    'Descuento',
    'Fee',
    'Processing fee',
    'Tax',
    'VAT',
    'MwSt',
    'Shipping',
  ],
  ...[
    'Versand',
    'Delivery',
    'Balance',
    'Outstanding',
    'Payout',
    'Settlement',
    'Commission',
    'Provision',
    'Net',
  ],
  ...[
    'Netto',
    'Unit',
    'Item',
    'Line item',
    'Refund',
    'Refunded',
    'Tip',
    'Deposit',
    'Gift card',
    'Cost',
    'Margin',
  ],
];
const KINDS = [
  '',
  ' amount',
  ' total',
  ' Total Amount',
  ' price',
  ' value',
  ' (EUR)',
  ' sum',
  ' incl tax',
  '_total',
];
const lowering = fc
  .tuple(
    fc.constantFrom(...WORDS),
    fc.constantFrom(...KINDS),
    fc.constantFrom('', 'Total ', 'Order ', 'amount of '),
  )
  .map(([word, kind, before]) => `${before}${word}${kind}`);

test('whatever other amounts a file has, none is proposed as revenue if no column is named like a total', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(lowering, { minLength: 1, maxLength: 6, selector: (name) => name.toLowerCase() }),
      fc.boolean(),
      (names, isCommaDecimal) => {
        const amounts = (at: number) =>
          names.map((_, index) => `${at + index}${isCommaDecimal ? ',' : '.'}50`);
        const rows = Array.from({ length: 6 }, (_, at) => [
          `A-${at}`,
          ['paid', 'pending'][at % 2] ?? '',
          'EUR',
          ['MIRA10', ''][at % 2] ?? '',
          `2026-05-0${at + 1}`,
          ...amounts(at),
        ]);
        const proposed = propose(
          ['Order No', 'Status', 'Currency', 'Discount code', 'Order date', ...names],
          rows,
        );
        expect('layout' in proposed, JSON.stringify(names)).toBe(false);
      },
    ),
    { numRuns: propertyRuns(60) },
  );
});

const OWN = ['Order no', 'Total', 'Status', 'Coupon'];
/** Rows of `OWN` and more cells. */
const withCells = (...more: readonly (readonly string[])[]): string[][] =>
  more.map((cells, at) => [`${at + 1}`, `1${at}.50`, 'paid', ['MIA10', 'JOE15', ''][at % 3] ?? '', ...cells]);

test.each([
  ['goods that are written as codes of currencies', 'Naam', ['TOP', 'CUP', 'TOP'], 'and words as well'],
  ['the time of an export', 'Stempel', Array(3).fill('2026-10-01T10:00:00Z'), 'one time on all rows'],
])('%s are asked about, although no other column has such values', (_, name, cells, why) => {
  const proposed = propose([...OWN, name], withCells(...cells.map((cell) => [cell])));
  expect(proposed).toMatchObject({ unclear: [{ header: name, why: expect.stringContaining(why) }] });
});

test('neither names of goods nor logins, exports and shelves are a currency, a time of order or codes by their values', () => {
  const header = [...OWN.slice(0, 3), 'Product', 'Naam', 'Last login', 'Exported', 'Bin', 'Influencer'];
  const row = (id: string, ...cells: readonly string[]) => [id, '10.50', 'paid', ...cells, 'SHELF1', '@mia'];
  const proposed = propose(header, [
    row('1', 'TOP', 'Top', '2026-10-01T10:00:00Z', '2026-11-01T10:00:00Z'),
    row('2', 'CUP', 'Cup', '2026-10-02T10:00:00Z', '2026-11-02T10:00:00Z'),
    row('3', 'TOP', 'Top', '2026-10-03T10:00:00Z', '2026-11-03T10:00:00Z'),
  ]);
  if (!('layout' in proposed)) throw new Error(proposed.why);
  const read = proposed.columns.filter(({ role }) => role !== null).map(({ header: name }) => name);
  expect(read).toEqual(['Order no', 'Total', 'Status', 'Influencer']);
});

test('codes by their values are asked about if every order has one', () => {
  const cells = (last: string) => withCells(['AAA1'], ['AAA1'], [last]).map((row) => row.toSpliced(3, 1));
  const header = [...OWN.slice(0, 3), 'Hint'];
  expect(propose(header, cells('BBB2'))).toMatchObject({ unclear: [{ header: 'Hint', likely: 'codes' }] });
  expect(propose(header, cells(''))).toMatchObject({ layout: { columns: { codes: ['Hint'] } } });
});

test('orders with the address of the customer are no list of customers, whatever export has such a column', async () => {
  const folder = folderWith({
    'orders.csv':
      'id,order_number,user_name,user_email,currency,total,status,discount_code\n7,1001,Ada,ada@example.com,USD,44.10,paid,MIRA10\n8,1002,Bob,bob@example.com,USD,9.00,paid,\n',
  });
  const found = await look(folder);
  expect(summary(found)).toEqual(['orders proposed  1']);
  expect(ordersOf(found).preview.revenue).toEqual([{ currency: 'USD', amount: '44.1000' }]);
  // The buyer is no influencer, as a user of that name is in a list of creators.
  expect(ordersOf(found).layout.columns.influencer_handle).toBeUndefined();
});

test('what shares names with a known export, and has columns of its own for what that one requires, is proposed', async () => {
  const header = 'order_number,order_total,order_coupon,ordered_date,ordered_time,currency';
  const row = '701,41.00,MIRA10,2026-10-05,10:15:00 PM,USD';
  const others = folderWith({ 'a.csv': `${header},payment_status\n${row},PAID\n` });
  const found = await look(others);
  expect(summary(found)).toEqual(['a proposed  1']);
  expect(ordersOf(found).preview).toMatchObject({ credited: 1, placed: { first: '2026-10-05T22:15:00Z' } });
  expect(summary(await look(folderWith({ 'a.csv': `${header}\n${row}\n` })))).toEqual([
    'a.csv header_mismatch',
  ]);
});

test.each([
  ['£12.00', 'GBP', false],
  ['12,00 zł', 'PLN', true],
  ['€ 12.00', 'EUR', true],
  ['$12.00', null, false],
  ['12,00 kr', null, false],
  ['¥1200', null, false],
])(
  'the sign of %s offers %s as its currency, and nothing if it may be that of several',
  async (amount, suggestion, mayAssume) => {
    const text = `order_id;total;status;discount_code;date\n1;${amount};paid;MIRA10;2026-11-05\n2;${amount};paid;;2026-11-06\n`;
    const { sources } = await look(folderWith({ 'sales.csv': text }));
    const question = questionsFor(sources, { out: '.' }, []).find(({ key }) => key === 'currency');
    expect(question).toMatchObject({ suggestion, mayAssume });
  },
);

test('a blank currency beside others is rejected, as in a run, because no person is asked for it', async () => {
  const rows = ['1,10.00,paid,MIA10,GBP', '2,12.00,paid,MIA10,'];
  const folder = folderWith({ 'a.csv': `${[...OWN, 'Curr'].join(',')}\n${rows.join('\n')}\n` });
  expect(ordersOf(await look(folder)).preview).toMatchObject({
    credited: 1,
    rejected: [{ code: 'missing_value', column: 'Curr' }],
  });
});

test('other amounts beside a total are named with the reason for which they are not read', () => {
  const header = [
    'Order No',
    'Status',
    'Coupon',
    'Grand Total',
    'Discount Amount',
    'Shipping',
    'Net',
    'Colour',
  ];
  const proposed = propose(header, [
    ['1', 'paid', 'MIRA10', '20.00', '5.00', '4.00', '16.00', 'red'],
    ['2', 'open', '', '30.00', '0.00', '4.00', '26.00', 'blue'],
  ]);
  if (!('layout' in proposed)) throw new Error(proposed.why);
  expect(proposed.layout.columns.total).toEqual(['Grand Total']);
  expect(proposed.columns.map(({ header: name, role, why }) => [name, role, why])).toEqual([
    ['Order No', 'order_id', 'by its name'],
    ['Status', 'status', 'by its name'],
    ['Coupon', 'codes', 'by its name'],
    ['Grand Total', 'total', 'by its name'],
    ['Discount Amount', null, 'its name means a discount, which is no revenue'],
    ['Shipping', null, 'its name means shipping, which is no revenue'],
    ['Net', null, 'its name means an amount after something was taken off, which is no revenue'],
    ['Colour', null, 'no field has such a name'],
  ]);
  expect(proposed.columns[7]?.samples).toEqual(['red', 'blue']);
  expect(proposed.text).toContain('# - "Discount Amount": its name means a discount, which is no revenue');
});

test('a column of a German till is named as the tax, or as what was bought, that it is', () => {
  const proposed = propose(
    ['Bestellnr', 'Status', 'Gutscheincode', 'Gesamt', 'MwSt', 'Artikel'],
    [
      ['1', 'paid', 'MIRA10', '20.00', '3.19', 'Seife'],
      ['2', 'paid', '', '30.00', '4.79', 'Gesichtscreme'],
    ],
  );
  if (!('layout' in proposed)) throw new Error(proposed.why);
  const whyOf = (name: string) => proposed.columns.find(({ header }) => header === name)?.why;
  expect(whyOf('MwSt')).toBe('its name means a tax, which is no revenue');
  expect(whyOf('Artikel')).toBe('it names what was bought');
});

test('Dutch columns that no list has are found by their values, and the refunds are used', async () => {
  const rows = [
    'Nr;When;Toestand;Curr;Totaal;Terug;Korting;Bon;Klant;Openstaand',
    '1001;14-05-2026 10:12;betaald;EUR;1.249,00;0,00;10,00;MIRA10;Jan;0,00',
    '1002;15-05-2026 11:00;geannuleerd;EUR;20,00;;0,00;MIRA10;Piet;',
    '1003;16-05-2026 09:00;betaald;EUR;35,50;35,50;0,00;JOE20;Kees;',
    '1004;17-05-2026 09:30;in behandeling;EUR;99,90;;0,00;;Henk;',
    '1005;18-05-2026 11:20;betaald;EUR;80,00;0,00;0,00;MIRA10;Anna;12,50',
  ];
  const folder = folderWith({ 'verkoop.csv': rows.join('\n') });
  // Each export may number its rows, so that what only looks like an id is asked about.
  const asked = (await look(folder)).refused.flatMap(({ unclear }) => unclear ?? []);
  expect(asked).toMatchObject([{ header: 'Nr', likely: 'order_id' }]);
  const answered: StatedRoles = new Map([['nr', 'order_id']]);
  const found = await look(folder, answered);
  const { layout, currency, preview } = ordersOf(found);
  expect(layout.columns).toEqual({
    order_id: ['Nr'],
    status: ['Toestand'],
    currency: ['Curr'],
    total: ['Totaal'],
    refunded: ['Terug'],
    codes: ['Bon'],
    placed_at: ['When'],
  });
  expect(currency).toBeNull();
  expect(preview).toMatchObject({
    credited: 1,
    excluded: expect.arrayContaining([expect.objectContaining({ reason: 'fully_refunded', orders: 1 })]),
    heldOrders: expect.arrayContaining([expect.objectContaining({ reason: 'unknown_payment', orders: 1 })]),
    statuses: expect.arrayContaining([{ status: 'in_behandeling', orders: 1, effect: 'held' }]),
  });
  const negated = rows.map((row) => row.replace('35,50;35,50', '35,50;-35,50'));
  const again = ordersOf(await look(folderWith({ 'verkoop.csv': negated.join('\n') }), answered));
  expect(again.layout.grouping.sum.refunded).toEqual({ plus: [], minus: ['Terug'] });
  expect(again.preview).toMatchObject({ credited: preview.credited, excluded: preview.excluded });
  const klant = found.sources[0]?.proposed?.columns.find(({ header }) => header === 'Klant');
  expect(klant).toMatchObject({ role: null, samples: [] });
});

test('a shipment that was returned stops its order, and a word of shipments that no list knows holds it', async () => {
  for (const word of ['Returned', 'Rücksendung', 'Devuelto', 'RTO', 'Refunded', 'Rückerstattet']) {
    const rows = [
      '1,20.00,MIRA10,paid,shipped',
      `2,30.00,MIRA10,paid,${word}`,
      '3,5.00,,paid,',
      '4,5.00,MIRA10,paid,Lost',
    ];
    const folder = folderWith({
      'x.csv': ['Order No,Total,Coupon,Status,Fulfilment', ...rows, ''].join('\n'),
    });
    const { layout, preview } = ordersOf(await look(folder));
    expect(layout.exclusions).toMatchObject([
      { reason: 'returned', columns: ['Fulfilment'], equals: [word], unless: ['shipped', ''] },
    ]);
    expect(preview).toMatchObject({
      credited: 1,
      excluded: [{ reason: 'returned', orders: 1 }],
      heldOrders: [{ reason: 'unknown_returned', orders: 1 }],
    });
  }
});

test('columns of a shipment, of a risk and of the time of payment stop orders by words that the file does not have yet', async () => {
  const header = 'Order No,Total,Coupon,Status,Fulfillment status,Risk level,Paid at';
  const rows = [1, 2, 3].map((id) => `${id},20.00,MIRA10,paid,packed,low,2026-05-0${id} 10:00`);
  const { layout } = ordersOf(await look(folderWith({ 'x.csv': [header, ...rows, ''].join('\n') })));
  const late = [
    '4,20.00,MIRA10,paid,restocked,low,2026-05-04 10:00',
    '5,20.00,MIRA10,paid,lost,low,2026-05-04 10:00',
    '6,20.00,MIRA10,paid,packed,high,2026-05-04 10:00',
    '7,20.00,MIRA10,paid,,,',
    '8,20.00,MIRA10,paid,delivered,,2026-05-04 10:00',
  ];
  const source = { timeZone: 'UTC', currency: 'EUR' };
  const { orders } = await mapText([header, ...late, ''].join('\n'), { layout, source });
  expect(orders.map(({ exclusion }) => exclusion)).toEqual([
    'returned',
    'unknown_returned:fulfillment status=lost',
    'unknown_risk',
    'unknown_payment',
    null,
  ]);
});

test('how many pieces were returned is no amount: one stops the order', async () => {
  const rows = ['1,20.00,MIRA10,paid,0', '2,30.00,MIRA10,paid,2', '3,5.00,,paid,1'];
  const { layout } = ordersOf(
    await look(
      folderWith({ 'x.csv': ['Order No,Total,Coupon,Status,Qty Returned', ...rows, ''].join('\n') }),
    ),
  );
  expect(layout.columns.refunded).toBeUndefined();
  expect(layout.exclusions).toMatchObject([{ reason: 'refunded', noneOf: ['0'] }]);
});

test('a column of numbers for a risk is asked about', async () => {
  const rows = ['1,20.00,MIRA10,paid,0.1', '2,30.00,MIRA10,paid,0.95', '3,5.00,,paid,0.2'];
  const found = await look(
    folderWith({ 'x.csv': ['Order No,Total,Coupon,Status,Risk score', ...rows, ''].join('\n') }),
  );
  expect(found.refused).toMatchObject([{ code: 'unclear_columns' }]);
});

test('a share of the total is no refunded amount', async () => {
  const rows = ['1,200.00,MIRA10,paid,50', '2,30.00,MIRA10,paid,0', '3,5.00,,paid,0'];
  const found = await look(
    folderWith({ 'x.csv': ['Order No,Total,Coupon,Status,Refund %', ...rows, ''].join('\n') }),
  );
  const { layout, preview } = ordersOf(found);
  expect(layout.columns.refunded).toBeUndefined();
  expect(preview).toMatchObject({ credited: 1, excluded: [{ reason: 'refunded', orders: 1 }] });
});

test('beside the amount of a refund, its date does not say that all was refunded, and the one row with thousands shows its mark', async () => {
  const rows = [
    '1;76,87 €;MIRA10;paid;38,43;05/11/2026',
    '2;40,00 €;MIRA10;paid;;06/11/2026',
    '3;1 349,50 €;MIRA10;paid;;',
    ...Array.from({ length: 30 }, (_, at) => `${at + 10};${at + 5},00 €;;paid;;`),
  ];
  const header = 'N° commande;Montant TTC;Code promo;État;Remboursé;Date remboursement';
  const { preview } = ordersOf(await look(folderWith({ 'x.csv': [header, ...rows, ''].join('\n') })));
  expect(preview).toMatchObject({ credited: 2, rejected: [], excluded: [{ reason: 'refunded', orders: 1 }] });
  expect(preview.revenue).toMatchObject([{ currency: 'EUR', amount: '1426.3700' }]);
});

const ORDER = ['Order No', 'Total', 'Coupon', 'Status'];

test.each([
  ['Refunded?', ['0', '1', '0'], { reason: 'refunded', noneOf: ['0'] }],
  ['Is test', ['yes', 'no', 'no'], { reason: 'test', noneOf: ['no'] }],
  ['Cancel reason', ['', 'changed mind', ''], { reason: 'cancelled', notBlank: true }],
  ['Returned on', ['', '2026-05-04', ''], { reason: 'refunded', notBlank: true }],
  ['Disputed', ['', '', ''], { reason: 'disputed', notBlank: true }],
  // A later word that is neither yes, no nor blank holds the order.
  ['Voided', ['No', 'Yes', ''], { reason: 'cancelled', unless: ['', 'no'] }],
  ['Betwist', ['Ja', 'Nee', 'Nee'], { reason: 'disputed', noneOf: ['nee'] }],
  ['Disputed', ['No', 'No', ''], { reason: 'disputed', unless: ['', 'no'] }],
])('a column "%s" stops the orders that it names', (name, cells, rule) => {
  const rows = cells.map((cell, at) => [`A-${at}`, '20.00', at === 2 ? '' : 'MIRA10', 'paid', cell]);
  const proposed = propose([...ORDER, name], rows);
  if (!('layout' in proposed)) throw new Error(proposed.why);
  expect(proposed.layout.exclusions).toMatchObject([{ columns: [name], ...rule }]);
});

test('the numbers of returns and of credit notes exclude their orders, and are no refunded amounts', () => {
  const test = (name: string, cells: readonly string[]) => {
    const rows = cells.map((cell, at) => [`A${at}`, '20.00', 'MIRA10', 'paid', cell]);
    const proposed = propose([...ORDER, name], rows);
    if (!('layout' in proposed)) throw new Error(proposed.why);
    const { columns, exclusions } = proposed.layout;
    return columns.refunded ?? exclusions.map(({ reason, notBlank }) => [reason, notBlank]);
  };
  for (const name of ['Return No', 'Refund ID', 'RMA', 'Credit note', 'Kreditnota nr', 'Avoir'])
    for (const cells of [
      ['', '5', ''],
      ['', '', ''],
    ])
      expect([name, test(name, cells)]).toEqual([name, [['refunded', true]]]);
  for (const name of ['Refund', 'Credit note amount']) expect(test(name, ['', '5', ''])).toEqual([name]);
  expect(test('Credit note', ['', '5.00', ''])).toEqual(['Credit note']);
});

test.each([
  [
    'a second total that differs',
    [...ORDER, 'Order amount'],
    ['18.00', '25.00'],
    'it is named like a total, as "Total" is, and differs from it',
  ],
  [
    'a second currency',
    ['Currency', ...ORDER, 'Shop money'],
    ['EUR', 'SEK'],
    'it names other currencies than "Currency"',
  ],
  [
    'a second column of states',
    [...ORDER, 'Type'],
    ['sale', 'refund'],
    'it has words for states, as "Status" has',
  ],
  [
    'an amount on some rows only',
    [...ORDER, 'Endurgreitt'],
    ['0.00', '7.50'],
    'it has amounts below the total, as refunds, fees or parts of a payment have',
  ],
  [
    'an amount below the total on each row',
    [...ORDER, 'Cashed in'],
    ['1.00', '1.50'],
    'it has amounts below the total, as refunds, fees or parts of a payment have',
  ],
  [
    'a deposit below the total',
    [...ORDER, 'Deposit paid'],
    ['5.00', '30.00'],
    'it has amounts below the total, as refunds, fees or parts of a payment have',
  ],
  [
    'a balance below the total',
    [...ORDER, 'Saldo'],
    ['0.00', '5.00'],
    'it has amounts below the total, as refunds, fees or parts of a payment have',
  ],
  [
    'a yes that may be of a cancellation',
    [...ORDER, 'Storno möglich'],
    ['yes', 'no'],
    'its name may say that orders are cancelled, or something else',
  ],
  [
    'a second column of states whose words no list knows',
    [...ORDER, 'Statut du paiement'],
    ['Carte', 'Litige'],
    'it has words for states, as "Status" has',
  ],
  [
    'answers that contradict the status',
    [...ORDER, 'Is paid'],
    ['Yes', 'No'],
    'it says yes of some orders and no of others, which may decide whether they count',
  ],
  [
    'answers under a name that no list has',
    [...ORDER, 'Wandlung'],
    ['ja', 'nej'],
    'it says yes of some orders and no of others, which may decide whether they count',
  ],
  [
    'answers of which the noes are blank',
    [...ORDER, 'Wandlung'],
    ['ja', ''],
    'it says yes of some orders and no of others, which may decide whether they count',
  ],
  [
    'kinds of orders',
    [...ORDER, 'Order type'],
    ['sale', 'sample'],
    'it says of which kind or in which state something is, which may not count',
  ],
  [
    'times of a zone of their own',
    [...ORDER, 'Created at (PST)'],
    ['2026-11-10 20:00', '2026-11-13 10:00'],
    'its times are in PST, and are read in the time zone of the source: is that the same?',
  ],
  [
    'an order that replaces another',
    [...ORDER, 'Replacement of'],
    ['', '1'],
    'it names another order, which this one may replace',
  ],
  [
    'a number of a return on each row',
    [...ORDER, 'Return No'],
    ['1', '2'],
    'its name says that orders may be refunded or returned, and its values do not show which',
  ],
  [
    'returns without a meaning',
    [...ORDER, 'Returns'],
    ['3 pieces', '1 piece'],
    'its name says that orders may be refunded or returned, and its values do not show which',
  ],
])('a person is asked about %s', (_, header, [one, other], why) => {
  const cells: Record<string, readonly [string, string]> = {
    'Order No': ['1', '2'],
    Total: ['20.00', '30.00'],
    Coupon: ['MIRA10', 'JOE20'],
    Status: ['paid', 'paid'],
    Currency: ['EUR', 'EUR'],
  };
  const last = header.at(-1) ?? '';
  const rows = [0, 1].map((at) => header.map((name) => cells[name]?.[at] ?? ([one, other][at] as string)));
  const unclear = propose(header, rows);
  expect(unclear).toMatchObject({ code: 'unclear_columns', unclear: [{ header: last, why }] });
  const answered = propose(header, rows, new Map([[last.toLowerCase(), 'unused']]));
  expect('layout' in answered).toBe(true);
});

test.each([
  [
    'transactions of an affiliate network, declined ones too',
    'id,advertiserId,publisherId,commissionStatus,commissionAmount,saleAmount,currency,transactionDate,voucherCode,orderRef\n1,99,100,declined,1.00,10.00,EUR,2026-05-01T10:00:00,MIRA10,A1\n2,99,100,approved,2.00,20.00,EUR,2026-05-02T10:00:00,MIRA10,A2\n',
    'not_orders',
    /transactions of an affiliate network/,
  ],
  [
    'a settlement',
    'Order ID,Settlement ID,Type,Gross,Fee,Net,Currency,Voucher\n1,S1,payment,20.00,1.00,19.00,EUR,MIRA10\n2,S1,payment,30.00,1.00,29.00,EUR,\n',
    'not_orders',
    /a settlement or a report of payouts/,
  ],
  [
    'items of orders with their own amounts',
    'Order No,Total,Coupon,Status\n1,20.00,MIRA10,paid\n1,30.00,MIRA10,paid\n2,5.00,,paid\n3,6.00,,paid\n',
    'item_rows',
    /same order id \(column "Order No"\) and different amounts in "Total" \(lines 2 and 3\)/,
  ],
  [
    'amounts with a column that says cents',
    'Order No,Total,Unit,Coupon,Status\n1,2000,cents,MIRA10,paid\n2,500,Cents,,paid\n',
    'unclear_columns',
    /"Unit": it says that amounts are in minor units/,
  ],
  [
    'amounts of a generic export with a column that says øre',
    'order_id,order_revenue,currency,currency_unit,discount_code,status\n1,2000,DKK,øre,MIRA10,paid\n2,500,DKK,øre,,paid\n',
    'unclear_columns',
    /"currency_unit" says that amounts are in minor units/,
  ],
  [
    'amounts whose only column says øre in its name',
    'Ordrenr;Dato;Ordrestatus;Beløb (øre);Rabatkode\n1;2026-05-02;betalt;124900;MIRA10\n2;2026-05-03;betalt;2000;JOE20\n3;2026-05-04;betalt;1;\n',
    'unclear_columns',
    /"Beløb \(øre\)" says that its amounts are in minor units/,
  ],
  [
    'amounts whose name has the sign of cents',
    'Order No,Total ¢,Coupon,Status\n1,2000,MIRA10,paid\n2,500,,paid\n',
    'unclear_columns',
    /"Total ¢" says that its amounts are in minor units/,
  ],
  [
    'amounts that look like prices in cents',
    'Order No,Total,Currency,Coupon,Status\n1,1999,EUR,MIRA10,paid\n2,4950,EUR,,paid\n3,2500,EUR,,paid\n',
    'unclear_columns',
    /"Total": its amounts are whole numbers that end as prices in cents do/,
  ],
  [
    'refunds whose name says cents',
    'Order No,Total,Refund (cents),Coupon,Status\n1,20.00,100,MIRA10,paid\n2,5.00,0,,paid\n',
    'unclear_columns',
    /"Refund \(cents\)" says that its amounts are in minor units/,
  ],
  [
    'amounts that may be exchanged',
    'Order No,Total,Currency,Currency value,Coupon,Status\n1,20.00,USD,1.2,MIRA10,paid\n2,5.00,EUR,1.0000,,paid\n',
    'unclear_columns',
    /"Currency value": it is a rate of exchange, so "Total" may be in the currency of the shop/,
  ],
  [
    'orders with codes in two columns',
    'Order No,Total,Coupon 1,Coupon 2,Status\n1,20.00,MIRA10,JOE,paid\n2,5.00,,,paid\n',
    'unclear_columns',
    /"Coupon 2": it has codes, as "Coupon 1" has/,
  ],
  [
    'orders whose codes are repeated among others in a column of another name',
    'Order No,Total,Coupon,Label,Status\n1,20.00,MIRA10,MIRA10,paid\n2,5.00,,JOE,paid\n',
    'unclear_columns',
    /"Label": it has codes, as "Coupon" has/,
  ],
  [
    'rows that repeat an amount that may be of the item',
    'Order No,Total,Coupon,Status\n1,20.00,MIRA10,paid\n1,20.00,MIRA10,paid\n2,5.00,,paid\n3,6.00,,paid\n',
    'unclear_columns',
    /may be the total of the order, or that of each row/,
  ],
])('%s are not proposed as orders', async (_, text, code, why) => {
  const { sources, refused } = await look(folderWith({ 'x.csv': text }));
  expect(sources).toEqual([]);
  expect(refused).toMatchObject([{ code, why: expect.stringMatching(why) }]);
});

test.each([
  ['amounts of discounts', 'Discount', ['10.00', '0.00']],
  ['kinds of discounts', 'Discount type', ['PERCENT', 'FIXED']],
  ['shares of discounts', 'Discount', ['10%', '12.5 %']],
  ['a rate of exchange of 1 on all rows', 'Exchange rate', ['1', '1.0000']],
])('%s beside a column of codes are not asked about', (_, name, [one, other]) => {
  const header = ['Order No', 'Total', 'Coupon', name, 'Status'];
  const rows = [
    ['1', '20.00', 'MIRA10', one ?? '', 'paid'],
    ['2', '5.00', '', other ?? '', 'paid'],
  ];
  expect(propose(header, rows)).toMatchObject({
    layout: { columns: { codes: ['Coupon'], total: ['Total'] } },
  });
});

test.each([
  ['in a currency whose shops leave decimals out', 'INR', ['1999', '4999']],
  ['that are round', 'EUR', ['100', '250']],
  ['of which one is below 100', 'EUR', ['49', '1999']],
  ['of which one has decimals', 'EUR', ['1999', '19.99']],
])('whole amounts %s are not taken for cents', (_, currency, amounts) => {
  const rows = amounts.map((amount, at) => [`${at + 1}`, amount, currency, 'MIRA10', 'paid']);
  expect(propose(['Order No', 'Total', 'Currency', 'Coupon', 'Status'], rows)).toMatchObject({
    layout: { columns: { total: ['Total'] } },
  });
});

test('whole amounts that may be cents are read once a person says that they are the total', () => {
  const rows = ['1999', '4950'].map((amount, at) => [`${at + 1}`, amount, 'EUR', 'MIRA10', 'paid']);
  const header = ['Order No', 'Total', 'Currency', 'Coupon', 'Status'];
  expect(propose(header, rows, new Map([['total', 'total']] as const))).toMatchObject({
    layout: { columns: { total: ['Total'] } },
  });
});

test('an order with a rate of exchange is held if the file that init saw has none', async () => {
  const header = ['Order No', 'Total', 'Exchange rate', 'Coupon', 'Status'];
  const proposed = propose(header, [
    ['1', '20.00', '1', 'MIRA10', 'paid'],
    ['2', '5.00', '1.0000', '', 'paid'],
  ]);
  const layout = 'layout' in proposed ? proposed.layout : null;
  expect(layout?.exclusions).toMatchObject([{ reason: 'unknown_rate', columns: ['Exchange rate'] }]);
  const rates = ['1', '1,000', '', '0.85', '1.1', '11', '2'];
  const text = `${header.join(';')}\n${rates.map((rate, at) => `${at};5.00;${rate};MIRA10;paid\n`).join('')}`;
  const { orders } = await mapText(text, { ...(layout === null ? {} : { layout }) });
  const held = 'unknown_rate';
  expect(orders.map(({ exclusion }) => exclusion)).toEqual([null, null, null, held, held, held, held]);
});

test('two columns of codes are both read if a person says that both have codes', () => {
  const header = ['Order No', 'Total', 'Coupon 1', 'Coupon 2', 'Status'];
  const rows = [
    ['1', '20.00', 'MIRA10', 'JOE', 'paid'],
    ['2', '5.00', '', 'ZOE;SALE', 'paid'],
  ];
  const stated = new Map([
    ['coupon 1', 'codes'],
    ['coupon 2', 'codes'],
  ] as const);
  expect(propose(header, rows, stated)).toMatchObject({
    layout: { columns: { codes: ['Coupon 1', 'Coupon 2'] }, codes: { split: [';'] } },
  });
});

test('a rate of exchange is not asked about if the name of the total says its currency', () => {
  const rows = ['1', '2'].map((id) => [id, `${id}0.00`, '1.2', 'MIRA10', 'paid']);
  expect(propose(['Order No', 'Total (EUR)', 'Exchange rate', 'Coupon', 'Status'], rows)).toMatchObject({
    layout: { currency: 'EUR' },
  });
});

test('a report of payouts is read as orders if a person names the column of what customers paid', () => {
  const header = ['Order ID', 'Gross amount', 'Net payout', 'Currency', 'Voucher', 'Status'];
  const rows = ['1', '2'].map((id) => [id, '20.00', '18.00', 'EUR', 'MIRA10', 'paid']);
  expect(propose(header, rows)).toMatchObject({
    code: 'not_orders',
    why: expect.stringContaining('--column "Gross amount=total"'),
  });
  const stated = propose(header, rows, new Map([['gross amount', 'total']] as const));
  expect(stated).toMatchObject({ layout: { columns: { total: ['Gross amount'] } } });
});

test('two columns with the name of the total are refused, because no answer could tell them apart', () => {
  const rows = ['1', '2'].map((id) => [id, `${id}0.00`, `${id}2.00`, 'MIRA10', 'paid']);
  const twice = propose(['Order No', 'Total', 'Total', 'Coupon', 'Status'], rows);
  expect(twice).toMatchObject({ code: 'ambiguous_header', unclear: [] });
});

test('a total that is repeated while the price of items differs is that of the order', async () => {
  const text =
    'Order No,Total,Item price,Coupon,Status\n1,50.00,20.00,MIRA10,paid\n1,50.00,30.00,MIRA10,paid\n2,5.00,5.00,,paid\n3,6.00,6.00,,paid\n';
  const { preview } = ordersOf(await look(folderWith({ 'x.csv': text })));
  expect(preview).toMatchObject({ orders: 3, credited: 1, organic: 2 });
  expect(preview.sample.map(({ amount }) => amount)).toEqual(['50.00']);
});

test.each([
  ['Name,Email,Financial Status,Currency,Total,Accepts Marketing', '#1,a@example.com,paid,EUR,20.00,yes'],
  ['Name,Email,Currency,Total,Status', '#1,a@example.com,EUR,20.00,paid'],
])('orders with an address and a currency are never taken for customers: %s', async (header, row) => {
  const found = await look(folderWith({ 'x.csv': `${header}\n${row}\n${row.replace('#1', '#2')}\n` }));
  expect(found.sources.filter(({ examined }) => examined.kind === 'customers')).toEqual([]);
  expect(found.refused).toHaveLength(1);
});

test.each([
  ['MIRA10,JOE20', ['MIRA10', 'JOE20']],
  ['["MIRA10"]', ['MIRA10']],
  ['["MIRA10", "JOE20"]', ['MIRA10', 'JOE20']],
  ['MIRA10;JOE20', ['MIRA10', 'JOE20']],
  ['["MIRA10","JOE20"]', ['MIRA10', 'JOE20']],
  ["['MIRA10', 'JOE20']", ['MIRA10', 'JOE20']],
  ['["MIRA10;JOE20"]', ['MIRA10', 'JOE20']],
  ['MIRA10,JOE20,', ['MIRA10', 'JOE20']],
  ['MIRA10,', ['MIRA10']],
  ['SUMMER/SALE', ['SUMMER/SALE']],
])('the codes of a cell %s are found', async (cell, codes) => {
  const rows = [
    'Order No,Total,Coupon,Status',
    `1,20.00,"${cell.replaceAll('"', '""')}",paid`,
    '2,5.00,,paid',
  ];
  const { preview } = ordersOf(await look(folderWith({ 'x.csv': rows.join('\n') })));
  expect(preview.codes.map(({ code }) => code).sort()).toEqual([...codes].sort());
});

test('an unknown file may have a title above its header', async () => {
  const text = 'Sales of May,,,\n,,,\nOrder No,Total,Coupon,Status\n1,20.00,MIRA10,paid\n2,5.00,,unpaid\n';
  const found = await look(folderWith({ 'may.csv': text }));
  // May is when the file was exported, not what it is.
  expect(summary(found)).toEqual(['own proposed  1']);
  expect(ordersOf(found).layout.preambleLines).toBe('search');
  expect(ordersOf(found).preview).toMatchObject({ orders: 2, credited: 1 });
});

test('only words that mean paid or completed everywhere are credited, and others are asked about', async () => {
  const words = ['Paid', 'completed', 'processing', 'Verzonden', 'delivered', 'shipped', 'voided', 'open'];
  const rows = words.map((word, at) => `${at},20.00,MIRA10,${word}`);
  const found = await look(folderWith({ 'x.csv': ['Order No,Total,Coupon,Status', ...rows].join('\n') }));
  const { layout, preview } = ordersOf(found);
  expect(layout.status.credited).toEqual(['paid', 'completed']);
  expect(layout.status.known).toEqual(words.slice(6));
  expect(found.sources[0]?.proposed?.unknownStates).toEqual(new Map([['Status', words.slice(2, 6)]]));
  const { credited, held, 'not credited': not } = Object.groupBy(preview.statuses, ({ effect }) => effect);
  expect([credited?.length, held?.length, not?.length]).toEqual([2, 4, 2]);
});

/** Exports of nobody's format, each with what a stranger expects. `asked`: the column that only a person knows. */
const UNFAMILIAR: readonly (readonly [
  string,
  {
    readonly text: string;
    readonly columns?: object;
    readonly layout?: object;
    readonly asked?: readonly string[];
  },
])[] = [
  [
    'of Dutch bakeries, whose order numbers look like dates',
    {
      text: 'Bonnummer;Datum;Toestand;Totaal incl. btw;Munt;Actie;Terug\n20261001;03-10-2026 08:12;betaald;12,50;EUR;LOTTE10;0,00\n20261002;04-10-2026 09:40;afgehaald;1.012,95;EUR;LOTTE10;5,00\n20261003;05-10-2026 09:41;geannuleerd;9,00;EUR;;0,00\n',
      columns: {
        order_id: ['Bonnummer'],
        status: ['Toestand'],
        currency: ['Munt'],
        total: ['Totaal incl. btw'],
        refunded: ['Terug'],
        codes: ['Actie'],
        placed_at: ['Datum'],
      },
      // What no list knows is held, and what means another state than paid is not credited.
      layout: { status: { credited: ['betaald'], known: ['geannuleerd'] } },
    },
  ],
  [
    'of a marketplace, with title lines above the header and sums below the rows',
    {
      text: 'Seller report,,,,,\nPeriod: Oct,,,,,\n,,,,,\nSale ref,Sold on,Buyer country,Gross amount,Code used,Money back,Sale state\nMK-1,2026-10-02 10:11,NL,$34.00,SUNNY15,$0.00,Completed\nMK-2,2026-10-03 12:55,DE,$18.50,SUNNY15,$2.00,Completed\nMK-3,2026-10-04 12:55,DE,$18.50,,$0.00,Completed\nTotal,,,$71.00,,$2.00,\n3 record(s),,,,,,\n',
      columns: {
        order_id: ['Sale ref'],
        status: ['Sale state'],
        total: ['Gross amount'],
        refunded: ['Money back'],
        codes: ['Code used'],
        placed_at: ['Sold on'],
      },
      layout: { preambleLines: 'search', footer: ['Total', 'record(s)'] },
    },
  ],
  [
    'whose currency and time only the values show',
    {
      text: 'Order ref,When,Curr,Sum,Discount,State,Refund\nA-1,2026-10-02T10:11:26+01:00,GBP,34.00,NORA20,paid,0.00\nA-2,2026-10-03T10:11:26+01:00,EUR,18.50,,paid,0.00\nA-3,2026-10-05T10:11:26+01:00,GBP,60.00,NORA20,paid,15.00\n',
      columns: {
        order_id: ['Order ref'],
        placed_at: ['When'],
        currency: ['Curr'],
        total: ['Sum'],
        codes: ['Discount'],
        status: ['State'],
        refunded: ['Refund'],
      },
      layout: { lacks: ['consent'] },
    },
  ],
  [
    'in Polish, with addresses, the currency in a name, and a sum whose label no list has',
    {
      text: '\ufeffNumer zamówienia;Data;Email;Dostawa;Kwota PLN;Status;Kod rabatowy\n"Z-1";"27.09.2026, 14:05:12";"o@example.com";"kurier";"120.50";"opłacone";"OLA10"\n"Z-2";"28.09.2026, 9:15:00";"j@example.com";"punkt";"80.00";"nowe";""\n"Ogółem";"";"";"";"200.50";"";""\n',
      columns: {
        order_id: ['Numer zamówienia'],
        placed_at: ['Data'],
        email: ['Email'],
        total: ['Kwota PLN'],
        status: ['Status'],
        codes: ['Kod rabatowy'],
      },
      layout: { currency: 'PLN', footer: [], status: { credited: ['opłacone'], known: ['nowe'] } },
    },
  ],
  [
    'in Czech, with taxes in the name of the total',
    {
      text: 'Kód objednávky;Datum;Stav;Celkem s DPH;Měna;Slevový kupón;Vráceno\n26101;1.10.2026 8:15;Vyřízena;1 249,00;CZK;JANA10;0,00\n26102;14.10.2026 9:33;Storno;99,00;CZK;;0,00\nCelkem;;;1 348,00;;;0,00\n',
      columns: {
        order_id: ['Kód objednávky'],
        placed_at: ['Datum'],
        status: ['Stav'],
        total: ['Celkem s DPH'],
        currency: ['Měna'],
        codes: ['Slevový kupón'],
        refunded: ['Vráceno'],
      },
      layout: { status: { credited: ['vyřízena'], known: ['storno'] } },
    },
  ],
  [
    'in Swedish, with a title',
    {
      text: 'Rapport oktober;;;;;\nOrdernr;Orderdatum;Betalstatus;Summa inkl moms (SEK);Rabattkod;Återbetalt\n101;2026-10-01 09:12;Betald;1 249,00;ELSA10;0,00\n102;2026-10-03 10:00;Återbetald;499,00;;499,00\n',
      columns: {
        order_id: ['Ordernr'],
        placed_at: ['Orderdatum'],
        status: ['Betalstatus'],
        total: ['Summa inkl moms (SEK)'],
        codes: ['Rabattkod'],
        refunded: ['Återbetalt'],
      },
      layout: { currency: 'SEK', preambleLines: 'search' },
    },
  ],
  [
    'whose times are numbers of a spreadsheet',
    {
      text: 'Order No,Order date,Status,Total,Coupon,Currency\n1,46296.38,paid,49.00,ELSA10,EUR\n2,46297.50,paid,20.00,,EUR\n',
      asked: ['Order date null'],
    },
  ],
  [
    'with abbreviations of time zones that have several meanings',
    {
      text: 'Order No,Order date,Status,Total,Coupon,Currency\n1,2026-10-01 09:12 CST,paid,49.00,ELSA10,EUR\n2,2026-10-02 09:12 CST,paid,20.00,,EUR\n',
      asked: ['Order date null'],
    },
  ],
  [
    'with ids that begin like currencies',
    {
      text: 'Order ID,Status,Total,Coupon,Currency\nEUR-10011,paid,49.00,ELSA10,EUR\nTK-10012,paid,20.00,,EUR\nR-10013,paid,20.00,,EUR\n',
      columns: {
        order_id: ['Order ID'],
        status: ['Status'],
        total: ['Total'],
        codes: ['Coupon'],
        currency: ['Currency'],
      },
    },
  ],
  [
    'of sales with refunds, fees and what is left, of which nothing was paid out',
    {
      text: 'Order ID,Status,Gross sales,Refunds,Fees,Net sales,Coupon,Currency\n1,paid,49.00,0.00,-4.90,44.10,ELSA10,EUR\n2,paid,20.00,0.00,-2.00,18.00,,EUR\n',
      asked: ['Gross sales total'],
    },
  ],
  [
    'with ids that look like amounts in rand, and times in a zone that is named',
    {
      text: 'OrderRef,When,Status,Total,Coupon,Currency\nR1,2026-10-01 09:12 CEST,paid,49.00,ELSA10,EUR\nR2,2026-10-02 09:12 CEST,paid,20.00,,EUR\nR3,2026-10-02 09:12 CEST,paid,20.00,,EUR\n',
      columns: {
        order_id: ['OrderRef'],
        placed_at: ['When'],
        status: ['Status'],
        total: ['Total'],
        codes: ['Coupon'],
        currency: ['Currency'],
      },
      layout: { times: { formats: ['iso'], zone: null, zoneColumn: [] }, lacks: ['consent'] },
    },
  ],
  [
    'in Arabic, with dinars',
    {
      text: 'رقم الطلب,التاريخ,الحالة,المجموع,العملة,رمز الخصم\n1001,2026-10-01T10:00:00Z,مدفوع,12.500,KWD,MIRA10\n1002,2026-10-02T10:00:00Z,ملغي,0.500,KWD,MIRA10\n1003,2026-10-03T10:00:00Z,مدفوع,35.250,KWD,JOE20\n',
      columns: {
        order_id: ['رقم الطلب'],
        placed_at: ['التاريخ'],
        status: ['الحالة'],
        total: ['المجموع'],
        codes: ['رمز الخصم'],
        currency: ['العملة'],
      },
      layout: { status: { words: {}, known: ['ملغي'], credited: ['مدفوع'] } },
    },
  ],
  [
    'with amounts that nothing names',
    {
      text: 'Auftrag;Zustand;Wert A;Gutschein\n1;bezahlt;12,00 €;ANNE10\n2;bezahlt;99,50 €;\n3;bezahlt;20,00 €;ANNE10\n',
      asked: ['Wert A total'],
    },
  ],
  [
    'with thousands behind a blank, and a refund that nothing names',
    {
      text: 'Numer;Kwota A;Waluta;Rabattkod;Stan;Oddane\n1001/A;120,50;PLN;OLA10;paid;\n1002/A;1 020,00;PLN;;paid;\n1003/A;80,00;PLN;OLA10;paid;80,00\n',
      asked: ['Numer order_id', 'Kwota A total'],
    },
  ],
  [
    'in Japanese, without decimals and with a total that no list knows',
    {
      text: '注文番号,注文日,お会計,クーポン,状態\nA-1,2026/10/02 9:05,"1,234円",YUKI10,済み\nA-2,2026/10/03 9:05,800円,,済み\nA-3,2026/10/04 9:05,"2,000円",YUKI10,取消\n',
      asked: ['お会計 total'],
    },
  ],
  [
    'in Danish, with a test customer and two codes in a cell',
    {
      text: 'Ordrenr;Ordredato;Ordrestatus;Kunde;Total inkl. moms;Fragt;Rabat;Rabatkoder;Refunderet;Valuta\n1;03-11-2026 10:14;Betalt;Ida Holm;1.249,00;39,00;100,00;IDA10;0,00;DKK\n2;13-11-2026 21:10;Betalt;Test Bruger;560,00;0,00;56,00;IDA10 noah15;-60,00;DKK\n3;14-11-2026 09:31;Annulleret;Liv Friis;200,00;39,00;0,00;NOAH15;0,00;DKK\n',
      columns: {
        order_id: ['Ordrenr'],
        placed_at: ['Ordredato'],
        status: ['Ordrestatus'],
        currency: ['Valuta'],
        total: ['Total inkl. moms'],
        codes: ['Rabatkoder'],
      },
      layout: { grouping: { sum: { refunded: { minus: ['Refunderet'] } } }, codes: { split: [' '] } },
    },
  ],
  [
    'with a column of words that may say which orders were paid',
    {
      text: 'Order No,Total,Coupon,Lage,Currency\n1,20.00,MIRA10,gut,EUR\n2,30.00,JOE20,weg,EUR\n3,5.00,,gut,EUR\n',
      asked: ['Lage null'],
    },
  ],
  [
    'whose id only the values show',
    {
      text: 'Ref,When,Curr,Sum,Discount,State\nA-1,2026-10-02T10:11:26+01:00,GBP,34.00,NORA20,paid\nA-2,2026-10-03T10:11:26+01:00,EUR,18.50,,paid\n',
      asked: ['Ref order_id'],
    },
  ],
  [
    'in which one column answers what was paid, and another what was delivered',
    {
      text: 'Bonnr;Totaal;Munt;Kortingscode;Betaald;Geleverd\n1;20,00;EUR;MIRA10;Ja;Ja\n2;30,00;EUR;JOE20;Nee;Ja\n3;9,00;EUR;JOE20;Ja;Geannuleerd\n',
      asked: ['Geleverd other_status'],
    },
  ],
  [
    'with a column of states that may not be those of the order, and another that answers yes or no',
    {
      text: 'Bonnr;Totaal;Munt;Kortingscode;Kassa;Geleverd;Aantal\n1;20,00;EUR;MIRA10;Ja;Ja;1\n2;30,00;EUR;JOE20;;Ja;1\n3;9,00;EUR;JOE20;Ja;Geannuleerd;1\n',
      asked: ['Kassa null'],
    },
  ],
  [
    'with numbers of which one is the id',
    {
      text: 'Dag;Teller;Totaal;Munt;Bon;Staat\n02-10-2026;20261001;12,00;EUR;ANNE10;betaald\n03-10-2026;20261002;9,50;EUR;;betaald\n04-10-2026;20261003;2,00;EUR;ANNE10;betaald\n',
      asked: ['Teller order_id'],
    },
  ],
];

test.each(UNFAMILIAR)(
  'an export %s is understood, or asked about',
  async (_, { text, columns, layout, asked }) => {
    const found = await look(folderWith({ 'x.csv': text }));
    if (asked !== undefined) {
      const unclear = found.refused.flatMap((file) => file.unclear ?? []);
      expect(unclear.map(({ header, likely }) => `${header} ${likely}`)).toEqual(asked);
      return;
    }
    expect(found.refused).toEqual([]);
    expect(ordersOf(found).layout).toMatchObject({ columns, ...layout });
    expect(Object.keys(ordersOf(found).layout.columns).sort()).toEqual(Object.keys(columns ?? {}).sort());
    expect(ordersOf(found).preview.rejected).toEqual([]);
  },
);

test('sums below thousands of rows are found, too, and a row that is named like a sum among orders is an order', async () => {
  const rows = Array.from({ length: 7_000 }, (_, at) => `${at},20.00,MIRA10,paid`);
  const text = (end: string) => ['Order No,Total,Coupon,Status', ...rows, end, ''].join('\n');
  const { layout, changes, preview } = ordersOf(
    await look(folderWith({ 'x.csv': text('Total,14000.00,,') })),
  );
  expect([layout.footer, changes.map(({ path }) => path)]).toEqual([['Total'], [['footer']]]);
  expect(preview).toMatchObject({ orders: 7_000, rejected: [] });
  const within = ordersOf(
    await look(folderWith({ 'x.csv': text('Total,1.00,MIRA10,paid\n9001,2.00,,paid') })),
  );
  expect([within.layout.footer, within.preview.orders]).toEqual([[], 7_002]);
});

test('a word that no list knows is consent only if a person says so', () => {
  const rows = [
    ['a@example.com', 'Doet mee'],
    ['b@example.com', 'Weg'],
  ];
  const given = (words: readonly string[]) => {
    const proposed = propose(['E-mail', 'Nieuwsbrief'], rows, new Map(), new Set(words));
    return 'layout' in proposed ? proposed.layout.consent.given : proposed.why;
  };
  expect(given([])).toEqual([]);
  expect(given(['doet_mee'])).toMatchObject([{ columns: ['Nieuwsbrief'], equals: ['Doet mee'] }]);
});

test('the price of a piece is never the total alone: its quantity counts, or a person is asked', () => {
  const rows = [
    ['A1', '2', '24.50', '49.00', 'MIRA10', 'paid', 'EUR'],
    ['A2', '1', '3.00', '3.00', 'JOE20', 'paid', 'EUR'],
    ['A3', '4', '180.00', '720.00', 'MIRA10', 'paid', 'EUR'],
  ];
  const read = (name: string, roles: StatedRoles = new Map(), more: string[][] = []) => {
    const header = ['Order no', 'Qty', name, 'Coupon', 'Status', 'Currency'];
    const cells = [...rows, ...more].map((row) => row.filter((_, at) => at !== 3));
    return propose(header, cells, new Map([[name.toLowerCase(), 'total'], ...roles]));
  };
  const multiplied = { plus: ['Price per ticket'], minus: [], times: ['Qty'] };
  expect(read('Price per ticket')).toMatchObject({ layout: { grouping: { sum: { total: multiplied } } } });
  const items = read('Price per ticket', new Map(), [['A3', '2', '9.00', '18.00', 'MIRA10', 'paid', 'EUR']]);
  expect(items).toMatchObject({
    code: 'item_rows',
    example: expect.stringContaining('total: { plus: ["Price per ticket"], times: ["Qty"] }'),
  });
  const asked = { unclear: [{ header: 'Qty', likely: null, offered: ['quantity', 'unused'] }] };
  for (const name of ['Item price', 'Price', 'Ticket']) expect(read(name)).toMatchObject(asked);
  expect(read('Price', new Map([['qty', 'quantity']]))).toMatchObject({
    layout: { grouping: { sum: { total: { plus: ['Price'], times: ['Qty'] } } } },
  });
  const own = { layout: { columns: { total: ['Price'] }, grouping: { sum: {} } } };
  expect(read('Price', new Map([['qty', 'unused']]))).toMatchObject(own);
  expect(read('Amount')).toMatchObject({ layout: { columns: { total: ['Amount'] } } });

  // The amounts show it, whatever the columns are called.
  const both = (total: string) =>
    propose(
      ['Order no', 'Qty', 'Price', 'Item', 'Coupon', 'Status', 'Currency'],
      rows,
      new Map([[total, 'total']]),
    );
  expect(both('price')).toMatchObject({ layout: { grouping: { sum: { total: { times: ['Qty'] } } } } });
  expect(both('item')).toMatchObject({ layout: { columns: { total: ['Item'] }, grouping: { sum: {} } } });
});

test('what a customer was charged is the total, and a charge is a fee', () => {
  const header = ['Order no', 'Status', 'Coupon', 'amount_charged', 'service charge'];
  const rows = [['A1', 'paid', 'MIRA10', '39.10', '1.00']];
  expect(propose(header, rows)).toMatchObject({ layout: { columns: { total: ['amount_charged'] } } });
  const without = [header, ...rows].map((cells) => cells.filter((_, at) => at !== 3));
  expect(propose(without[0] ?? [], without.slice(1))).toMatchObject({
    why: expect.stringMatching(/"service charge": its name means a fee.*--column "NAME=total"/),
  });
  expect(propose(['Colour', 'Size'], [['red', 'L']])).toMatchObject({
    why: expect.stringContaining('--column "NAME=order_id" --column "NAME=total"'),
  });
});

test('codes inside text are asked about, and a layout reads them by a pattern', () => {
  const header = ['Order no', 'Total', 'Status', 'Currency', 'Order note'];
  const notes = ['Code: MIRA10, thanks', 'please ring', 'code JOE20'];
  const rows = notes.map((note, at) => [`A${at}`, '20.00', 'paid', 'EUR', note]);
  const asked = {
    unclear: [{ header: 'Order note', likely: 'codes', why: expect.stringContaining('"Code: MIRA10"') }],
  };
  expect(propose(header, rows)).toMatchObject(asked);
  expect(propose([...header.slice(0, 4), 'Notes'], rows)).toMatchObject({ unclear: [{ header: 'Notes' }] });
  const layout = { columns: { codes: ['Order note'] }, codes: CODES_IN_TEXT };
  expect(propose(header, rows, new Map([['order note', 'codes']]))).toMatchObject({ layout });
});

test('words for renewals of subscriptions are asked about, and a layout marks them', () => {
  const header = ['Order no', 'Total', 'Status', 'Coupon', 'order_type'];
  const rows = ['Renewal', 'First order', 'Gift', 'First order'].map((kind, at) => [
    ...[`A${at}`, '20.00', 'paid', 'MIRA10', kind],
  ]);
  expect(propose(header, rows)).toMatchObject({
    unclear: [{ header: 'order_type', offered: ['renewals', 'excludes', 'status', 'other_status'] }],
  });
  const roles = new Map([['order_type', 'renewals']] as const);
  expect(propose(header, rows, roles)).toMatchObject({
    layout: { exclusions: [{ reason: 'renewal', equals: ['Renewal'], unless: ['First order', 'Gift'] }] },
  });
  const others = rows.map((cells) => [...cells.slice(0, 4), 'First order']);
  expect(propose(header, others, roles)).toMatchObject({ unclear: [{ header: 'order_type' }] });
  // The words decide, whatever the column is called.
  expect(propose([...header.slice(0, 4), 'Charge'], rows)).toMatchObject({ unclear: [{ header: 'Charge' }] });
});

test('ids that only two columns make unique are joined, and a layout says of which', async () => {
  const header = ['Winkel', 'Bon', 'Totaal', 'Munt', 'Kortingscode', 'Toestand'];
  const rows = [
    ['Oost', '12', '20.00', 'EUR', 'MIRA10', 'Betaald'],
    ['West', '12', '30.00', 'EUR', 'JOE20', 'Betaald'],
    ['West', '13', '31.00', 'EUR', 'JOE20', 'Betaald'],
    ['Oost', '14', '32.00', 'EUR', 'JOE20', 'Betaald'],
  ];
  expect(propose(header, rows)).toMatchObject({
    code: 'item_rows',
    why: expect.stringContaining('--column "order_id=Winkel+Bon"'),
  });
  const ids = new Map([
    ['winkel', 'order_id'],
    ['bon', 'order_id'],
  ] as const);
  expect(propose(header, rows, ids)).toMatchObject({
    layout: {
      joinedColumns: [{ name: 'Winkel and Bon', columns: ['Winkel', 'Bon'] }],
      columns: { order_id: ['Winkel and Bon'] },
      signature: [['Winkel', 'Bon', 'Totaal', 'Kortingscode']],
    },
  });
});

test('of two columns that are said to be the status, both must say yes, and an unknown word holds the order', () => {
  const header = ['Order No', 'Total', 'Currency', 'Coupon', 'Stato ordine', 'Stato pagamento'];
  const rows = [
    ['1', '20.00', 'EUR', 'MIRA10', 'Completato', 'Pagato'],
    ['2', '30.00', 'EUR', 'JOE20', 'Annullato', 'Pagato'],
  ];
  const stated = new Map([
    ['stato ordine', 'status'],
    ['stato pagamento', 'status'],
  ] as const);
  const proposed = propose(header, [...rows, ['3', '9.00', 'EUR', 'JOE20', 'Completato', 'Sospeso']], stated);
  if (!('layout' in proposed)) throw new Error(proposed.why);
  const { layout, unknownStates, columns } = proposed;
  expect(layout.status).toMatchObject({ credited: ['completato'], known: ['annullato'] });
  const other = { reason: 'other_status', columns: ['Stato pagamento'], equals: ['cancelled'] };
  expect(layout.exclusions).toMatchObject([{ reason: 'cancelled' }, { ...other, unless: ['Pagato'] }]);
  expect([...unknownStates]).toEqual([['Stato pagamento', ['Sospeso']]]);
  expect(columns.map(({ role }) => role)).toContain('other_status');
});

test.each([
  ['Bezahlt', ['Ja', 'Nein'], { credited: ['ja'], known: ['nein'] }],
  ['Betaald?', ['1', '0'], { credited: ['1'], known: ['0'] }],
  ['Paid', ['yes', 'maybe'], { credited: ['yes'], known: [] }],
])(
  'below %s, the answers %j say whether an order was paid, and nothing else does',
  (name, [yes, no], status) => {
    const header = ['Bestellnr', 'Betrag', 'Gutschein', 'Kasse', 'Zahlart', 'Währung', name];
    const rows = [yes, no, yes, yes].map((word = '', at) => [
      ...[
        `B${at}`,
        '20,00',
        'MIRA10',
        ['Nord', 'Süd'][at % 2] ?? '',
        ['Bar', 'EC'][at % 2] ?? '',
        'EUR',
        word,
      ],
    ]);
    expect(propose(header, rows)).toMatchObject({ layout: { columns: { status: [name] }, status } });
    // Without that column, the till and the means of payment are no states to ask about.
    const without = [header, ...rows].map((cells) => cells.slice(0, -1));
    expect(propose(without[0] ?? [], without.slice(1))).toMatchObject({
      layout: { lacks: expect.arrayContaining(['status']) },
    });
  },
);

test('a yes that is said to mean paid in one column makes its no known, and says nothing of another column of yes and no', () => {
  const header = ['Order No', 'Total', 'Currency', 'Coupon', 'Goedgekeurd', 'Geleverd', 'Cadeau'];
  const rows = [
    ['1', '20.00', 'EUR', 'MIRA10', 'Ja', 'Ja', 'Ja'],
    ['2', '30.00', 'EUR', 'JOE20', 'Nee', 'Nee', 'Nee'],
  ];
  const stated: StatedRoles = new Map<string, 'status' | 'other_status' | 'unused'>([
    ['goedgekeurd', 'status'],
    ['geleverd', 'other_status'],
    ['cadeau', 'unused'],
  ]);
  const proposed = propose(header, rows, stated, undefined, new Set(['goedgekeurd=ja']));
  if (!('layout' in proposed)) throw new Error(proposed.why);
  expect(proposed.layout.columns.status).toEqual(['Goedgekeurd']);
  expect(proposed.layout.status).toMatchObject({ credited: ['ja'], known: ['nee'] });
  expect([...proposed.unknownStates]).toEqual([['Geleverd', ['Ja', 'Nee']]]);
  expect(proposed.text).toContain('# Not known in "Geleverd", so these orders are held: ["Ja", "Nee"].');
});

test.each(['Affiliate code', 'Creator code', 'Promo code'])(
  'beside the codes of another column, a person says what is below %s, and neither is credited by accident',
  (name) => {
    const header = ['Order No', 'Total', 'Currency', 'Status', 'Coupon', name];
    const rows = [
      ['1', '20.00', 'EUR', 'paid', 'MIRA10', ''],
      ['2', '30.00', 'EUR', 'paid', '', 'LEO20'],
    ];
    expect(propose(header, rows)).toMatchObject({ unclear: [{ header: name, likely: null }] });
    for (const [role, columns] of [
      ['codes', { codes: [name] }],
      ['influencer_handle', { codes: ['Coupon'], influencer_handle: [name] }],
      ['unused', { codes: ['Coupon'] }],
    ] as const) {
      const said = propose(header, rows, new Map([[foldHeader(name), role]]));
      expect(said).toMatchObject({ layout: { columns } });
      if (role !== 'influencer_handle') expect(said).not.toHaveProperty('layout.columns.influencer_handle');
    }
  },
);

test('a fee of the processing is no refund, and no role that credits more or less is taken for a person', () => {
  const header = ['Order No', 'Total', 'Coupon', 'Status', 'Payment processing', 'Held back', 'Currency'];
  const rows = [
    ['1', '20.00', 'MIRA10', 'paid', '0.60', '0.00', 'EUR'],
    ['2', '30.00', 'JOE20', 'paid', '0.00', '7.50', 'EUR'],
  ];
  expect(propose(header, rows)).toMatchObject({ unclear: [{ header: 'Held back', likely: null }] });
});

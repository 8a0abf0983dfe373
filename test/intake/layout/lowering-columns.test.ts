import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isOfKind, otherReportOf } from '../../../src/cli/init/recognise/column-names.ts';
import { FileHeld } from '../../../src/core/held/file-held.ts';
import type { StagedOrder } from '../../../src/core/order.ts';
import { foldHeader } from '../../../src/core/text/fold.ts';
import { LOWERING_MEANINGS, means } from '../../../src/intake/layout/column-words.ts';
import { layoutFor } from '../../../src/intake/layout/layout-for.ts';
import { layoutSchema } from '../../../src/intake/layout/layout-schema.ts';
import { loadLayouts } from '../../../src/intake/layout/load-layout.ts';
import { loweringColumns, mayLackStatus } from '../../../src/intake/layout/lowering-columns.ts';
import type { Layout } from '../../../src/intake/layout/to-layout.ts';
import { toLayout } from '../../../src/intake/layout/to-layout.ts';
import { type ExampleRow, exampleRow } from '../../support/example-row.ts';
import { mapText } from '../orders/map/map-text.ts';

const LAYOUTS = loadLayouts().filter((layout) => layoutFor(layout, 'orders') !== null);

/** Words that no format has, in the cell of a column that excludes orders. */
const UNKNOWN = ['wahr', 'yes please', '-', 'n/a'];

/**
 * Columns of free text, in which only some words mean something, and those that say something only of a refund. Any other
 * word lets an order pass.
 */
const FREE_TEXT: Readonly<Record<string, readonly string[]>> = {
  'magento-orders': ['Grand Total (Purchased)'],
  'matrixify-orders': ['Source', 'Tags'],
  'shopify-bulk-orders': ['sourceName'],
  'shopify-orders': ['Name', 'Payment Method', 'Source', 'Tags'],
  'stripe-payments': ['Description'],
  'woocommerce-orders': ['created_via', '_subscription_renewal'],
};

type Case = {
  readonly layout: Layout;
  readonly column: string;
  readonly what:
    | 'missing'
    | 'blank'
    | 'its own word'
    | 'an unknown word'
    | 'there twice'
    | 'beside its other spelling';
  readonly example: ExampleRow;
};

/**
 * Each column that can only lower an amount or exclude an order: missing, blank, with its word, with another; twice in
 * the header, or beside another of its spellings, which says what lowers or excludes.
 */
const CASES: readonly Case[] = LAYOUTS.flatMap((layout) => {
  const example = exampleRow(layout);
  const has = (name: string): boolean => example.header.some((one) => foldHeader(one) === foldHeader(name));
  return loweringColumns(layout).flatMap(({ columns }) => {
    const column = columns.find(has);
    if (column === undefined) throw new Error(`the example of ${layout.name} lacks ${columns.join(', ')}`);
    const rules = layout.exclusions.filter((rule) => rule.columns.some((name) => columns.includes(name)));
    const own = rules.flatMap(({ equals }) => equals ?? []);
    const words: readonly (readonly [Case['what'], string])[] = [
      ['blank', ''],
      ...own.map((word) => ['its own word', word] as const),
      ...(own.length > 0 ? [...UNKNOWN, '1'] : UNKNOWN).map((word) => ['an unknown word', word] as const),
    ];
    const otherSpellings = columns.filter((name) => !has(name));
    const lowering = [...own, ...loweringWords(layout, column)];
    return [
      { layout, column, what: 'missing', example: example.without(column) },
      { layout, column, what: 'there twice', example: example.plus(column, lowering[0] ?? '') },
      ...otherSpellings.flatMap((name) =>
        lowering.map((word): Case => {
          return { layout, column, what: 'beside its other spelling', example: example.plus(name, word) };
        }),
      ),
      ...words.map(([what, word]) => ({ layout, column, what, example: example.with(column, word) })),
    ];
  });
});

/** Words of a column of status, refund or cancellation that make the order count less than it does without them. */
function loweringWords({ columns, status }: Layout, column: string): readonly string[] {
  const isOf = (field: 'status' | 'refunded' | 'cancelled_at'): boolean =>
    columns[field]?.includes(column) === true;
  if (isOf('refunded')) return ['30.00', '100.00'];
  if (isOf('cancelled_at')) return ['2026-05-15T10:00:00+02:00'];
  return isOf('status') ? status.known : [];
}

/** Returns what becomes of the order: how much of it would be credited, or why nothing is. */
async function outcomeOf({ layout, example }: Case): Promise<string> {
  try {
    const { orders, rejected } = await mapText(example.text(), { layout, source: example.source });
    const [order] = orders;
    if (order === undefined) return `rejected: ${rejected[0]?.code}`;
    return (
      whyNot(order, layout) ??
      `credited: ${Number(order.total ?? order.subtotal) - Number(order.refunded ?? 0)}`
    );
  } catch (error) {
    if (error instanceof FileHeld) return `held: ${error.reason.code}`;
    throw error;
  }
}

function whyNot(order: StagedOrder, layout: Layout): string | null {
  if (order.exclusion !== null) return `excluded: ${order.exclusion}`;
  const { credited } = layout.status;
  if (credited === null) return null;
  const isListed = order.status === null ? mayLackStatus(layout, {}) : credited.includes(order.status);
  return isListed ? null : `excluded: status ${order.status ?? 'blank'}`;
}

/** A blank cell of these columns says that nothing was refunded, cancelled, subtracted or is still to be paid, or no parent. */
function blankMeansNothing({ layout, column }: Case): boolean {
  const { columns, grouping, leftAfterRefund, exclusions } = layout;
  const amounts = [
    ...(columns.refunded ?? []),
    ...(columns.cancelled_at ?? []),
    ...Object.values(grouping.sum).flatMap(({ minus }) => minus),
    ...leftAfterRefund.flatMap(({ before, after }) => [...before, ...after]),
    ...layout.conditionalColumns.flatMap((made) => [...made.columns, ...made.when.columns]),
    ...exclusions.flatMap(({ reason, columns: names, unless }) =>
      ['unknown_payment', 'unknown_parent'].includes(reason) || unless?.includes('') === true ? names : [],
    ),
  ];
  return amounts.includes(column);
}

const isFreeText = ({ layout, column }: Case): boolean => FREE_TEXT[layout.name]?.includes(column) === true;

test(`${CASES.length} combinations of a layout of orders and a column that is missing, blank or unknown: none is credited unless the layout says why`, async () => {
  expect(CASES.length).toBeGreaterThan(150);
  const credited: string[] = [];
  for (const one of CASES) {
    const outcome = await outcomeOf(one);
    if (!outcome.startsWith('credited')) continue;
    const reasons = loweringColumns(one.layout).find(({ columns }) => columns.includes(one.column));
    const isAllowed =
      one.what === 'missing'
        ? (reasons?.mayBeMissing ?? null) !== null
        : one.what === 'blank'
          ? blankMeansNothing(one) || isFreeText(one)
          : one.what === 'an unknown word' && isFreeText(one);
    if (!isAllowed) credited.push(`${one.layout.name}: "${one.column}" ${one.what}: ${outcome}`);
  }
  expect(credited).toEqual([]);
});

const OWN = `
title: Own orders
columns: { order_id: [id], status: [status], currency: [currency], total: [total], cancelled_at: [cancelled] }
required: [order_id, total]
grouping: { line_items: true }
status: { credited: [paid] }
`;
const HEADER = 'id,status,currency,total,cancelled,channel,test';
const WITHOUT_TESTS = { timeZone: null, currency: null, missingColumns: { test: 'No order is a test' } };

async function exclusionsOf(rules: string, rows: readonly string[]): Promise<readonly (string | null)[]> {
  const { orders } = await mapText([HEADER, ...rows, ''].join('\n'), {
    layout: layoutOf(`${OWN}${rules}`),
    source: WITHOUT_TESTS,
  });
  return orders.map(({ exclusion }) => exclusion);
}

test('a filled cancelled_at excludes an order although no rule names it, and before a rule that a job may ignore', async () => {
  const rules = 'exclusions: [{ reason: draft, columns: [channel], equals: [draft] }]';
  const rows = [
    '1,paid,EUR,5.00,2026-05-01T10:00:00Z,web,',
    '2,paid,EUR,5.00,2026-05-01T10:00:00Z,draft,',
    '3,paid,EUR,5.00,,draft,',
  ];
  expect(await exclusionsOf(rules, rows)).toEqual(['cancelled', 'cancelled', 'draft']);
});

test('a draft that is a test is excluded as a test, because a job may credit drafts', async () => {
  const rules = `exclusions:
  - { reason: renewal, columns: [status], equals: [paid] }
  - { reason: draft, columns: [channel], equals: [draft] }
  - { reason: test, columns: [test], equals: ["true"] }`;
  expect(await exclusionsOf(rules, ['1,paid,EUR,5.00,,draft,true', '2,paid,EUR,5.00,,draft,'])).toEqual([
    'test',
    'draft',
  ]);
});

test('two spellings of one column in a file: a word in either excludes the order, and what they state must agree', async () => {
  const layout = layoutOf(
    `${OWN.replace('[status]', '[status, state], refunded: [refunded, refund]').replace('[currency]', '[currency, ccy]')}
exclusions: [{ reason: test, columns: [test, is_test], equals: ["true"], unless: ["false", ""] }]`,
  );
  const header = 'id,status,state,currency,ccy,total,cancelled,refunded,refund,test,is_test';
  const { orders, rejected } = await mapText(
    [
      header,
      '1,paid,Paid,EUR,eur,5.00,,1.00,1,false,',
      '2,paid,,EUR,,5.00,,,1.00,,',
      '3,paid,,EUR,,5.00,,,,false,true',
      '4,paid,,EUR,,5.00,,,,false,wahr',
      '5,paid,refunded,EUR,,5.00,,,,,',
      '6,paid,,EUR,USD,5.00,,,,,',
      '7,paid,,EUR,,5.00,,0.00,5.00,,',
      '',
    ].join('\n'),
    { layout },
  );
  expect(orders.map(({ orderId, refunded, exclusion }) => [orderId, refunded, exclusion])).toEqual([
    ['1', '1.00', null],
    ['2', '1.00', null],
    ['3', null, 'test'],
    ['4', null, 'unknown_test:is_test=wahr'],
  ]);
  expect(rejected.map(({ code, column }) => [code, column])).toEqual([
    ['conflicting_columns', 'state'],
    ['conflicting_columns', 'ccy'],
    ['conflicting_columns', 'refund'],
  ]);
});

test('a word in a later row of an order excludes it as well', async () => {
  const rules = 'exclusions: [{ reason: test, columns: [test], equals: ["true"] }]';
  expect(await exclusionsOf(rules, ['1,paid,EUR,5.00,,web,false', '1,,,,,,true'])).toEqual(['test']);
});

test('with unless, only the words that it lists let an order pass', async () => {
  const rules = 'exclusions: [{ reason: test, columns: [test], equals: ["true"], unless: ["false", ""] }]';
  const words = ['true', 'FALSE', '', 'wahr', '0'];
  expect(
    await exclusionsOf(
      rules,
      words.map((word, at) => `${at},paid,EUR,5.00,,web,${word}`),
    ),
  ).toEqual(['test', null, null, 'unknown_test:test=wahr', 'unknown_test:test=0']);
});

test('a file with a column of statuses that no order fills is held, unless the job credits any status', async () => {
  const text = [HEADER, '1,,EUR,5.00,,web,', '2, ,EUR,5.00,,web,', ''].join('\n');
  const layout = layoutOf(OWN);
  await expect(mapText(text, { layout, source: WITHOUT_TESTS })).rejects.toMatchObject({
    reason: { code: 'no_status' },
  });
  const { orders } = await mapText(text, { layout, source: WITHOUT_TESTS, anyStatus: true });
  expect(orders.map(({ status }) => status)).toEqual([null, null]);
});

test('if files may lack the status, an order of a file that has it and leaves it blank has an empty one, which is held', async () => {
  const header = 'order_id,order_revenue,currency';
  const without = await mapText(`${header}\n1,5.00,EUR\n`);
  expect(without.orders.map(({ status, exclusion }) => [status, exclusion])).toEqual([[null, null]]);
  const { orders } = await mapText(`${header},status\n1,5.00,EUR,paid\n2,5.00,EUR,\n`);
  expect(orders.map(({ status, exclusion }) => [status, exclusion])).toEqual([
    ['paid', null],
    ['', null],
  ]);
});

test('a source may say why its files lack a column; the message of a hold shows how', async () => {
  const text = 'id,status,currency,total\n1,paid,EUR,5.00\n';
  const layout = layoutOf(OWN);
  await expect(mapText(text, { layout })).rejects.toMatchObject({
    reason: {
      code: 'column_missing',
      message: expect.stringContaining('lacks "cancelled" (whether the order was cancelled)'),
      help: expect.stringContaining('missing_columns: { "cancelled": "…" }'),
    },
  });
  const source = { timeZone: null, currency: null, missingColumns: { ' Cancelled': 'Nobody can cancel' } };
  expect((await mapText(text, { layout, source })).orders).toHaveLength(1);
});

test('refunds that a cell lists are added up, and a cell without an amount rejects the order', async () => {
  const header = 'order_id,status,order_currency,order_total,order_date,refunded_total,refund_items';
  const row = (id: number, total: string, list: string): string =>
    `${id},completed,EUR,50.00,2026-05-01T10:00:00Z,${total},${list}`;
  const { orders, rejected } = await mapText(
    [
      header,
      row(1, '', 'amount:5.00|reason:refund_amount:9|date:2026-05-02;amount:2.50|reason:late'),
      row(2, '', ''),
      row(3, '9.00', 'amount:9.00'),
      row(4, '', 'reason:broken'),
      row(5, '0.00', 'amount:9.00'),
      '',
    ].join('\n'),
    { layout: 'woocommerce-orders', source: { timeZone: 'UTC', currency: null } },
  );
  expect(orders.map(({ refunded }) => refunded)).toEqual(['7.50', null, '9.00']);
  expect(rejected).toMatchObject([
    { code: 'bad_money', column: 'refund_items' },
    { code: 'conflicting_columns', column: 'refund_items' },
  ]);
});

test('may_be_missing names only columns that can lower an amount or exclude an order, and unless needs a test', () => {
  expect(() => layoutOf(`${OWN}may_be_missing: { total: Not in every export }`)).toThrow(/may_be_missing/);
  expect(() => layoutOf(`${OWN}may_be_missing: { Cancelled: short }`)).toThrow();
  const rule = 'exclusions: [{ reason: test, columns: [test], none_of: ["no"], unless: ["no"] }]';
  expect(() => layoutOf(`${OWN}${rule}`)).toThrow(/unless goes with/);
  expect(() => layoutOf(OWN.replace('status: { credited: [paid] }', ''))).toThrow(/status.credited/);
});

function layoutOf(yaml: string): Layout {
  return toLayout('own', layoutSchema.parse(parse(yaml)));
}

/** Reads a file of one order of the generic layout that has one more column. */
const readWith = (column: string, missingColumns = {}, cell = '40.00', currency = 'currency') =>
  mapText(`order_id,order_revenue,${currency},status,${column}\n1,100.00,EUR,paid,${cell}\n`, {
    layout: 'generic',
    source: { currency: 'EUR', timeZone: null, missingColumns },
  });

test('a column that was renamed holds the file, although its layout says that files may lack it', async () => {
  for (const name of ['refunds', 'Devolución', '返金額'])
    await expect(readWith(name)).rejects.toMatchObject({
      reason: {
        code: 'column_missing',
        message: expect.stringContaining(`It has "${name}", which the layout`),
      },
    });
  expect((await readWith('weight')).orders).toHaveLength(1);
});

test('a status by another name holds a file that lacks the one of the layout, though files may lack it', async () => {
  const readAs = (name: string) =>
    mapText(`order_id,order_revenue,currency,${name}\n1,100.00,EUR,cancelled\n`, { layout: 'generic' });
  const words = parse(readFileSync('config/words.yaml', 'utf8')) as {
    readonly names: { readonly status: Readonly<Record<string, readonly string[]>> };
  };
  const { status } = words.names;
  for (const name of [
    ...Object.values(status).flat(),
    'Order Status',
    'Status (order)',
    'Bestelstatus',
    'Stage',
  ])
    if (!['status', 'order_status'].includes(name))
      await expect(readAs(name), name).rejects.toMatchObject({
        reason: { code: 'column_missing', message: expect.stringContaining(`has "${name}", which`) },
      });
  // Beside the status, such a name is that of an address or of a step of its shipment.
  expect((await readWith('State', {}, 'Bayern')).orders).toHaveLength(1);
});

test('a state that a layout for any export does not read holds the file, until the layout reads it or the source excuses it', async () => {
  for (const name of [
    'payment_status',
    'is_paid',
    'Deleted',
    'livemode',
    'mode',
    'sandbox',
    'dispute_status',
    'Risk score',
    'Paid at',
    'Fulfillment Status',
    'Order type',
    'Kind',
    'Exchange of',
    'Replaces',
    'Demo',
    'Internal',
    'Order state',
  ])
    await expect(readWith(name, {}, 'yes')).rejects.toMatchObject({
      reason: {
        code: 'column_missing',
        message: expect.stringContaining(`has "${name}", which `),
        help: expect.stringMatching(`missing_columns: { .*"${name}": "…" }`),
      },
    });
  expect((await readWith('payment_status', { Payment_Status: 'Always paid' }, 'paid')).orders).toHaveLength(
    1,
  );
  const text = 'id,status,currency,total,cancelled,mode\n1,paid,EUR,5.00,,test\n';
  const reads = 'exclusions: [{ reason: test, columns: [mode], equals: [test], unless: [live] }]';
  expect((await mapText(text, { layout: layoutOf(`${OWN}${reads}`) })).orders[0]?.exclusion).toBe('test');
  // Of one export, it is known which of its columns matter.
  expect((await mapText(text, { layout: layoutOf(`${OWN}signature: [[mode]]`) })).orders).toHaveLength(1);
});

test('only its own name excuses a column that may be a renamed one, and another one of that meaning still holds the file', async () => {
  const reasons = { refunded_amount: 'r', refunded: 'r' };
  await expect(readWith('refunds', reasons)).rejects.toMatchObject({
    reason: { help: expect.stringContaining('missing_columns: { "refunds": "…" }') },
  });
  const excused = { ...reasons, refunds: 'A text' };
  expect((await readWith('Refunds', excused)).orders).toHaveLength(1);
  await expect(readWith('refunds,Refund amount EUR', excused, '1,40.00')).rejects.toMatchObject({
    reason: { message: expect.stringContaining('It has "Refund amount EUR"') },
  });
});

test('a file that lacks a column under every known name is held with the names of the columns that may be it', async () => {
  const layout = layoutOf(OWN);
  const text = 'id,status,currency,total,Wegfall,b,c,,d,e,f\n1,paid,EUR,5.00,,,,,,,\n';
  await expect(mapText(text, { layout })).rejects.toMatchObject({
    reason: { help: expect.stringContaining('"Wegfall", "b", "c", "d", "e", …. ') },
  });
});

test('one ordinary name per language is known to mean a refund, a cancellation or an open amount', () => {
  const names = {
    refunded: `Rückzahlung, Rückbuchung, Rückgabe, Zurückgezahlt, Gutschrift, Importe devuelto, Reintegro, Nota de crédito, Devolução,
      Geretourneerd bedrag, Terugbetaald, Orderterugbetaling, Terug, Returbelopp, Returneret beløb, Kreditert, Kreditnota,
      Credit note, Credit note amount, RMA amount, Repaid, Reimbursed, Avoir, Reso, Hyvitys, Zwrot, Vráceno, 払い戻し, 払戻金額, 返還額,
      إرجاع, 退款金额, İade, Возврат, Visszatérítés, Επιστροφή, Rambursat, 환불, 退貨, Povrat, החזר, Hoàn tiền, คืนเงิน`,
    cancelled: `Cancelled on, Storniert, Widerrufen am, Annulé, Resilié le, Anulado, Disdetta, Geannuleerd, Afgelast, Zrušeno, Odwołano,
      Cofnięto, Inställd, Aflyst, Kansellert, Peruutettu, Peruttu, 取消日, 取消, キャンセル, ملغي, إلغاء, Revoked at, Declined at,
      İptal, İptal Tarihi, Törölve, Ακυρώθηκε, Отменён, 취소, Fortrudt, Angret, Ångrad, Ångrat köp, Dibatalkan, deleted, deleted_at`,
    unknown_payment: `Outstanding, Amount due, Balance Due, Openstaand bedrag, Ausstehend, Restant dû, Saldo pendiente, 未払い`,
    currency: `Currency Code, currency_code, Valuta, Devise, Währung, presentment_currency, Total currency, Moneda, Moeda, Divisa, Waluta,
      Měna, Valuutta, العملة, 通貨`,
    test: 'is_test_order, sandbox, Testing, Demo, Demo order, Internal, Is internal, テスト',
    draft: 'is_draft, Draft order, Entwurf',
    disputed: 'dispute_status, disputed, fraud, Reklamation, Reklamiert, Reclamo',
    status: 'Status, State, Zustand, Estado, État, Stav, Tila, Stage, Phase, Situation, Fulfillment',
    order_status: `Order status, order-status, Status (order), OrderStatus, Order State, Order Progress, Bestelstatus, Bestellstatus,
      Estado del pedido, Shop order status`,
    kind: 'Order type, Type, Kind, order_kind, Bestellart, Soort, Tipo',
    other_order:
      'Exchange of, Exchange for, Exchanged for, Replaces, Replacement order, Original order, Umtausch, Parent order, parent_id, Parent',
    deposit: 'Deposit, Deposit paid, Anzahlung',
    unknown_risk: 'Risk score, risk_level, Fraud risk, Risiko, Riesgo de fraude',
    other_status: `payment_status, Payment state, is_paid, Paid, approved, livemode, mode, Zahlungsstatus, Is valid, Paid at, Date paid,
      Lineitem fulfillment status, deliveryStatus, Versandstatus, Estado de envío`,
  };
  for (const meaning of LOWERING_MEANINGS)
    expect(names[meaning].split(',').filter((name) => !means(name, meaning))).toEqual([]);
});

test('a name that only contains such a word, or only speaks of a refund, says nothing', () => {
  const names = `Terugkerende klant, Terugbelverzoek, Granulat, Cannula, Cancellation insurance, Return policy, Refund link,
    Return address, Refundable, Noise cancelling, Returning customer, Widerrufsbelehrung, Installdate, Resilience, Weight,
    Payment method, Shipping method, Delivery date, Frisky, Model, Contest, Latest, Delivered, Povratne informacije, Valid until,
    Prepaid, Recurrence, Retouradresse, Retouradres, Annuleringsverzekering, Stornoversicherung, Return customer, Return window,
    Consent revoked at, Newsletter declined, A/B test, Split test, Test group`;
  const found = names.split(',').filter((name) => LOWERING_MEANINGS.some((meaning) => means(name, meaning)));
  expect(found).toEqual([]);
  expect([means('Refundable amount', 'refunded'), means('Currency label', 'currency')]).toEqual([true, true]);
});

test('an ordinary header of addresses, taxes, products or customers says nothing of an order', async () => {
  const names = `Shipping State, shipping_state, Shipping State/Province, Shipping State Code, ship-state, Shipping Station, Shipping Province,
    Shipping Country, Shipping Zip, Shipping Street, Shipping Method, Shipping Cost, Shipping Tax, Delivery State, Delivery State/Province,
    Delivery Station, Delivery Statement, Delivery Address, Delivery Instructions, Fulfillment Station, Fulfillment Location, Billing State,
    Billing Statement, Billing Province, Payment Statement, Statement Descriptor, State/Province, State Tax, Region, Estate, Stock Status,
    Lieferort, Lieferadresse, Versandstation, Bundesland, Provincie, Provincia, Indirizzo, Ville, Adresse, Postal Code,
    Tax, Tax Rate, Tax Class, Taxable, Taxes Included, VAT ID, Duties, County Tax, Reverse Charge, Product, Product Type, SKU, Variant,
    Barcode, Vendor, Brand, Size, Weight, Quantity, Unit Price, Compare At Price, Lineitem taxable, Available online, Gift Card,
    Customer Name, Customer Since, Customer Tags, Customer Group, Accepts Marketing, Language, Birthday, Company, Phone, Season, Device Type,
    Payment Reference, Payment Terms, Card Brand, Tracking URL, Carrier, Warehouse, Store, Invoice Date, Residence, Division, Creditor`;
  const found = names.split(',').filter((name) => LOWERING_MEANINGS.some((meaning) => means(name, meaning)));
  expect(found.map((name) => name.trim())).toEqual([]);
  expect(['Tilausnumero', 'Ventilation', 'Gustav', 'Stavanger'].filter(isOfKind)).toEqual([]);
  expect(otherReportOf(['Total', 'Available online', 'Learning path', 'UTM campaign'], false)).toBeNull();
});

test('a column of currencies that the layout does not read holds the file, although the source gives a currency', async () => {
  for (const name of ['Currency Code', 'Valuta', 'presentment_currency'])
    await expect(readWith('weight', {}, '1', name)).rejects.toMatchObject({
      reason: { code: 'currency_unknown', message: expect.stringContaining(`it has "${name}"`) },
    });
  expect((await readWith('weight', { valuta: 'Always EUR' }, '1', 'Valuta')).orders).toHaveLength(1);
  expect((await readWith('weight', {}, '1', 'height')).orders).toHaveLength(1);
  // What the currency column says is read, so that another one may be that of something else.
  expect((await readWith('Valuta', {}, 'JPY')).orders).toHaveLength(1);
});

test('an order of the generic layout with an amount that is still to be paid is held', async () => {
  for (const name of ['outstanding_balance', 'balance_due', 'amount_due']) {
    const [order] = (await readWith(name)).orders;
    expect(order?.exclusion).toBe('unknown_payment');
    expect((await readWith(name, {}, '0.00')).orders[0]?.exclusion).toBeNull();
  }
  await expect(readWith('Amount open (outstanding)')).rejects.toMatchObject({
    reason: { code: 'column_missing' },
  });
});

test.each<readonly [column: string, cells: Readonly<Record<string, string | null>>]>([
  [
    'fulfillment_status',
    {
      fulfilled: null,
      '': null,
      Returned: 'returned',
      restocked: 'returned',
      lost: 'unknown_returned:fulfillment_status=lost',
    },
  ],
  [
    'risk_level',
    { Low: null, '': null, high: 'unknown_risk', medium: 'unknown_risk', '7': 'unknown_risk:risk_level=7' },
  ],
  [
    'paid_at',
    {
      '2026-05-01T10:00:00Z': null,
      '': 'unknown_payment',
      '0000-00-00': 'unknown_payment',
      '1970-01-01 01:00:00': 'unknown_payment',
      '01/01/0001': 'unknown_payment',
    },
  ],
])('an order of the generic layout counts only if %s says nothing against it', async (column, cells) => {
  const found: Record<string, string | null> = {};
  for (const cell of Object.keys(cells))
    found[cell] = (await readWith(column, {}, cell)).orders[0]?.exclusion ?? null;
  expect(found).toEqual(cells);
});

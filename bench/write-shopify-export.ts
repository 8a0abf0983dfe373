import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const ADDRESS = [
  'Name',
  'Street',
  'Address1',
  'Address2',
  'Company',
  'City',
  'Zip',
  'Province',
  'Country',
  'Phone',
];

/** The header of Shopify's orders export, all 79 columns. */
export const SHOPIFY_HEADER: readonly string[] = [
  ...'Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Accepts Marketing,Currency,Subtotal,Shipping,Taxes,Total'.split(
    ',',
  ),
  ...'Discount Code,Discount Amount,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price'.split(
    ',',
  ),
  ...'Lineitem compare at price,Lineitem sku,Lineitem requires shipping,Lineitem taxable,Lineitem fulfillment status'.split(
    ',',
  ),
  ...ADDRESS.map((part) => `Billing ${part}`),
  ...ADDRESS.map((part) => `Shipping ${part}`),
  ...'Notes,Note Attributes,Cancelled at,Payment Method,Payment Reference,Refunded Amount,Vendor,Outstanding Balance'.split(
    ',',
  ),
  ...'Employee,Location,Device ID,Id,Tags,Risk Level,Source,Lineitem discount'.split(','),
  ...[1, 2, 3, 4, 5].flatMap((tax) => [`Tax ${tax} Name`, `Tax ${tax} Value`]),
  ...'Phone,Receipt Number,Duties,Billing Province Name,Shipping Province Name,Payment ID,Payment Terms Name'.split(
    ',',
  ),
  ...'Next Payment Due At,Payment References'.split(','),
];

/**
 * Returns the row of one line item as text, without its line break. The columns of the order are filled only
 * on its first row.
 */
export function shopifyRow(cells: Readonly<Record<string, string>>): string {
  return SHOPIFY_HEADER.map((name) => quote(cells[name] ?? '')).join(',');
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export type ExportOptions = {
  readonly rows: number;
  /** Number of the first order. Another number gives other orders. */
  readonly firstOrder?: number;
  /** Share of orders with one of 50 discount codes, from 0 to 1. */
  readonly codeShare?: number;
};

/**
 * Generates rows of made-up orders with two line items each, about 270 bytes per row. The same options give
 * the same text.
 */
export function* shopifyRows({ rows, firstOrder = 1, codeShare = 1 }: ExportOptions): Generator<string> {
  const template = (order: number, isFirst: boolean): string => {
    const item = {
      Name: `#${1000 + order}`,
      'Lineitem quantity': '1',
      'Lineitem name': 'Linen shirt / M',
      'Lineitem price': '25.00',
      'Lineitem sku': `SHIRT-${order % 97}`,
      'Lineitem requires shipping': 'true',
      'Lineitem taxable': 'true',
      'Lineitem fulfillment status': 'fulfilled',
    };
    return shopifyRow(isFirst ? { ...item, ...orderCells(order, codeShare) } : item);
  };
  for (let row = 0; row < rows; row += 1) yield template(firstOrder + (row >> 1), row % 2 === 0);
}

function orderCells(order: number, codeShare: number): Record<string, string> {
  const placed = new Date(Date.UTC(2026, 0, 1) + order * 61_000).toISOString();
  const time = `${placed.slice(0, 10)} ${placed.slice(11, 19)} +0200`;
  const hasCode = (order * 7919) % 1000 < codeShare * 1000;
  return {
    Email: `shopper${order}@example.com`,
    'Financial Status': order % 20 === 0 ? 'partially_refunded' : 'paid',
    'Paid at': time,
    'Fulfillment Status': 'fulfilled',
    'Accepts Marketing': 'yes',
    Currency: 'EUR',
    Subtotal: `${45 + (order % 50)}.00`,
    Shipping: '5.00',
    Taxes: '3.20',
    Total: `${50 + (order % 50)}.00`,
    'Discount Code': hasCode ? `CODE${order % 50}` : '',
    'Discount Amount': hasCode ? '5.00' : '0.00',
    'Shipping Method': 'Standard',
    'Created at': time,
    'Billing Name': 'Ada Example',
    'Billing Street': 'Example street 12, back',
    'Billing Address1': 'Example street 12',
    'Billing City': 'Exampletown',
    'Billing Zip': '1234AB',
    'Billing Country': 'NL',
    'Shipping Name': 'Ada Example',
    'Payment Method': 'Shopify Payments',
    'Payment Reference': `c${order}`,
    'Refunded Amount': order % 20 === 0 ? '10.00' : '0.00',
    Vendor: 'Example Vendor',
    Id: String(5_000_000_000_000 + order),
    'Risk Level': 'Low',
    Source: 'web',
  };
}

/** Writes such an export to a file, with limited memory. */
export async function writeShopifyExport(path: string, options: ExportOptions): Promise<void> {
  const out = createWriteStream(path);
  let text = `${SHOPIFY_HEADER.join(',')}\n`;
  for (const row of shopifyRows(options)) {
    text += `${row}\n`;
    if (text.length < 1_000_000) continue;
    if (!out.write(text)) await once(out, 'drain');
    text = '';
  }
  out.end(text);
  await once(out, 'finish');
}

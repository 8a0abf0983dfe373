import { expect } from 'vitest';
import { openWorkshop, type Workshop } from '../../runs/workshop.ts';

/** Accounts that nobody has: the examples of banks and of the standard. */
export const IBANS = {
  mia: 'DE89370400440532013000',
  ben: 'NL91ABNA0417164300',
  zoe: 'FR1420041010050500013M02606',
};
const flowOf = (payments: string) => `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements:
  terms: ./terms.csv
  return_window_days: 0
  payments: {${payments}}
`;
const PAYMENTS = `from: 2026-04, payees: ./payees.csv, minimum: {EUR: 5}, name: Saffi & Söhne, iban: ${IBANS.ben}`;
export const CODES = `code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to
MIA10,4819,mia.test,DEALMIA,,,
BEN15,4819,ben.test,DEALBEN,,,
ZOE20,4819,zoe.test,DEALZOE,,,
`;
const HEADER = 'order_id,order_revenue,currency,discount_codes,placed_at,status';
const APRIL = `${HEADER}
1,100.00,EUR,MIA10,2026-04-10T10:00:00Z,paid
2,50.00,USD,MIA10,2026-04-10T10:01:00Z,paid
3,80.00,EUR,BEN15,2026-04-10T10:02:00Z,paid
4,30.00,EUR,ZOE20,2026-04-10T10:03:00Z,paid
`;
export const MAY = `${HEADER}
5,40.00,EUR,ZOE20,2026-05-10T10:00:00Z,paid
6,70.00,EUR,MIA10,2026-05-10T10:01:00Z,paid
`;
export const PAYEES = `creator;name;iban;bic;country;currency
@Mia.Test;Mia Müller;${IBANS.mia.replace(/(.{4})/g, '$1 ')};COBADEFFXXX;de;eur
DEALBEN;=Ben;${IBANS.ben};;;EUR
zoe.test;Zoë 日本;${IBANS.zoe};;;EUR
`;

/** A shop whose statement of April is closed. */
export async function openPaymentShop(payments = PAYMENTS): Promise<Workshop> {
  const shop = await openWorkshop({ flow: flowOf(payments) });
  shop.write('codes.csv', CODES);
  shop.write(
    'terms.csv',
    'deal_id,code,rate,fixed_fee,currency,valid_from\nDEALMIA,,10,,,\nDEALBEN,,10,,,\nDEALZOE,,10,,,\n,BEN15,,7,EUR,2026-04-01\n',
  );
  shop.write('payees.csv', PAYEES);
  shop.drop('1-april.csv', APRIL);
  await shop.run();
  await closeMonth(shop, '2026-04');
  return shop;
}

export async function closeMonth(shop: Workshop, month: string): Promise<void> {
  expect((await shop.cli('statement', 'close', '--month', month, '--reason', 'month end')).exitCode).toBe(0);
}

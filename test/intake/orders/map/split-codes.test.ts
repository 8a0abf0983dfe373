import { expect, test } from 'vitest';
import { CODES_IN_TEXT, helpForCodesInText, LINE_OF_CODES } from '../../../../src/core/text/codes-in-text.ts';
import { foldCode } from '../../../../src/core/text/fold.ts';
import { loadLayout } from '../../../../src/intake/layout/load-layout.ts';
import { codeSplitter } from '../../../../src/intake/orders/map/split-codes.ts';

test.each([
  ['shopify-orders', 'ADA10', ['ADA10']],
  ['shopify-orders', 'ADA10, Summer sale 10%', ['ADA10', 'Summer sale 10%']],
  ['shopify-orders', '  ', []],
  ['shopify-orders', '', []],
  ['shopify-orders', "'=ADA10", ['=ADA10']],
  ['generic', 'ADA10,BOB,, CLEO', ['ADA10', 'BOB', 'CLEO']],
  ['generic', 'N/A', []],
  ['generic', 'None, ADA10, -', ['ADA10']],
  ['bigcommerce-orders', 'Coupon Code: ADA10, Coupon Value: 10 | Coupon Code: VIP', ['ADA10', 'VIP']],
  ['bigcommerce-orders', 'ADA10', ['ADA10']],
  ['woocommerce-orders', 'code:ADA10|amount:5.00;code:VIP|amount:2', ['ADA10', 'VIP']],
  ['woocommerce-orders', 'ADA10, BOB', ['ADA10', 'BOB']],
])('%s: %j contains the codes %j', (layout, cell, codes) => {
  expect(codeSplitter(loadLayout(layout).codes)(cell)).toEqual(codes);
});

test.each([
  "'MIA10",
  '="MIA10"',
  '  ="MIA10" ',
  "'MIA10 ",
  'ＭＩＡ１０',
  'MIA10\u00ad',
  'M\u034fIA10',
  'MIA\u200b10',
  'MIA10\ufe0f',
  'MIA\u180e10',
  'mia10\u00a0',
])('%j is the code MIA10 for whoever owns it', (cell) => {
  const codes = codeSplitter({ split: [','], pattern: null })(cell);
  expect(codes.map(foldCode)).toEqual(['mia10']);
});

test.each(['МIA10', 'mıa10', 'MIA-10', 'MIA1O', 'MIÁ10', 'MIA10🔥'])(
  '%j only looks like MIA10, and is another code',
  (cell) => {
    const codes = codeSplitter({ split: [','], pattern: null })(cell);
    expect(codes.map(foldCode)).not.toContain('mia10');
  },
);

test.each([
  ['Code: MIRA10, thanks', ['MIRA10', 'thanks']],
  ['Codes: MIRA10, LEO15 & zoe, please', ['MIRA10', 'LEO15', 'zoe', 'please']],
  ['code MIRA10 and LEO15 were shown', ['MIRA10', 'LEO15']],
  ['please use promo code mira10.', ['mira10']],
  ['Gutscheincode MIRA10 gezeigt; voucher code: LEO-15', ['MIRA10', 'LEO-15']],
  ['please leave at the door', []],
  [' MIRA10 ', ['MIRA10']],
])('a text %j has the codes %j by the pattern that is proposed for text', (cell, codes) => {
  expect(codeSplitter(CODES_IN_TEXT)(cell)).toEqual(codes);
  const help = helpForCodesInText([cell]);
  expect(help?.includes(LINE_OF_CODES) === true).toBe(codes.length > 0 && cell !== ' MIRA10 ');
});

import { expect, test } from 'vitest';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import { findIds, linkFinder } from '../../../src/intake/map/find-links.ts';

const find = linkFinder(loadLayout('shopify-orders').links);

test.each([
  ['utm_campaign: ada-2026', ['ada-2026']],
  [
    'gift: yes\nutm_source: instagram\r\nUTM Campaign: Ada Spring\nutm-content: story',
    ['Ada Spring', 'story'],
  ],
  ['Influencer : @ada', ['@ada']],
  ['ref = ada', ['ada']],
  [
    'landing: https://shop.test/p/hat?utm_medium=social&utm_campaign=ada%20spring&ref=ada+b#top',
    ['ada spring', 'ada b'],
  ],
  ['landing_site: /?ref=ada', ['ada']],
  ['see https://shop.test/?ref=100%', ['100%']],
  ['ref: ada\nvia: ada', ['ada']],
  ['utm_source: google\nutm_medium: cpc', []],
  ['prefer: ada', []],
  ['ref:', []],
  ['', []],
])('%j contains the links %j', (notes, links) => {
  expect(find(notes)).toEqual(links);
});

test('a layout without keys finds no links', () => {
  expect(linkFinder({ keys: [], parameters: [] })('ref: ada')).toEqual([]);
});

test.each([
  ['Amazon, 112-1234567-1234567', ['112-1234567-1234567']],
  ['Amazon Order Id: 112-1234567-1234567', ['112-1234567-1234567']],
  ['ebay_order_number=26-11111-22222; gift', ['26-11111-22222']],
  ['#100001;100001', ['#100001', '100001']],
  ['phone: 017612345678\n_ga: GA1.2.123456789', []],
  ['2026, summer-2026, size 42, vip', []],
  ['jane.12345@example.com', []],
  ['', []],
])('order ids in tags and notes %j are %j', (cell, expected) => {
  expect(findIds([0], [cell])).toEqual(expected);
});

test('at most ten ids of an order are kept, and each once', () => {
  const many = Array.from({ length: 30 }, (_, index) => `${100_000 + Math.floor(index / 2)}`);
  expect(findIds([0, 1], [many.slice(0, 4).join(), many.join()])).toEqual(
    Array.from({ length: 10 }, (_, index) => `${100_000 + index}`),
  );
});

import { expect, test } from 'vitest';
import { loadLayout } from '../../src/map/layout/load-layout.ts';
import { linkFinder } from '../../src/map/orders/find-links.ts';

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

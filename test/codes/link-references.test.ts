import { expect, it } from 'vitest';
import { referencesOf } from '../../src/codes/code-ownership.ts';
import { foldCode } from '../../src/core/text/fold.ts';
import { loadLayout } from '../../src/intake/layout/load-layout.ts';
import { linkFinder } from '../../src/intake/map/find-links.ts';

const { links } = loadLayout('shopify-orders');

it.each([
  ['the parameter of the link', 'https://acme.test/?ref=Mia', null, ['mia']],
  [
    'all of its parameters',
    'https://acme.test/?utm_campaign=spring&utm_content=mia&x=1',
    null,
    ['mia+spring'],
  ],
  ['a parameter however written', '/?UTM-Campaign=Mia%20Glow', null, ['miaglow']],
  ['the address of a link without parameters', 'https://www.Acme.test/Mia/', null, ['acme.test/mia']],
  ['an address without its scheme', 'acme.test/mia', null, ['acme.test/mia']],
  ['a name', 'mia-spring', null, ['mia-spring']],
  [
    'the parameters of the page where it leads',
    'https://acme.test/mia',
    'https://acme.test/p?ref=mia',
    ['acme.test/mia', 'mia'],
  ],
  ['the name of its target', 'https://acme.test/mia', 'Mia Page', ['acme.test/mia', 'miapage']],
  ['the same once', 'https://acme.test/?ref=mia', 'mia', ['mia']],
  ['no page of the shop', 'https://acme.test/?ref=mia', 'https://acme.test/hats', ['mia']],
  ['no address of a shop', 'https://acme.test/', null, []],
  ['nothing', null, null, []],
  ['no address of a person', 'https://acme.test/?ref=mia@example.com', 'mia@example.com', []],
])('a custom link is recognized by %s', (_what, link, target, expected) => {
  const found = referencesOf({ link, target }, links.parameters);
  expect(found.map(({ all }) => all.join('+'))).toEqual(expected);
});

it.each([
  [
    'https://acme.test/p/hat?ref=Mia%20Glow&utm_campaign=spring',
    'landing: https://acme.test/p/hat?ref=Mia%20Glow&utm_campaign=spring#top',
  ],
  ['https://acme.test/?ref=mia+glow', 'ref: Mia Glow'],
  ['https://www.acme.test/mia', 'ref: http://acme.test/mia/?fbclid=1'],
  ['acme.test/mia', 'affiliate: acme.test/mia'],
])('an order that came through %s and records it as (%s) has all references of the link', (link, notes) => {
  const order = linkFinder(links)(notes).map(foldCode);
  const [reference] = referencesOf({ link, target: null }, links.parameters);
  expect(order).toEqual(expect.arrayContaining([...(reference?.all ?? ['nothing'])]));
});

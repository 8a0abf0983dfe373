import { expect, test } from 'vitest';
import { hasAddress, maskAddresses } from '../../src/core/text/mask-addresses.ts';

test.each([
  ['jane@example.com', 'j***@***'],
  ['write to jane.doe+tag@mail.example.com, or bob@x', 'write to j***@***, or b***@***'],
  ['"Jane" <jane@example.com>', '"Jane" <j***@***>'],
  ['follow @jane', 'follow @jane'],
  ['no address', 'no address'],
  // Escapes of links, of links in links, of JSON in links, and of HTML.
  ['jane%40example.com', 'j***@***'],
  ['https://acme.test/?ref=jane%40example.com&x=1', 'https://acme.test/?ref=j***@***&x=1'],
  [
    'next=https%3A%2F%2Facme.test%3Fe%3Djane%252Bshop%2540example.com',
    'next=https%3A%2F%2Facme.test%3Fe%3Dj***@***',
  ],
  ['jane%25252540example%2ecom', 'j***@***'],
  ['%6aane%40%65xample.com', 'j***@***'],
  ['{\\"to\\":\\"jane\\u0040example.com\\"}', '{\\"to\\":\\"j***@***\\"}'],
  ['q=%5C%22jane%5Cu0040example.com%5C%22', 'q=%5C%22j***@***%5C%22'],
  ['jane&#64;example.com, bob&#x40;example.com, eve&commat;example.com', 'j***@***, b***@***, e***@***'],
  ['jane&amp;#64;example.com', 'j***@***'],
  // Other characters for the at-sign and for letters.
  ['jane＠example.com', 'j***@***'],
  ['ｊａｎｅ﹫ｅｘａｍｐｌｅ．ｃｏｍ', 'j***@***'],
  ['jos%C3%A9%40example.com', 'j***@***'],
  ['jane\u200b%40example.com', 'j***@***'],
])('%j is shown as %j', (text, masked) => {
  expect(maskAddresses(text)).toBe(masked);
  expect(maskAddresses(masked)).toBe(masked);
});

test.each([
  'SAVE%40OFF',
  '100%40',
  '%40jane',
  'MIA40',
  'https://acme.test/%E3%83%9F%E3%82%A2?x=%7E&y=2540',
  '＠jane',
  '%',
  '100% off',
])('the code or link %j has no address and stays as it is', (text) => {
  expect(maskAddresses(text)).toBe(text);
  expect(hasAddress(text)).toBe(false);
});

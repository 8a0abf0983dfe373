import { expect, test } from 'vitest';
import { readErrorText } from '../../src/service/read-error.ts';

test.each([
  ['message', '{"message":"Brand not found"}', 'Brand not found'],
  ['error', '{"error":"Brand not found"}', 'Brand not found'],
  ['error as an object', '{"error":{"code":7,"message":"Brand not found"}}', 'Brand not found'],
  ['error_message', '{"error_message":"Brand not found"}', 'Brand not found'],
  ['errors of texts', '{"errors":["one","two"]}', 'one; two'],
  ['errors of objects', '{"errors":[{"field":"a","message":"one"},{"msg":"two"}]}', 'one; two'],
  ['errors by field', '{"errors":{"order_id":["is missing"]}}', 'order_id: is missing'],
  ['an empty message beside an error', '{"message":"","error":"Brand not found"}', 'Brand not found'],
  ['a JSON text', '"Brand not found"', 'Brand not found'],
  ['plain text', 'upstream connect error', 'upstream connect error'],
  [
    'a page',
    '<html><head><title>502 Bad</title><style>b{}</style></head><body><h1>Bad  gateway</h1></body></html>',
    '502 Bad Bad gateway',
  ],
])('the error reader reads the text of: %s', (_form, body, text) => {
  expect(readErrorText(body)).toBe(text);
});

test.each(['', '  \n', '{}', '[]', 'null', '{"message":""}', '{"deal_id":"D1"}', '42'])(
  'the error reader finds no text in %j',
  (body) => {
    expect(readErrorText(body)).toBeNull();
  },
);

test('the error reader masks e-mail addresses and API keys', () => {
  const text = readErrorText(
    '{"message":"mara@example.com and <jo.b+x@shop.test>: api_key=planted-1 was refused, key: \\"planted-2\\", 0a1b2c3d4e5f60718293a4b5"}',
  );
  expect(text).not.toMatch(/mara|jo\.b|planted|0a1b2c/);
  expect(text).toContain('[address]');
  expect(text).toContain('[key]');
});

test.each([
  'no account planted%40example.com',
  'no account planted%2540example.com',
  'no account planted＠example.com',
  '{"message": "no account planted\\u0040example.com',
  '<p>no account planted&#64;example.com</p>',
  '<p>no account planted&#x40;example.com</p>',
])('the error reader masks an e-mail address in every encoding: %s', (body) => {
  expect(readErrorText(body)?.trim()).toBe(
    body.startsWith('{') ? '{"message": "no account [address]' : 'no account [address]',
  );
});

test('the error reader keeps deal IDs and plain words about keys', () => {
  expect(readErrorText('{"message":"Invalid API key for deal ETUNQ6ZTW1 of @mara"}')).toBe(
    'Invalid API key for deal ETUNQ6ZTW1 of @mara',
  );
});

test('the error reader joins lines and removes control characters', () => {
  expect(readErrorText('{"message":"one\\r\\n\\u001b[31mtwo\\u0000"}')).toBe('one [31mtwo');
});

test('the error reader truncates to 300 characters without splitting one', () => {
  const text = readErrorText(JSON.stringify({ message: '👍'.repeat(400) })) ?? '';
  expect(Array.from(text)).toHaveLength(300);
  expect(text.endsWith('👍…')).toBe(true);
});

test('the error reader reads a megabyte without a blank to its end, without catastrophic backtracking', () => {
  expect(readErrorText('a1-'.repeat(350_000))).not.toBeNull();
  expect(readErrorText('<script'.repeat(150_000))).not.toBe('');
});

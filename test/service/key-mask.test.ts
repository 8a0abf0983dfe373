import { expect, it } from 'vitest';
import { createKeyMask } from '../../src/service/client.ts';
import { httpAnswer, startRawServer } from './raw-server.ts';
import { openClient } from './test-client.ts';

const KEY = 'p/l"a\\nted+7391';

/** The key in the forms in which a service may write it. */
const WRITTEN = [
  ['as it is', KEY],
  ['in JSON', JSON.stringify(KEY).slice(1, -1)],
  ['in JSON that escapes slashes', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
  [
    'in JSON that escapes everything',
    [...KEY].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join(''),
  ],
  ['in an address', encodeURIComponent(KEY)],
  ['in an address, with small letters', encodeURIComponent(KEY).toLowerCase()],
] as const;

it.each(WRITTEN)('the mask hides the API key %s in errors and in data', (_how, written) => {
  const mask = createKeyMask(KEY);
  for (const isData of [true, false])
    expect(mask(`a ${written} b ${written}`, isData)).toBe('a [key] b [key]');
});

it('the mask changes nothing else', () => {
  const text = '{"a":"\\u0070\\/ 100% c:\\\\x","b":1249.00}';
  expect(createKeyMask(KEY)(text, true)).toBe(text);
  expect(createKeyMask('')(text, false)).toBe(text);
});

it('the mask hides a key as short as a word in errors, but not in data, where it may be part of a name', () => {
  expect(createKeyMask('test')('mia.test', true)).toBe('mia.test');
  expect(createKeyMask('test')('no such key: test', false)).toBe('no such key: [key]');
});

it.each([200, 302, 401, 500])('the client masks its API key in every answer: HTTP %i', async (status) => {
  const server = await startRawServer({
    onData: (socket) => socket.write(httpAnswer(status, '{"message":"You sent \\u0074est-key-1."}')),
  });
  const client = openClient(server.url, { key: 'test-key-1' });
  expect(await client.exchange('account_hello')).toMatchObject({
    status,
    text: '{"message":"You sent [key]."}',
  });
  expect(server.received[0]).toContain('x-api-key: test-key-1');
});

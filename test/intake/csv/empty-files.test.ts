import { expect, test } from 'vitest';
import { holdReason, parseText } from './parse-text.ts';

test.each([
  ['zero bytes', ''],
  ['blank lines only', '\n\r\n  \n'],
  ['a separator line only', 'sep=;\n'],
])('a file of %s is held', async (_, text) => {
  expect(await holdReason(parseText(text))).toMatchObject({ code: 'empty_file' });
});

test.each([['a,b'], ['a,b\n'], ['a,b\r\n\r\n']])(
  'a file with only a header (%j) has no records and is not held',
  async (text) => {
    expect(await parseText(text)).toEqual({ header: ['a', 'b'], records: [], rejected: [] });
  },
);

test('a file is held if its header exceeds the maximum length', async () => {
  const text = 'x'.repeat(5_000);
  const reason = await holdReason(parseText(text, { maxRecordBytes: 1_000, batchBytes: 100 }));
  expect(reason.code).toBe('header_too_long');
});

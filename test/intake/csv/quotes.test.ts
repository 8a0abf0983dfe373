import { expect, test } from 'vitest';
import { faultsOf, holdReason, parseText, placesOf } from './parse-text.ts';

test('empty cells can be quoted or unquoted, and a doubled quote is one quote', async () => {
  const parsed = await parseText('a,b,c,d\n"",,"x ""y"" z","1,5"\n1,2,3,4\n');
  expect(placesOf(parsed)).toEqual([
    [2, 1, '', '', 'x "y" z', '1,5'],
    [3, 2, '1', '2', '3', '4'],
  ]);
});

test.each([
  ['a quote within a bare cell', '5" pipe,2'],
  ['text after a closing quote', '"5" pipe,2'],
])('%s rejects only its row', async (_, row) => {
  const parsed = await parseText(`a,b\n1,2\n${row}\n3,4\n"x",5\n`);
  expect(faultsOf(parsed)).toEqual([['bad_quoting', 3, 2]]);
  expect(placesOf(parsed)).toEqual([
    [2, 1, '1', '2'],
    [4, 3, '3', '4'],
    [5, 4, 'x', '5'],
  ]);
  expect(JSON.stringify(parsed.rejected)).not.toContain('pipe,');
});

test('a stray quote that would swallow the following rows rejects only its own row', async () => {
  const parsed = await parseText('a,b\n1,"open\n2,good\n3,"quoted"\n4,good\n');
  expect(faultsOf(parsed)).toEqual([['bad_quoting', 2, 1]]);
  expect(placesOf(parsed)).toEqual([
    [3, 2, '2', 'good'],
    [4, 3, '3', 'quoted'],
    [5, 4, '4', 'good'],
  ]);
});

test('each line of a record with a bad quote on a later line is rejected or read', async () => {
  const parsed = await parseText('a,b\n1,"note\nwith "quotes" inside"\n2,good\n');
  expect(faultsOf(parsed)).toEqual([
    ['bad_quoting', 2, 1],
    ['bad_quoting', 3, 2],
  ]);
  expect(placesOf(parsed)).toEqual([[4, 3, '2', 'good']]);
});

test.each([1, 3, 7, 1000])('every bad row is found in pieces of %i bytes', async (batchBytes) => {
  const text = `a,b\n${'x"y,1\n2,3\n'.repeat(50)}z"`;
  const parsed = await parseText(text, { batchBytes });
  expect(parsed.rejected).toHaveLength(51);
  expect(parsed.records).toHaveLength(50);
  expect(parsed.rejected.at(-1)).toMatchObject({ line: 102, record: 101 });
});

test('quotes are plain characters in a format without quotes', async () => {
  const parsed = await parseText('a\tb\n5" pipe\t"x\n', { delimiter: '\t', quote: null });
  expect(placesOf(parsed)).toEqual([[2, 1, '5" pipe', '"x']]);
});

test('a file of mostly broken quotes is held after a thousand such rows, with their count and the line', async () => {
  const text = `a,b\n${'1,2\n'.repeat(998)}${'5" pipe,2\n'.repeat(2_000)}`;
  expect(await holdReason(parseText(text))).toEqual({
    code: 'broken_quotes',
    message:
      '1000 of the first 1999 rows have unreadable quotes, the last of them on line 1999. Reading stopped there.',
    help: expect.stringContaining('quote: none'),
  });
  expect((await parseText(text, { quote: null })).records).toHaveLength(2_998);
});

test('rows with broken quotes among many good ones are rejected one by one, up to a limit', async () => {
  const text = `a,b\n${'5" pipe,2\n1,2\n3,4\n'.repeat(1_200)}`;
  expect((await parseText(text)).rejected).toHaveLength(1_200);
  const reason = await holdReason(parseText(text, { maxBrokenRows: 1_100 }));
  expect(reason.message).toContain('1100 of the first 3299 rows');
});

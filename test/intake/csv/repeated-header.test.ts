import { expect, test } from 'vitest';
import { faultsOf, holdReason, parseText, placesOf } from './parse-text.ts';

test('a header repeated in the middle, as in concatenated files, is a rejected row', async () => {
  const parsed = await parseText('id,total\n1,2\nid,total\n3,4\nid,5\n');
  expect(faultsOf(parsed)).toEqual([['repeated_header', 3, 2]]);
  expect(placesOf(parsed)).toEqual([
    [2, 1, '1', '2'],
    [4, 3, '3', '4'],
    [5, 4, 'id', '5'],
  ]);
});

test.each([
  ['with fewer columns', 'id,total,day\n1,2,3\n\nRefunds,,\nid,total\n1,2\n', 5],
  ['with more columns', 'id,total,day\n1,2,3\nday,id,total,reason\n3,1,2,late\n', 3],
  ['padded to the same width', 'id,total,day\n1,2,3\nid,day,\n1,3,\n', 3],
  ['with a first column of its own', 'id,total,day\n1,2,3\nrefund,id,total\n9,1,2\n', 3],
  ['below lines of its own', 'id,total,day,code\n1,2,3,a\nreason,,id,day\nlate,,1,3\n', 3],
])('a second table %s holds the file, because it may say what was refunded', async (_, text, line) => {
  const { code, message } = await holdReason(parseText(text));
  expect([code, message]).toEqual(['second_table', expect.stringContaining(`begins on line ${line}:`)]);
});

test('a cell that is a name of the header does not make its row a header', async () => {
  const rows = ['1,total,3,day', 'total,2,day,4', '2,day,id,total'];
  const parsed = await parseText(`id,total,day,code\n${rows.join('\n')}\n`);
  expect(faultsOf(parsed)).toEqual([]);
  expect(parsed.records).toHaveLength(3);
});

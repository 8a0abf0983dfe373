import { expect, test } from 'vitest';
import { faultsOf, holdReason, parseText, placesOf } from './parse-text.ts';

test('a row with more or fewer cells than the header is rejected with both counts, and the other rows are read', async () => {
  const parsed = await parseText('a,b,c\n1,2,3\n1,2\n1,2,3,4\n4,5,6\n');
  expect(placesOf(parsed)).toEqual([
    [2, 1, '1', '2', '3'],
    [5, 4, '4', '5', '6'],
  ]);
  expect(faultsOf(parsed)).toEqual([
    ['ragged_row', 3, 2],
    ['ragged_row', 4, 3],
  ]);
  expect(parsed.rejected.map((row) => row.reason)).toEqual([
    'The row has 2 cells, the header has 3.',
    'The row has 4 cells, the header has 3.',
  ]);
  expect(parsed.rejected[0]).toMatchObject({ column: null, value: null, rowCount: 1 });
});

test('a trailing delimiter is accepted if every row or the header has it', async () => {
  expect(placesOf(await parseText('a,b\n1,2,\n3,4,\n'))).toEqual([
    [2, 1, '1', '2', ''],
    [3, 2, '3', '4', ''],
  ]);
  expect(placesOf(await parseText('a,b,\n1,2,\n3,4\n'))).toEqual([
    [2, 1, '1', '2', ''],
    [3, 2, '3', '4'],
  ]);
});

const HEADER = 'order_id,code,currency,placed_at,total,note';
const SLIPPED = '3002,MIRA10,EUR,2026-05-01,1,249.00,';
const GOOD = '3003,MIRA10,EUR,2026-05-01,45.00,';

test.each([
  ['after a good row', [GOOD, SLIPPED], 2],
  ['as the first row', [SLIPPED, GOOD], 1],
  ['as the only row', [SLIPPED], 1],
  ['with more blank cells than the rows before', [`${GOOD},`, `${GOOD},`, `${SLIPPED},`], null],
])('an amount split by its own comma is not mistaken for padding: %s', async (_, rows, at) => {
  const { records, rejected } = await parseText(`${HEADER}\n${rows.join('\n')}\n`);
  if (at !== null) expect(faultsOf({ rejected })).toEqual([['ragged_row', at + 1, at]]);
  expect(rejected.every(({ code }) => code === 'ragged_row')).toBe(true);
  for (const { cells } of records) expect(cells[4]).toBe('45.00');
});

test.each([
  ['thousands', ['1,A,1,249.00,', '2,B,2,100.50,', '3,C,€9,999,']],
  ['decimals', ['1,A,45,00,', '2,B,1249,50,', '3,C,7,10,']],
  ['names', ['1,Doe, Ann,45.00,', '2,Roe, Bo,46.00,', '3,Low, Cy,47.00,']],
])('cells that look split in every row are not mistaken for padding: %s', async (_, rows) => {
  const parsed = await parseText(`order_id,code,total,note\n${rows.join('\n')}\n`);
  expect(parsed.records).toEqual([]);
  expect(faultsOf(parsed)).toHaveLength(3);
});

test('an unpadded row as long as a padded header is rejected', async () => {
  const parsed = await parseText(`${HEADER},\n${GOOD}\n${SLIPPED}\n`);
  expect(parsed.records).toHaveLength(1);
  expect(faultsOf(parsed)).toEqual([['ragged_row', 3, 2]]);
});

test('thousands of padded rows are read in order, regardless of the size of the pieces', async () => {
  const rows = Array.from({ length: 2_500 }, (_, at) => `${at + 1},A,${at}.00,x,`);
  const text = `order_id,code,total,note\n${rows.join('\n')}\n`;
  for (const batchBytes of [64 * 1024, 997]) {
    const { records, rejected } = await parseText(text, { batchBytes });
    expect(rejected).toEqual([]);
    expect(records.map(({ record }) => record)).toEqual(rows.map((_, at) => at + 1));
  }
});

test('a row that contradicts the padding of a thousand previous rows holds the file, with both counts', async () => {
  const rows = Array.from({ length: 1_200 }, (_, at) => `${at + 1},A,45.00,x,`);
  const reason = await holdReason(
    parseText(`order_id,code,total,note\n${rows.join('\n')}\n9999,A,45.00,x\n`),
  );
  expect(reason.code).toBe('uneven_rows');
  expect(reason.message).toContain('before line 1202 have 5 cells, 1 more than the header; this one has 4');
});

test('rows that are unusable anyway do not affect the padding of the others', async () => {
  const parsed = await parseText('a,b,c\n1,2,3,\n1,2\n1,x"y,3\n,,,,,\n4,5,6,\n');
  expect(placesOf(parsed).map(([line]) => line)).toEqual([2, 6]);
  expect(parsed.rejected.map(({ code }) => code)).toEqual(['ragged_row', 'bad_quoting']);
});

test('a truncated last row is rejected', async () => {
  expect(faultsOf(await parseText('a,b,c\n1,2,3\n4,5'))).toEqual([['ragged_row', 3, 2]]);
});

test('rows of more than half a million cells under a small header hold the file, also if all cells are blank', async () => {
  const wide = ','.repeat(600_000);
  const options = { maxRecordBytes: 1024 ** 2 };
  for (const row of [wide, `1${wide}`]) {
    expect(await holdReason(parseText(`a,b\n1,2\n${row}\n${row}\n${row}\n`, options))).toMatchObject({
      code: 'rows_too_wide',
      message: expect.stringContaining('the row on line 4 has 600001 cells'),
    });
  }
});

test('a spreadsheet is read at any width if its rows are as wide as its header', async () => {
  const blanks = ','.repeat(16_382);
  const { records } = await parseText(`a,b${blanks}\n${`1,2${blanks}\n`.repeat(70)}`);
  expect(records).toHaveLength(70);
});

test('ragged rows are read about as fast as others', async () => {
  const cpuOf = async (row: string): Promise<number> => {
    const { user, system } = process.cpuUsage();
    await parseText(`a,b,c\n${`${row}\n`.repeat(15_000)}`);
    const used = process.cpuUsage();
    return used.user + used.system - user - system;
  };
  const [ragged, whole]: [number[], number[]] = [[], []];
  // In turn, so that neither is compiled while only the other one is measured.
  for (let round = 0; round < 8; round += 1) {
    whole.push(await cpuOf('1,2,3'));
    ragged.push(await cpuOf('1,2'));
  }
  // An implementation that created and discarded an error for each row took fifteen times as long.
  expect(Math.min(...ragged)).toBeLessThan(6 * Math.min(...whole));
});

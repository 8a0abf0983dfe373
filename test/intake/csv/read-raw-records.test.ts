import { expect, test } from 'vitest';
import type { RawRecord } from '../../../src/core/record.ts';
import { readRawRecords } from '../../../src/intake/csv/read-records.ts';
import { inPieces, PARSE_OPTIONS, parseText } from './parse-text.ts';

const TEXT = 'sep=;\nid;note\r\n1;"two\r\nlines"\n\n;\n2;bad"quote\r\n3\n"4";"x ""y"""\n5;last';

async function readRaw(wanted: readonly number[], batchBytes = 64): Promise<RawRecord[]> {
  const found: RawRecord[] = [];
  for await (const record of readRawRecords(
    inPieces(TEXT, 5),
    { ...PARSE_OPTIONS, batchBytes },
    new Set(wanted),
  ))
    found.push(record);
  return found;
}

test.each([1, 4, 64])('records are returned verbatim from pieces of %i bytes', async (batchBytes) => {
  const found = await readRaw([0, 1, 2, 3, 4, 5], batchBytes);
  expect(found.map(({ record, line, raw }) => [record, line, raw])).toEqual([
    [0, 2, 'id;note'],
    [1, 3, '1;"two\r\nlines"'],
    [2, 7, '2;bad"quote'],
    [3, 8, '3'],
    [4, 9, '"4";"x ""y"""'],
    [5, 10, '5;last'],
  ]);
  expect(found.map(({ cells }) => cells)).toEqual([
    ['id', 'note'],
    ['1', 'two\r\nlines'],
    null,
    ['3'],
    ['4', 'x "y"'],
    ['5', 'last'],
  ]);
  expect(found[0]?.delimiter).toBe(';');
});

test('record and line numbers match those of the parser', async () => {
  const parsed = await parseText(TEXT);
  const numbered = [...parsed.records, ...parsed.rejected];
  const raw = await readRaw(numbered.map(({ record }) => record));
  expect(raw.map(({ record, line }) => [record, line])).toEqual(
    numbered.map(({ record, line }) => [record, line]).sort(([one = 0], [other = 0]) => one - other),
  );
});

test('reading stops after the last requested record', async () => {
  let isReleased = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      yield Buffer.from('a,b\n');
      for (;;) yield Buffer.from('1,2\n');
    } finally {
      isReleased = true;
    }
  }
  const found = [];
  for await (const record of readRawRecords(endless(), PARSE_OPTIONS, new Set([2]))) found.push(record.raw);
  expect(found).toEqual(['1,2']);
  expect(isReleased).toBe(true);
});

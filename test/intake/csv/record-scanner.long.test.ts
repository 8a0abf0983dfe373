import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FileHeld } from '../../../src/core/held/file-held.ts';
import { RecordReader } from '../../../src/intake/csv/records/record-reader.ts';
import { RecordScanner } from '../../../src/intake/csv/records/record-scanner.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/*
 * csv-parse is the reference: a text that it reads alone must give the same records, lines, texts and errors
 * as with the scanner, regardless of the pieces in which both receive it.
 */

type Format = { readonly delimiter: string; readonly quote: '"' | null };
type Limits = {
  readonly pieceBytes: number;
  readonly maxRecordBytes: number;
  readonly maxBrokenRows: number;
};

const LIMITS: Limits = { pieceBytes: 64 * 1024, maxRecordBytes: 1024 ** 2, maxBrokenRows: 20_000 };
const COMMA: Format = { delimiter: ',', quote: '"' };

type Row = {
  readonly line: number;
  readonly cells: readonly string[] | null;
  readonly raw: string;
  readonly bytes: number;
};

/** Returns everything that a text yields, or why it is held. */
async function readAll(
  bytes: Buffer,
  format: Format,
  { isScanned, ...limits }: Limits & { readonly isScanned: boolean },
): Promise<readonly Row[] | string> {
  const reader = new RecordReader({ ...format, ...limits, line: 1 }, { isScanned });
  const rows: Row[] = [];
  const take = (records: Awaited<ReturnType<typeof reader.read>>): void => {
    for (const record of records) {
      const { cells, line, start, end } = record;
      rows.push({ line, cells, raw: reader.rawOf(record), bytes: end - start });
    }
  };
  try {
    for (let at = 0; at < bytes.length; at += limits.pieceBytes)
      take(await reader.read(bytes.subarray(at, at + limits.pieceBytes)));
    take(await reader.finish());
    return rows;
  } catch (error) {
    if (error instanceof FileHeld) return JSON.stringify(error.reason);
    throw error;
  }
}

async function expectSame(bytes: Buffer, format: Format, limits: Limits): Promise<void> {
  const scanned = await readAll(bytes, format, { ...limits, isScanned: true });
  const parsed = await readAll(bytes, format, { ...limits, isScanned: false });
  // Comparing strings is much faster than comparing values, and this runs a million times.
  if (JSON.stringify(scanned) !== JSON.stringify(parsed)) expect(scanned).toEqual(parsed);
}

const format = fc.record({
  delimiter: fc.constantFrom(',', ',', ';', '\t', '|'),
  quote: fc.constantFrom<'"' | null>('"', '"', '"', null),
});

/** Characters with a meaning for the parser, in any order, and similar ones without. */
const soup = fc
  .array(
    fc.constantFrom(
      ...[
        '"',
        '""',
        ',',
        ';',
        '\t',
        '|',
        '\n',
        '\r',
        '\r\n',
        '\n\n',
        '\u0000',
        ' ',
        'a',
        'é',
        '😀',
        '\ufeff',
      ],
      ...['","', '"\n"', '",\n', ',"', 'x,y\n', '"x"', '"x""y"', '\u2028', "'", '\\'],
    ),
    { maxLength: 40 },
  )
  .map((tokens) => tokens.join(''));

const cell = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      '',
      '',
      '',
      'x',
      '12.50',
      'é€😀',
      ' y ',
      '""',
      '"q"',
      '"a,b;c\td|e"',
      '"d""q"',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('"l\nm"', '"l\r\nm"', '"l\rm"', '"\r"', '""""', '"é""\n"', 'o\u0000'),
  },
);
const brokenCell = fc.constantFrom('5" x', '"a"b', '"', 'x""', '"x"\u0000', '"x" ', ' "x"');

/** Rows as in real exports, a few of them damaged. */
function rows(cells: fc.Arbitrary<string>): fc.Arbitrary<(delimiter: string) => string> {
  const row = fc.tuple(
    fc.array(cells, { minLength: 1, maxLength: 5 }),
    fc.constantFrom('\n', '\n', '\r\n', '\r\n', '\r', '\n\n', '\r\n\r\n'),
  );
  return fc
    .tuple(fc.array(row, { maxLength: 10 }), fc.boolean())
    .map(([made, isCut]) => (delimiter: string) => {
      const text = made.map(([one, end]) => one.join(delimiter) + end).join('');
      return isCut ? text.trimEnd() : text;
    });
}

const damagedRows = rows(fc.oneof({ weight: 12, arbitrary: cell }, { weight: 1, arbitrary: brokenCell }));
const anyText = fc.oneof(
  soup.map((text) => () => text),
  damagedRows,
);

test('any text yields the same records, lines, texts and errors as with csv-parse alone', async () => {
  const pieceBytes = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(64 * 1024));
  await fc.assert(
    fc.asyncProperty(anyText, format, pieceBytes, async (toText, made, bytes) => {
      await expectSame(Buffer.from(toText(made.delimiter)), made, { ...LIMITS, pieceBytes: bytes });
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

test('any bytes yield the same result as with csv-parse, although decoded text is always valid UTF-8', async () => {
  const byte = fc.constantFrom(0x22, 0x2c, 0x0a, 0x0d, 0x61, 0x80, 0xc3, 0xe2, 0xf0, 0xff, 0);
  await fc.assert(
    fc.asyncProperty(
      fc.array(byte, { maxLength: 40 }),
      fc.integer({ min: 1, max: 20 }),
      async (bytes, piece) => {
        await expectSame(Buffer.from(bytes), COMMA, { ...LIMITS, pieceBytes: piece });
      },
    ),
    { numRuns: propertyRuns(500) },
  );
});

test('the same files are held for the same reason if a record is too long', async () => {
  await fc.assert(
    fc.asyncProperty(rows(cell), fc.integer({ min: 1, max: 30 }), async (toText, maxRecordBytes) => {
      const bytes = Buffer.from(`${toText(',')}\n\n\n\n`);
      await expectSame(bytes, COMMA, { ...LIMITS, maxRecordBytes });
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('the same files are held in pieces if a record is too long, except for a few bytes that csv-parse buffers', async () => {
  const KEPT_BACK = 3;
  const limits = fc.record({
    pieceBytes: fc.integer({ min: 4, max: 20 }),
    maxRecordBytes: fc.integer({ min: 1, max: 30 }),
    maxBrokenRows: fc.constant(1),
  });
  await fc.assert(
    fc.asyncProperty(rows(cell), limits, async (toText, given) => {
      const bytes = Buffer.from(toText(','));
      const whole = await readAll(bytes, COMMA, { ...LIMITS, isScanned: false });
      const longest = typeof whole === 'string' ? 0 : Math.max(0, ...whole.map((row) => row.bytes));
      const scanned = await readAll(bytes, COMMA, { ...given, isScanned: true });
      expect(typeof scanned).toBe(longest > given.maxRecordBytes ? 'string' : 'object');
      const parsed = await readAll(bytes, COMMA, { ...given, isScanned: false });
      if (longest + KEPT_BACK <= given.maxRecordBytes) expect(scanned).toEqual(parsed);
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('the same files are held for too many rows with broken quotes', async () => {
  await fc.assert(
    fc.asyncProperty(damagedRows, fc.integer({ min: 1, max: 4 }), async (toText, maxBrokenRows) => {
      await expectSame(Buffer.from(toText(',')), COMMA, { ...LIMITS, maxBrokenRows });
    }),
    { numRuns: propertyRuns(200) },
  );
});

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const EXPORTS = globSync('{test/fixtures,config,examples}/**/*.{csv,txt}', { cwd: ROOT });

test('the repository contains exports to read', () => expect(EXPORTS.length).toBeGreaterThan(30));

test.each(EXPORTS)('%s yields the same result in any format and with pieces of any size', async (file) => {
  const bytes = readFileSync(join(ROOT, file));
  for (const delimiter of [',', ';', '\t', '|'])
    for (const quote of ['"', null] as const)
      for (const pieceBytes of [1, 7, 100, 64 * 1024])
        await expectSame(bytes, { delimiter, quote }, { ...LIMITS, pieceBytes });
});

test('a record longer than a piece yields the same result, quoted or not', async () => {
  const long = 'é'.repeat(200_000);
  for (const text of [`a,${long}\nb,c\n`, `a,"${long}\n""${long}"\nb,c\n`, `a,${long}"\nb,c\n`, `a,"${long}`])
    await expectSame(Buffer.from(text), COMMA, LIMITS);
});

test('plain records are scanned without csv-parse', async () => {
  const scanner = RecordScanner.create(',', '"');
  if (scanner === null) throw new Error('there is no scanner for commas');
  const bytes = Buffer.from('a,"b ""c""",\r\n"l\nm",é,\n');
  scanner.open(bytes);
  expect(scanner.read(0)).toBe('record');
  expect(scanner.cells).toEqual(['a', 'b "c"', '']);
  expect(scanner.read(scanner.end)).toBe('record');
  expect(scanner).toMatchObject({ cells: ['l\nm', 'é', ''], lineBreaks: 2, end: bytes.length });
});

test.each(['"', '\n', 'é', '€'])(
  'a delimiter such as %j has no scanner and is left to csv-parse',
  (delimiter) => {
    expect(RecordScanner.create(delimiter, '"')).toBeNull();
  },
);

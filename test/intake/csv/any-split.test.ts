import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCsv } from '../../../src/intake/csv/parse-csv.ts';
import { PARSE_OPTIONS, type Parsed } from './parse-text.ts';

/** Mostly well-formed and sometimes broken cells. The point is that the split makes no difference. */
const cell = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '',
      'x',
      '12.50',
      'é€😀',
      ' y ',
      '""',
      '"q"',
      '"a,b"',
      '"l\nm"',
      '"l\r\nm"',
      '"d""q"',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('5" x', '"a"b', '\u0000', '"') },
);
const lineBreak = fc.constantFrom('\n', '\r\n', '\r', '\n\n', '\r\n\r\n');
const csv = fc
  .array(fc.tuple(fc.array(cell, { minLength: 1, maxLength: 4 }), lineBreak), { maxLength: 12 })
  .map((rows) => `a,b,c\n${rows.map(([cells, end]) => cells.join(',') + end).join('')}`);

async function outcome(bytes: Buffer, cuts: readonly number[], batchBytes: number): Promise<unknown> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort(
      (one, other) => one - other,
    );
    let from = 0;
    for (const to of [...places, bytes.length]) {
      yield bytes.subarray(from, to);
      from = to;
    }
  }
  const parsed: Parsed = { header: null, records: [], rejected: [] };
  try {
    for await (const chunk of parseCsv(pieces(), { ...PARSE_OPTIONS, batchBytes })) {
      parsed.header = chunk.header;
      parsed.records.push(...chunk.records);
      parsed.rejected.push(...chunk.rejected);
    }
    return parsed;
  } catch (error) {
    return String(error);
  }
}

test('the result of parsing does not depend on how the file is split or on the size of the pieces', async () => {
  await fc.assert(
    fc.asyncProperty(
      csv,
      fc.array(fc.nat(400), { maxLength: 8 }),
      fc.integer({ min: 1, max: 40 }),
      async (text, cuts, batchBytes) => {
        const bytes = Buffer.from(text);
        expect(await outcome(bytes, cuts, batchBytes)).toEqual(await outcome(bytes, [], 100_000));
      },
    ),
    { numRuns: 300 },
  );
});

test('rows are numbered without gaps, with increasing line numbers', async () => {
  await fc.assert(
    fc.asyncProperty(csv, async (text) => {
      const parsed = await outcome(Buffer.from(text), [], 100_000);
      if (typeof parsed === 'string') return;
      const { records, rejected } = parsed as Parsed;
      const numbers = [...records, ...rejected].sort((one, other) => one.record - other.record);
      expect(numbers.map(({ record }) => record)).toEqual(numbers.map((_, index) => index + 1));
      for (const [index, row] of numbers.entries())
        expect(row.line).toBeGreaterThan(numbers[index - 1]?.line ?? 1);
    }),
    { numRuns: 300 },
  );
});

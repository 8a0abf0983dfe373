import type { RawRecord } from '../../core/record.ts';
import { recordChecker } from './check-record.ts';
import type { ParseOptions } from './parse-options.ts';
import { readRecords } from './read-records.ts';

/**
 * Reads records again with their exact text, for a person who corrects them, because rows are not stored.
 * Stops after the last wanted record.
 *
 * @param wanted record numbers from `parseCsv` for the same text and options; 0 is the header.
 * @throws FileHeld like `parseCsv`.
 */
export async function* readRawRecords(
  text: AsyncIterable<Uint8Array>,
  options: ParseOptions,
  wanted: ReadonlySet<number>,
): AsyncGenerator<RawRecord> {
  let check: ReturnType<typeof recordChecker> | null = null;
  let number = 0;
  let left = wanted.size;
  if (left === 0) return;
  for await (const { records, rawOf, delimiter } of readRecords(text, options)) {
    for (const read of records) {
      const { cells, line } = read;
      if (check === null) check = recordChecker(cells ?? []);
      else if (cells === null || check(cells) !== 'blank') number += 1;
      else continue;
      if (!wanted.has(number)) continue;
      yield { record: number, line, raw: rawOf(read), cells, delimiter };
      left -= 1;
      if (left === 0) return;
    }
  }
}

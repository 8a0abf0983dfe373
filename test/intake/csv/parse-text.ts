import { FileHeld } from '../../../src/core/held/file-held.ts';
import type { CsvRecord, RejectedRow } from '../../../src/core/record.ts';
import { parseCsv } from '../../../src/intake/csv/parse-csv.ts';
import type { ParseOptions } from '../../../src/intake/csv/parse-options.ts';

export const PARSE_OPTIONS: ParseOptions = {
  delimiter: 'auto',
  quote: '"',
  preambleLines: 0,
  maxRecordBytes: 1024 ** 2,
};

export type Parsed = { header: readonly string[] | null; records: CsvRecord[]; rejected: RejectedRow[] };

/** Yields bytes as a source might deliver them, in pieces of any size. */
export async function* inPieces(text: string | Uint8Array, pieceBytes = 1_000): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** Parses a text and returns everything it yields. */
export async function parseText(
  text: string | Uint8Array,
  options: Partial<ParseOptions> = {},
): Promise<Parsed> {
  const parsed: Parsed = { header: null, records: [], rejected: [] };
  for await (const chunk of parseCsv(inPieces(text), { ...PARSE_OPTIONS, ...options })) {
    parsed.header = chunk.header;
    parsed.records.push(...chunk.records);
    parsed.rejected.push(...chunk.rejected);
  }
  return parsed;
}

/** Returns why a file is held; fails if it is not held. */
export async function holdReason(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; help: string }> {
  const outcome = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (outcome instanceof FileHeld) return outcome.reason;
  throw new Error(`the file was not held: ${String(outcome)}`);
}

/** Returns cells and position, for short expectations. */
export function placesOf(parsed: Parsed): (readonly [line: number, record: number, ...cells: string[]])[] {
  return parsed.records.map(({ line, record, cells }) => [line, record, ...cells] as const);
}

/** Returns code and position of the rejected rows. */
export function faultsOf(parsed: {
  readonly rejected: readonly RejectedRow[];
}): (readonly [string, number, number])[] {
  return parsed.rejected.map(({ code, line, record }) => [code, line, record] as const);
}

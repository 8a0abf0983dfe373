import { FileHeld } from '../../src/model/file-held.ts';
import type { CsvRecord, RejectedRow } from '../../src/model/record.ts';
import { parseCsv } from '../../src/parse/parse-csv.ts';
import type { ParseOptions } from '../../src/parse/parse-options.ts';

export const PARSE_OPTIONS: ParseOptions = {
  delimiter: 'auto',
  quote: '"',
  preambleLines: 0,
  maxRecordBytes: 1024 ** 2,
};

export type Parsed = {
  header: readonly string[] | null;
  records: CsvRecord[];
  rejected: RejectedRow[];
};

/** Bytes as a source might deliver them: in pieces of any size. */
export async function* inPieces(text: string | Uint8Array, pieceBytes = 1_000): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** Everything that comes of a text. */
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

/** Why a file is held; fails when it is not. */
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

/** Cells and place, for short expectations. */
export function placesOf(parsed: Parsed): (readonly [line: number, record: number, ...cells: string[]])[] {
  return parsed.records.map(({ line, record, cells }) => [line, record, ...cells] as const);
}

/** Code and place of what was rejected. */
export function faultsOf(parsed: {
  readonly rejected: readonly RejectedRow[];
}): (readonly [string, number, number])[] {
  return parsed.rejected.map(({ code, line, record }) => [code, line, record] as const);
}

import type { Layout } from '../model/layout.ts';
import type { CsvChunk } from '../model/record.ts';
import type { SourceFile } from '../model/source.ts';
import { parseCsv } from '../parse/parse-csv.ts';
import { toParseOptions } from '../parse/parse-options.ts';
import { type ReadTextOptions, readText } from '../source/read-text.ts';

export type OpenedRecords = {
  /** Can be read only once. @throws FileHeld while the records are read. */
  readonly records: AsyncGenerator<CsvChunk>;
  /** Digest of the whole text (see `TextRead`). Available only after the last record. */
  readonly digest: () => string;
};

/** Opens the records of a file with the encoding and the delimiters of a layout. */
export function openRecords(
  file: SourceFile,
  layout: Layout,
  options: Omit<ReadTextOptions, 'encoding'>,
): OpenedRecords {
  const { chunks, digest } = readText(file, { ...options, encoding: layout.encoding });
  return { records: parseCsv(chunks, toParseOptions(layout, options.source.limits)), digest };
}

import type { Layout } from '../model/layout.ts';
import type { CsvChunk } from '../model/record.ts';
import type { SourceFile } from '../model/source.ts';
import { parseCsv } from '../parse/parse-csv.ts';
import { toParseOptions } from '../parse/parse-options.ts';
import { type ReadTextOptions, readText } from '../source/read-text.ts';

export type OpenedRecords = {
  /** To be read once. @throws FileHeld while they are read. */
  readonly records: AsyncGenerator<CsvChunk>;
  /** Of the whole text, as `TextRead` has it. Only after the end. */
  readonly digest: () => string;
};

/** The records of a file as a layout encodes and splits it. */
export function openRecords(
  file: SourceFile,
  layout: Layout,
  options: Omit<ReadTextOptions, 'encoding'>,
): OpenedRecords {
  const { chunks, digest } = readText(file, { ...options, encoding: layout.encoding });
  return { records: parseCsv(chunks, toParseOptions(layout, options.source.limits)), digest };
}

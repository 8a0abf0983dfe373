import type { SourceLimits } from '../model/config.ts';
import type { Layout } from '../model/layout.ts';

/** How a delimited text is read. */
export type ParseOptions = {
  /** `auto`: whichever of comma, semicolon, tab and bar the header row has most of. */
  readonly delimiter: ',' | ';' | '\t' | '|' | 'auto';
  /** Null: quotes mean nothing. */
  readonly quote: '"' | null;
  /** Physical lines before the header. */
  readonly preambleLines: number;
  /** One record at most, in bytes; a longer one holds the file. */
  readonly maxRecordBytes: number;
  /** Text that is parsed at a time, in bytes: bounds a chunk. */
  readonly batchBytes?: number;
};

/** Reads a source's files as their layout says. */
export function toParseOptions(layout: Layout, limits: SourceLimits): ParseOptions {
  const { delimiter, quote, preambleLines } = layout;
  return { delimiter, quote, preambleLines, maxRecordBytes: limits.maxRecordBytes };
}

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

/** The records of a file that is being read before its turn. */
export type EarlyRecords = OpenedRecords & {
  /**
   * Resolves to all chunks of a small file that was read to its end, which stay available in `records`. Null if
   * it is not small, or could not be read: `records` then throws the error.
   */
  readonly whole: () => Promise<readonly CsvChunk[] | null>;
  /** Passes on the stored bytes that were read so far, and from then on each as it is read. */
  readonly tellBytes: (onStoredBytes: (count: number) => void) => void;
  /** Ends reading. Needed if the records are not read to their end. */
  readonly close: () => Promise<void>;
};

/** The records of a small file are one chunk, followed by its end. */
const EARLY_CHUNKS = 2;

export type EarlyOptions = Omit<ReadTextOptions, 'encoding' | 'onStoredBytes'> & {
  /** Reads the first records at once. Only for a small file: to close it, its bytes must have arrived. */
  readonly isEarly: boolean;
};

/**
 * Opens the records of a file, so that a small file is decoded and parsed while the database seals the one
 * before it. An error is thrown when the records are read.
 */
export function openEarly(
  file: SourceFile,
  layout: Layout,
  { isEarly, ...options }: EarlyOptions,
): EarlyRecords {
  let waiting = 0;
  let tell = (count: number): void => {
    waiting += count;
  };
  const { records, digest } = openRecords(file, layout, {
    ...options,
    onStoredBytes: (count) => tell(count),
  });
  const early = Array.from({ length: isEarly ? EARLY_CHUNKS : 0 }, () => records.next());
  // The error is thrown to whoever reads the records. Until then, it must not count as unhandled.
  for (const chunk of early) chunk.catch(() => {});

  async function* readEarly(): AsyncGenerator<CsvChunk> {
    try {
      for (const chunk of early) {
        const { done, value } = await chunk;
        if (done === true) return;
        yield value;
      }
      yield* records;
    } finally {
      await records.return(undefined);
    }
  }

  return {
    records: readEarly(),
    digest,
    async whole() {
      const chunks: CsvChunk[] = [];
      try {
        for (const chunk of early) {
          const { done, value } = await chunk;
          if (done === true) return chunks;
          chunks.push(value);
        }
      } catch {}
      return null;
    },
    tellBytes(onStoredBytes) {
      onStoredBytes(waiting);
      tell = onStoredBytes;
    },
    async close() {
      await records.return(undefined);
    },
  };
}

/** Opens the records of a file with the encoding and the delimiters of a layout. */
export function openRecords(
  file: SourceFile,
  layout: Layout,
  options: Omit<ReadTextOptions, 'encoding'>,
): OpenedRecords {
  const { chunks, digest } = readText(file, { ...options, encoding: layout.encoding });
  return { records: parseCsv(chunks, toParseOptions(layout, options.source.limits)), digest };
}

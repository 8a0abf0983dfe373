import { isAscii } from 'node:buffer';
import { FileHeld } from '../../core/held/file-held.ts';
import type { CsvChunk } from '../../core/record.ts';
import type { SourceFile } from '../../core/source.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { parseCsv } from '../csv/parse-csv.ts';
import { toParseOptions } from '../csv/parse-options.ts';
import { otherEncodings } from '../decode/guess-encoding.ts';
import { type ReadTextOptions, readText } from '../decode/read-text.ts';
import { listSpellings, quoteAll } from '../layout/resolve-header.ts';
import type { Layout } from '../layout/to-layout.ts';

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
  const seen = { isDamaged: false };
  const { encoding, name } = options.source;
  const text = holdMisread(chunks, { stated: encoding ?? layout.encoding, source: name });
  const records = parseCsv(watchDamage(text, seen), toParseOptions(layout, options.source.limits));
  return { records: holdDamaged(records, layout, seen), digest };
}

const REPLACEMENT = Buffer.from('\ufffd');
const DAMAGED = /[\u0080-\u009f\ufffd]/;

/**
 * Notices characters that no export writes: U+FFFD, and controls of the upper half, which a text has after it was
 * decoded wrongly. The bytes are searched, because nearly no file has any.
 */
async function* watchDamage(
  chunks: AsyncIterable<Uint8Array>,
  seen: { isDamaged: boolean },
): AsyncGenerator<Uint8Array> {
  let end = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!seen.isDamaged) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      seen.isDamaged = hasDamage(bytes) || hasDamage(Buffer.concat([end, bytes.subarray(0, 2)]));
      end = Buffer.from(bytes.subarray(-2));
    }
    yield chunk;
  }
}

function hasDamage(bytes: Buffer): boolean {
  if (bytes.includes(REPLACEMENT)) return true;
  // In UTF-8, the controls are 0xC2 0x80 to 0xC2 0x9F.
  for (let at = bytes.indexOf(0xc2); at !== -1; at = bytes.indexOf(0xc2, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next >= 0x80 && next <= 0x9f) return true;
  }
  return false;
}

/**
 * Holds a file in which such characters stand in a column that is read. Notes are searched for links only, so they
 * do not matter.
 */
async function* holdDamaged(
  records: AsyncGenerator<CsvChunk>,
  layout: Layout,
  seen: { readonly isDamaged: boolean },
): AsyncGenerator<CsvChunk> {
  for await (const chunk of records) {
    if (seen.isDamaged) {
      const read = new Set(listSpellings(layout).map(foldHeader));
      for (const name of layout.columns.notes ?? []) read.delete(foldHeader(name));
      const columns = chunk.header.flatMap((name, index) =>
        read.has(foldHeader(name)) ? [{ name, index }] : [],
      );
      for (const { cells, line } of chunk.records)
        for (const { name, index } of columns)
          if (DAMAGED.test(cells[index] ?? ''))
            throw new FileHeld({
              code: 'letters_lost',
              message: `Column ${quoteAll([name])} has characters on line ${line} that no export writes (U+FFFD, or controls): the text was decoded wrongly before it was written.`,
              help: 'Export the file again, as UTF-8. A code or an id with lost letters would be another one.',
            });
    }
    yield chunk;
  }
}

/** Length of the text in which contradictions are searched: lines with letters beyond ASCII. */
const MAX_CHARS = 256 * 1024;
/** A longer line is no row. */
const MAX_LINE_CHARS = 64 * 1024;

/**
 * Passes on the decoded text of a file, and holds the file at its end if its letters contradict the encoding that
 * the source or the layout states. Every byte has a meaning in most encodings of one byte, so decoding alone shows
 * nothing: a code in cp932 becomes another code.
 * @param stated the encoding that was stated. A byte order mark takes precedence, so UTF-8 may pass.
 */
async function* holdMisread(
  chunks: AsyncIterable<Uint8Array>,
  { stated, source }: { stated: string; source: string },
): AsyncGenerator<Uint8Array> {
  if (!isOfOneByte(stated)) return yield* chunks;
  const decoder = new TextDecoder();
  let seen = '';
  let rest = '';
  for await (const chunk of chunks) {
    if (seen.length >= MAX_CHARS || isAscii(chunk)) rest = '';
    else {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_CHARS) rest = '';
      for (const line of lines) if (/[^\0-\x7f]/.test(line)) seen += `${line}\n`;
    }
    yield chunk;
  }
  const others = otherEncodings(`${seen}${rest}`, stated);
  if (others !== null) throw misread(stated, source, others);
}

/** True if an encoding has one byte for each character, so that no bytes are invalid in it. */
function isOfOneByte(label: string): boolean {
  try {
    return /^(?:windows-125|koi8|ibm866|macintosh|iso-8859)/.test(new TextDecoder(label).encoding);
  } catch {
    return false;
  }
}

function misread(stated: string, source: string, others: readonly string[]): FileHeld {
  const [first = ''] = others;
  return new FileHeld({
    code: 'wrong_encoding',
    message: `Read as ${stated}, words with letters beyond ASCII are words of no language. As ${others.join(' or ')}, all of them are.`,
    help: `Set encoding: ${first} under sources.${source}${others.length === 1 ? '' : ', or the other encoding in which the words look right'}: \`npx influencer-sync layouts test FILE --encoding ${first}\` shows them. If ${stated} is right, export the file as UTF-8. A code in the wrong encoding is another code.`,
  });
}

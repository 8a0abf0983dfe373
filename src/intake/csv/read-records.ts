import { setImmediate as nextTurn } from 'node:timers/promises';
import { FileHeld } from '../../core/held/file-held.ts';
import { findHeader, type HeaderPosition } from './find-header.ts';
import type { ParseOptions } from './parse-options.ts';
import { type ReadRecord, RecordReader } from './records/record-reader.ts';

/** The records of one piece of the text. The first record of a file is its header. */
export type RecordBatch = {
  readonly records: readonly ReadRecord[];
  readonly delimiter: string;
  /** True if nothing follows. */
  readonly isLast: boolean;
  /** True if the text ends within the last of the records, whose last cell may continue. */
  readonly isOpenAtEnd: boolean;
  /** Returns the text of one of these records, without its line break. */
  readonly rawOf: (record: ReadRecord) => string;
};

/**
 * Size of a piece: large enough that the overhead for each piece is negligible, small enough that its records
 * take a few megabytes at most.
 */
const PIECE_BYTES = 64 * 1024;

/**
 * Maximum number of broken rows. Each costs as much as a hundred good ones, so all of them together take some
 * seconds.
 */
const MAX_BROKEN_ROWS = 20_000;

/**
 * Splits a text into records, starting with the header.
 *
 * @throws FileHeld `empty_file`, `header_too_long`, `unclosed_quote`, `record_too_long`, `broken_quotes`.
 */
export async function* readRecords(
  text: AsyncIterable<Uint8Array>,
  options: ParseOptions,
): AsyncGenerator<RecordBatch> {
  const pieces = cutPieces(text, options.batchBytes ?? PIECE_BYTES);
  try {
    const { place, rest } = await readHead(pieces, options);
    const { quote, maxRecordBytes, maxBrokenRows = MAX_BROKEN_ROWS } = options;
    const { delimiter, line } = place;
    const settings = { delimiter, quote, maxRecordBytes, maxBrokenRows, line };
    const reader = new RecordReader(settings);
    const rawOf = (record: ReadRecord): string => reader.rawOf(record);
    const within = { delimiter, isLast: false, isOpenAtEnd: false, rawOf };
    yield { records: await reader.read(rest), ...within };
    for await (const piece of pieces) {
      yield { records: await reader.read(piece), ...within };
      // Yield to the event loop. If reading is faster than parsing, answers of the database would otherwise
      // never be processed.
      await nextTurn();
    }
    const records = await reader.finish();
    yield { records, ...within, isLast: true, isOpenAtEnd: reader.isOpenAtEnd };
  } finally {
    await pieces.return(undefined); // Releases the source, even if the reader stops early.
  }
}

async function readHead(
  pieces: AsyncGenerator<Buffer>,
  options: ParseOptions,
): Promise<{ readonly place: HeaderPosition; readonly rest: Buffer }> {
  let head: Buffer = Buffer.alloc(0);
  for (;;) {
    const next = await pieces.next();
    if (next.done !== true) head = Buffer.concat([head, next.value]);
    const place = findHeader(head, options, next.done === true);
    if (place === 'none') throw emptyFile(head.length);
    if (place !== null) return { place, rest: head.subarray(place.offset) };
    if (head.length > options.maxRecordBytes) throw headerTooLong(options.maxRecordBytes);
  }
}

function emptyFile(bytes: number): FileHeld {
  return new FileHeld({
    code: 'empty_file',
    message: bytes === 0 ? 'The file is empty, without even a header.' : 'The file has no header row.',
    help: 'Export it again. An export without orders still has a header.',
  });
}

function headerTooLong(maxBytes: number): FileHeld {
  return new FileHeld({
    code: 'header_too_long',
    message: `No header row ends within the first ${maxBytes} bytes.`,
    help: 'This does not look like delimited text. Check that this is the right kind of file.',
  });
}

/**
 * Splits a stream of bytes into pieces of equal size (the last may be shorter), so that the result does not
 * depend on how the network split it.
 */
export async function* cutPieces(
  text: AsyncIterable<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of text) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (size + rest.length >= pieceBytes) {
      const taken = pieceBytes - size;
      yield parts.length === 0 ? rest.subarray(0, taken) : Buffer.concat([...parts, rest.subarray(0, taken)]);
      parts = [];
      size = 0;
      rest = rest.subarray(taken);
    }
    if (rest.length > 0) parts.push(rest);
    size += rest.length;
  }
  if (size > 0) yield Buffer.concat(parts);
}

import { isUtf8 } from 'node:buffer';
import type { SourceSettings } from '../../../config/source-fields.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import type { Layout } from '../../../core/layout.ts';
import type { CsvChunk } from '../../../core/record.ts';
import type { SourceFile } from '../../../core/source.ts';
import { findMark } from '../../../intake/decode/decode-text.ts';
import { decompress, type FileFormat } from '../../../intake/decode/decompress.ts';
import { guessEncoding, type PossibleEncoding } from '../../../intake/decode/guess-encoding.ts';
import { openFile } from '../../../intake/decode/open-file.ts';
import { peek } from '../../../intake/decode/peek.ts';
import { openRecords } from '../../../intake/read/open-records.ts';
import type { SourceClients } from '../../../store/source-clients.ts';

/** What is needed to read a file for the first time: its source with the limits, and access to its store. */
export type ReadingMeans = {
  readonly source: SourceSettings;
  readonly clients: SourceClients;
  readonly signal?: AbortSignal;
  /** The encoding that a person states for files whose bytes do not show theirs. */
  readonly assumedEncoding?: string | null;
};

/** How the bytes of a file become text. */
export type TextForm = {
  readonly format: FileFormat;
  /** Null means UTF-8, or the encoding of the byte order mark. */
  readonly encoding: string | null;
};

/** Whether the encoding of a file is known. If not, a person must name one: the source's `encoding`. */
export type DetectedForm = TextForm & { readonly possible: readonly PossibleEncoding[] | null };

/** Says in which encodings a file could be read, with words as they would look. */
export function describeEncodings(possible: readonly PossibleEncoding[]): string {
  const listed = possible.map(({ encoding, samples }) => `${encoding}: ${samples.join(', ')}`);
  return `Its text is not UTF-8, and its letters do not show which encoding it has${listed.length === 0 ? '.' : `. It may be ${listed.join('; ')}.`}`;
}

/**
 * Number of bytes in which the encoding is detected. If it does not hold further down, a run reports the
 * line.
 */
const HEAD_BYTES = 256 * 1024;
/** Maximum number of bytes of a character that is cut off at the end of the head. */
const LONGEST_CHARACTER = 4;

/**
 * Reads the beginning of a file to detect its compression and encoding. What the source or a person
 * states counts if the bytes do not show it.
 *
 * @throws FileHeld for the same reasons as in a run.
 */
export async function detectTextForm(
  file: SourceFile,
  { source, clients, signal, assumedEncoding }: ReadingMeans,
): Promise<DetectedForm> {
  let format: FileFormat = 'plain';
  const content = decompress(openFile(file, { source, clients, ...(signal ? { signal } : {}) }), {
    uri: file.uri,
    limits: source.limits,
    onFormat: (found) => {
      format = found;
    },
  });
  const { head, all } = await peek(content, HEAD_BYTES);
  await (all as AsyncGenerator<Uint8Array>).return(undefined);
  const shown = encodingOf(head);
  if (shown !== 'other') return { format, encoding: shown, possible: null };
  const stated = source.encoding ?? assumedEncoding ?? null;
  if (stated !== null) return { format, encoding: stated, possible: null };
  const guessed = guessEncoding(head);
  return guessed.kind === 'known'
    ? { format, encoding: guessed.encoding, possible: null }
    : { format, encoding: null, possible: guessed.possible };
}

/** The encoding that the bytes prove: null for UTF-8 or a byte order mark, `other` if they prove none. */
function encodingOf(head: Buffer): 'utf-16le' | 'utf-16be' | 'other' | null {
  if (findMark(head) !== null) return null;
  // UTF-16 without a byte order mark: nearly every other byte of a header is zero. A single NUL is damage,
  // which a run reports.
  const zeros = { even: 0, odd: 0 };
  const looked = head.subarray(0, 1_024);
  for (const [at, byte] of looked.entries()) if (byte === 0) zeros[at % 2 === 0 ? 'even' : 'odd'] += 1;
  if (zeros.odd > looked.length / 4 && zeros.even === 0) return 'utf-16le';
  if (zeros.even > looked.length / 4 && zeros.odd === 0) return 'utf-16be';
  const isWhole = head.length < HEAD_BYTES;
  for (let cut = 0; cut < (isWhole ? 1 : LONGEST_CHARACTER); cut += 1)
    if (isUtf8(head.subarray(0, head.length - cut))) return null;
  return 'other';
}

/**
 * Opens the records of a file with the delimiters of a layout and the detected encoding. @throws FileHeld
 * while the records are read.
 */
export function openDetected(
  file: SourceFile,
  layout: Layout,
  { source, clients, signal, encoding }: ReadingMeans & { readonly encoding: string | null },
): AsyncGenerator<CsvChunk> {
  const detected = encoding === null ? source : { ...source, encoding };
  return openRecords(file, layout, { source: detected, clients, ...(signal ? { signal } : {}) }).records;
}

/**
 * Reads the header row and some rows below it, with the delimiters of one layout. Returns `held` if the file
 * cannot be split in this way.
 */
export async function readTop(
  file: SourceFile,
  layout: Layout,
  means: ReadingMeans & { readonly encoding: string | null },
): Promise<CsvChunk | { readonly held: FileHeld }> {
  let top: CsvChunk = { header: [], records: [], rejected: [], lost: [], open: null };
  try {
    for await (const { header, records, rejected } of openDetected(file, layout, means)) {
      const all = { records: [...top.records, ...records], rejected: [...top.rejected, ...rejected] };
      top = { header, ...all, lost: [], open: null };
      if (top.records.length >= TOP_ROWS) break;
    }
  } catch (error) {
    // Problems further down are reported when the values are read.
    if (error instanceof FileHeld) return top.header.length > 0 ? top : { held: error };
    throw error;
  }
  return top;
}

/** Number of rows that are enough to recognise the values of a column. */
const TOP_ROWS = 500;

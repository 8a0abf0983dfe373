import { isUtf8 } from 'node:buffer';
import type { SourceSettings } from '../../model/config.ts';
import { FileHeld } from '../../model/file-held.ts';
import type { Layout } from '../../model/layout.ts';
import type { CsvChunk } from '../../model/record.ts';
import type { SourceFile } from '../../model/source.ts';
import { findMark } from '../../source/decode/decode-text.ts';
import { decompress, type FileFormat } from '../../source/decode/decompress.ts';
import { peek } from '../../source/decode/peek.ts';
import { openFile } from '../../source/open-file.ts';
import type { SourceClients } from '../../source/source-clients.ts';
import { openRecords } from '../open-records.ts';

/** What is needed to read a file for the first time: its source with the limits, and access to its store. */
export type ReadingMeans = {
  readonly source: SourceSettings;
  readonly clients: SourceClients;
  readonly signal?: AbortSignal;
};

/** How the bytes of a file become text. */
export type TextForm = {
  readonly format: FileFormat;
  /** Null means UTF-8, or the encoding of the byte order mark. */
  readonly encoding: string | null;
};

/**
 * Number of bytes in which the encoding is detected. If it does not hold further down, a run reports the
 * line.
 */
const HEAD_BYTES = 256 * 1024;
/** Maximum number of bytes of a character that is cut off at the end of the head. */
const LONGEST_CHARACTER = 4;

/**
 * Reads the beginning of a file to detect its compression and encoding.
 *
 * @throws FileHeld for the same reasons as in a run.
 */
export async function detectTextForm(
  file: SourceFile,
  { source, clients, signal }: ReadingMeans,
): Promise<TextForm> {
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
  return { format, encoding: encodingOf(head) };
}

function encodingOf(head: Buffer): string | null {
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
  return 'windows-1252';
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

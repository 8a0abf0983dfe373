import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transform } from 'node:stream';
import { crc32, createGunzip, createZstdDecompress } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import type { SourceLimits } from '../../config/source-fields.ts';
import { errorCode } from '../../core/error-code.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import { peek } from './peek.ts';

/** A file that is decompressed, and how much content it may have. */
type LimitedFile = {
  /** Address of the file, for messages. */
  readonly uri: string;
  readonly limits: Pick<SourceLimits, 'maxBytes' | 'maxRatio'>;
};

export type FileFormat = 'plain' | 'gzip' | 'zstd' | 'zip';

export type DecompressOptions = LimitedFile & {
  /** Called once, before the first byte. */
  readonly onFormat?: (format: FileFormat) => void;
};

/**
 * Magic numbers: RFC 1952, RFC 8878 (a frame, or a skippable frame as in files of pzstd), and the first
 * header of a zip, which is its only one if the zip is empty.
 */
const LONGEST_MAGIC_BYTES = 4;

/**
 * Decompresses a file by its content, whatever its name is: gzip (with one or more members), zstd (with one
 * or more frames), a zip that contains one CSV, or plain. Memory does not grow with the file. A zip must be
 * read from its end and is stored in a private temporary file.
 *
 * @throws FileHeld `truncated_gzip`, `damaged_gzip`, `truncated_zstd`, `damaged_zstd`, `damaged_zip`,
 * `encrypted_zip`, `zip_not_one_csv`, `too_large`, `compression_bomb`.
 */
export async function* decompress(
  bytes: AsyncIterable<Uint8Array>,
  { uri, limits, onFormat }: DecompressOptions,
): AsyncGenerator<Uint8Array> {
  const { head, all } = await peek(bytes, LONGEST_MAGIC_BYTES);
  const format = formatOf(head);
  onFormat?.(format);
  const stored = { bytes: 0 };
  const input = count(all, stored);
  if (format === 'plain') yield* capSize(input, { uri, limits });
  else if (format === 'zip') yield* unzip(input, { uri, limits });
  else yield* capSize(inflate(input, { uri, format }), { uri, limits }, () => stored.bytes);
}

function formatOf(head: Buffer): FileFormat {
  if (head.length >= 2 && head.readUInt16BE(0) === 0x1f_8b) return 'gzip';
  if (head.length < LONGEST_MAGIC_BYTES) return 'plain';
  const magic = head.readUInt32LE(0);
  if (magic === 0xfd_2f_b5_28 || (magic >= 0x18_4d_2a_50 && magic <= 0x18_4d_2a_5f)) return 'zstd';
  if (magic === 0x04_03_4b_50 || magic === 0x06_05_4b_50) return 'zip';
  return 'plain';
}

async function* count(
  bytes: AsyncIterable<Uint8Array>,
  counter: { bytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    counter.bytes += chunk.length;
    yield chunk;
  }
}

/** Below this size a high ratio is harmless. A small export with equal rows also has one. */
const HARMLESS_BYTES = 16 * 1_024 ** 2;

/**
 * Passes content through until it exceeds a limit, so that a decompression bomb cannot fill the disk or the
 * memory.
 */
async function* capSize(
  bytes: AsyncIterable<Uint8Array>,
  { uri, limits }: LimitedFile,
  storedBytes?: () => number,
): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    if (total > limits.maxBytes) throw tooLarge(uri, limits.maxBytes);
    if (storedBytes && total > HARMLESS_BYTES && total > storedBytes() * limits.maxRatio)
      throw new FileHeld({
        code: 'compression_bomb',
        message: `${uri} has more than ${limits.maxRatio} bytes of content for each compressed byte, which no real export has.`,
        help: 'Check the origin of the file. Raise limits.max_ratio of the source only if the file is correct.',
      });
    yield chunk;
  }
}

/** Creates the hold for a file with more content than the source allows. */
function tooLarge(uri: string, maxBytes: number): FileHeld {
  return new FileHeld({
    code: 'too_large',
    message: `${uri} has more than ${maxBytes} bytes of content.`,
    help: 'Raise limits.max_bytes of the source if the file is correct. Otherwise export it in parts.',
  });
}

/** Larger than the default of 16 KiB, to process the same bytes in fewer steps. */
const CHUNK_BYTES = 256 * 1_024;

/**
 * Limit for small parts (frames or members). Each part needs its own decompressor, which costs far more than
 * decompressing a few bytes. Programs that compress in parallel write parts of some hundred kilobytes.
 */
const MANY_PARTS = 1_000;
const LEAST_PART_BYTES = 1_024;

type Compressed = { readonly uri: string; readonly format: 'gzip' | 'zstd' };

/**
 * Decompresses all members (gzip) or frames (zstd) of a file, and checks that every byte belongs to one.
 *
 * Node's decompressors end without an error if they cannot continue: gunzip before zeros, zstd after the
 * first frame if the next one is in the same piece. The remaining bytes are therefore written to a new
 * decompressor, which accepts another frame and refuses anything else.
 */
async function* inflate(
  bytes: AsyncIterable<Uint8Array>,
  { uri, format }: Compressed,
): AsyncGenerator<Uint8Array> {
  const input = bytes[Symbol.asyncIterator]();
  let rest: Uint8Array | null = null;
  const create = format === 'gzip' ? createGunzip : createZstdDecompress;
  let parts = 0;
  let storedBytes = 0;
  try {
    do {
      const engine = create({ chunkSize: CHUNK_BYTES });
      const feed = feeder(engine, { input, first: rest });
      try {
        yield* engine as AsyncIterable<Buffer>;
      } catch (error) {
        throw toFileHeld(error, { uri, format });
      } finally {
        engine.destroy();
      }
      rest = feed.rest();
      parts += 1;
      storedBytes += engine.bytesWritten;
      if (parts > MANY_PARTS && storedBytes < parts * LEAST_PART_BYTES) throw tooManyParts({ uri, format });
      if (rest !== null && engine.bytesWritten === 0) {
        throw damaged({ uri, format }, 'there is more data after its end');
      }
    } while (rest !== null);
  } finally {
    await input.return?.();
  }
}

/**
 * Writes input to a decompressor one piece at a time, to determine which bytes of the last piece it did not
 * consume.
 */
function feeder(
  engine: Transform & { readonly bytesWritten: number },
  { input, first }: { input: AsyncIterator<Uint8Array>; first: Uint8Array | null },
): { readonly rest: () => Uint8Array | null } {
  let fedBytes = 0;
  let last: Uint8Array = new Uint8Array();

  async function feed(): Promise<void> {
    let next: Uint8Array | null = first;
    while (!engine.destroyed) {
      if (next === null) {
        const { done, value } = await input.next();
        if (done) return void engine.end();
        next = value;
      }
      if (next.length > 0) {
        last = next;
        fedBytes += last.length;
        await new Promise<void>((resolve) => engine.write(last, () => resolve()));
        // The decompressor ended within this piece. The next decompressor gets the next piece.
        if (engine.bytesWritten < fedBytes) return;
      }
      next = null;
    }
  }

  feed().catch((error: unknown) => engine.destroy(error instanceof Error ? error : new Error(String(error))));
  return {
    rest: () => {
      const leftBytes = fedBytes - engine.bytesWritten;
      return leftBytes > 0 ? last.subarray(last.length - leftBytes) : null;
    },
  };
}

function toFileHeld(error: unknown, file: Compressed): unknown {
  const code = errorCode(error) ?? '';
  if (code === 'Z_BUF_ERROR') {
    return new FileHeld(
      {
        code: `truncated_${file.format}`,
        message: `${file.uri} ends early: a part of the ${file.format} file is missing.`,
        help: 'Upload the file again. The upload or the export was interrupted.',
      },
      error,
    );
  }
  if (code.startsWith('Z_') || code.startsWith('ZSTD_')) return damaged(file, (error as Error).message);
  return error;
}

function tooManyParts({ uri, format }: Compressed): FileHeld {
  return new FileHeld({
    code: 'compression_bomb',
    message: `${uri} consists of more than ${MANY_PARTS} ${format} parts of less than ${LEAST_PART_BYTES} bytes each, which no program writes.`,
    help: 'Check the origin of the file, and compress it again as a whole.',
  });
}

function damaged({ uri, format }: Compressed, why: string): FileHeld {
  return new FileHeld({
    code: `damaged_${format}`,
    message: `${uri} is a damaged ${format} file: ${why}.`,
    help: `Upload the file again. To see what is wrong:  ${format} -t <file>`,
  });
}

/** Names of exports inside a zip. */
const CSV_NAME = /\.(csv|tsv|tab|txt)$/i;

/** Maximum number of names in a message. */
const NAMES_SHOWN = 10;

/** A zip with more entries is not an export. */
const MAX_ENTRIES = 1_000;

/**
 * Extracts the only CSV of a zip file. A zip must be read from its end, so it is first stored in a private
 * temporary file.
 */
async function* unzip(
  bytes: AsyncIterable<Uint8Array>,
  { uri, limits }: LimitedFile,
): AsyncGenerator<Uint8Array> {
  const { fromFdPromise } = await import('yauzl');
  const file = await spool(bytes, { uri, maxBytes: limits.maxBytes });
  try {
    const zip = await fromFdPromise(file.fd, { autoClose: false, lazyEntries: true });
    const entry = chooseEntry(await listEntries(zip), uri);
    if (entry.isEncrypted())
      throw new FileHeld({
        code: 'encrypted_zip',
        message: `${uri} is protected by a password.`,
        help: 'Upload it without a password, or as gzip.',
      });
    const content = readEntry(zip, { entry, uri });
    yield* capSize(content, { uri, limits }, () => entry.compressedSize);
  } catch (error) {
    if (error instanceof FileHeld || !(error instanceof Error)) throw error;
    throw damagedZip(uri, error.message, error);
  } finally {
    await file.close();
  }
}

async function listEntries(zip: ZipFile): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    entries.push(entry);
    if (entries.length > MAX_ENTRIES) break;
  }
  return entries;
}

function chooseEntry(entries: readonly Entry[], uri: string): Entry {
  const files = entries.filter(
    ({ fileName }) => !/(\/|^__MACOSX\/.*)$/.test(fileName) && !/(^|\/)\./.test(fileName),
  );
  const [entry, ...others] = files.filter(({ fileName }) => CSV_NAME.test(fileName));
  if (entry !== undefined && others.length === 0) return entry;
  const isWorkbook = files.some(({ fileName }) => fileName === 'xl/workbook.xml');
  const names = files.slice(0, NAMES_SHOWN).map(({ fileName }) => fileName);
  if (files.length > NAMES_SHOWN) names.push('…');
  throw new FileHeld({
    code: 'zip_not_one_csv',
    message: isWorkbook
      ? `${uri} is an Excel workbook, not a CSV.`
      : `${uri} must contain exactly one CSV file; it contains ${names.length === 0 ? 'no file' : names.join(', ')}.`,
    help: isWorkbook
      ? 'Export it as CSV (UTF-8).'
      : // Only a person can tell parts of an export from lists of unsubscribed members.
        'Unpack it and upload each CSV file of this source separately; a folder can have any number. Leave out lists of people who unsubscribed, and files of another kind.',
  });
}

/** Reads an entry and verifies its checksum. yauzl verifies only its length. */
async function* readEntry(
  zip: ZipFile,
  { entry, uri }: { entry: Entry; uri: string },
): AsyncGenerator<Uint8Array> {
  const stream = await zip.openReadStreamPromise(entry);
  let checksum = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
  if (checksum !== entry.crc32) throw damagedZip(uri, 'the checksum of its content does not match');
}

function damagedZip(uri: string, why: string, cause?: unknown): FileHeld {
  return new FileHeld(
    {
      code: 'damaged_zip',
      message: `${uri} is a damaged zip file: ${why.replace(/(?<!\.)\.+$/, '')}.`,
      help: 'Upload the file again. To see what is wrong:  unzip -t <file>',
    },
    cause,
  );
}

/**
 * Stores a stream in a temporary file that only this process can access. Its name is removed before the first
 * byte is written, so nothing remains, not even after SIGKILL.
 */
async function spool(
  bytes: AsyncIterable<Uint8Array>,
  { uri, maxBytes }: { uri: string; maxBytes: number },
): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'influencer-sync-'));
  const file = await open(join(folder, 'spool'), 'wx+', 0o600).finally(() =>
    rm(folder, { recursive: true, force: true }),
  );
  try {
    let total = 0;
    for await (const chunk of bytes) {
      total += chunk.length;
      if (total > maxBytes) throw tooLarge(uri, maxBytes);
      await file.writeFile(chunk);
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import type { SourceLimits } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import { capSize, tooLarge } from './cap-size.ts';

export type UnzipOptions = {
  readonly uri: string;
  readonly limits: Pick<SourceLimits, 'maxBytes' | 'maxRatio'>;
};

/** Names of exports inside a zip. */
const CSV_NAME = /\.(csv|tsv|tab|txt)$/i;

/** Maximum number of names in a message. */
const NAMES_SHOWN = 10;

/** A zip with more entries is not an export. */
const MAX_ENTRIES = 1_000;

/**
 * Extracts the only CSV of a zip file. A zip must be read from its end, so it is first stored in a private
 * temporary file.
 *
 * @throws FileHeld `damaged_zip`, `encrypted_zip`, `zip_not_one_csv`, `too_large`, `compression_bomb`.
 */
export async function* unzip(
  bytes: AsyncIterable<Uint8Array>,
  { uri, limits }: UnzipOptions,
): AsyncGenerator<Uint8Array> {
  const { fromFdPromise } = await import('yauzl');
  const file = await spool(bytes, { uri, maxBytes: limits.maxBytes });
  try {
    const zip = await fromFdPromise(file.fd, { autoClose: false, lazyEntries: true });
    const entry = chooseEntry(await listEntries(zip), uri);
    if (entry.isEncrypted()) throw encrypted(uri);
    const content = readEntry(zip, { entry, uri });
    yield* capSize(content, { uri, limits, storedBytes: () => entry.compressedSize });
  } catch (error) {
    if (error instanceof FileHeld || !(error instanceof Error)) throw error;
    throw damaged(uri, error.message, error);
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
  { entry, uri }: { readonly entry: Entry; readonly uri: string },
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
  if (checksum !== entry.crc32) throw damaged(uri, 'the checksum of its content does not match');
}

function encrypted(uri: string): FileHeld {
  return new FileHeld({
    code: 'encrypted_zip',
    message: `${uri} is protected by a password.`,
    help: 'Upload it without a password, or as gzip.',
  });
}

function damaged(uri: string, why: string, cause?: unknown): FileHeld {
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
  { uri, maxBytes }: { readonly uri: string; readonly maxBytes: number },
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

import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { SourceLimits } from '../../config/source-fields.ts';
import { capSize } from './cap-size.ts';
import { inflate } from './inflate.ts';
import { peek } from './peek.ts';
import { unzip } from './unzip.ts';

export type FileFormat = 'plain' | 'gzip' | 'zstd' | 'zip';

export type DecompressOptions = {
  /** Address of the file, for messages. */
  readonly uri: string;
  readonly limits: Pick<SourceLimits, 'maxBytes' | 'maxRatio'>;
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
  else {
    const content = inflate(input, {
      uri,
      format,
      create: format === 'gzip' ? createGunzip : createZstdDecompress,
    });
    yield* capSize(content, { uri, limits, storedBytes: () => stored.bytes });
  }
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

import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { SourceLimits } from '../../model/config.ts';
import { capSize } from './cap-size.ts';
import { inflate } from './inflate.ts';
import { peek } from './peek.ts';
import { unzip } from './unzip.ts';

export type FileFormat = 'plain' | 'gzip' | 'zstd' | 'zip';

export type DecompressOptions = {
  /** For messages. */
  readonly uri: string;
  readonly limits: Pick<SourceLimits, 'maxBytes' | 'maxRatio'>;
  /** Told once, before the first byte. */
  readonly onFormat?: (format: FileFormat) => void;
};

/** Magic numbers: RFC 1952, RFC 8878 (a frame, or a skippable one as pzstd begins with), and a zip's first or, when empty, only header. */
const LONGEST_MAGIC_BYTES = 4;

/**
 * The content of a file, whatever its name says: gzip (also of several members), zstd (also of several frames), zip with one CSV in it, or
 * plain. Memory does not grow with the file; a zip, which is read from its end, goes through a private temporary file.
 *
 * @throws FileHeld `truncated_gzip`, `damaged_gzip`, `truncated_zstd`, `damaged_zstd`, `damaged_zip`, `encrypted_zip`, `zip_not_one_csv`,
 *   `too_large`, `compression_bomb`.
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

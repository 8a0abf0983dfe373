import type { SourceLimits } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';

export type CapSizeOptions = {
  readonly uri: string;
  readonly limits: Pick<SourceLimits, 'maxBytes' | 'maxRatio'>;
  /** Number of compressed bytes read so far. Omitted if nothing is compressed. */
  readonly storedBytes?: () => number;
};

/** Below this size a high ratio is harmless. A small export with equal rows also has one. */
const HARMLESS_BYTES = 16 * 1_024 ** 2;

/**
 * Passes content through until it exceeds a limit, so that a decompression bomb cannot fill the disk or the
 * memory.
 */
export async function* capSize(
  bytes: AsyncIterable<Uint8Array>,
  { uri, limits, storedBytes }: CapSizeOptions,
): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    if (total > limits.maxBytes) throw tooLarge(uri, limits.maxBytes);
    if (storedBytes && total > HARMLESS_BYTES && total > storedBytes() * limits.maxRatio)
      throw bomb(uri, limits.maxRatio);
    yield chunk;
  }
}

/** Creates the hold for a file with more content than the source allows. */
export function tooLarge(uri: string, maxBytes: number): FileHeld {
  return new FileHeld({
    code: 'too_large',
    message: `${uri} has more than ${maxBytes} bytes of content.`,
    help: 'Raise limits.max_bytes of the source if the file is correct. Otherwise export it in parts.',
  });
}

function bomb(uri: string, maxRatio: number): FileHeld {
  return new FileHeld({
    code: 'compression_bomb',
    message: `${uri} has more than ${maxRatio} bytes of content for each compressed byte, which no real export has.`,
    help: 'Check the origin of the file. Raise limits.max_ratio of the source only if the file is correct.',
  });
}

import type { SourceLimits } from '../../model/config.ts';
import { FileHeld } from '../../model/file-held.ts';

export type CapSizeOptions = {
  readonly uri: string;
  readonly limits: Pick<SourceLimits, 'maxBytes' | 'maxRatio'>;
  /** Compressed bytes so far; left out where nothing is compressed. */
  readonly storedBytes?: () => number;
};

/** Below this a high ratio does no harm: a small export of equal rows has one, too. */
const HARMLESS_BYTES = 16 * 1_024 ** 2;

/** Passes content on until it is too much of it: no disk and no memory is filled by a bomb. */
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

/** The file has more content than the source allows. */
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

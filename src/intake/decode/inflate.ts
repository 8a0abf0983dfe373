import type { Transform } from 'node:stream';
import type { Gunzip, ZstdDecompress } from 'node:zlib';
import { FileHeld } from '../../core/held/file-held.ts';

export type InflateOptions = {
  /** Address of the file, for messages. */
  readonly uri: string;
  readonly format: 'gzip' | 'zstd';
  readonly create: (options: { chunkSize: number }) => Gunzip | ZstdDecompress;
};

/** Larger than the default of 16 KiB, to process the same bytes in fewer steps. */
const CHUNK_BYTES = 256 * 1_024;

/**
 * Limit for small parts (frames or members). Each part needs its own decompressor, which costs far more than
 * decompressing a few bytes. Programs that compress in parallel write parts of some hundred kilobytes.
 */
const MANY_PARTS = 1_000;
const LEAST_PART_BYTES = 1_024;

/**
 * Decompresses all members (gzip) or frames (zstd) of a file, and checks that every byte belongs to one.
 *
 * Node's decompressors end without an error if they cannot continue: gunzip before zeros, zstd after the
 * first frame if the next one is in the same piece. The remaining bytes are therefore written to a new
 * decompressor, which accepts another frame and refuses anything else.
 */
export async function* inflate(
  bytes: AsyncIterable<Uint8Array>,
  { uri, format, create }: InflateOptions,
): AsyncGenerator<Uint8Array> {
  const input = bytes[Symbol.asyncIterator]();
  let rest: Uint8Array | null = null;
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
  { input, first }: { readonly input: AsyncIterator<Uint8Array>; readonly first: Uint8Array | null },
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

function toFileHeld(
  error: unknown,
  file: { readonly uri: string; readonly format: 'gzip' | 'zstd' },
): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
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

function tooManyParts({ uri, format }: { readonly uri: string; readonly format: string }): FileHeld {
  return new FileHeld({
    code: 'compression_bomb',
    message: `${uri} consists of more than ${MANY_PARTS} ${format} parts of less than ${LEAST_PART_BYTES} bytes each, which no program writes.`,
    help: 'Check the origin of the file, and compress it again as a whole.',
  });
}

function damaged({ uri, format }: { readonly uri: string; readonly format: string }, why: string): FileHeld {
  return new FileHeld({
    code: `damaged_${format}`,
    message: `${uri} is a damaged ${format} file: ${why}.`,
    help: `Upload the file again. To see what is wrong:  ${format} -t <file>`,
  });
}

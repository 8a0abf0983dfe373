import type { Readable } from 'node:stream';
import type { S3Client } from './create-s3-client.ts';
import { isTimeout } from './explain-s3-error.ts';

/** A read that ended before it should. */
export class ReadBroken extends Error {
  readonly code: 'read_cut' | 'read_stalled' | 'read_damaged';

  constructor(code: ReadBroken['code'], cause?: unknown) {
    super(code, { cause });
    this.name = 'ReadBroken';
    this.code = code;
  }
}

/** One answer's body. */
export type S3Body = {
  /**
   * The next bytes, or null at the end.
   *
   * @throws ReadBroken after a cut, a stall, or a checksum that does not fit.
   */
  readonly next: () => Promise<Uint8Array | null>;
  /** Ends the connection. */
  readonly destroy: () => void;
};

export type S3BodyOptions = {
  readonly client: S3Client;
  /** First byte that is wanted. */
  readonly offset: number;
  readonly signal?: AbortSignal;
};

/** Asks for an object from `offset` on, pinned to its ETag. Fails with the SDK's error (412: it was replaced). */
export async function openS3Body(
  object: { readonly bucket: string; readonly key: string; readonly etag: string },
  { client, offset, signal }: S3BodyOptions,
): Promise<S3Body> {
  const answer = await client.api.getObject(
    {
      Bucket: object.bucket,
      Key: object.key,
      IfMatch: object.etag,
      ...(offset > 0 ? { Range: `bytes=${offset}-` } : {}),
    },
    signal ? { abortSignal: signal } : {},
  );
  const stream = answer.Body as Readable;
  // An error that comes while nobody waits must not end the process; the next read reports it.
  stream.on('error', () => {});
  if (offset > 0 && !answer.ContentRange?.startsWith(`bytes ${offset}-`)) {
    stream.destroy();
    throw new Error('The store does not honour Range: a cut read cannot go on.');
  }
  return toBody(stream);
}

function toBody(stream: Readable): S3Body {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  return {
    destroy: () => void stream.destroy(),
    next: async () => {
      try {
        const { done, value } = await chunks.next();
        return done ? null : value;
      } catch (error) {
        if (isTimeout(error)) throw new ReadBroken('read_stalled', error);
        const isDamaged = error instanceof Error && error.message.startsWith('Checksum mismatch');
        throw new ReadBroken(isDamaged ? 'read_damaged' : 'read_cut', error);
      }
    },
  };
}

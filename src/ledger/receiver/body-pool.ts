import type { Readable } from 'node:stream';

/** A body that was not read completely, with the HTTP status for the reason. */
export class BodyRefused extends Error {
  readonly statusCode: 408 | 413 | 503;

  constructor(statusCode: 408 | 413 | 503) {
    super('the body was refused');
    this.name = 'BodyRefused';
    this.statusCode = statusCode;
  }
}

type Reading = { readonly refuse: (status: 408 | 503) => void; bytes: number };

/**
 * Reads bodies before they are verified, into a limited amount of memory that all bodies share. If the memory
 * is used up, the largest body is refused, because a genuine one is a few kilobytes and arrives at once.
 */
export class BodyPool {
  readonly #limits: { readonly poolBytes: number; readonly bodyBytes: number; readonly timeoutMs: number };
  readonly #readings = new Set<Reading>();
  #bytes = 0;

  /** @param limits `poolBytes` for all bodies together, `bodyBytes` and `timeoutMs` for each body. */
  constructor(limits: {
    readonly poolBytes: number;
    readonly bodyBytes: number;
    readonly timeoutMs: number;
  }) {
    this.#limits = limits;
  }

  /** Reads one body. @throws BodyRefused 413 too large, 408 too slow, 503 no memory left. */
  read(stream: Readable): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const chunks: Buffer[] = [];
    const end = (): void => {
      clearTimeout(deadline);
      this.#bytes -= reading.bytes;
      this.#readings.delete(reading);
      stream.off('data', take).off('end', finish).off('error', reject).off('close', abort);
    };
    const refuse = (status: 408 | 413 | 503): void => {
      end();
      chunks.length = 0;
      stream.pause();
      reject(new BodyRefused(status));
    };
    const reading: Reading = { refuse, bytes: 0 };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      reading.bytes += chunk.length;
      this.#bytes += chunk.length;
      if (reading.bytes > this.#limits.bodyBytes) refuse(413);
      else if (this.#bytes > this.#limits.poolBytes) this.#largest().refuse(503);
    };
    const finish = (): void => {
      end();
      resolve(Buffer.concat(chunks));
    };
    const abort = (): void => refuse(408);
    const deadline = setTimeout(abort, this.#limits.timeoutMs);
    this.#readings.add(reading);
    stream.on('data', take).on('end', finish).on('error', reject).on('close', abort);
    return promise;
  }

  #largest(): Reading {
    return [...this.#readings].reduce((one, other) => (other.bytes > one.bytes ? other : one));
  }
}

import type { Readable } from 'node:stream';

/** A body that is not read to its end, and the status that says why. */
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
 * Reads bodies before it is known whether they are genuine, into a memory that is bounded for all of them together. Where it does not
 * suffice, the body that has taken the most of it is given up: a genuine one is some kilobytes and is there at once.
 */
export class BodyPool {
  readonly #limits: { readonly poolBytes: number; readonly bodyBytes: number; readonly timeoutMs: number };
  readonly #readings = new Set<Reading>();
  #bytes = 0;

  /** @param limits `poolBytes` for all, `bodyBytes` and `timeoutMs` for one body. */
  constructor(limits: {
    readonly poolBytes: number;
    readonly bodyBytes: number;
    readonly timeoutMs: number;
  }) {
    this.#limits = limits;
  }

  /** @throws BodyRefused 413 too large, 408 too slow, 503 no room. */
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

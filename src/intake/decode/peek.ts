/**
 * Reads the first bytes of a stream (fewer if it is shorter), and returns them together with the complete
 * stream. Waits for no more bytes than it needs.
 */
export async function peek(
  bytes: AsyncIterable<Uint8Array>,
  length: number,
): Promise<{ readonly head: Buffer; readonly all: AsyncIterable<Uint8Array> }> {
  const iterator = bytes[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let seenBytes = 0;
  while (seenBytes < length) {
    const { done, value } = await iterator.next();
    if (done) break;
    seen.push(value);
    seenBytes += value.length;
  }

  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* seen;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { head: Buffer.concat(seen).subarray(0, length), all: all() };
}

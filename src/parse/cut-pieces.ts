/**
 * Cuts a stream of bytes into pieces of one size (the last may be shorter), however it arrived: what comes of a file must not depend
 * on how the network split it.
 */
export async function* cutPieces(
  text: AsyncIterable<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of text) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (size + rest.length >= pieceBytes) {
      const taken = pieceBytes - size;
      yield parts.length === 0 ? rest.subarray(0, taken) : Buffer.concat([...parts, rest.subarray(0, taken)]);
      parts = [];
      size = 0;
      rest = rest.subarray(taken);
    }
    if (rest.length > 0) parts.push(rest);
    size += rest.length;
  }
  if (size > 0) yield Buffer.concat(parts);
}

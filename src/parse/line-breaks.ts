const LF = 10;
const CR = 13;

/** Length of the line break at a place: 0, 1 (LF, CR) or 2 (CRLF). */
export function lineBreakAt(bytes: Buffer, at: number): 0 | 1 | 2 {
  const byte = bytes[at];
  if (byte === LF) return 1;
  if (byte !== CR) return 0;
  return bytes[at + 1] === LF ? 2 : 1;
}

/** Where the next line break begins; -1 when there is none. */
export function findLineBreak(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    if (bytes[at] === LF || bytes[at] === CR) return at;
  }
  return -1;
}

/** Counts line breaks; made for many questions about the same bytes, from front to back. */
export class LineBreakCounter {
  readonly #bytes: Buffer;
  /** The next CR at or after the place of the last question; past the end when there is none. */
  #nextCr = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Line breaks that begin within [from, to): LF, CR and CRLF each count as one. */
  count(from: number, to: number): number {
    const bytes = this.#bytes;
    // csv-parse's own counter takes a CRLF within quotes for two. Nearly every record is one line, where native searches beat a loop.
    if (this.#nextCr < from) {
      const found = bytes.indexOf(CR, from);
      this.#nextCr = found === -1 ? bytes.length : found;
    }
    const isOnlyAtEnd = this.#nextCr >= to || (this.#nextCr === to - 2 && bytes[to - 1] === LF);
    if (isOnlyAtEnd && bytes[to - 1] === LF && bytes.indexOf(LF, from) === to - 1) return 1;
    let count = 0;
    for (let at = from; at < to; at += 1) {
      const length = lineBreakAt(bytes, at);
      if (length === 0) continue;
      count += 1;
      at += length - 1;
    }
    return count;
  }
}

const LF = 10;
const CR = 13;

/** Returns the length of the line break at a position: 0, 1 (LF, CR) or 2 (CRLF). */
export function lineBreakAt(bytes: Buffer, at: number): 0 | 1 | 2 {
  const byte = bytes[at];
  if (byte === LF) return 1;
  if (byte !== CR) return 0;
  return bytes[at + 1] === LF ? 2 : 1;
}

/** Returns the position of the next line break; -1 if there is none. */
export function findLineBreak(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    if (bytes[at] === LF || bytes[at] === CR) return at;
  }
  return -1;
}

/** Counts line breaks. Optimised for many calls about the same bytes, from front to back. */
export class LineBreakCounter {
  readonly #bytes: Buffer;
  /** Position of the next CR at or after the last queried position; past the end if there is none. */
  #nextCr = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Counts the line breaks that begin within [from, to). LF, CR and CRLF each count as one. */
  count(from: number, to: number): number {
    const bytes = this.#bytes;
    // csv-parse's own counter counts a CRLF within quotes twice. Nearly every record is one line, and for
    // those a native search is faster than a loop.
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

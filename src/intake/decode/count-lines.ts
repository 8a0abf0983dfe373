const LF = 0x0a;
const CR = 0x0d;

/** Counts line ends: LF and CRLF, or lone CR in a file without any LF so far (old Mac files). */
export type LineCounter = {
  readonly add: (bytes: Uint8Array) => void;
  /** Returns the physical line, 1-based, of the byte after those added. */
  readonly line: () => number;
};

export function countLines(): LineCounter {
  let lineFeeds = 0;
  let returns = 0;
  return {
    add: (bytes) => {
      const feeds = countByte(bytes, LF);
      if (lineFeeds === 0 && feeds === 0) returns += countByte(bytes, CR);
      lineFeeds += feeds;
    },
    line: () => 1 + (lineFeeds > 0 ? lineFeeds : returns),
  };
}

/** Uses `indexOf`, which scans many bytes at once: 3 GB/s for lines of 250 bytes. */
function countByte(bytes: Uint8Array, byte: number): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) count += 1;
  return count;
}

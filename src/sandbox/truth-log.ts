import {
  closeSync,
  createReadStream,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { Readable } from 'node:stream';

/** What the sandbox did, one JSON object a line, in order. Its own record: a pipeline's claims are compared with it. */
export type TruthLog = {
  /** Lines so far. */
  count(): number;
  /** @param line one JSON object without a line break. */
  append(line: string): void;
  /** Everything so far, as NDJSON. */
  read(): Readable;
  close(): void;
};

/** Lines are written into blocks outside the heap: millions of small strings would slow the collector. */
const BLOCK_BYTES = 256 * 1024;

/** No character of a string takes more bytes in UTF-8. */
const MAX_BYTES_A_CHARACTER = 3;

const NEWLINE = 10;

/** Keeps the log in memory. */
export function createMemoryLog(): TruthLog {
  const full: Buffer[] = [];
  let block = Buffer.allocUnsafe(BLOCK_BYTES);
  let used = 0;
  let count = 0;

  /** Puts away what is there and begins a block with room for so many bytes. */
  function turnOver(bytes: number): void {
    if (used > 0) full.push(block.subarray(0, used));
    block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, bytes));
    used = 0;
  }

  return {
    count: () => count,
    append(line) {
      const bytes = line.length * MAX_BYTES_A_CHARACTER + 1;
      if (used + bytes > block.length) turnOver(bytes);
      used += block.write(line, used);
      block[used] = NEWLINE;
      used += 1;
      count += 1;
    },
    read: () => Readable.from([...full, block.subarray(0, used)], { objectMode: false }),
    close() {},
  };
}

/**
 * Keeps the log in a file, each line written before the request is answered, so that a sandbox that is killed leaves it. An existing file
 * is continued; a last line that a kill cut off is dropped.
 *
 * @param onLine told each line that the file already holds, in order.
 */
export function createFileLog(path: string, onLine: (line: string) => void): TruthLog {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  for (const line of lines) onLine(line);
  let count = lines.length;
  const file = openSync(path, 'a');
  ftruncateSync(
    file,
    lines.reduce((bytes, line) => bytes + Buffer.byteLength(line) + 1, 0),
  );
  return {
    count: () => count,
    append(line) {
      count += 1;
      writeSync(file, `${line}\n`);
    },
    read: () => createReadStream(path),
    close: () => closeSync(file),
  };
}

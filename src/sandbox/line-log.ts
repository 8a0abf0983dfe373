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
export type LineLog = {
  /** Lines so far. */
  count(): number;
  /** @param line one JSON object without a line break. */
  append(line: string): void;
  /** Puts these lines in place of all. */
  replace(lines: readonly string[]): void;
  /** Everything so far, as NDJSON. */
  read(): Readable;
  close(): void;
};

/** Lines are kept outside the heap, so many at a time: millions of small strings would slow the collector, and one by one costs more. */
const LINES_A_BLOCK = 64;

/** Keeps the log in memory. */
export function createMemoryLog(): LineLog {
  const blocks: Buffer[] = [];
  let lines: string[] = [];
  let count = 0;

  function putAway(): void {
    if (lines.length === 0) return;
    blocks.push(Buffer.from(`${lines.join('\n')}\n`));
    lines = [];
  }

  function append(line: string): void {
    count += 1;
    if (lines.push(line) >= LINES_A_BLOCK) putAway();
  }

  return {
    count: () => count,
    append,
    replace(others) {
      blocks.length = 0;
      lines = [];
      count = 0;
      for (const line of others) append(line);
    },
    read() {
      putAway();
      return Readable.from([...blocks], { objectMode: false });
    },
    close() {},
  };
}

/**
 * Keeps the log in a file, each line written before the request is answered, so that a sandbox that is killed leaves it. An existing file
 * is continued; a last line that a kill cut off is dropped.
 *
 * @param onLine told each line that the file already holds, in order.
 */
export function createFileLog(path: string, onLine: (line: string) => void): LineLog {
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
    replace(others) {
      ftruncateSync(file, 0);
      count = others.length;
      if (count > 0) writeSync(file, `${others.join('\n')}\n`);
    },
    read: () => createReadStream(path),
    close: () => closeSync(file),
  };
}

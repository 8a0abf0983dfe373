import {
  closeSync,
  createReadStream,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';

/**
 * A log of what the sandbox did, one JSON object per line, in order. It is the sandbox's own record, with
 * which a pipeline's claims are compared.
 */
export type LineLog = {
  count(): number;
  /** @param line one JSON object without a line break. */
  append(line: string): void;
  replace(lines: readonly string[]): void;
  /** All lines as NDJSON, in UTF-8. */
  read(): AsyncIterable<Uint8Array>;
  close(): void;
};

/**
 * Number of lines that are stored together in a buffer outside the heap. Millions of small strings would slow
 * the garbage collector, and one buffer per line costs more.
 */
const LINES_A_BLOCK = 64;

/** Creates a log in memory. */
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
      return inTurn([...blocks]);
    },
    close() {},
  };
}

async function* inTurn<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/**
 * Creates a log in a file. Each line is written before the request is answered, so that the file survives a
 * kill of the process. Continues an existing file and drops a last line that was cut off.
 *
 * @param onLine called with each line that the file already contains, in order.
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
      writeFileSync(file, `${line}\n`);
    },
    replace(others) {
      ftruncateSync(file, 0);
      count = others.length;
      if (count > 0) writeFileSync(file, `${others.join('\n')}\n`);
    },
    read: () => createReadStream(path),
    close: () => closeSync(file),
  };
}

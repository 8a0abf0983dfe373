import { findLineBreak, lineBreakAt } from './line-breaks.ts';
import type { ParseOptions } from './parse-options.ts';

/** Where the header row begins and what separates its cells. */
export type HeaderPlace = {
  readonly offset: number;
  /** Physical line, 1-based. */
  readonly line: number;
  readonly delimiter: string;
};

const QUOTE = 0x22;
const CANDIDATES = [',', ';', '\t', '|'] as const;

/**
 * Skips what stands before the header: a `sep=;` line (written by Excel, names the delimiter), the layout's preamble, blank lines.
 *
 * @param bytes the beginning of the text.
 * @param isEnd whether that is all of it.
 * @returns null when more text is needed; `none` when the text ends before a header.
 */
export function findHeader(
  bytes: Buffer,
  options: ParseOptions,
  isEnd: boolean,
): HeaderPlace | 'none' | null {
  let offset = 0;
  let line = 1;
  let separator: string | null = null;
  let toSkip = options.preambleLines;
  for (;;) {
    const end = findLineBreak(bytes, offset);
    // A CR at the very end may be half of a CRLF.
    const isOpen =
      end === -1 || (end === bytes.length - 1 && lineBreakAt(bytes, end) === 1 && bytes[end] === 13);
    if (isOpen && !isEnd) return null;
    const text = bytes.toString('utf8', offset, end === -1 ? bytes.length : end);
    const named = line === 1 ? /^"?sep=(.)"?\s*$/i.exec(text)?.[1] : undefined;
    separator ??= named ?? null;
    const isSkipped = named !== undefined || toSkip > 0 || text.trim() === '';
    if (!isSkipped) break;
    if (end === -1) return 'none';
    if (named === undefined && toSkip > 0) toSkip -= 1;
    offset = end + lineBreakAt(bytes, end);
    line += 1;
  }
  if (options.delimiter !== 'auto') return { offset, line, delimiter: separator ?? options.delimiter };
  if (separator !== null) return { offset, line, delimiter: separator };
  const delimiter = guessDelimiter(bytes, offset, isEnd);
  return delimiter === null ? null : { offset, line, delimiter };
}

/** Whichever the header row has most of, outside quotes; a comma when it has none. Null when the row does not end here. */
function guessDelimiter(bytes: Buffer, offset: number, isEnd: boolean): string | null {
  const counts = new Map<number, number>(CANDIDATES.map((delimiter) => [delimiter.charCodeAt(0), 0]));
  let isQuoted = false;
  let at = offset;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (lineBreakAt(bytes, at) > 0) break;
    const count = counts.get(byte);
    if (count !== undefined) counts.set(byte, count + 1);
  }
  if (at === bytes.length && !isEnd) return null;
  const [best] = [...counts].sort(([, one], [, other]) => other - one);
  return String.fromCharCode(best?.[0] ?? 0x2c);
}

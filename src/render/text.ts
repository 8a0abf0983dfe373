import { createRequire } from 'node:module';
import { formatCount, plural } from '../core/text/plural.ts';

export { formatCount, plural };

/** The text with a capital at its beginning. */
export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A list with one clause such as `4 rows were rejected`; empty if the count is 0. */
export function clause(count: number, one: string, many: string): readonly string[] {
  return count === 0 ? [] : [plural(count, one, many)];
}

/**
 * Cuts text to a width and marks the cut with …. Characters that take two cells count as two, and no
 * character is split.
 */
export function cut(text: string, width: number): string {
  return cellWidth(text) <= width ? text : `${firstCells(lettersOf(text), width - 1)}…`;
}

/** Cuts at the front, for text whose end matters more, such as a path. */
export function cutFront(text: string, width: number): string {
  if (cellWidth(text) <= width) return text;
  return `…${lettersOf(firstCells(lettersOf(text).reverse(), width - 1))
    .reverse()
    .join('')}`;
}

/** Breaks text into lines of a width, wherever a line is full: for ids, which have no blanks. */
export function fold(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let cells = width;
  for (const letter of lettersOf(text)) {
    const wide = cellWidth(letter);
    if (cells + wide > width) {
      lines.push('');
      cells = 0;
    }
    lines[lines.length - 1] += letter;
    cells += wide;
  }
  return lines;
}

function lettersOf(text: string): string[] {
  return [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(
    ({ segment }) => segment,
  );
}

/** The first letters that fit into a number of cells. */
function firstCells(letters: readonly string[], width: number): string {
  let cells = 0;
  const fits = letters.findIndex((letter) => {
    cells += cellWidth(letter);
    return cells > width;
  });
  return letters.slice(0, fits === -1 ? letters.length : fits).join('');
}

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** Formats a duration: `8 s`, `4 min 10 s`, `24 min`, `3 h 20 min`, `5 days`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE_S) return `${whole} s`;
  if (whole < HOUR_S)
    return `${Math.floor(whole / MINUTE_S)} min${whole < 10 * MINUTE_S ? ` ${whole % MINUTE_S} s` : ''}`;
  if (whole < 2 * DAY_S)
    return `${Math.floor(whole / HOUR_S)} h ${Math.floor((whole % HOUR_S) / MINUTE_S)} min`;
  return `${Math.floor(whole / DAY_S)} days`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Formats a size: `1.2 GB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A cell for each character: printable ASCII, Latin letters with accents, dashes, quotes, … and →. */
export const NARROW = /^[ -~\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027\u2192]*$/;

let measure: ((text: string) => number) | null = null;

/**
 * Returns the cells of a terminal that a text takes: none for colours, two for Chinese, Japanese and Korean
 * characters and for emoji. The library for other text than `NARROW` is loaded when there is such a text: its
 * regular expression of all emoji takes 15 ms to compile.
 */
export function cellWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  measure ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return measure(text);
}

/** Letters of other scripts that look like those of ASCII, and Latin ones that do. */
const LOOK_ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}ıȷɑɡɩ]/gu;

/**
 * Says which letters of a code are not what they look like, if it mixes them with ASCII letters or digits: `МIA10` with a
 * Cyrillic М is `МIA10 (М is U+041C)`. Such a code is another one than MIA10, which a reader cannot see.
 */
export function markLookAlikes(code: string): string {
  const letters = /[A-Za-z0-9]/.test(code) ? [...new Set(code.match(LOOK_ALIKE) ?? [])] : [];
  if (letters.length === 0) return code;
  const named = letters.map(
    (letter) => `${letter} is U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return `${code} (${named.join(', ')})`;
}

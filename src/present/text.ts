import stringWidth from 'string-width';

/** `1234567` → `1,234,567`. */
export function formatCount(count: number | string): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 order`, `2 orders`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** `4 rows were rejected` as a list of one clause; an empty list for none. */
export function clause(count: number, one: string, many: string): readonly string[] {
  return count === 0 ? [] : [plural(count, one, many)];
}

/** Cuts to a width, with … for what was cut off. Letters that take two cells of a terminal count as two, and none is cut in half. */
export function cut(text: string, width: number): string {
  return stringWidth(text) <= width ? text : `${firstCells(lettersOf(text), width - 1)}…`;
}

/** Cuts at the front, where the end tells more: a path. */
export function cutFront(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  return `…${lettersOf(firstCells(lettersOf(text).reverse(), width - 1))
    .reverse()
    .join('')}`;
}

function lettersOf(text: string): string[] {
  return [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(
    ({ segment }) => segment,
  );
}

/** As many of the letters as fit into so many cells. */
function firstCells(letters: readonly string[], width: number): string {
  let cells = 0;
  const fits = letters.findIndex((letter) => {
    cells += stringWidth(letter);
    return cells > width;
  });
  return letters.slice(0, fits === -1 ? letters.length : fits).join('');
}

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** `8 s`, `4 min`, `3 h 20 min`, `5 days`. */
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

/** `1.2 GB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

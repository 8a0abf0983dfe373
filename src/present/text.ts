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

/** Cuts to a width, with … for what was cut off. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

/** Cuts at the front, where the end tells more: a path. */
export function cutFront(text: string, width: number): string {
  return text.length <= width ? text : `…${text.slice(text.length - Math.max(0, width - 1))}`;
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

/** `2026-04-10 09:15:03`, in UTC, as every time that is shown. */
export function formatInstant(instant: string | Date): string {
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
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

/** No service asks for more; a longer delay is nonsense or comes from a wrong clock. */
const LONGEST_MS = 31 * 24 * 60 * 60 * 1000;
/** Far longer than any valid value of the header. */
const LONGEST_CHARS = 100;

/**
 * Matches the three HTTP date formats and ISO 8601, which some services send. `Date.parse` alone would also
 * accept "in 5 minutes".
 */
const HTTP_DATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}.*$|^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Parses a `Retry-After` header: seconds or a date. A past date is 0; more than 31 days are 31 days. Of
 * several headers, the longest delay counts.
 *
 * @returns the delay in milliseconds; null if the header is absent or cannot be understood.
 */
export function parseRetryAfter(header: string | readonly string[] | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const values = typeof header === 'string' ? [header] : header;
  const waits = values.map((value) => parseOne(value.trim(), now)).filter((wait) => wait !== null);
  return waits.length === 0 ? null : Math.max(...waits);
}

function parseOne(value: string, now: Date): number | null {
  if (value.length > LONGEST_CHARS) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(LONGEST_MS, Math.ceil(Number(value) * 1000));
  if (!HTTP_DATE.test(value)) return null;
  // The third format, asctime, names no time zone. HTTP defines it as UTC.
  const at = Date.parse(/GMT|UTC|Z$|[+-]\d{2}:?\d{2}$/.test(value) ? value : `${value} GMT`);
  return Number.isNaN(at) ? null : Math.min(LONGEST_MS, Math.max(0, at - now.getTime()));
}

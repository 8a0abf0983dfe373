const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const LOCAL_TIME = /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2})(?::(\d{2}))?$/;
const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,6})?)? ?(?:Z|[+-](?:0\d|1[0-4]):?[0-5]\d)$/;

/**
 * A limit of a code's validity: an instant, or a local time in the job's zone, which the database converts to
 * an instant.
 */
export type ValidityTime = { readonly text: string; readonly isLocal: boolean };

/**
 * Reads `2026-04-01`, `2026-04-01 18:00` or an ISO instant with its offset.
 *
 * @param end whether a date without a time means the start or the end of that day. The end is the first
 * instant of the next day.
 * @returns null if the text has none of these forms or is not a valid date.
 */
export function readValidityTime(text: string, end: 'start_of_day' | 'end_of_day'): ValidityTime | null {
  const parts = DATE.exec(text) ?? LOCAL_TIME.exec(text) ?? INSTANT.exec(text);
  if (parts === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  const date = new Date(Date.UTC(year, month - 1, day));
  // Date.UTC takes a year of two digits for one of the last century.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
    return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  if (!DATE.test(text)) return { text, isLocal: !INSTANT.test(text) };
  // Many write the last day that a calendar has for "for ever". The day after it has five digits for its year.
  if (end === 'end_of_day' && text !== '9999-12-31') date.setUTCDate(day + 1);
  return { text: `${date.toISOString().slice(0, 10)} 00:00:00`, isLocal: true };
}

import { isDay } from '../core/time/day.ts';

const LOCAL_TIME = /^.{10}[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/;
/** No offset from UTC is wider than 14 hours. */
const INSTANT =
  /^.{10}[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)? ?(?:Z|[+-](?:0\d|1[0-4]):?[0-5]\d)$/;
const DAY_MS = 24 * 3_600_000;

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
  const day = text.slice(0, 10);
  if (!isDay(day)) return null;
  if (LOCAL_TIME.test(text)) return { text, isLocal: true };
  if (INSTANT.test(text)) return { text, isLocal: false };
  if (text !== day) return null;
  // Many write the last day that a calendar has for "for ever". The day after it has five digits for its year.
  if (end === 'start_of_day' || day === '9999-12-31') return { text: `${day} 00:00:00`, isLocal: true };
  const [next = ''] = new Date(Date.parse(day) + DAY_MS).toISOString().split('T');
  return { text: `${next} 00:00:00`, isLocal: true };
}

/** Offsets from UTC range from -12 to +14 hours. */
const WIDEST_OFFSETS_MS = 26 * 3_600_000;

/**
 * True if the first limit is certainly not after the other. A local time and an instant are compared with a
 * margin that covers every time zone.
 */
export function isSurelyBefore(one: ValidityTime, other: ValidityTime): boolean {
  const [oneMs, otherMs] = [one, other].map(({ text, isLocal }) =>
    Date.parse(`${text.replace(/ (?=[Z+-])/, '').replace(' ', 'T')}${isLocal ? 'Z' : ''}`),
  );
  if (oneMs === undefined || otherMs === undefined) return false;
  return oneMs + (one.isLocal === other.isLocal ? 0 : WIDEST_OFFSETS_MS) <= otherMs;
}

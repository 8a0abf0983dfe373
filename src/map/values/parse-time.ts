import type { InstantText } from '../../model/order.ts';
import { type ZoneClock, zoneClock } from '../../model/time/zone-clock.ts';
import type { Fault } from '../fault.ts';

/** Parses the time in one cell. */
export type TimeParser = (text: string) => InstantText | Fault;

const ISO = 'YYYY-MM-DD[T ]HH:mm[:ss] Z';
/** The regular expression of each token of a pattern, as a named group. */
const TOKENS: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  YY: '(?<shortYear>\\d\\d)',
  MMM: '(?<monthName>[A-Za-z]{3})[a-z]*\\.?',
  MM: '(?<month>\\d\\d)',
  M: '(?<month>\\d\\d?)',
  DD: '(?<day>\\d\\d)',
  D: '(?<day>\\d\\d?)',
  HH: '(?<hour>\\d\\d)',
  H: '(?<hour>\\d\\d?)',
  h: '(?<hour>\\d\\d?)',
  mm: '(?<minute>\\d\\d)',
  ss: '(?<second>\\d\\d)',
  A: '(?<half>[AaPp])\\.?[Mm]\\.?',
  Z: '(?<zone>Z|UTC|GMT|[+-]\\d\\d:?\\d\\d)',
};
const TOKEN = /YYYY|YY|MMM|MM|M|DD|D|HH|H|h|mm|ss|A|Z/g;
/** All tokens of a pattern, for messages. */
export const TIME_TOKENS = Object.keys(TOKENS).join(' ');
const ISO_TIME =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:[T ](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,]\d+)?)? ?(?<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?)?$/i;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MINUTE_MS = 60_000;
/** The clocks of Kiritimati are 14 hours ahead of UTC. No place is further from it. */
export const MAX_OFFSET_HOURS = 14;
/** Room for the longest names of months and zones. Longer cells are refused without further checks. */
const MAX_CHARS = 100;
const WITHOUT_ZONE: Fault = {
  code: 'time_without_zone',
  reason: 'This time has no offset from UTC.',
  help: 'Set time_zone of the source in pipeline.yaml to the zone in which the shop writes its times.',
};

/** True if every time of a pattern contains its offset from UTC. */
export function saysZone(format: string): boolean {
  return format.includes('Z');
}

/** True if a pattern is valid: `iso`, or tokens with at least year, month and day. */
export function isTimeFormat(format: string): boolean {
  if (format === 'iso') return true;
  const tokens: readonly string[] = format.match(TOKEN) ?? [];
  const has = (...any: string[]): boolean => any.some((token) => tokens.includes(token));
  const kinds = new Set(tokens.map((token) => token[0])).size;
  return has('YYYY', 'YY') && has('MMM', 'MM', 'M') && has('DD', 'D') && kinds === tokens.length;
}

/**
 * Creates the parser for a layout's times.
 *
 * @param formats patterns, tried in order. `iso` is `2026-04-10`, optionally with a time (after a blank or
 * `T`) and an offset.
 * @param timeZone IANA zone for times without a zone; null if there is none.
 */
export function timeParser(formats: readonly string[], timeZone: string | null): TimeParser {
  const patterns = formats.map((format) => (format === 'iso' ? ISO_TIME : toPattern(format)));
  const clock = timeZone === null ? null : zoneClock(timeZone);
  const rules = { patterns, clock, bad: badTime(formats), format: instantFormatter() };
  const takesIso = formats[0] === 'iso';
  let lastText = '';
  let lastResult: InstantText | Fault = rules.bad;
  return (text) => {
    // Most orders are paid at the same time as they are placed.
    if (text === lastText) return lastResult;
    const quickMs = takesIso ? quickIsoMs(text) : null;
    lastResult = quickMs === null ? parse(text.trim(), rules) : rules.format(quickMs);
    lastText = text;
    return lastResult;
  };
}

/**
 * Parses `2026-04-10 11:11:26 +0530` without a regular expression. Nearly every row of the largest exports
 * has this form.
 *
 * @returns null for every other form, and for dates or times that do not exist.
 */
function quickIsoMs(text: string): number | null {
  const sign = text.charCodeAt(20);
  const isShape =
    text.length === 25 &&
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(7) === 45 &&
    text.charCodeAt(10) === 32 &&
    text.charCodeAt(13) === 58 &&
    text.charCodeAt(16) === 58 &&
    text.charCodeAt(19) === 32 &&
    (sign === 43 || sign === 45);
  if (!isShape) return null;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const offsetHours = twoDigits(text, 21);
  const offsetMinutes = twoDigits(text, 23);
  const isReal =
    year >= 1990 &&
    year <= 2100 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= 28 &&
    hour >= 0 &&
    hour <= 23 &&
    minute >= 0 &&
    minute <= 59 &&
    second >= 0 &&
    second <= 59 &&
    isOffset(offsetHours, offsetMinutes);
  if (!isReal) return null; // Also excludes days 29 to 31, which the slower parser checks.
  const offset = offsetHours * 60 + offsetMinutes;
  return Date.UTC(year, month - 1, day, hour, minute, second) - (sign === 45 ? -offset : offset) * MINUTE_MS;
}

/** True if a clock can be ahead of UTC by so much, or behind. */
function isOffset(hours: number, minutes: number): boolean {
  return hours >= 0 && minutes >= 0 && minutes < 60 && hours * 60 + minutes <= MAX_OFFSET_HOURS * 60;
}

/** Returns the number of two digits; a large negative number if they are not digits. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -100_000;
}

function toPattern(format: string): RegExp {
  const escaped = format.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
  return new RegExp(`^${escaped.replace(TOKEN, (token) => TOKENS[token] ?? token)}$`, 'i');
}

type Rules = {
  readonly patterns: readonly RegExp[];
  readonly clock: ZoneClock | null;
  readonly bad: Fault;
  readonly format: (ms: number) => InstantText;
};

function parse(text: string, { patterns, clock, bad, format }: Rules): InstantText | Fault {
  if (text.length > MAX_CHARS) return bad;
  for (const pattern of patterns) {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const wallMs = toWallMs(groups);
    const { zone } = groups;
    const offset = zone === undefined ? 0 : offsetMs(zone);
    if (wallMs === null || offset === null) continue;
    if (zone === undefined && clock === null) return WITHOUT_ZONE;
    const ms = zone === undefined ? (clock?.toInstantMs(wallMs) ?? 0) : wallMs - offset;
    return format(ms);
  }
  return bad;
}

/** Returns the local time in milliseconds as if it were UTC; null if the date or time does not exist. */
function toWallMs(groups: Readonly<Record<string, string | undefined>>): number | null {
  // Two-digit years are in this century.
  const year = groups.year === undefined ? 2000 + Number(groups.shortYear) : Number(groups.year);
  const named = groups.monthName;
  const month = named === undefined ? Number(groups.month) : MONTHS.indexOf(named.toLowerCase()) + 1;
  const day = Number(groups.day);
  const hour = toHour(Number(groups.hour ?? 0), groups.half);
  const minute = Number(groups.minute ?? 0);
  const second = Number(groups.second ?? 0);
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  const isReal =
    year >= 1990 &&
    year <= 2100 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= 31 &&
    (day <= 28 ||
      new Date(ms - hour * 60 * MINUTE_MS - minute * MINUTE_MS - second * 1000).getUTCDate() === day) &&
    hour >= 0 &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 60;
  return isReal ? ms : null;
}

function toHour(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return -1;
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

/** Returns the offset from UTC that a time states; null if no place has it. */
function offsetMs(zone: string): number | null {
  if (!/^[+-]/.test(zone)) return 0; // Z, UTC, GMT.
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (!isOffset(hours, minutes)) return null;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS;
}

function badTime(formats: readonly string[]): Fault {
  const shown = formats.map((format) => (format === 'iso' ? ISO : format)).join(' or ');
  return {
    code: 'bad_time',
    reason: `This is not a time as the layout writes it (${shown}).`,
    help: "Check the cell. If a spreadsheet has reformatted the dates, use the file as it was exported, or add the format to the layout's `times`.",
  };
}

const DAY_MS = 86_400_000;
const MAX_DAYS = 4_096;

/**
 * Creates a function that formats an instant as `2026-04-10T05:41:26Z`. It caches days, because an
 * export contains few, and is several times as fast as Date.
 */
function instantFormatter(): (ms: number) => InstantText {
  const days = new Map<number, string>();
  const two = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
  return (ms) => {
    const day = Math.floor(ms / DAY_MS);
    let date = days.get(day);
    if (date === undefined) {
      if (days.size >= MAX_DAYS) days.clear();
      date = new Date(day * DAY_MS).toISOString().slice(0, 11);
      days.set(day, date);
    }
    const seconds = Math.floor((ms - day * DAY_MS) / 1000);
    const minutes = Math.floor(seconds / 60);
    return `${date}${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[seconds % 60]}Z`;
  };
}

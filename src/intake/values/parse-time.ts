import type { InstantText } from '../../core/order.ts';
import { DAY_MS } from '../../core/time/day.ts';
import { type ZoneClock, zoneClock } from '../../core/time/zone-clock.ts';
import type { Fault } from '../map/fault.ts';

/** Parses the time in one cell. */
export type TimeParser = (text: string) => InstantText | Fault;

const ISO = 'YYYY-MM-DD[T ]HH:mm[:ss] Z';
/**
 * Abbreviations that mean one offset in the exports that use them. Ambiguous ones (CST, IST, BST) are left
 * out.
 */
export const ZONE_WORDS: Readonly<Record<string, string>> = {
  UTC: 'UTC',
  GMT: 'UTC',
  Z: 'UTC',
  PST: '-08:00',
  PDT: '-07:00',
  MST: '-07:00',
  MDT: '-06:00',
  CDT: '-05:00',
  EST: '-05:00',
  EDT: '-04:00',
  WET: 'UTC',
  WEST: '+01:00',
  CET: '+01:00',
  CEST: '+02:00',
  EET: '+02:00',
  EEST: '+03:00',
  JST: '+09:00',
  AEST: '+10:00',
  AEDT: '+11:00',
  NZST: '+12:00',
  NZDT: '+13:00',
};
/** A zone at the end of a time: a word, or an offset. */
const ZONE = `(?<zone>${Object.keys(ZONE_WORDS).join('|')}|[+-]\\d\\d:?\\d\\d)`;
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
  Z: ZONE,
};
const TOKEN = /YYYY|YY|MMM|MM|M|DD|D|HH|H|h|mm|ss|A|Z/g;
/** All tokens of a pattern, for messages. */
export const TIME_TOKENS = Object.keys(TOKENS).join(' ');
const ISO_TIME = new RegExp(
  `^(?<year>\\d{4})-(?<month>\\d\\d)-(?<day>\\d\\d)(?:[T ](?<hour>\\d\\d):(?<minute>\\d\\d)(?::(?<second>\\d\\d)(?:[.,]\\d+)?)? ?${ZONE}?)?$`,
  'i',
);
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
/** For a text that is written as a pattern says, but that no calendar or clock has. */
export const NO_SUCH_TIME: Fault = {
  code: 'bad_time',
  reason: 'As the layout reads it, this date or time of day does not exist, or is not between 1990 and 2100.',
  help: 'Correct it in the shop and export the file again, or correct the cell.',
};

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

const QUICK_ISO = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/;

/**
 * Parses `2026-04-10 11:11:26 +0530` without the groups of a pattern, which cost several times as much. Nearly every
 * row of the largest exports has this form.
 *
 * @returns null for every other form, and for dates or times that do not exist.
 */
function quickIsoMs(text: string): number | null {
  if (!QUICK_ISO.test(text)) return null;
  const wallMs = toWallMs({
    year: twoDigits(text, 0) * 100 + twoDigits(text, 2),
    month: twoDigits(text, 5),
    day: twoDigits(text, 8),
    hour: twoDigits(text, 11),
    minute: twoDigits(text, 14),
    second: twoDigits(text, 17),
  });
  const offset = toOffsetMs(text[20] === '-', twoDigits(text, 21), twoDigits(text, 23));
  return wallMs === null || offset === null ? null : wallMs - offset;
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
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
  let fault = bad;
  for (const pattern of patterns) {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const parts = partsOf(groups);
    const wallMs = toWallMs(parts);
    if (wallMs === null) {
      // A month of 0 is a name in another language.
      if (parts.month !== 0 || groups.monthName === undefined) fault = NO_SUCH_TIME;
      continue;
    }
    if (groups.zone === undefined) return clock === null ? WITHOUT_ZONE : format(clock.toInstantMs(wallMs));
    const offset = offsetOf(groups.zone);
    if (offset !== null) return format(wallMs - offset);
  }
  return fault;
}

type Parts = Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>>;

function partsOf(groups: Readonly<Record<string, string | undefined>>): Parts {
  const { monthName } = groups;
  return {
    // Two-digit years are in this century.
    year: groups.year === undefined ? 2000 + Number(groups.shortYear) : Number(groups.year),
    month: monthName === undefined ? Number(groups.month) : MONTHS.indexOf(monthName.toLowerCase()) + 1,
    day: Number(groups.day),
    hour: toHour(Number(groups.hour ?? 0), groups.half),
    minute: Number(groups.minute ?? 0),
    second: Number(groups.second ?? 0),
  };
}

/** Returns the local time in milliseconds as if it were UTC; null if the date or time does not exist. */
function toWallMs({ year, month, day, hour, minute, second }: Parts): number | null {
  const isReal =
    year >= 1990 &&
    year <= 2100 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    (day <= 28 || day <= new Date(Date.UTC(year, month, 0)).getUTCDate()) &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 60;
  return isReal ? Date.UTC(year, month - 1, day, hour, minute, second) : null;
}

/** Returns the hour of the day; NaN if there is no such hour before and after noon. */
function toHour(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return Number.NaN;
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

/** Returns the offset from UTC that a time states; null if no place has it. */
function offsetOf(zone: string): number | null {
  const offset = ZONE_WORDS[zone.toUpperCase()] ?? zone;
  if (offset === 'UTC') return 0;
  return toOffsetMs(offset.startsWith('-'), Number(offset.slice(1, 3)), Number(offset.slice(-2)));
}

/** Returns an offset from UTC; null if no clock is ahead of UTC or behind it by so much. */
function toOffsetMs(isBehind: boolean, hours: number, minutes: number): number | null {
  const offset = hours * 60 + minutes;
  if (minutes >= 60 || offset > MAX_OFFSET_HOURS * 60) return null;
  return (isBehind ? -offset : offset) * MINUTE_MS;
}

function badTime(formats: readonly string[]): Fault {
  const shown = formats.map((format) => (format === 'iso' ? ISO : format)).join(' or ');
  return {
    code: 'bad_time',
    reason: `This is not a time as the layout writes it (${shown}).`,
    help: "Check the cell. If a spreadsheet has reformatted the dates, use the file as it was exported, or add the format to the layout's `times`.",
  };
}

/**
 * Creates a function that formats an instant as `2026-04-10T05:41:26Z`. It keeps the days, because an
 * export contains few and no time is outside of 1990 to 2100, and is several times as fast as Date.
 */
function instantFormatter(): (ms: number) => InstantText {
  const days = new Map<number, string>();
  const two = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
  return (ms) => {
    const day = Math.floor(ms / DAY_MS);
    let date = days.get(day);
    if (date === undefined) {
      date = new Date(day * DAY_MS).toISOString().slice(0, 11);
      days.set(day, date);
    }
    const seconds = Math.floor((ms - day * DAY_MS) / 1000);
    const minutes = Math.floor(seconds / 60);
    return `${date}${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[seconds % 60]}Z`;
  };
}

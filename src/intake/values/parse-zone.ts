import { isTimeZone } from '../../core/time/time-zone.ts';
import type { Fault } from '../map/fault.ts';
import { MAX_OFFSET_HOURS, ZONE_WORDS } from './parse-time.ts';

const OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$/i;
const MAX_CHARS = 60;

const BAD_ZONE: Fault = {
  code: 'bad_time_zone',
  reason: 'This is not one unambiguous time zone.',
  help: 'Write an IANA name (Europe/Amsterdam), an offset (+02:00) or an abbreviation that has one meaning (PST, CEST).',
};

/**
 * Parses a cell of the zone column.
 *
 * @returns a zone that Intl knows.
 */
export function parseZone(cell: string): string | Fault {
  const text = cell.trim();
  const known = ZONE_WORDS[text.toUpperCase()];
  if (known !== undefined) return known;
  if (text.length > MAX_CHARS) return BAD_ZONE;
  const [, sign, hours = '', minutes = '00'] = OFFSET.exec(text.replaceAll(' ', '')) ?? [];
  if (Number(hours) + Number(minutes) / 60 > MAX_OFFSET_HOURS) return BAD_ZONE;
  const zone = sign === undefined ? text : `${sign}${hours.padStart(2, '0')}:${minutes}`;
  // Intl maps some other abbreviations to a zone of its own choice. IANA names of places contain a slash.
  if (sign === undefined && !zone.includes('/')) return BAD_ZONE;
  return isTimeZone(zone) ? zone : BAD_ZONE;
}

import { expect, it } from 'vitest';
import { firstDay } from '../../../src/intake/read/listing-window.ts';
import { sourceSettings } from '../../store/source-settings.ts';

it.each([
  // Clocks in Amsterdam went back in the night before, so this day had 25 hours.
  ['2026-10-25T22:30:00Z', 'Europe/Amsterdam', '2026-10-24'],
  ['2026-03-29T21:30:00Z', 'Europe/Amsterdam', '2026-03-28'],
  ['2026-11-22T20:00:00Z', 'Asia/Tokyo', '2026-11-21'],
  ['2026-11-22T03:00:00Z', 'America/New_York', '2026-11-20'],
  ['2026-11-22T12:00:00Z', null, '2026-11-21'],
])('one day of lookback from a listing at %s in %s begins on %s', (listedAt, timeZone, first) => {
  const source = { ...sourceSettings('s3://shop/dt={date}/'), lookbackDays: 1, timeZone };
  expect(firstDay(source, new Date(listedAt))).toBe(first);
});

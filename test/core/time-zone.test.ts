import { describe, expect, it } from 'vitest';
import { isNamedTimeZone, isTimeZone } from '../../src/core/time/time-zone.ts';

describe('a time zone', () => {
  it.each([
    ['UTC', 'the zone without a place'],
    ['Europe/Amsterdam', 'a name of the list'],
    ['Asia/Kolkata', 'a new name of a zone'],
    ['Asia/Calcutta', 'the old name of the same zone'],
    ['US/Pacific', 'an alias that the list of the runtime leaves out'],
    ['europe/amsterdam', 'a name in other case'],
  ])('%s is known by its name: %s', (zone) => {
    expect(isTimeZone(zone)).toBe(true);
    expect(isNamedTimeZone(zone)).toBe(true);
  });

  it('an offset is a zone, but not a name', () => {
    expect(isTimeZone('+02:00')).toBe(true);
    expect(isNamedTimeZone('+02:00')).toBe(false);
  });

  it.each(['', 'Europe', 'Europe/Amsterdm', 'CEST', '+25:00', 'Europe/Amsterdam '])(
    '"%s" is none',
    (text) => {
      expect(isTimeZone(text)).toBe(false);
      expect(isNamedTimeZone(text)).toBe(false);
    },
  );
});

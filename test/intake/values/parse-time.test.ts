import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTimeFormat, timeParser } from '../../../src/intake/values/parse-time.ts';
import { parseZone } from '../../../src/intake/values/parse-zone.ts';

test.each([
  ['2026-04-10 11:11:26 +0530', '2026-04-10T05:41:26Z'],
  ['2026-04-30 11:11:26 +0530', '2026-04-30T05:41:26Z'],
  ['2026-01-01 00:30:00 +0100', '2025-12-31T23:30:00Z'],
  ['2026-12-31 23:30:00 -0100', '2027-01-01T00:30:00Z'],
  ['2026-04-10T05:41:26+00:00', '2026-04-10T05:41:26Z'],
  ['2026-04-10T05:41:26.123Z', '2026-04-10T05:41:26Z'],
  ['2026-04-10 05:41 UTC', '2026-04-10T05:41:00Z'],
  ['2026-04-10 05:41:07 CEST', '2026-04-10T03:41:07Z'],
  ['2026-04-10 05:41 pst', '2026-04-10T13:41:00Z'],
])('%s has its own offset', (text, instant) => {
  expect(timeParser(['iso'], null)(text)).toBe(instant);
});

test.each([
  ['M/D/YYYY H:mm:ss', '9/6/2016 6:29:00', '2016-09-06T04:29:00Z'],
  ['M/D/YYYY H:mm', '12/25/2026 23:05', '2026-12-25T22:05:00Z'],
  ['M/D/YYYY h:mm A', '4/10/2026 12:05 AM', '2026-04-09T22:05:00Z'],
  ['M/D/YYYY h:mm A', '4/10/2026 12:05 pm', '2026-04-10T10:05:00Z'],
  ['MMM D, YYYY', 'Apr 10, 2026', '2026-04-09T22:00:00Z'],
  ['DD-MM-YYYY HH:mm', '10-04-2026 09:00', '2026-04-10T07:00:00Z'],
  ['M/D/YYYY', '4/9/2026', '2026-04-08T22:00:00Z'],
  ['M/D/YY', '04/09/26', '2026-04-08T22:00:00Z'],
  ['MMM-DD-YY', 'Sep-21-26', '2026-09-20T22:00:00Z'],
  ['iso', '2026-04-10', '2026-04-09T22:00:00Z'],
  ['iso', '2026-04-10 00:30:00', '2026-04-09T22:30:00Z'],
])('%s: %s is read in the time zone of the source', (format, text, instant) => {
  expect(timeParser([format], 'Europe/Amsterdam')(text)).toBe(instant);
});

test.each([
  [
    'the hour that is skipped counts on with the offset before',
    '2026-03-29 02:30:00',
    '2026-03-29T01:30:00Z',
  ],
  ['just before the jump', '2026-03-29 01:59:59', '2026-03-29T00:59:59Z'],
  ['just after the jump', '2026-03-29 03:00:00', '2026-03-29T01:00:00Z'],
  ['the hour that comes twice means the first', '2026-10-25 02:30:00', '2026-10-25T00:30:00Z'],
  ['after the hour that came twice', '2026-10-25 03:00:00', '2026-10-25T02:00:00Z'],
])('daylight saving: %s', (_, text, instant) => {
  expect(timeParser(['iso'], 'Europe/Amsterdam')(text)).toBe(instant);
});

test.each([
  ['Asia/Kathmandu', '2026-06-01 12:00:00', '2026-06-01T06:15:00Z'],
  ['Pacific/Kiritimati', '2026-06-01 12:00:00', '2026-05-31T22:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-05 01:45:00', '2026-04-04T14:45:00Z'],
  ['America/New_York', '2026-11-01 01:30:00', '2026-11-01T05:30:00Z'],
])('%s', (zone, text, instant) => {
  expect(timeParser(['iso'], zone)(text)).toBe(instant);
});

test('a time without an offset requires a time zone, and the error says so', () => {
  expect(timeParser(['iso'], null)('2026-04-10 11:00:00')).toMatchObject({
    code: 'time_without_zone',
    help: expect.stringContaining('time_zone'),
  });
});

test.each([
  '2026-02-30',
  '2026-02-29 10:00:00 +0000',
  '2026-13-01',
  '2026-04-10 24:00:00 +0000',
  '2026-04-10 11:61:00 +0000',
  '45123',
  '10.04.2026',
  'yesterday',
  '1926-04-10',
])('%s is rejected as a time instead of guessed', (text) => {
  expect(timeParser(['iso'], 'UTC')(text)).toMatchObject({ code: 'bad_time' });
});

test.each([
  ['31.04.2026', /does not exist/],
  ['31.04.2026 10:00', /not a time as the layout writes it/],
  ['Apr 31 2026', /does not exist/],
  ['Mai 31 2026', /not a time as the layout writes it/],
])('of %s, the reason says whether it is written otherwise or is in no calendar', (text, reason) => {
  expect(timeParser(['D.M.YYYY', 'MMM D YYYY'], 'UTC')(text)).toMatchObject({
    code: 'bad_time',
    reason: expect.stringMatching(reason),
  });
});

test('formats are tried in their order, also if the last one is iso', () => {
  const parse = timeParser(['YYYY-DD-MM HH:mm:ss Z', 'iso'], null);
  expect(parse('2026-04-10 11:11:26 +0530')).toBe('2026-10-04T05:41:26Z');
  expect(parse('2026-04-13 11:11:26 +0530')).toBe('2026-04-13T05:41:26Z');
});

test('a cell longer than any time is no time', () => {
  expect(timeParser(['MMM D YYYY'], 'UTC')(`Apr${'i'.repeat(89)} 10 2026`)).toBe('2026-04-10T00:00:00Z');
  expect(timeParser(['MMM D YYYY'], 'UTC')(`Apr${'i'.repeat(90)} 10 2026`)).toMatchObject({
    code: 'bad_time',
  });
});

test('every instant stays exact, in any time zone', () => {
  const zone = fc.constantFrom(
    'Europe/Amsterdam',
    'America/Sao_Paulo',
    'Asia/Kolkata',
    'Pacific/Auckland',
    'UTC',
  );
  const parsers = new Map<string, ReturnType<typeof timeParser>>();
  fc.assert(
    fc.property(fc.integer({ min: 1_000_000_000, max: 4_000_000_000 }), zone, (seconds, timeZone) => {
      const parse = parsers.get(timeZone) ?? timeParser(['iso'], timeZone);
      parsers.set(timeZone, parse);
      const wall = new Date(seconds * 1000).toLocaleString('sv-SE', { timeZone });
      const instant = String(parse(wall));
      // An hour that occurs twice may be read as its first occurrence; the wall clock shows the same time.
      expect(new Date(instant).toLocaleString('sv-SE', { timeZone })).toBe(wall);
      const offset = `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} +0000`;
      expect(parse(offset)).toBe(`${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`);
    }),
  );
});

test('time formats are validated', () => {
  expect(
    ['iso', 'M/D/YYYY', 'M/D/YY', 'YYYY-MM-DD HH:mm:ss Z', 'MMM D, YYYY h:mm A'].map(isTimeFormat),
  ).toEqual([true, true, true, true, true]);
  const invalid = ['', 'HH:mm', 'M/D', 'YYYY-MM', 'YYYY-DD', 'M/M/D/YYYY', 'YY-MM-DD YYYY'];
  expect(invalid.filter(isTimeFormat)).toEqual([]);
});

/** Each part of a time with its lowest and highest value, and the values just outside. */
const LIMITS: readonly (readonly [
  part: string,
  time: (value: string) => string,
  good: readonly string[],
  bad: readonly string[],
])[] = [
  ['year', (year) => `${year}-04-10 11:11:26 +0530`, ['1990', '2100'], ['1989', '2101', '0000', '9999']],
  ['month', (month) => `2026-${month}-10 11:11:26 +0530`, ['01', '12'], ['00', '13', '99']],
  ['day', (day) => `2026-05-${day} 11:11:26 +0530`, ['01', '28', '29', '31'], ['00', '32', '99']],
  ['day of a short month', (day) => `2026-04-${day} 11:11:26 +0530`, ['30'], ['31']],
  ['day of February', (day) => `2026-02-${day} 11:11:26 +0530`, ['28'], ['29', '30']],
  ['day of February in a leap year', (day) => `2028-02-${day} 11:11:26 +0530`, ['29'], ['30']],
  ['hour', (hour) => `2026-04-10 ${hour}:11:26 +0530`, ['00', '23'], ['24', '99']],
  ['minute', (minute) => `2026-04-10 11:${minute}:26 +0530`, ['00', '59'], ['60', '99']],
  // The 61st second of a minute is a leap second.
  ['second', (second) => `2026-04-10 11:11:${second} +0530`, ['00', '59', '60'], ['61', '99']],
  [
    'hours of the offset',
    (hours) => `2026-04-10 11:11:26 +${hours}00`,
    ['00', '13', '14'],
    ['15', '24', '99'],
  ],
  [
    'minutes of the offset',
    (minutes) => `2026-04-10 11:11:26 -05${minutes}`,
    ['00', '30', '59'],
    ['60', '99'],
  ],
  [
    'offset',
    (offset) => `2026-04-10 11:11:26 ${offset}`,
    ['+1400', '-1400'],
    ['+1401', '-1459', '+9930', '-2400'],
  ],
];

test.each(LIMITS)(
  'the %s has limits, and what is outside of them is no time in any notation',
  (_, write, good, bad) => {
    const spellings = (time: string) => [
      time,
      time.replace(' ', 'T'),
      time.replace(/(\d\d) ([+-]\d\d)(\d\d)$/, '$1$2:$3'),
      // The last two letters of a format with its own pattern.
      time.replace(/^(\d{4})-(\d\d)-(\d\d)/, '$3.$2.$1'),
    ];
    const parse = timeParser(['iso', 'DD.MM.YYYY HH:mm:ss Z'], null);
    for (const value of good) {
      const instants = spellings(write(value)).map(parse);
      expect(instants).toEqual(Array(instants.length).fill(expect.stringMatching(/Z$/)));
      expect(new Set(instants).size).toBe(1);
    }
    for (const time of bad.flatMap((value) => spellings(write(value))))
      expect([time, parse(time)]).toEqual([time, expect.objectContaining({ code: 'bad_time' })]);
  },
);

test.each(['12', '01'])('%s o’clock in the morning and in the afternoon', (hour) => {
  const parse = timeParser(['YYYY-MM-DD h:mm A'], 'UTC');
  const at = (half: string) => parse(`2026-04-10 ${hour}:00 ${half}`);
  const morning = Number(hour) % 12;
  expect([at('AM'), at('pm')]).toEqual(
    [morning, morning + 12].map((one) => `2026-04-10T${String(one).padStart(2, '0')}:00:00Z`),
  );
});

test.each(['0:30', '13:30'])('%s is no hour before or after noon', (time) => {
  expect(timeParser(['YYYY-MM-DD h:mm A'], 'UTC')(`2026-04-10 ${time} AM`)).toMatchObject({
    code: 'bad_time',
  });
});

test.each(['+14:00', '-14:00', 'UTC+5:30', 'GMT-3', '+0545', 'PST', 'Europe/Amsterdam'])(
  '%s is a time zone',
  (zone) => {
    expect(typeof parseZone(zone)).toBe('string');
  },
);

test.each(['+14:01', '-15', '+99:30', '+05:60', 'UTC+24', 'CST', 'Amsterdam', ''])(
  '%j is no time zone',
  (zone) => {
    expect(parseZone(zone)).toMatchObject({ code: 'bad_time_zone' });
  },
);

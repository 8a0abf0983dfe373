import { describe, expect, it } from 'vitest';
import {
  type AgeRule,
  agedAt,
  basisOf,
  compareAges,
  type FileAge,
  readFileAge,
} from '../../src/core/time/file-age.ts';

const EARLY = new Date('2026-11-23T00:00:00Z');
const LATE = new Date('2026-12-31T00:00:00Z');

function age(name: string, modifiedAt: Date | null = EARLY, rule: AgeRule | null = null): FileAge {
  return readFileAge({ uri: `file:///exports/${name}`, name, modifiedAt, rule });
}

describe('the age of an export', () => {
  it.each([
    ['orders-2026-11-22.csv', 'orders-2026-11-21.csv', 'a date'],
    ['orders_20261122.csv.gz', 'orders_20261121.csv.gz', 'a date without separators'],
    ['dt=2026-11-22/orders.csv', 'dt=2026-11-21/orders.csv', 'the date of a folder'],
    ['2026/11/22/orders.csv', '2026/11/21/orders.csv', 'a folder for each part of the date'],
    ['year=2026/month=11/day=22/a.csv', 'year=2026/month=11/day=21/a.csv', 'named folders'],
    ['a-2026-11-22.csv', 'b_20261121.csv', 'dates in different names'],
    ['2026-01-01_2026-01-31.csv', '2026-01-01_2026-01-30.csv', 'the later one of two dates'],
    ['orders-2026-11-22T10-30.csv', 'orders-2026-11-22T09-45.csv', 'a time'],
    ['orders-20261122103001.csv', 'orders-20261122103000.csv', 'a second'],
  ])('%s is newer than %s: %s', (newer, older) => {
    // The time of the store says the opposite: the older one was put there later.
    expect(compareAges(age(newer, EARLY), age(older, LATE))).toBeGreaterThan(0);
    expect(compareAges(age(older, LATE), age(newer, EARLY))).toBeLessThan(0);
  });

  it.each([
    ['orders-2026-11-22-10.csv', 'orders-2026-11-22-9.csv', 'a number, on one day'],
    ['orders-10.csv', 'orders-9.csv', 'a number'],
    ['orders-010.csv', 'orders-9.csv', 'a number with leading zeros'],
    ['orders-2027-1.csv', 'orders-2026-12.csv', 'a month, behind its year'],
    ['orders (2).csv', 'orders (1).csv', 'the number of a copy'],
    ['orders_1 (1).csv', 'orders_1.csv', 'a copy, compared with the first one'],
    ['123456789012345678901.csv', '99999999999999999999.csv', 'a number beyond what a double holds'],
    ['orders_02122025.csv', 'orders_01122025.csv', 'a date, in whichever order its parts stand'],
    ['orders-100100.csv', 'orders-100099.csv', 'a counter, of which one number can be a date'],
  ])('%s is newer than %s unless the store says the opposite: %s', (newer, older) => {
    expect(compareAges(age(newer), age(older))).toBeGreaterThan(0);
    expect(compareAges(age(older, EARLY), age(newer, LATE))).toBeLessThan(0);
    expect(compareAges(age(newer, EARLY), age(older, LATE))).toBe(0);
    expect(compareAges(age(newer, EARLY, 'name'), age(older, LATE, 'name'))).toBeGreaterThan(0);
  });

  it.each(['orders-week-1.csv', 'orders-1.csv', '01-01/orders.csv', 'shop9-orders.csv', 'orders (1).csv'])(
    'is unknown if the store has %s later than one with a greater number',
    (name) => expect(compareAges(age(name, LATE), age(name.replace(/\d+/, '52')))).toBe(0),
  );

  it.each([
    ['a.csv', 'b.csv', 'names say nothing'],
    ['orders-9.csv', 'refunds-10.csv', 'names differ in more than a number'],
    ['orders-11-2026.csv', 'orders-02-2027.csv', 'the year comes last'],
    ['05-11-2026.csv', '20-10-2026.csv', 'the day or the month comes first'],
    ['orders_01122025.csv', 'orders_30112025.csv', 'the day or the month of a number comes first'],
    ['orders_010126.csv', 'orders_311225.csv', 'so it does in a number without a century'],
    ['orders 01-01-26.csv', 'orders 31-12-25.csv', 'so it does in three numbers'],
    ['8f2d41ac-4411-4c3e-9f00.csv', '8f2d41ac-4410-4c3e-9f00.csv', 'the names are ids'],
  ])('%s and %s are compared by the time of the store: %s', (one, other) => {
    expect(compareAges(age(one, LATE), age(other, EARLY))).toBeGreaterThan(0);
    expect(compareAges(age(one, EARLY), age(other, LATE))).toBeLessThan(0);
    expect(compareAges(age(one), age(other))).toBe(0);
  });

  it.each(['orders-2026-11-30.csv', '2026-10-01_2026-11-30.csv', 'orders-2062-11-20.csv'])(
    'of %s, which was put there before that day, is the time of the store',
    (name) => {
      const period = age(name, new Date('2026-11-20T00:00:00Z'));
      expect(compareAges(age('orders-2026-11-22.csv'), period)).toBeGreaterThan(0);
      expect(compareAges(age('orders-2026-11-19.csv'), period)).toBeLessThan(0);
      expect(basisOf(period)).toBe('modified');
    },
  );

  it('is the date in a name that was given in another zone, or on a fast clock', () => {
    expect(basisOf(age('orders-2026-11-22.csv', new Date('2026-11-20T22:00:00Z')))).toBe('date_in_name');
  });

  it('compares a name with a date and one without by the day', () => {
    const dated = age('orders-2026-11-22.csv');
    expect(compareAges(age('latest.csv', new Date('2026-11-23T00:00:00Z')), dated)).toBeGreaterThan(0);
    expect(compareAges(age('latest.csv', new Date('2026-11-21T23:59:59Z')), dated)).toBeLessThan(0);
  });

  it('is unknown if the store says no time and the name says nothing', () => {
    expect(compareAges(age('a.csv', null), age('b.csv', LATE))).toBe(0);
    expect(basisOf(age('a.csv', null))).toBeNull();
    expect(agedAt(age('a.csv', null))).toBeNull();
  });

  it('is what the setting of the source says', () => {
    expect(
      compareAges(age('orders-9.csv', LATE, 'modified'), age('orders-10.csv', EARLY, 'modified')),
    ).toBeGreaterThan(0);
    expect(compareAges(age('a.csv', LATE, 'name'), age('b.csv', EARLY, 'name'))).toBe(0);
    expect(
      compareAges(age('orders-10.csv', EARLY, 'name'), age('orders-9.csv', LATE, 'name')),
    ).toBeGreaterThan(0);
  });

  it('tells what it was found by', () => {
    expect([basisOf(age('orders-2026-11-22.csv')), agedAt(age('orders-2026-11-22.csv'))]).toEqual([
      'date_in_name',
      new Date('2026-11-22T00:00:00Z'),
    ]);
    expect([basisOf(age('orders-9.csv')), agedAt(age('orders-9.csv'))]).toEqual(['number_in_name', EARLY]);
    expect(basisOf(age('orders.csv'))).toBe('modified');
  });

  it('takes time in proportion to the length of a name', () => {
    const started = performance.now();
    for (const part of ['2026-', '1', 'a1', ' (1', '-', '.a', '=/', 'abcdef12-']) age(part.repeat(20_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

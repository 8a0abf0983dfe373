import { describe, expect, it } from 'vitest';
import { findDateFault, isBefore, parseDatedNames } from '../../src/core/time/dated-names.ts';

describe('the date in the URI of a source', () => {
  it.each([
    [
      'orders/dt={date}/',
      'orders/dt=',
      'orders/dt=2026-11-22',
      'orders/dt=2026-11-22/part-0.csv',
      '2026-11-22',
    ],
    ['{year}/{month}/{day}/', '', '2026/11/22', '2026/11/22/13/orders.csv', '2026-11-22'],
    ['year={year}/month={month}/', 'year=', 'year=2026/month=11', 'year=2026/month=11/a.csv', '2026-11-01'],
    ['{year}/*.csv', '', '2026', '2026/a.csv', '2026-01-01'],
    ['orders-{year}{month}{day}*.csv', 'orders-', 'orders-20261122', 'orders-20261122T06.csv', '2026-11-22'],
  ])('%s begins at its day and is found in names', (uri, prefix, start, name, day) => {
    const dated = parseDatedNames(uri);
    expect(dated).toMatchObject({ prefix });
    expect(dated?.startOf('2026-11-22')).toBe(start);
    expect(dated?.dayOf(name)).toBe(day);
  });

  it.each([
    'orders/dt=2026-13-45/a.csv',
    'orders/dt=2026-02-31/a.csv',
    'orders/dt=0026-02-03/a.csv',
    'orders/dt=2026-11/a.csv',
    'orders/a.csv',
    'orders/dt=__null__/a.csv',
    '',
  ])('is not found in the name %s', (name) =>
    expect(parseDatedNames('orders/dt={date}/')?.dayOf(name)).toBeNull(),
  );

  it.each([
    ['{day}/{month}/{year}/', /in this order/],
    ['{month}/', /in this order/],
    ['{date}/{date}/', /in this order/],
    ['shop-*/dt={date}/', /before any wildcard/],
    ['{a,b}/{year}/', /before any wildcard/],
  ])('%s is rejected with a reason, because names cannot be listed from a day on', (uri, why) => {
    expect(findDateFault(uri)).toMatch(why);
    expect(parseDatedNames(uri)).toBeNull();
  });

  it.each(['orders/', 'orders/{a,b}.csv', 's3://shop/{dates}/'])('%s is absent, which is no error', (uri) => {
    expect(findDateFault(uri)).toBeNull();
    expect(parseDatedNames(uri)).toBeNull();
  });

  it.each([
    ['2025/', true],
    ['2026', true],
    ['2026/', false],
    ['2026/10', true],
    ['2026/10/31', true],
    ['2026/11/', false],
    ['2026/11/21/a.csv', true],
    ['2026/11/22', false],
    ['2026/11/22/a.csv', false],
    ['2027/', false],
    ['2026/11/22.csv/', false],
  ])('a listing from 2026/11/22 on skips %s: %s', (name, isLeftOut) => {
    expect(isBefore(name, '2026/11/22')).toBe(isLeftOut);
  });
});

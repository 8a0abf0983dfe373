import { expect, it } from 'vitest';
import { ANNOUNCED, replayYear } from './replay-year.ts';
import { SHOPS } from './synthetic-shop.ts';

it('a year of hourly files causes at most one notice a month', () => {
  const hourly = SHOPS.find(({ exports: files }) => files === 'hourly');
  if (hourly === undefined) throw new Error('there is no such shop');
  const { months, files } = replayYear(hourly, { expectedDates: ANNOUNCED });
  expect(files).toBe(365 * 24);
  expect([...months].filter(([, notices]) => notices > 1)).toEqual([]);
});

import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/service/retry-after.ts';

const NOW = new Date('2025-11-21T08:00:00Z');
const DAY_MS = 24 * 60 * 60 * 1000;

test.each<[string, string | string[] | undefined, number | null]>([
  ['absent', undefined, null],
  ['seconds', '120', 120_000],
  ['seconds with blanks', ' 5 ', 5_000],
  ['a fraction of a second', '0.5', 500],
  ['zero', '0', 0],
  ['one day', '86400', DAY_MS],
  ['an HTTP date', 'Fri, 21 Nov 2025 08:00:30 GMT', 30_000],
  ['a date of the second form', 'Friday, 21-Nov-25 08:00:30 GMT', 30_000],
  ['a date of the third form, which is UTC', 'Fri Nov 21 08:00:30 2025', 30_000],
  ['an ISO date', '2025-11-21T08:00:30Z', 30_000],
  ['a past date', 'Fri, 21 Nov 2025 07:00:00 GMT', 0],
  ['a century', '3155760000', 31 * DAY_MS],
  ['a date far away', 'Fri, 21 Nov 2099 08:00:00 GMT', 31 * DAY_MS],
  ['empty', '', null],
  ['negative', '-5', null],
  ['words', 'in 5 minutes', null],
  ['a number with a unit', '5s', null],
  ['an exponent', '1e9', null],
  ['a date that does not exist', 'Fri, 99 Nov 2025 08:00:30 GMT', null],
  ['several: the longest', ['1', 'nonsense', '3'], 3_000],
])('the client reads a Retry-After header that is %s', (_form, header, waitMs) => {
  expect(parseRetryAfter(header, NOW)).toBe(waitMs);
});

import { describe, expect, it } from 'vitest';
import { openCronPattern, problemOfCron } from '../../src/core/time/cron-pattern.ts';

function first(expression: string, from: string, count: number): readonly string[] {
  const found: string[] = [];
  for (const wallMs of openCronPattern(expression).after(Date.parse(from))) {
    found.push(new Date(wallMs).toISOString().slice(0, 16));
    if (found.length === count) break;
  }
  return found;
}

describe('a cron expression', () => {
  it.each([
    ['* * * * *', '2026-01-15T23:59Z', ['2026-01-16T00:00', '2026-01-16T00:01']],
    ['0 0,* * * *', '2026-01-15T23:30Z', ['2026-01-16T00:00', '2026-01-16T01:00']],
    ['0 22-1 * * *', '2026-01-15T12:00Z', ['2026-01-15T22:00', '2026-01-15T23:00', '2026-01-16T00:00']],
    ['0 0 LW * *', '2026-01-15T12:00Z', ['2026-01-30T00:00', '2026-02-27T00:00']],
    ['0 0 L-3 * ?', '2026-01-15T12:00Z', ['2026-01-28T00:00', '2026-02-25T00:00']],
    ['0 0 15W * *', '2026-02-01T12:00Z', ['2026-02-16T00:00', '2026-03-16T00:00']],
    ['0 0 * * 5L', '2026-01-15T12:00Z', ['2026-01-30T00:00', '2026-02-27T00:00']],
    ['0 0 * * MON#1', '2026-01-15T12:00Z', ['2026-02-02T00:00', '2026-03-02T00:00']],
    ['0 0 * JAN-FEB sun-tue', '2026-01-15T12:00Z', ['2026-01-18T00:00', '2026-01-19T00:00']],
    ['0 0 30 2 5', '2026-01-15T12:00Z', ['2026-02-06T00:00', '2026-02-13T00:00']],
    ['0 0 29 2 *', '2096-03-01T00:00Z', ['2104-02-29T00:00']],
    ['0 0 * 2 1#5', '2028-01-01T00:00Z', ['2044-02-29T00:00']],
  ])('%s names, after %s, %j', (expression, from, times) => {
    expect(problemOfCron(expression)).toBeNull();
    expect(first(expression, from, times.length)).toEqual(times);
  });

  it.each([
    ['5 * * *', 'is not a cron expression (it has 4 fields)'],
    ['@daily', 'is not a cron expression (it has 1 field)'],
    ['60 * * * *', 'is not a cron expression (its minute 60 is not valid)'],
    ['0 24 * * *', 'is not a cron expression (its hour 24 is not valid)'],
    ['0 0 0 * *', 'is not a cron expression (its day of month 0 is not valid)'],
    ['0 0 * 13 *', 'is not a cron expression (its month 13 is not valid)'],
    ['0 0 * * 8', 'is not a cron expression (its day of week 8 is not valid)'],
    ['0 0 * * FRI#L', 'is not a cron expression (its day of week FRI#L is not valid)'],
    ['0 0 99 4 1', 'is not a cron expression (its day of month 99 is not valid)'],
    ['*/61 * * * *', 'is not a cron expression (the step of */61 is too large)'],
    ['0 0 * * 1-5/8', 'is not a cron expression (the step of 1-5/8 is too large)'],
    ['0 0 30 2 *', 'never fires: there is no such day'],
    ['0 0 31 4,6 ?', 'never fires: there is no such day'],
    ['0 0 L-30 2 *', 'never fires: there is no such day'],
  ])('%s is refused: it %s', (expression, problem) => {
    expect(problemOfCron(expression)).toBe(problem);
  });
});

import { expect, it } from 'vitest';
import { backoffMs } from '../../../src/ledger/sending/backoff.ts';

it('the delay doubles after each attempt that could not be written, up to a minute', () => {
  const outcome = { kind: 'not_written', reason: 'refused' } as const;
  expect([1, 2, 3, 8, 50].map((attempt) => backoffMs(attempt, outcome))).toEqual([
    500, 1_000, 2_000, 60_000, 60_000,
  ]);
});

it('the delay is at least as long as the service requested', () => {
  expect(backoffMs(1, { kind: 'throttled', httpStatus: 429, retryAfterMs: 90_000 })).toBe(90_000);
  expect(backoffMs(1, { kind: 'throttled', httpStatus: 429, retryAfterMs: null })).toBe(500);
});

it('the delay is zero after an outcome that settles the entry', () => {
  expect(backoffMs(3, { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' })).toBe(0);
});

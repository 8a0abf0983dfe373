import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/ledger.ts';
import { createBreaker, createConcurrencyLimiter } from '../../../src/ledger/sending/request-gate.ts';

const accepted: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null };
const doubt: Outcome = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' };
const throttled: Outcome = { kind: 'throttled', httpStatus: 429, retryAfterMs: null };
const notWritten: Outcome = { kind: 'not_written', reason: 'connection refused' };

function report(to: { report(outcome: Outcome): void }, times: number, outcome: Outcome): void {
  for (let count = 0; count < times; count += 1) to.report(outcome);
}

describe('the breaker', () => {
  it('opens at the fifth doubt within a minute; older doubts do not count', () => {
    let now = 0;
    const breaker = createBreaker(() => now);
    breaker.report(doubt);
    now = 60_000;
    report(breaker, 4, doubt);
    expect(breaker.openBecause()).toBeNull();
    now = 119_999;
    breaker.report(doubt);
    expect(breaker.openBecause()).toBe('5 requests in 60 s are in doubt');
    breaker.close();
    expect(breaker.openBecause()).toBeNull();
    report(breaker, 4, doubt);
    expect(breaker.openBecause(), 'a closed breaker counts anew').toBeNull();
  });

  it('opens at the fifth request in a row that could not be written; any other outcome begins a new row', () => {
    const breaker = createBreaker(() => 0);
    report(breaker, 4, notWritten);
    expect(breaker.openBecause()).toBeNull();
    breaker.report(accepted);
    report(breaker, 4, notWritten);
    expect(breaker.openBecause()).toBeNull();
    breaker.report(notWritten);
    expect(breaker.openBecause()).toBe('5 requests in a row could not be sent');
    breaker.close();
    report(breaker, 4, notWritten);
    expect(breaker.openBecause()).toBeNull();
  });
});

describe('the number of requests in flight', () => {
  it('begins with two, or with the limit if that is one', () => {
    expect(createConcurrencyLimiter(8).size()).toBe(2);
    expect(createConcurrencyLimiter(1).size()).toBe(1);
  });

  it('grows by one with each accepted request, up to the limit, and with no other outcome', () => {
    const limiter = createConcurrencyLimiter(4);
    report(limiter, 1, accepted);
    expect(limiter.size()).toBe(3);
    report(limiter, 3, notWritten);
    expect(limiter.size()).toBe(3);
    report(limiter, 3, accepted);
    expect(limiter.size()).toBe(4);
  });

  it('is halved by a doubt and by a 429, but never below one', () => {
    const limiter = createConcurrencyLimiter(8);
    report(limiter, 5, accepted);
    limiter.report(doubt);
    expect(limiter.size()).toBe(3);
    limiter.report(throttled);
    expect(limiter.size()).toBe(1);
    limiter.report(throttled);
    expect(limiter.size()).toBe(1);
    limiter.reset();
    expect(limiter.size()).toBe(2);
  });
});

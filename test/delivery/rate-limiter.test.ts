import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRateLimiter } from '../../src/delivery/rate-limiter.ts';

it('the limiter grants turns at even intervals, in the order of the requests, without a burst after idle time', () => {
  let now = 0;
  const takeTurn = createRateLimiter(4, () => now);
  expect([takeTurn(), takeTurn(), takeTurn()]).toEqual([0, 250, 500]);
  now = 10_000;
  expect([takeTurn(), takeTurn()]).toEqual([0, 250]);
});

it('a limiter without a limit never delays a request', () => {
  const takeTurn = createRateLimiter(0, () => 0);
  expect([takeTurn(), takeTurn()]).toEqual([0, 0]);
});

it('the limiter never exceeds its limit in any second, whenever turns are requested', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      (gaps, perSecond) => {
        let now = 0;
        const takeTurn = createRateLimiter(perSecond, () => now);
        const turns = gaps.map((gap) => {
          now += gap;
          return now + takeTurn();
        });
        for (const [index, turn] of turns.entries()) {
          const inTheSecondBefore = turns.slice(0, index + 1).filter((other) => other > turn - 1000 + 1e-6);
          expect(inTheSecondBefore.length).toBeLessThanOrEqual(perSecond);
        }
      },
    ),
  );
});

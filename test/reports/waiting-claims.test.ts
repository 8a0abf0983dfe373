import { expect, it } from 'vitest';
import { describeWaitingClaims } from '../../src/reports/doubts/waiting-claims.ts';

it('orders whose claims were lost are described in sentences, of one and of many', () => {
  const waiting = (claims: number, accepted: number) =>
    describeWaitingClaims({ claims, accepted, amounts: [{ amount: '10', currency: 'EUR' }] });
  expect(waiting(0, 0)).toBeNull();
  expect(waiting(1, 1)).toBe(
    '1 order (10.00 EUR) was sent, but its claim was lost with an earlier state of the database, and no file has stated it since. The service accepted 1 of 1. It is not posted again.',
  );
  expect(waiting(1_200, 7)).toBe(
    '1,200 orders (10.00 EUR) were sent, but their claims were lost with an earlier state of the database, and no file has stated them since. The service accepted 7 of 1,200. They are not posted again.',
  );
});

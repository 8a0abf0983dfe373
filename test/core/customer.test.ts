import { describe, expect, test } from 'vitest';
import {
  consentOf,
  describeConsent,
  IS_RECORDED,
  later,
  mergeConsent,
  NOTHING_SEEN,
  PASSED_OVER,
  submitsUnknown,
} from '../../src/core/customer.ts';

describe('consent', () => {
  test.each([
    ['nothing was said', false, null, null, 'unknown'],
    ['a yes', true, null, null, 'yes'],
    ['a dated yes', true, 2, null, 'yes'],
    ['a no', false, null, 1, 'no'],
    ['a yes without a date never replaces a no', true, null, 1, 'no'],
    ['an earlier yes', true, 1, 2, 'no'],
    ['a yes at the same time', true, 1, 1, 'no'],
    ['a later yes', true, 2, 1, 'yes'],
    ['a date at which nobody said yes', false, 2, 1, 'unknown'],
  ])('is known from what was said: %s', (_, saidYes, consentedAt, refusedAt, consent) => {
    expect(consentOf({ saidYes, consentedAt, refusedAt })).toBe(consent);
  });

  test('of two statements is the same in either order, with the latest times', () => {
    const one = { saidYes: true, consentedAt: 2, refusedAt: null };
    const other = { saidYes: false, consentedAt: null, refusedAt: 3 };
    const third = { saidYes: true, consentedAt: 1, refusedAt: 4 };
    const expected = { saidYes: true, consentedAt: 2, refusedAt: 3 };
    expect([mergeConsent(one, other), mergeConsent(other, one)]).toEqual([expected, expected]);
    expect(mergeConsent(expected, third)).toEqual({ saidYes: true, consentedAt: 2, refusedAt: 4 });
    expect(mergeConsent(other, other)).toEqual(other);
    expect(mergeConsent(third, one).consentedAt).toBe(2);
    expect([later(null, null), later(-1, null), later(null, -1)]).toEqual([null, -1, -1]);
  });

  test.each([
    ['not_refused', 'recorded', true],
    ['not_refused', 'not_recorded', true],
    ['by_source', 'recorded', false],
    ['by_source', 'not_recorded', true],
    ['required', 'recorded', false],
    ['required', 'not_recorded', false],
  ] as const)(
    'that is unknown, under %s and a source that says %s, is enough: %s',
    (rule, consent, isEnough) => {
      expect(submitsUnknown(rule, { consent })).toBe(isEnough);
    },
  );

  test('is described with its columns', () => {
    const counts = { yes: 412, no: 88, blank: 3 };
    expect(describeConsent({ ...counts, columns: ['A', 'B'] })).toBe(
      '412 yes, 88 no, 3 neither, by "A" and "B"',
    );
    expect(describeConsent({ ...counts, columns: [] })).toBe('not recorded');
    expect(NOTHING_SEEN.consent).toEqual({ columns: [], yes: 0, no: 0, blank: 0 });
  });

  test('that is a no is recorded, and nothing about anybody else who is passed over', () => {
    expect(PASSED_OVER.filter((reason) => IS_RECORDED[reason])).toEqual(['refused', 'contradicting']);
  });
});

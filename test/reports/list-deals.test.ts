import { expect, it } from 'vitest';
import { stateOfDeal } from '../../src/reports/list-deals.ts';

it('a deal of which the service does not say whether it is active is not called active', () => {
  expect(stateOfDeal({ isActive: null, isDeleted: false })).toBe('unknown');
  expect(stateOfDeal({ isActive: null, isDeleted: true })).toBe('gone');
  expect(stateOfDeal({ isActive: false, isDeleted: false })).toBe('inactive');
  expect(stateOfDeal({ isActive: true, isDeleted: false })).toBe('active');
});

import type { StatementRules, Terms } from '../../src/money/statement.ts';

/** A row of terms.csv, for the deal D1 unless it says otherwise. */
export function termsOf(given: Partial<Terms>): Terms {
  return {
    line: 2,
    text: '',
    dealId: 'D1',
    codeFolded: null,
    ratePercent: null,
    flat: null,
    fixedFee: null,
    currency: null,
    excludedSkus: [],
    onlySkus: [],
    customer: null,
    firstDays: null,
    fromOrders: null,
    fromRevenue: null,
    tier: null,
    cap: null,
    minPayout: null,
    validFrom: null,
    validTo: null,
    ...given,
  };
}

/** Rules with a return window of 14 days. */
export function rulesOf(terms: readonly Terms[], given: Partial<StatementRules> = {}): StatementRules {
  return { terms, returnWindowDays: 14, timeZone: 'UTC', customersSince: {}, ...given };
}

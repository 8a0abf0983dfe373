import { describe, expect, it } from 'vitest';
import { type ContinuityRules, exploreContinuity, productionContinuity } from './continuity-model.ts';

const mutants: Record<string, Partial<ContinuityRules>> = {
  'a run does not compare the journals with the database': { comparesJournals: false },
  'a machine asks only its own journal': { asksEveryMachine: false },
  'a request begins before the journal says so': { notesBeforeWriting: false },
  'recovery trusts a note that a living process may still write': { trustsOnlyTheDead: false },
  'a journal that lost lines is trusted like a whole one': { trustsOnlyTheWhole: false },
  'an answer counts for whatever claim has its place': { answersNameClaims: false },
  'recovery holds only claims that were answered': { recoversUnanswered: false },
};

const setups = ['one_machine', 'two_machines'] as const;

describe('the model of an entry whose database is restored', () => {
  it.each(setups)(
    'writes the entry at most once, whenever a backup is taken and restored and whichever process dies: %s',
    (setup) => {
      const verdict = exploreContinuity(productionContinuity, setup);
      expect(verdict.violation).toBeNull();
      expect(verdict.states).toBeGreaterThan(1_000);
    },
  );

  it.each(Object.entries(mutants))('detects the mutant in which %s', (_name, change) => {
    const rules = { ...productionContinuity, ...change };
    expect(setups.some((setup) => exploreContinuity(rules, setup).violation !== null)).toBe(true);
  });
});

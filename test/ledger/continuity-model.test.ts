import { describe, expect, it } from 'vitest';
import { type ContinuityRules, exploreContinuity, productionContinuity } from './continuity-model.ts';

const mutants: Record<string, Partial<ContinuityRules>> = {
  'a run does not compare the journals with the database': { comparesJournals: false },
  'a request begins before the journal says so': { notesBeforeWriting: false },
  'recovery trusts a note that a living process may still write': { trustsOnlyTheDead: false },
  'an answer counts for whatever claim has its place': { answersNameClaims: false },
  'recovery holds only claims that were answered': { recoversUnanswered: false },
};

describe('the model of an entry whose database goes back', () => {
  it('writes it once at most, wherever a backup is taken and restored, and whoever dies', () => {
    const verdict = exploreContinuity(productionContinuity);
    expect(verdict.violation).toBeNull();
    expect(verdict.states).toBeGreaterThan(1_000);
  });

  it.each(Object.entries(mutants))('catches the mutant in which %s', (_name, change) => {
    expect(exploreContinuity({ ...productionContinuity, ...change }).violation).not.toBeNull();
  });
});

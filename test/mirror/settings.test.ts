import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { KnownError } from '../../src/core/known-error.ts';
import { makeTestFolder } from '../support/setup.ts';

function load(jobs: string) {
  const path = join(makeTestFolder(), 'pipeline.yaml');
  writeFileSync(path, `sources: {}\njobs:\n${jobs}`);
  return loadConfig(path, {});
}

/** Returns the problems of a file in the words that a user sees. */
function problemsOf(jobs: string): string {
  try {
    load(jobs);
    return '';
  } catch (error) {
    return error instanceof KnownError ? JSON.stringify(error.details.problems) : String(error);
  }
}

describe('the settings of mirror-account', () => {
  it('need only the kind', () => {
    expect(load('  mirror: {kind: mirror-account}\n').jobs.mirror).toMatchObject({
      sources: [],
      budget: 10_000,
      autocompleteBudget: 500,
      refreshAfterHours: 20,
      collaborations: true,
    });
  });

  it('disable the search for deals with autocomplete: false', () => {
    const { jobs } = load(
      '  mirror: {kind: mirror-account, autocomplete: false, autocomplete_budget: 100}\n',
    );
    expect(jobs.mirror).toMatchObject({ autocompleteBudget: 0 });
  });

  it('reject a second job of the kind, because one job mirrors the whole account', () => {
    expect(problemsOf('  one: {kind: mirror-account}\n  two: {kind: mirror-account}\n')).toMatch(
      /jobs\.two mirrors the account, as jobs\.one already does/,
    );
  });

  it.each([
    ['budget: 0', /budget/],
    ['refresh_after_hours: -1', /refresh_after_hours/],
    ['source: shop', /source/],
  ])('reject %s with the name of the setting', (setting, message) => {
    expect(problemsOf(`  mirror: {kind: mirror-account, ${setting}}\n`)).toMatch(message);
  });
});

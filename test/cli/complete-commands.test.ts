import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { completeCommands } from '../../src/cli/complete-commands.ts';
import { createProgram } from '../../src/cli/program.ts';

test.each([
  ['npx influencer-sync review lists them.', 'npx influencer-sync review -c x lists them.'],
  ['(npx influencer-sync rejected)', '(npx influencer-sync rejected -c x)'],
  ['npx influencer-sync runs', 'npx influencer-sync runs -c x'],
  ['npx influencer-sync backfill resume 1 --yes', 'npx influencer-sync backfill resume -c x 1 --yes'],
  ['npx influencer-sync backfill orders --plan', 'npx influencer-sync backfill -c x orders --plan'],
  ['npx influencer-sync ledger seeds lists them', 'npx influencer-sync ledger seeds -c x lists them'],
  ['npx influencer-sync sandbox --port 4010', 'npx influencer-sync sandbox --port 4010'],
  ['npx influencer-sync demo', 'npx influencer-sync demo'],
])('%s', (text, completed) => {
  expect(completeCommands(text, ' -c x')).toBe(completed);
});

/** Returns the words of each command that has an action of its own, and whether it reads a configuration. */
function wordsOf(
  command: Command,
  before: readonly string[] = [],
): { words: string; isConfigured: boolean }[] {
  return command.commands.flatMap((child) => {
    const words = [...before, child.name()];
    const isConfigured = child.options.some(({ long }) => long === '--config');
    return [{ words: words.join(' '), isConfigured }, ...wordsOf(child, words)];
  });
}

test('every suggested command that reads a configuration gets its option', () => {
  const program = createProgram(() => async () => {});
  const forgotten = wordsOf(program)
    .filter(({ isConfigured }) => isConfigured)
    .map(({ words }) => words)
    .filter(
      (words) =>
        completeCommands(`npx influencer-sync ${words}`, ' -c x') !== `npx influencer-sync ${words} -c x`,
    );
  expect(forgotten).toEqual([]);
});

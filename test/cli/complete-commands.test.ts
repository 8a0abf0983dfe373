import { expect, test } from 'vitest';
import { completeCommands } from '../../src/cli/complete-commands.ts';

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

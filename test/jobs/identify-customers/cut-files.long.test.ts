import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readEvents, runCli } from '../../support/run-cli.ts';
import { type CustomersShop, openCustomers, queuedAt } from './story.ts';

const HEADER = 'consent,email';

/** Runs `explain customer` with an address from standard input. */
function explainOf(shop: CustomersShop, address: string, ...args: string[]) {
  return runCli(['explain', 'customer', '--config', join(shop.folder, 'pipeline.yaml'), ...args], {
    env: shop.env,
    input: `${address}\n`,
  });
}

it('a person whose address is cut is not submitted, and the trace says that the file is held', async () => {
  const shop = await openCustomers({ consent: 'recorded' });
  const explain = async (address: string) =>
    (await explainOf(shop, address)).stdout.replaceAll(/\s+/g, ' ').trim();
  shop.drop('1.csv', `${HEADER}\nyes,ann@example.com\n`);
  shop.drop('2.csv', `${HEADER}\nyes,bob@example.com\nyes,jane@example.co`);
  expect(await explain('ann@example.com')).toContain('No run has read it yet.');
  expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 1 });
  expect(await queuedAt(shop.sandbox.url)).toEqual(['ann@example.com']);

  expect(await explain('bob@example.com')).toMatch(
    /2\.csv .* line 2: yes does not count, in a file that is held or not read: The file ends on line 3 without a line break/,
  );
  const jane = await explain('jane@example.com');
  expect(jane).toContain(
    'line 3: yes the row may be cut: it may say something else, or be about another person',
  );
  expect(jane).toContain(
    'No file that counts says yes or no for this person, so the person is not submitted.',
  );
  expect(await explain('ann@example.com')).toMatch(/1\.csv .* line 2: yes consent: "yes" says yes 2\.csv /);
  expect(await explain('ann@example.com')).not.toContain('is not submitted');
  expect((await explainOf(shop, 'kim@example.com')).exitCode).toBe(2);

  // The whole file is read in its place.
  shop.drop('2.csv', `${HEADER}\nyes,bob@example.com\nyes,jane@example.com\nno,cy@example.com\n`);
  expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 2 });
  expect((await queuedAt(shop.sandbox.url)).toSorted()).toEqual([
    'ann@example.com',
    'bob@example.com',
    'jane@example.com',
  ]);
  expect(await explain('jane@example.com')).toMatch(/2\.csv .* line 3: yes consent: "yes" says yes$/);
});

it('the trace says which rows are in a file that a person released, or that the limits hold', async () => {
  const shop = await openCustomers({ consent: 'recorded' });
  shop.reconfigure('max_rejected_share: 1', 'max_rejected_share: 0');
  const rows = Array.from({ length: 20 }, (_, at) => `yes,not an address ${at}`);
  shop.drop('1.csv', `${[HEADER, 'yes,ann@example.com', ...rows].join('\n')}\n`);
  await shop.identify();
  const trace = async () =>
    readEvents(await explainOf(shop, 'ann@example.com', '--json')).filter(
      ({ event }) => event === 'customer_row',
    );
  expect(await trace()).toMatchObject([
    { line: 2, verdict: 'yes', held: expect.stringContaining('20 of 21 rows cannot be used') },
  ]);
  await shop.cli('files', 'release', '1.csv', '--reason', 'a test export');
  expect(await trace()).toMatchObject([{ line: 2, held: expect.stringMatching(/^It was released by /) }]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { HASH_KEY, manyEmails } from '../jobs/identify-customers/story.ts';
import { leasesAreOver } from '../runs/workshop.ts';
import { waitFor } from '../support/wait-for.ts';
import { openPrivacyShop } from './story.ts';

const CUSTOMERS = 30_000;

it('a key rotation that is killed repeatedly moves every customer once and submits none again', async () => {
  const shop = await openPrivacyShop({ api: 'lease_seconds: 5\ntimeout_seconds: 4' });
  shop.put('club', '1.csv', manyEmails(500, 'w'));
  shop.put('customers', '1.csv', manyEmails(CUSTOMERS));
  shop.write(
    'pipeline.yaml',
    readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8').replace(', lookup: real_time', ''),
  );
  await shop.ran('club'); // The service does not know the brand, so the addresses wait.
  expect((await shop.ran('customers')).exitCode).toBe(0);
  shop.env.CUSTOMER_HASH_KEY = 'ffffffffffffffff0123456789abcdef';
  shop.env.PREVIOUS_CUSTOMER_HASH_KEY = HASH_KEY;
  shop.put('customers', '2.csv', manyEmails(CUSTOMERS));
  const moved = async (): Promise<number> => {
    const { rows } = await sql<{ moved: number }>`
      select count(*)::integer as moved from intake.customers where key_no = 2`.execute(shop.db);
    return rows[0]?.moved ?? 0;
  };
  const seen: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const before = await moved();
    const run = shop.start('run', 'customers', '--json');
    await waitFor(async () => (await moved()) > before, { timeoutMs: 60_000 });
    run.kill('SIGKILL');
    await run.ended;
    await leasesAreOver(shop);
    seen.push(await moved());
  }
  expect(seen[0]).toBeGreaterThan(0);
  expect(seen.filter((count) => count < CUSTOMERS + 500).length).toBeGreaterThan(0);
  const last = await shop.ran('customers');
  expect(last.exitCode).toBe(0);
  expect(JSON.parse(last.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ counts: { submitted: 0 } });
  expect(await moved()).toBe(CUSTOMERS + 500);
  const { rows } = await sql`
    select count(*)::integer as customers, sum(submissions)::integer as submissions from intake.customer_states where state = 'submitted'`.execute(
    shop.db,
  );
  expect(rows).toEqual([{ customers: CUSTOMERS, submissions: CUSTOMERS }]);
});

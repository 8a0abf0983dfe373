import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { acquireLease, releaseLeases } from '../../../src/ops/lease.ts';
import { openCustomers, queuedAt, toCustomers } from '../identify-customers/story.ts';

const DELETING = `
  deletion: {kind: delete-data, source: requests}
retention: {rejected_rows: 30}
`;

it('the job forgets every customer listed in a folder, once, and deletes old data', async () => {
  const shop = await openCustomers();
  mkdirSync(join(shop.folder, 'requests'));
  const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
  const requests = 'sources:\n  requests: {uri: ./requests/, layout: generic-customers}';
  shop.write('pipeline.yaml', `${text.replace('sources:', requests).trimEnd()}${DELETING}`);
  const remove = async (command = 'run') => {
    const { stdout, stderr, exitCode } = await shop.cli(command, 'deletion', '--json');
    expect(stdout + stderr).not.toMatch(/ann|bob|example\.com/i);
    const finished = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { counts: object };
    return { exitCode, ...finished.counts };
  };
  shop.drop('1.csv', toCustomers(['ann@example.com', 'bob@example.com', 'nobody', 'cy@example.com']));
  await shop.identify();
  await sql`update intake.rejected_rows set first_seen_at = now() - interval '31 days'`.execute(shop.db);
  shop.write('requests/monday.csv', toCustomers([' ANN@example.com', 'new@example.com', 'no address']));
  expect(await remove('plan')).toMatchObject({ requests: 3, forgotten: 2, unreadable: 1, pruned_rows: 1 });

  const lease = { name: 'job:customers', owner: crypto.randomUUID(), host: 'elsewhere', pid: 1 };
  await acquireLease(shop.db, { ...lease, ttlMs: 60_000 });
  expect(await remove()).toMatchObject({ exitCode: 3, forgotten: 0, postponed: 2, pruned_rows: 1 });
  await releaseLeases(shop.db, lease.owner);
  expect(await remove()).toMatchObject({
    exitCode: 3,
    forgotten: 2,
    unknown: 1,
    postponed: 0,
    pruned_rows: 0,
  });
  shop.write('requests/monday.csv', toCustomers(['ann@example.com', 'bob@example.com']));
  expect(await remove()).toMatchObject({ exitCode: 0, forgotten_before: 1, forgotten: 1 });

  shop.drop('2.csv', toCustomers(['Ann@example.com', 'new@example.com', 'dan@example.com']));
  await shop.identify();
  const submitted = ['ann@example.com', 'bob@example.com', 'cy@example.com', 'dan@example.com'];
  expect(await queuedAt(shop.sandbox.url)).toEqual(submitted);
  const { rows } = await sql`select actor, action from ops.audit order by audit_id`.execute(shop.db);
  expect(rows).toEqual(
    Array.from({ length: 3 }, () => ({ actor: 'job deletion', action: 'forget_customer' })),
  );

  // A file that is not a list of addresses is reported and stops nothing.
  shop.write('requests/tuesday.csv', 'name\nJane\n');
  expect(await remove()).toMatchObject({ exitCode: 3, forgotten_before: 2 });
});

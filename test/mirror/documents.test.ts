import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { knowDeals, openStory, rowsOf } from './story.ts';
import { dealRecord } from './stub-service.ts';

const DOCUMENT = readFileSync(new URL('../../docs/mirror.md', import.meta.url), 'utf8');

it('every query of docs/mirror.md can be run', async () => {
  const { db, service, run } = await openStory();
  service.deals.set('A', dealRecord('A'));
  await knowDeals(db, ['A', 'B']);
  await run();
  const queries = [...DOCUMENT.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, query]) => query ?? '');
  expect(queries.length).toBeGreaterThan(1);
  for (const query of queries) await sql.raw(query).execute(db);
});

it('docs/mirror.md explains every origin of a discovered deal', async () => {
  const { db } = await openStory();
  const [{ comment } = {}] = await rowsOf(
    db,
    "select col_description('mirror.known_deals'::regclass, 2) as comment",
  );
  const ways = DOCUMENT.match(/^\| `[a-z_`, ]+ \|/gm)?.join(' ') ?? '';
  for (const way of [
    'referral',
    'click',
    'create_deal',
    'event',
    'codes',
    'order',
    'handle',
    'autocomplete',
    'deal',
  ]) {
    expect(ways, way).toContain(`\`${way}\``);
    expect(comment, way).toContain(way);
  }
});

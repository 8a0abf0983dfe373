import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { migrateBy } from '../support/migrate-by.ts';
import { setupEmbedded } from '../support/setup.ts';

it('collaborations that were staged before they had their own table are migrated to it and wait for publication', async () => {
  const db = await setupEmbedded('empty');
  await migrateBy(db, (name) => name < '0010');
  const one = { record_id: 'C1', row_hash: 'h1', fields: { code: 'MIA10' }, raw: { collab_id: 'C1' } };
  const two = { ...one, record_id: 'C2', drift: [{ field: 'clicks', kind: 'unreadable' }] };
  await sql`
    insert into mirror.staged (record_kind, record_id, outcome, fetched_at, run_id, answer_hash, row_hash, fields, raw, collaborations)
    select 'deal', id, 'read', '2026-03-01', 1, 'a', 'h', '{}', '{}', list::jsonb
    from (values ('A', ${JSON.stringify([one, two, one])}), ('B', '[]'), ('C', null)) as d(id, list)`.execute(
    db,
  );

  await migrateBy(db, (name) => name > '0010');

  const { rows } = await sql`
    select collab_id, deal_id, fetched_at = '2026-03-01' as is_of_that_answer, row_hash, fields, raw, drift
    from mirror.staged_collaborations order by collab_id`.execute(db);
  const kept = { deal_id: 'A', is_of_that_answer: true, row_hash: 'h1', fields: one.fields, raw: one.raw };
  expect(rows).toEqual([
    { ...kept, collab_id: 'C1', drift: null },
    { ...kept, collab_id: 'C2', drift: two.drift },
  ]);
});

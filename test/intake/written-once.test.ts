import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { migrateBy } from '../support/migrate-by.ts';
import { setupEmbedded } from '../support/setup.ts';

it('customers keep their state when a database that stored each of them twice is migrated', async () => {
  const db = await setupEmbedded('empty');
  await migrateBy(db, (name) => name < '0009');
  for (const statement of [
    sql`insert into ops.runs (job, kind, host, pid) values ('customers', 'identify-customers', 'h', 1)`,
    sql`
      insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, reader, run_id, read_for, sealed_at)
      select 'shop', uri, '1', 1, 'l', 'h', state, case when state = 'reading' then gen_random_uuid() end, 1, 'contacts',
        case when state = 'sealed' then now() end
      from (values ('counts', 'sealed'), ('died', 'reading')) as f(uri, state)`,
    sql`
      insert into ledger.identify_batches (batch_id, job, brand_id, source_type, state, contacts, http_status, message, run_id, staged_at, settled_at)
      overriding system value
      values (1, 'customers', '7', 'shop', 'accepted', 3, 200, null, 1, now(), '2026-03-01'), (2, 'customers', '7', 'shop', 'refused', 1, 422, 'no such address', 1, now(), '2026-03-02')`,
    sql`
      insert into intake.contacts (batch_id, job, brand_id, source_file_id, purpose, influencer_list, contact_hashes)
      overriding system value
      values (3, 'customers', '7', 1, 'submit', '["waits@x.example", "again@x.example"]', array[md5('waits'), md5('again')]::uuid[])`,
    sql`
      insert into ledger.contacts (contact_hash, brand_id, state, state_reason, source, staged_file_id, batch_id, submissions, submitted_at)
      select md5(name)::uuid, '7', state, reason, 'shop', file, batch, times, at::timestamptz
      from (values ('taken', 'submitted', null, null, 1, 1, '2026-03-01'), ('twice', 'submitted', null, null, 1, 2, '2026-03-01'),
        ('again', 'submitted', null, 1, 1, 1, '2026-03-01'), ('refused', 'refused', 'no such address', null, 2, 0, null),
        ('waits', 'staged', null, 1, null, 0, null), ('died', 'staged', null, 2, null, 0, null),
        ('left', 'unsubscribed', null, null, 1, 1, '2026-03-01'), ('never', 'unsubscribed', null, null, null, 0, null)
      ) as c(name, state, reason, file, batch, times, at)`,
  ]) {
    await statement.execute(db);
  }

  await migrateBy(db, (name) => name > '0009');

  const { rows } = await sql`
    select n.name, c.state, c.state_reason, c.is_waiting, c.submissions, c.submitted_at::date::text as submitted
    from intake.customer_states c join (values ('taken'), ('twice'), ('again'), ('refused'), ('waits'), ('died'), ('left'), ('never')) as n(name)
      on c.customer_hash = md5(n.name)::uuid
    order by n.name`.execute(db);
  const plain = { state_reason: null, is_waiting: false, submissions: 1, submitted: '2026-03-01' };
  const unsent = { submissions: 0, submitted: null };
  expect(rows).toEqual([
    { ...plain, name: 'again', state: 'submitted', is_waiting: true },
    { ...plain, name: 'left', state: 'unsubscribed' },
    { ...plain, ...unsent, name: 'never', state: 'unsubscribed' },
    { ...plain, ...unsent, name: 'refused', state: 'refused', state_reason: 'no such address' },
    { ...plain, name: 'taken', state: 'submitted' },
    { ...plain, name: 'twice', state: 'submitted', submissions: 2 },
    { ...plain, ...unsent, name: 'waits', state: 'staged', is_waiting: true },
  ]);

  const counts = await sql`
    select brand_id, state, is_waiting, run_id, sum(customers) as customers from intake.customer_counts group by 1, 2, 3, 4 order by 2, 3, 4`.execute(
    db,
  );
  const counted = await sql`
    select brand_id, state, is_waiting, run_id, count(*)::numeric as customers from intake.customer_states group by 1, 2, 3, 4 order by 2, 3, 4`.execute(
    db,
  );
  expect(counts.rows).toEqual(counted.rows);
  expect(counts.rows).toHaveLength(6);
});

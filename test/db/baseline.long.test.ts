import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect, type RawBuilder, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { migrate, pendingMigrations } from '../../src/db/migrate.ts';
import type { DB } from '../../src/db/tables.ts';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { layEmbeddedDatabase } from '../support/embedded-database.ts';
import { dumpSchema, SCHEMA_FILE } from '../support/generated-files.ts';
import { EARLIER_MIGRATIONS, LATER_MIGRATIONS, migrateBy } from '../support/migrate-by.ts';
import { makeTestFolder, setup } from '../support/setup.ts';

/** The last migration of each version, and of a build between two of them. */
const OLDER: readonly (readonly [name: string, last: string])[] = [
  ['version 0.1.0', '0012_unsubscribed'],
  ['a build after version 0.1.0', '0018_continuity'],
  ['version 0.2.0', '0026_changes_without_key'],
  ['a build after version 0.2.0', '0086_renamed_jobs'],
];

describe('a database of version 0.2.1', () => {
  it('has the tables, views, functions, comments and rights that the baseline creates, in an embedded database', async () => {
    const folder = join(makeTestFolder(), 'postgres');
    await layEmbeddedDatabase(join(folder, '..'));
    const pglite = await PGlite.create({ dataDir: folder });
    await migrateBy(new Kysely<DB>({ dialect: new PGliteDialect({ pglite }) }), () => true);
    await pglite.close();
    expect(await dumpSchema(folder)).toBe(readFileSync(SCHEMA_FILE, 'utf8'));
  });

  it('stands on the baseline: only what came later is run, and it has the catalog, rows and migrations of a new database', async () => {
    const { db } = await setup('empty');
    await migrateBy(db, () => true);
    expect(await migrate(db)).toEqual([...LATER_MIGRATIONS, 'bi (views)']);
    expect(await migrate(db)).toEqual([]);
    const { db: fresh } = await setup();
    expect(await readCatalog(db)).toEqual(await readCatalog(fresh));
    expect(await appliedTo(db)).toEqual(await appliedTo(fresh));
    expect(await appliedTo(fresh)).toEqual([...EARLIER_MIGRATIONS.keys(), ...LATER_MIGRATIONS]);
    const { applied_views: views, ...rows } = await readContent(fresh);
    expect(await readContent(db)).toEqual({ ...rows, applied_views: expect.anything() });
    expect(views).toBeDefined();
  });
});

describe('a database of an earlier version', () => {
  it.each(OLDER)('is refused: %s', async (name, last) => {
    const { db } = await setup('empty');
    await migrateBy(db, (migration) => migration <= last);
    const before = await readContent(db);
    for (const look of [pendingMigrations, migrate])
      await expect(look(db)).rejects.toMatchObject({
        details: {
          code: 'database_of_earlier_version',
          exitCode: 2,
          message: expect.stringContaining(`the tables of ${name}: its last migration is ${last}.`),
          help: expect.stringContaining('`migrate` of version 0.2.1'),
        },
      });
    expect(await readContent(db)).toEqual(before);
  });

  it('is refused by every command, which changes and posts nothing; after `migrate` of 0.2.1 it has all that it had', async () => {
    const { db, databaseUrl } = await setup('empty');
    await migrateBy(db, (name) => name < '0027');
    await fill(db);
    const shop = await openWorkshop({ databaseUrl });
    shop.drop('orders.csv', toCsv([{ id: '1', code: 'MIA10' }]));
    const before = await readContent(db);
    for (const command of ['migrate', 'status', 'plan orders', 'run orders', 'review', 'ledger seeds']) {
      const refused = await shop.cli(...command.split(' '));
      expect(refused.exitCode, `${command}: ${refused.stderr}`).toBe(2);
      expect(refused.stderr.replace(/\s+/g, ' '), command).toContain('the tables of version 0.2.0');
    }
    expect((await shop.cli('doctor')).stdout.replace(/\s+/g, ' ')).toContain('the tables of version 0.2.0');
    expect(await shop.posted()).toEqual([]);
    expect(await readContent(db)).toEqual(before);

    await migrateBy(db, (name) => name >= '0027');
    expect(await migrate(db)).toEqual([...LATER_MIGRATIONS, 'bi (views)']);
    expect(
      (await sql`select order_id, state, key, body, amount, deal_id from ledger.entries`.execute(db)).rows,
    ).toEqual([
      {
        order_id: '7001',
        state: 'accepted',
        key: '["shopify","7001"]',
        body: '{"order_id":"7001"}',
        amount: '12.0000',
        deal_id: 'D1',
      },
    ]);
    expect((await sql`select order_id, total from intake.orders where is_current`.execute(db)).rows).toEqual([
      { order_id: '7001', total: '12.0000' },
    ]);
    expect((await sql`select state, submissions from intake.customer_states`.execute(db)).rows).toEqual([
      { state: 'submitted', submissions: 1 },
    ]);
    expect((await shop.cli('status')).exitCode).toBe(0);
  });
});

/** What a run of 0.2.0 leaves: an order that was posted, and a customer who was submitted. */
async function fill(db: Database): Promise<void> {
  await sql
    .raw(`do $fill$ begin
    insert into ops.runs (job, kind, host, pid, status, finished_at) values ('orders', 'attribute-orders', 'h', 1, 'ok', now());
    insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, rows_read, order_rows, run_id, sealed_at)
    values ('shop', 'orders.csv', '1', 10, 'generic', 'h', 'sealed', 1, 1, 1, now());
    insert into intake.orders (source, order_id, source_file_id, is_current, content_hash, group_key, currency, total, line_no, record_no, row_count)
    values ('shop', '7001', 1, true, 'h', '7001', 'EUR', 12, 2, 1, 1);
    insert into ledger.entries (effect, account_id, key, state, attempt, body, body_hash, job, source, order_platform, order_id, amount, currency, deal_id, run_id)
    values ('referral', 'A', '["shopify","7001"]', 'accepted', 1, '{"order_id":"7001"}', 'h', 'orders', 'shop', 'shopify', '7001', 12, 'EUR', 'D1', 1);
    insert into ledger.identify_batches (batch_id, job, brand_id, source_type, state, contacts, http_status, run_id, staged_at, settled_at)
    overriding system value values (1, 'customers', '7', 'shop', 'accepted', 1, 200, 1, now(), now());
    insert into ledger.contacts (contact_hash, brand_id, source, staged_file_id, batch_id) values (md5('mia')::uuid, '7', 'shop', 1, 1);
  end $fill$`)
    .execute(db);
}

async function appliedTo(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{
    name: string;
  }>`select name from influencer_sync_migrations order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** The number of rows of each table, and a digest of them. */
async function readContent(db: Database): Promise<Record<string, string>> {
  const { rows } = await sql<{ name: string; path: string }>`
    select tablename as name, format('%I.%I', schemaname, tablename) as path from pg_tables
    where schemaname in ('public', 'ops', 'intake', 'ledger', 'mirror', 'reporting')
      and tablename not like 'influencer_sync_migrations%'`.execute(db);
  const content: Record<string, string> = {};
  for (const { name, path } of rows) {
    const digest = await sql<{ of: string }>`
      select concat(count(*), ' ', md5(string_agg(t::text, ',' order by t::text))) as of from ${sql.raw(path)} t`.execute(
      db,
    );
    content[name] = digest.rows[0]?.of ?? '';
  }
  return content;
}

/**
 * The rights of the owner and of everybody. Those of roles are left out: the old migrations granted some of them if the
 * role existed, which other tests create on the same server; `migrate --roles` grants them all.
 */
function rights(acl: RawBuilder<unknown>): RawBuilder<string> {
  return sql`array(select given::text from unnest(${acl}) as given where given::text like '=%' or given::text like current_user || '=%' order by 1)::text`;
}

/** What a server knows about the schema beside the names of its objects: definitions, rights, comments. */
async function readCatalog(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ line: string }>`
    with ours as (
      select oid, nspname from pg_namespace where nspname in ('ops', 'intake', 'ledger', 'mirror', 'reporting', 'bi')
    )
    select concat_ws(' ', 'schema', nspname, obj_description(n.oid, 'pg_namespace'), ${rights(sql`coalesce(nspacl, acldefault('n', nspowner))`)}) as line
    from pg_namespace n where oid in (select oid from ours)
    union all
    select concat_ws(' ', c.oid::regclass, relkind, relpersistence, reloptions::text, ${rights(sql`coalesce(relacl, acldefault((case relkind when 'S' then 's' else 'r' end)::"char", relowner))`)}, obj_description(c.oid, 'pg_class'))
    from pg_class c where relnamespace in (select oid from ours) and relkind <> 't'
    union all
    select concat_ws(' ', attrelid::regclass, row_number() over (partition by attrelid order by attnum), attname, format_type(atttypid, atttypmod),
      attnotnull, attidentity, attgenerated, attstorage, ${rights(sql`attacl`)}, pg_get_expr(adbin, adrelid), col_description(attrelid, attnum))
    from pg_attribute a join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relnamespace in (select oid from ours) and relkind in ('r', 'v') and attnum > 0 and not attisdropped
    union all
    select concat_ws(' ', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid)) from pg_constraint
    where connamespace in (select oid from ours)
    union all
    select pg_get_indexdef(indexrelid) from pg_index join pg_class c on c.oid = indexrelid where relnamespace in (select oid from ours)
    union all
    select concat_ws(' ', pg_get_functiondef(oid), ${rights(sql`coalesce(proacl, acldefault('f', proowner))`)}, obj_description(oid, 'pg_proc')) from pg_proc
    where pronamespace in (select oid from ours)
    union all
    select concat_ws(' ', pg_get_triggerdef(t.oid), tgenabled) from pg_trigger t join pg_class c on c.oid = tgrelid
    where relnamespace in (select oid from ours) and not tgisinternal
    union all
    select concat_ws(' ', c.oid::regclass, pg_get_viewdef(c.oid)) from pg_class c
    where relnamespace in (select oid from ours) and relkind = 'v'
    union all
    select concat_ws(' ', seqrelid::regclass, seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle)
    from pg_sequence join pg_class c on c.oid = seqrelid where relnamespace in (select oid from ours)
    order by 1`.execute(db);
  return rows.map(({ line }) => line);
}

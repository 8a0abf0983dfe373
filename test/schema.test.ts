import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { DATA_MODEL_FILE, DICTIONARY_FILE, describeViews } from './support/data-dictionary.ts';
import { layEmbeddedDatabase } from './support/embedded-database.ts';
import { describeErrors, TROUBLESHOOTING_FILE } from './support/error-reference.ts';
import { dumpSchema, generateTableTypes, SCHEMA_FILE, TABLES_FILE } from './support/generated-files.ts';
import { makeTestFolder, setup } from './support/setup.ts';

const FIX = 'Run `npm run schema` and commit what it writes.';

/** The schemas of the project: all except those of Postgres and of the migration tool. */
const OURS = sql`nspname not in ('public', 'information_schema') and nspname not like 'pg\\_%'`;

const OWNER = '00000000-0000-4000-8000-000000000001';

describe('the generated files about the tables', () => {
  it('sql/schema.sql matches the migrations and views (npm run schema writes it)', async () => {
    const folder = makeTestFolder();
    await layEmbeddedDatabase(folder);
    expect(readFileSync(SCHEMA_FILE, 'utf8'), FIX).toBe(await dumpSchema(join(folder, 'postgres')));
  });

  it('src/db/tables.ts matches the migrated tables (npm run schema writes it)', async () => {
    const { databaseUrl } = await setup();
    expect(readFileSync(TABLES_FILE, 'utf8'), FIX).toBe(await generateTableTypes(databaseUrl));
  });

  it('docs/data-dictionary.md and its diagram match the comments of schema bi (npm run schema writes them)', async () => {
    const { db } = await setup();
    const { dictionary, picture } = await describeViews(db);
    expect(readFileSync(DICTIONARY_FILE, 'utf8'), FIX).toBe(dictionary);
    expect(readFileSync(DATA_MODEL_FILE, 'utf8'), FIX).toBe(picture);
  });

  it('docs/troubleshooting.md lists every error by exit code, as worded in the code (npm run schema writes it)', () => {
    expect(readFileSync(TROUBLESHOOTING_FILE, 'utf8'), FIX).toBe(describeErrors());
  });

  it('every schema, table, view, column and function has a COMMENT', async () => {
    const { db } = await setup();
    expect(
      await findUncommented(db),
      'Add `comment on … is …` beside each in its migration or view.',
    ).toEqual([]);
  });

  it('a migrated database has no pending migrations', async () => {
    const { db } = await setup();
    expect(await migrate(db)).toEqual([]);
  });
});

describe('the database rejects', () => {
  it('unknown values of states, outcomes and decisions', async () => {
    const { db } = await setup();
    const { rows } = await sql<{ name: string }>`
      select format('%s.%s.%s', nspname, relname, attname) as name
      from pg_attribute join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
      where ${OURS} and relkind = 'r' and attname in ('state', 'outcome', 'effect', 'decision', 'via')
        and not exists (
          select from pg_constraint
          where conrelid = attrelid and contype = 'c' and conkey = array[attnum] and pg_get_constraintdef(oid) like '%ANY (ARRAY[%'
        )`.execute(db);
    expect(rows, "Add `check (… in ('…', '…'))` to the column.").toEqual([]);
  });

  it.each([
    ['sending without an owner', { attempt: 1, state: 'sending' }, 'sending_has_an_owner'],
    ['ready with an owner', { owner: OWNER }, 'sending_has_an_owner'],
    ['sending without an attempt', { state: 'sending', owner: OWNER }, 'sending_was_claimed'],
    [
      'in doubt about no attempt',
      { state: 'in_doubt', attempt: 1, state_reason: 'timeout' },
      'in_doubt_was_sent',
    ],
    [
      'in doubt without a reason',
      { state: 'in_doubt', attempt: 1, doubtful_attempt: 1 },
      'in_doubt_was_sent',
    ],
    ['accepted by nobody', { state: 'accepted', attempt: 1 }, 'accepted_says_by_whom'],
    [
      'rejected over a doubt',
      { state: 'rejected', attempt: 1, doubtful_attempt: 1, state_reason: 'no' },
      'rejected_hides_no_doubt',
    ],
    ['held without a reason', { state: 'held' }, 'held_says_why'],
    ['a second attempt that nobody approved', { attempt: 2 }, 'sends_are_approved'],
    ['a doubt about an attempt that never was', { attempt: 1, doubtful_attempt: 2 }, 'entries_check'],
  ] as const)('an entry that is %s', async (_what, change, constraint) => {
    const { db } = await setup();
    await insertEntry(db);
    await expect(db.updateTable('ledger.entries').set(change).execute()).rejects.toMatchObject({
      constraint,
    });
  });

  it.each(['attempts', 'answers', 'evidence', 'decisions', 'adjustments'])(
    'changing or emptying ledger.%s, which is append-only',
    async (table) => {
      const { db } = await setup();
      await expect(sql`truncate ${sql.table(`ledger.${table}`)}`.execute(db)).rejects.toThrow('append-only');
      const { rows } = await sql<{ events: number }>`
      select bit_or(tgtype)::int & 24 as events from pg_trigger
      where tgrelid = ${`ledger.${table}`}::regclass and tgfoid = 'ledger.refuse_change'::regproc`.execute(
        db,
      );
      expect(rows, 'a trigger before update (16) and delete (8)').toEqual([{ events: 24 }]);
    },
  );

  it('sealing a file whose rows do not add up', async () => {
    const { db } = await setup();
    const runId = await insertRun(db);
    const file = {
      source: 's',
      uri: 'u',
      version: 'v',
      size_bytes: 1,
      layout: 'l',
      layout_hash: 'h',
      run_id: runId,
    };
    const sealed = { sealed_at: new Date(), rows_read: 3, order_rows: 1, rejected_rows: 1 };
    const insert = db.insertInto('intake.source_files').values({ ...file, ...sealed, state: 'sealed' });
    await expect(insert.execute()).rejects.toMatchObject({ constraint: 'sealed_files_add_up' });
  });
});

async function insertRun(db: Database): Promise<string> {
  const run = { job: 'j', kind: 'attribute-orders', host: 'h', pid: 1 };
  return (await db.insertInto('ops.runs').values(run).returning('run_id').executeTakeFirstOrThrow()).run_id;
}

async function insertEntry(db: Database): Promise<void> {
  const what = { account_id: 'A', key: 'shopify 1', body: '{}', body_hash: 'h', job: 'j' };
  await db
    .insertInto('ledger.entries')
    .values({ ...what, effect: 'referral', state: 'ready', run_id: await insertRun(db) })
    .execute();
}

async function findUncommented(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select nspname as name from pg_namespace where ${OURS} and obj_description(oid, 'pg_namespace') is null
    union all
    select format('%s.%s', nspname, relname) from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where ${OURS} and relkind in ('r', 'v', 'm', 'p') and obj_description(pg_class.oid, 'pg_class') is null
    union all
    select format('%s.%s.%s', nspname, relname, attname)
    from pg_attribute join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
    where ${OURS} and relkind in ('r', 'v', 'm', 'p') and attnum > 0 and not attisdropped and col_description(attrelid, attnum) is null
    union all
    select format('%s.%s()', nspname, proname) from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
    where ${OURS} and obj_description(pg_proc.oid, 'pg_proc') is null
    order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

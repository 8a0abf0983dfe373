import { sql } from 'kysely';
import type { DatabaseTransaction } from '../in-transaction.ts';
import { countOf, type Database, execute, rowsOf } from '../statement.ts';

/** The schemas with rows of their own. Those of `bi` are views, and `public` has the names of the migrations. */
const SCHEMAS = ['intake', 'ledger', 'mirror', 'ops', 'reporting'];

/**
 * What a refused run, or a process that only waits, leaves on a server. The kept sums of `reporting` begin with rows of the
 * migrations. Both are replaced by the rows of the source.
 */
const REPLACED = [
  ...['runs', 'run_messages', 'run_requests', 'run_steps', 'leases', 'job_locks', 'request_turns'],
  ...['slots', 'schedules', 'workers', 'work_units', 'problems', 'notices', 'notice_deliveries'],
];

/** Rows that are sent in one statement. */
const BATCH = 500;

type Table = { readonly name: string; readonly columns: string; readonly isReplaced: boolean };

/**
 * Copies all rows and the state of all sequences to a database with the same migrations for which `hasNoRows` is true.
 * No trigger fires, because the rows that triggers would write are copied too, and the foreign keys are checked once,
 * at the end. Needs the owner of the tables.
 *
 * @param source is read in one transaction. @param copied is called with the number of rows of each batch.
 * @returns the number of rows.
 * @throws Error if a table ends up with another number of rows. Nothing is then kept: the caller rolls back.
 */
export async function copyDatabase(
  source: Database,
  target: DatabaseTransaction,
  copied: (rows: number) => void,
): Promise<number> {
  const tables = await listTables(target);
  const keys = await rowsOf<{ on: string; name: string; definition: string }>(target)`
    select conrelid::regclass::text as
      on, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = any(${SCHEMAS}::regnamespace[])`;
  const change = (text: string) => sql.raw(text).execute(target);
  for (const { on, name } of keys) await change(`alter table ${on} drop constraint ${name}`);
  let total = 0;
  await source.transaction().execute(async (reading) => {
    for (const table of tables) {
      await change(`alter table ${table.name} disable trigger user`);
      if (table.isReplaced) await change(`delete from ${table.name}`);
      total += await copyTable(reading, { target, table, copied });
      await change(`alter table ${table.name} enable trigger user`);
      await change(`analyze ${table.name}`);
    }
    await copySequences(reading, target);
  });
  for (const { on, name, definition } of keys)
    await change(`alter table ${on} add constraint ${name} ${definition}`);
  return total;
}

/** Makes runs wait, each of which takes its lease first, until this transaction ends: they then find what it has copied. */
export async function keepRunsWaiting(target: DatabaseTransaction): Promise<void> {
  await execute(target)`lock table ops.leases, ledger.identity in access exclusive mode`;
}

/** Whether nothing was read, decided or posted with a database. */
export async function hasNoRows(db: Database): Promise<boolean> {
  for (const { name, isReplaced } of await listTables(db)) {
    if (isReplaced) continue;
    const rows = await rowsOf(db)`select from ${sql.raw(name)} limit 1`;
    if (rows.length > 0) return false;
  }
  return true;
}

async function listTables(db: Database): Promise<readonly Table[]> {
  return rowsOf<Table>(db)`
    select c.oid::regclass::text as name, n.nspname = 'reporting'
      or (n.nspname = 'ops' and c.relname = any(${REPLACED})) as "isReplaced",
      (select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${SCHEMAS}) and c.relkind = 'r' and c.oid <> 'reporting.applied_views'::regclass
    order by 1`;
}

/**
 * Rows travel as JSON, which keeps every digit of a number and every microsecond of a time, and needs no type of
 * a column here.
 */
async function copyTable(
  source: DatabaseTransaction,
  options: {
    readonly target: DatabaseTransaction;
    readonly table: Table;
    readonly copied: (rows: number) => void;
  },
): Promise<number> {
  const { target, table, copied } = options;
  const [name, columns] = [sql.raw(table.name), sql.raw(table.columns)];
  await execute(source)`
    declare copied no scroll cursor for select to_json(t)::text as row from (select ${columns} from ${name}) t`;
  let total = 0;
  for (;;) {
    const { rows } = await sql.raw<{ row: string }>(`fetch ${BATCH} from copied`).execute(source);
    if (rows.length === 0) break;
    const list = `[${rows.map(({ row }) => row).join(',')}]`;
    await execute(target)`
      insert into ${name} (${columns}) overriding system value
      select ${columns} from json_populate_recordset(null::${name}, ${list}::json)`;
    total += rows.length;
    copied(rows.length);
  }
  await sql.raw('close copied').execute(source);
  const arrived = await countOf(target)`select count(*) as arrived from ${name}`;
  if (arrived !== total) throw new Error(`${table.name} has ${arrived} rows, not ${total}`);
  return total;
}

async function copySequences(source: DatabaseTransaction, target: DatabaseTransaction): Promise<void> {
  const rows = await rowsOf<{ name: string }>(source)`
    select format('%I.%I', schemaname, sequencename) as name from pg_sequences
    where schemaname = any(${SCHEMAS})`;
  for (const { name } of rows) {
    const states = await rowsOf<{ last_value: string; is_called: boolean }>(source)`
      select last_value, is_called from ${sql.raw(name)}`;
    for (const { last_value: last, is_called: isCalled } of states)
      await execute(target)`select setval(${name}::regclass, ${last}::bigint, ${isCalled})`;
  }
}

import {
  type ControlledTransaction,
  IdentifierNode,
  type InsertQueryNode,
  type KyselyPlugin,
  OperationNodeTransformer,
  type QueryId,
  type RawNode,
  type SchemableIdentifierNode,
  sql,
} from 'kysely';
import { type Database, rowOf } from './statement.ts';
import type { DB } from './tables.ts';

/*
 * A plan does everything that a run does except sending, and nothing of it may remain. If it wrote to the
 * real tables and rolled back, a million rows would leave as many dead rows, and wrong statistics. So a plan
 * writes to temporary tables, and reads temporary views that show the live rows together with its own. They
 * are named after the live tables, as one word (`pg_temp."intake.orders"`). A Kysely plugin replaces the
 * table names in statements, so that the flow of a run needs no changes.
 *
 * Small tables are copied. For each other table, `"intake.orders+"` contains the rows that the plan has
 * inserted or changed. `"intake.orders-"` contains the keys of live rows that it has changed or deleted,
 * which the view omits. An INSERT writes directly to the first table, so ON CONFLICT does not see live rows,
 * and the code that inserts must check for them first. An UPDATE or DELETE records each row in
 * `"intake.orders?"`. At the end of the statement these rows are changed together, each once, as a statement
 * changes a live row once. Changing each row with three statements of its own took three times as long.
 */

/** Tables that are copied as a whole, because they have at most one row per file, or per influencer and currency. */
const COPIED = [
  'intake.source_files',
  'intake.listings',
  'intake.announced_files',
  'intake.codes',
  'intake.code_lists',
  'intake.revenue_rules',
  'intake.attributed_files',
  'intake.missing_rows',
  'intake.order_continuations',
  'intake.unchanged_orders',
  'intake.restated_orders',
  'intake.file_statistics',
  'intake.check_findings',
  'reporting.counted_files',
  'reporting.changed_days',
  'reporting.deal_totals',
  'reporting.refresh',
  'reporting.refresh_partitions',
  'ops.job_locks',
  'intake.customer_key',
] as const;

/**
 * Tables that are covered by a view, with the key columns by which the view omits live rows. The key of daily
 * sums is the day, so that all sums of a changed day are omitted.
 */
const COVERED = {
  'intake.orders': ['order_version_id'],
  'intake.attributions': ['job', 'source', 'order_id'],
  'intake.order_claims': ['job', 'source', 'order_id'],
  'intake.sent_revenue': ['entry_id'],
  'intake.rejected_rows': ['source_file_id', 'record_no'],
  'ledger.entries': ['entry_id'],
  'ledger.adjustments': ['adjustment_id'],
  'intake.waiting_batches': ['batch_id'],
  'intake.customers': ['customer_hash'],
  'reporting.order_dispositions': ['job', 'source', 'order_id'],
  'reporting.conflicts': ['job', 'source', 'order_id'],
  'reporting.funnel_days': ['day_utc'],
  'reporting.deal_days': ['day_utc'],
  'reporting.brand_days': ['day_utc'],
  'reporting.code_days': ['day_utc'],
  'reporting.code_use_days': ['day_utc'],
  'ops.runs': ['run_id'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Views of those tables that must show what the plan has written. */
const VIEWS = ['intake.customer_counts'] as const;

/**
 * Covers the tables that a plan writes to, until its transaction ends.
 *
 * @returns the same transaction. Everything written through it goes to the temporary tables.
 */
export async function openOverlay(trx: ControlledTransaction<DB>): Promise<Database> {
  for (const table of COPIED) await sql.raw(copyOf(table)).execute(trx);
  for (const [table, keys] of Object.entries(COVERED)) await sql.raw(coverOf(table, keys)).execute(trx);
  for (const view of VIEWS) await coverView(trx, view);
  return trx.withPlugin(new OverlayPlugin());
}

/**
 * SQL to create a temporary table like a live one, for use in a DO block, because PGlite accepts one
 * statement at a time. Generated columns are computed again; ids come from the live sequence.
 */
function makeTable(table: string, name: string): string {
  return `
    execute 'create temporary table "${name}" (like ${table} including defaults including constraints including generated including indexes) on commit drop';
    for id in select attname from pg_attribute where attrelid = '${table}'::regclass and attidentity <> '' loop
      execute format('alter table pg_temp."${name}" alter column %I set default nextval(%L)', id, pg_get_serial_sequence('${table}', id));
    end loop;
    select string_agg(quote_ident(attname), ', ' order by attnum), string_agg('(q.new).' || quote_ident(attname), ', ' order by attnum)
    into columns, news
    from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped and attgenerated = '';`;
}

function copyOf(table: string): string {
  return `do $copy$ declare columns text; news text; id name; begin
    ${makeTable(table, table)}
    execute format('insert into pg_temp."${table}" (%1$s) select %1$s from ${table}', columns);
  end $copy$`;
}

function coverOf(table: string, keys: readonly string[]): string {
  const key = keys.join(', ');
  const olds = keys.map((column) => `old.${column}`).join(', ');
  const isSame = (left: string, right: string): string =>
    keys.map((column) => `${left}.${column} = ${right}.${column}`).join(' and ');
  return `do $cover$ declare columns text; news text; id name; begin
    ${makeTable(table, `${table}+`)}
    create temporary table "${table}-" on commit drop as select ${key} from ${table} limit 0;
    alter table pg_temp."${table}-" add primary key (${key});
    create temporary view "${table}" as
      select * from pg_temp."${table}+"
      union all
      select l.* from ${table} l where (select true from pg_temp."${table}-" m where ${isSame('m', 'l')} limit 1) is null;
    create temporary table "${table}?" on commit drop as
      select ${key}, null::pg_temp."${table}" as new from ${table} limit 0;
    create function pg_temp."note ${table}"() returns trigger language plpgsql as $note$
    begin
      if tg_op = 'DELETE' then
        insert into pg_temp."${table}?" values (${olds}, null);
        return old;
      end if;
      insert into pg_temp."${table}?" values (${olds}, new);
      return new;
    end $note$;
    execute format($f$
      create function pg_temp."change ${table}"() returns trigger language plpgsql set enable_nestloop = off as $change$
      declare
        own tid[];
      begin
        delete from pg_temp."${table}?" q using pg_temp."${table}?" first where ${isSame('first', 'q')} and first.ctid < q.ctid;
        own := array(select p.ctid from pg_temp."${table}?" q
          cross join lateral (select t.ctid from pg_temp."${table}+" t where ${isSame('t', 'q')} offset 0) p);
        delete from pg_temp."${table}+" where ctid = any (own);
        insert into pg_temp."${table}-" select ${key} from pg_temp."${table}?" on conflict do nothing;
        insert into pg_temp."${table}+" (%1$s) select %2$s from pg_temp."${table}?" q where q.new is distinct from null;
        truncate pg_temp."${table}?";
        return null;
      end $change$
    $f$, columns, news);
    create trigger note instead of update or delete on pg_temp."${table}"
      for each row execute function pg_temp."note ${table}"();
    create trigger change after update or delete on pg_temp."${table}"
      for each statement execute function pg_temp."change ${table}"();
  end $cover$`;
}

/**
 * Matches table names in a view definition. Postgres writes keywords in upper case and aliases in lower case;
 * a table without an alias is referenced by its own name.
 */
const TABLE_OF_VIEW = /\b([a-z]+)\.([a-z_]+)\b(?! [a-z])|\b([a-z]+\.[a-z_]+)\b(?= [a-z])/g;

async function coverView(trx: ControlledTransaction<DB>, view: string): Promise<void> {
  const found = await rowOf<{ definition: string }>(trx)`
    select pg_get_viewdef(${view}::regclass) as definition`;
  const definition = (found?.definition ?? '').replace(
    TABLE_OF_VIEW,
    (words: string, schema: string | undefined, table: string, aliased: string | undefined) => {
      if (!PLACES.has(aliased ?? `${schema}.${table}`)) return words;
      return aliased === undefined ? `pg_temp."${schema}.${table}" ${table}` : `pg_temp."${aliased}"`;
    },
  );
  await sql.raw(`create temporary view "${view}" as ${definition}`).execute(trx);
}

const PLACES: ReadonlySet<string> = new Set([...COPIED, ...Object.keys(COVERED), ...VIEWS]);
const NAMES = /\b(insert\s+into\s+)?((?:intake|ledger|reporting|ops)\.[a-z_]+)\b/g;

/** The table that receives inserted rows. */
function placeOf(table: string): string {
  return table in COVERED ? `${table}+` : table;
}

/** Replaces the names of covered tables in statements by their temporary tables and views. */
class OverlayPlugin implements KyselyPlugin {
  readonly #transformer = new OverlayTransformer();

  transformQuery({ node, queryId }: Parameters<KyselyPlugin['transformQuery']>[0]) {
    return this.#transformer.transformNode(node, queryId);
  }

  async transformResult({ result }: Parameters<KyselyPlugin['transformResult']>[0]) {
    return result;
  }
}

class OverlayTransformer extends OperationNodeTransformer {
  protected override transformRaw(node: RawNode, queryId?: QueryId): RawNode {
    const transformed = super.transformRaw(node, queryId);
    const sqlFragments = transformed.sqlFragments.map((text) =>
      text.replace(NAMES, (words: string, insert: string | undefined, table: string) => {
        if (!PLACES.has(table)) return words;
        return insert === undefined ? `pg_temp."${table}"` : `${insert}pg_temp."${placeOf(table)}"`;
      }),
    );
    return { ...transformed, sqlFragments };
  }

  protected override transformSchemableIdentifier(node: SchemableIdentifierNode): SchemableIdentifierNode {
    const table = nameOf(node);
    return table === null ? node : temporary(node, table);
  }

  protected override transformInsertQuery(node: InsertQueryNode, queryId?: QueryId): InsertQueryNode {
    const transformed = super.transformInsertQuery(node, queryId);
    const { into } = node;
    const table = into === undefined ? null : nameOf(into.table);
    if (into === undefined || table === null) return transformed;
    return { ...transformed, into: { ...into, table: temporary(into.table, placeOf(table)) } };
  }
}

/** The covered table that an identifier names. Null for any other identifier. */
function nameOf({ schema, identifier }: SchemableIdentifierNode): string | null {
  const name = `${schema?.name ?? ''}.${identifier.name}`;
  return PLACES.has(name) ? name : null;
}

function temporary(node: SchemableIdentifierNode, name: string): SchemableIdentifierNode {
  return { ...node, schema: IdentifierNode.create('pg_temp'), identifier: IdentifierNode.create(name) };
}

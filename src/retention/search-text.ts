import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { FoundRows } from '../model/privacy/forget.ts';
import { blockRanges } from './block-ranges.ts';

/*
 * Searches all text of all tables for an e-mail address. Most tables never contain one, because addresses are
 * masked or hashed before they are stored. But an export may contain an address in an unexpected place, such
 * as a discount code or a link, and forgetting a customer must cover that.
 *
 * Every column is searched, including columns that later versions add. Only columns on which nothing depends
 * are changed; in other columns, matches are reported. A table is searched some blocks at a time, so that no
 * statement takes long and only rows that change are locked. If a search is interrupted, it can simply be
 * repeated and finds what is left.
 */

/** Free text from exports and events. No key, match or sum depends on it. */
const REDACTABLE: Readonly<Record<string, readonly string[]>> = {
  'intake.check_findings': ['message', 'seen', 'expected', 'subject'],
  'intake.orders': ['order_name', 'status'],
  'intake.rejected_rows': ['column_name', 'value', 'reason', 'help'],
  'intake.source_files': ['hold_message', 'hold_help', 'release_reason'],
  'intake.staged_rows': ['content'],
  'ops.notices': ['message'],
  'ops.problems': ['summary'],
  'ops.run_messages': ['message'],
  'ops.runs': ['problem'],
  'ops.webhook_events': ['body'],
};

/**
 * Codes and links of orders and clicks. They may be replaced unless an influencer owns the code or link that
 * contains the address.
 */
const CODES: Readonly<Record<string, readonly string[]>> = {
  'intake.attributions': ['matched_value'],
  'intake.clicks': ['written'],
  'intake.order_claims': ['written'],
  'intake.orders': ['codes', 'codes_folded', 'links', 'links_folded'],
  'reporting.code_days': ['code', 'code_folded'],
  'reporting.code_use_days': ['code_folded'],
  'reporting.order_dispositions': ['matched_value'],
};

/** Tables with the owners of codes and links. */
const OWNERS = ['intake.codes', 'intake.code_assignments', 'intake.code_changes'];

const WHY_KEPT = {
  ledger:
    'The ledger keeps what it sent and under which order id, so that no order is posted twice. Change the id in the shop if it contains an address.',
  audit: 'The audit is append-only.',
  statements: 'Closed statements are never changed.',
  owners:
    'An influencer owns a code or link that contains the address. Change it in codes.csv, the console or the service first.',
  other:
    'It names a record to which others refer. Rename the file, order, handle or code in the shop or the service.',
};

export type TextSearch = {
  /** The address in all possible spellings. Case is ignored. */
  readonly spellings: readonly string[];
  /**
   * Replaces the address. It is always the same for one customer, so that rows with equal values stay equal.
   */
  readonly replacement: string;
  readonly isDryRun: boolean;
};

export type TextFound = {
  readonly found: readonly FoundRows[];
  readonly tables: number;
  readonly columns: number;
};

type TextColumn = { readonly name: string; readonly type: 'text' | 'text[]' | 'jsonb' };
type TextTable = { readonly name: string; readonly columns: readonly TextColumn[] };

/** Searches every table, and replaces the address where that is safe. */
export async function searchText(db: Database, search: TextSearch): Promise<TextFound> {
  const tables = await readTextTables(db);
  const found: FoundRows[] = [];
  let isOwned = false;
  // Search owners first: they determine whether codes of orders may be replaced.
  for (const table of tables.toSorted((one, other) => rank(one) - rank(other))) {
    const hits = await searchTable(db, table, { ...search, isOwned });
    if (OWNERS.includes(table.name) && hits.length > 0) isOwned = true;
    found.push(...hits);
  }
  const columns = tables.reduce((sum, table) => sum + table.columns.length, 0);
  return { found, tables: tables.length, columns };
}

function rank({ name }: TextTable): number {
  return OWNERS.includes(name) ? 0 : 1;
}

/**
 * Lists all columns that can contain text, in all tables except that of waiting addresses, where customers
 * are found by their digests.
 */
async function readTextTables(db: Database): Promise<readonly TextTable[]> {
  const { rows } = await sql<TextTable>`
    select format('%I.%I', n.nspname, c.relname) as name,
      json_agg(json_build_object('name', a.attname, 'type', case t.typname when '_text' then 'text[]' when 'json' then 'jsonb'
        when 'jsonb' then 'jsonb' else 'text' end) order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    join pg_type t on t.oid = a.atttypid
    where c.relkind = 'r' and c.oid <> 'intake.waiting_batches'::regclass and n.nspname in ('intake', 'ledger', 'mirror', 'ops', 'reporting')
      and t.typname in ('text', 'varchar', 'name', 'json', 'jsonb', '_text')
    group by n.nspname, c.relname, c.oid order by 1`.execute(db);
  return rows;
}

type TableSearch = TextSearch & { readonly isOwned: boolean };

async function searchTable(
  db: Database,
  { name, columns }: TextTable,
  search: TableSearch,
): Promise<readonly FoundRows[]> {
  const counts = new Map<string, number>();
  for await (const range of blockRanges(db, { table: name, alias: 't' })) {
    const hits = await countHits(db, { name, columns, range, search });
    const hit = columns.filter((column) => (hits[column.name] ?? 0) > 0);
    for (const column of hit)
      counts.set(column.name, (counts.get(column.name) ?? 0) + (hits[column.name] ?? 0));
    const changed = search.isDryRun ? [] : hit.filter((column) => isRedactable(name, column, search));
    if (changed.length > 0) await replace(db, { name, columns: changed, range, search });
  }
  return columns.flatMap((column) => {
    const rows = counts.get(column.name) ?? 0;
    if (rows === 0) return [];
    const isKept = !isRedactable(name, column, search);
    const why = isKept ? whyKept(name, column, search) : null;
    return [{ place: `${name}.${column.name}`, rows, action: isKept ? 'kept' : 'redacted', why }] as const;
  });
}

function isRedactable(table: string, { name }: TextColumn, { isOwned }: TableSearch): boolean {
  return (REDACTABLE[table] ?? []).includes(name) || (!isOwned && (CODES[table] ?? []).includes(name));
}

function whyKept(table: string, { name }: TextColumn, { isOwned }: TableSearch): string {
  if (table.startsWith('ledger.')) return WHY_KEPT.ledger;
  if (table === 'ops.audit') return WHY_KEPT.audit;
  if (table.startsWith('ops.statement')) return WHY_KEPT.statements;
  const isCode = OWNERS.includes(table) || (isOwned && (CODES[table] ?? []).includes(name));
  return isCode ? WHY_KEPT.owners : WHY_KEPT.other;
}

type Blocks = {
  readonly name: string;
  readonly columns: readonly TextColumn[];
  readonly range: RawBuilder<unknown>;
  readonly search: TextSearch;
};

/** Counts the matching rows by column. */
async function countHits(
  db: Database,
  { name, columns, range, search }: Blocks,
): Promise<Readonly<Record<string, number>>> {
  const like = search.spellings.map((spelling) => `%${spelling.replace(/[\\%_]/g, '\\$&')}%`);
  const mayHit = columns.map((column) => sql`${sql.ref(column.name)}::text ilike any (${like})`);
  const counts = columns.map(
    (column) =>
      sql`count(*) filter (where ${sql.ref(column.name)}::text ~* ${patternOf(search)})::integer as ${sql.ref(column.name)}`,
  );
  const { rows } = await sql<Record<string, number>>`
    select ${sql.join(counts)} from ${sql.table(name)} t where ${range} and (${sql.join(mayHit, sql` or `)})`.execute(
    db,
  );
  return rows[0] ?? {};
}

async function replace(db: Database, { name, columns, range, search }: Blocks): Promise<void> {
  const changes = columns.map((column) => sql`${sql.ref(column.name)} = ${withoutAddress(column, search)}`);
  const hits = columns.map((column) => sql`${sql.ref(column.name)}::text ~* ${patternOf(search)}`);
  await sql`
    update ${sql.table(name)} t set ${sql.join(changes)} where ${range} and (${sql.join(hits, sql` or `)})`.execute(
    db,
  );
}

function withoutAddress({ name, type }: TextColumn, search: TextSearch): RawBuilder<unknown> {
  const replaced = (text: RawBuilder<unknown>) =>
    sql`regexp_replace(${text}, ${patternOf(search)}, ${search.replacement}, 'gi')`;
  const column = sql.ref(name);
  if (type === 'jsonb') return sql`${replaced(sql`${column}::text`)}::jsonb`;
  if (type === 'text') return replaced(sql`${column}`);
  return sql`case when ${column} is not null then array(
    select ${replaced(sql`u.item`)} from unnest(${column}) with ordinality as u(item, place) order by u.place) end`;
}

/**
 * Builds the pattern for the whole address. `maryjane@example.com` and `jane@example.com.au` are other
 * people.
 */
function patternOf({ spellings }: TextSearch): string {
  const escaped = spellings.map((spelling) => spelling.replace(/[^\p{L}\p{N}@ ]/gu, '\\$&'));
  return `(?<![[:alnum:]._+-])(${escaped.join('|')})(?![[:alnum:]-]|[.][[:alnum:]])`;
}

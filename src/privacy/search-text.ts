import { domainToUnicode } from 'node:url';
import { type RawBuilder, sql } from 'kysely';
import type { FoundRows } from '../core/privacy/forget.ts';
import { AT_SIGN, replaceAddresses, type Wanted } from '../core/text/mask-addresses.ts';
import { type Database, execute, rowsOf } from '../db/statement.ts';
import { blockRanges } from './block-ranges.ts';

/*
 * Searches all text of all tables for an e-mail address. Most tables never contain one, because addresses are
 * masked or hashed before they are stored. But an export may contain an address in an unexpected place, such
 * as a discount code or a link, and forgetting a customer must cover that.
 *
 * The address is searched by value: texts are read as the mask of addresses reads them, with the escapes of
 * links, JSON and HTML undone. Postgres only chooses the rows that have an at-sign in some form before the
 * domain. Every column is searched, including columns that later versions add. Only columns on which nothing
 * depends are changed; in other columns, matches are reported. A table is searched some blocks at a time, so
 * that no statement takes long and only rows that change are locked. If a search is interrupted, it can simply
 * be repeated and finds what is left.
 */

/** Free text from exports and events. No key, match or sum depends on it. */
const REDACTABLE: Readonly<Record<string, readonly string[]>> = {
  'intake.check_findings': ['message', 'seen', 'expected', 'subject'],
  'intake.orders': ['order_name', 'status'],
  'intake.rejected_rows': ['column_name', 'value', 'reason', 'help', 'order_id', 'order_name'],
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
  /** The address, as intake parses it. Case is ignored. */
  readonly address: string;
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
  return rowsOf<TextTable>(db)`
    select format('%I.%I', n.nspname, c.relname) as name,
      json_agg(json_build_object('name', a.attname, 'type',
          case t.typname when '_text' then 'text[]' when 'json' then 'jsonb'
        when 'jsonb' then 'jsonb' else 'text' end) order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    join pg_type t on t.oid = a.atttypid
    where c.relkind = 'r' and c.oid <> 'intake.waiting_batches'::regclass
      and n.nspname in ('intake', 'ledger', 'mirror', 'ops', 'reporting')
      and t.typname in ('text', 'varchar', 'name', 'json', 'jsonb', '_text')
    group by n.nspname, c.relname, c.oid order by 1`;
}

type TableSearch = TextSearch & { readonly isOwned: boolean };

async function searchTable(
  db: Database,
  { name, columns }: TextTable,
  search: TableSearch,
): Promise<readonly FoundRows[]> {
  const changes = columns.filter((column) => !search.isDryRun && isRedactable(name, column, search));
  const counts = new Map<string, number>();
  let hasMissed = true;
  // A row that somebody else changes meanwhile may move out of the blocks: then the table is searched again.
  while (hasMissed) {
    hasMissed = false;
    for (const column of columns) if (!changes.includes(column)) counts.delete(column.name);
    for await (const range of blockRanges(db, { table: name, alias: 't' }))
      for (const { place, hits } of await findRows(db, { name, columns, range, search })) {
        const changed = hits.filter(({ column }) => changes.includes(column));
        const isMissed = changed.length > 0 && !(await replaceTexts(db, { name, place, hits: changed }));
        hasMissed ||= isMissed;
        for (const { column } of isMissed ? [] : hits)
          counts.set(column.name, (counts.get(column.name) ?? 0) + 1);
      }
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

/** A value that contains the address, as text. */
type Hit = { readonly column: TextColumn; readonly before: string; readonly after: string };

/** A row that contains the address, by its `ctid`. */
type FoundRow = { readonly place: string; readonly hits: readonly Hit[] };

async function findRows(
  db: Database,
  { name, columns, range, search }: Blocks,
): Promise<readonly FoundRow[]> {
  const mayHit = domainPattern(search);
  const wanted = patternOf(search);
  const mayHave = columns.map((column) => sql`${sql.ref(column.name)}::text ~* ${mayHit}`);
  const rows = await rowsOf<{ place: string; values: readonly (string | null)[] }>(db)`
    select t.ctid::text as place, json_build_array(${sql.join(columns.map(asText))}) as values
    from ${sql.table(name)} t where ${range} and (${sql.join(mayHave, sql` or `)})`;
  return rows.flatMap(({ place, values }) => {
    const hits = columns.flatMap((column, index) => {
      const before = values[index] ?? null;
      if (before === null) return [];
      const after = withoutAddress(before, column, { wanted, replacement: search.replacement });
      return after === before ? [] : [{ column, before, after }];
    });
    return hits.length === 0 ? [] : [{ place, hits }];
  });
}

/** Changes one row. Returns false if somebody else changed it since it was read. */
async function replaceTexts(db: Database, { name, place, hits }: FoundRow & { readonly name: string }) {
  const changes = hits.map(({ column, after }) => sql`${sql.ref(column.name)} = ${fromText(column, after)}`);
  const same = hits.map(({ column, before }) => sql`${asText(column)} = ${before}`);
  const changed = await execute(db)`
    update ${sql.table(name)} t set ${sql.join(changes)}
    where t.ctid = ${place}::tid and ${sql.join(same, sql` and `)}`;
  return changed === 1;
}

/** A value as text. A list becomes JSON, which shows where each of its texts ends. */
function asText({ name, type }: TextColumn): RawBuilder<string | null> {
  return type === 'text[]' ? sql`to_jsonb(${sql.ref(name)})::text` : sql`${sql.ref(name)}::text`;
}

function fromText({ type }: TextColumn, text: string): RawBuilder<unknown> {
  if (type === 'text[]') return sql`array(select jsonb_array_elements_text(${text}::jsonb))`;
  return type === 'jsonb' ? sql`${text}::jsonb` : sql`${text}`;
}

/** A text in JSON: the name of a member, or a value. */
const JSON_TEXT = /"(?:[^"\\]|\\.)*"/g;

function withoutAddress(
  value: string,
  { type }: TextColumn,
  { wanted, replacement }: { wanted: Wanted; replacement: string },
): string {
  const replaced = (text: string) => replaceAddresses(text, wanted, () => replacement);
  if (type === 'text') return replaced(value);
  // Only texts are parsed, so that no number changes.
  return value.replace(JSON_TEXT, (written) => {
    const text: string = JSON.parse(written);
    const after = replaced(text);
    return after === text ? written : JSON.stringify(after);
  });
}

/** The domain as mail servers write it, and as people do. */
function domainsOf({ address }: TextSearch): readonly string[] {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return [...new Set([domain, domainToUnicode(domain)])].map(escaped);
}

/**
 * Matches any text that may contain the address: an at-sign in any form, and after it the domain, or a word in
 * which something is escaped or not ASCII.
 */
function domainPattern(search: TextSearch): string {
  return `(${AT_SIGN.source});?(${domainsOf(search).join('|')}|[[:alnum:].-]*([%&\\\\;[:cntrl:]]|[^\\u0001-\\u007f]))`;
}

/**
 * Matches the whole address. `maryjane@example.com` and `jane@example.com.au` are other people. The n of an
 * escaped line break before an address is no part of it.
 */
function patternOf(search: TextSearch): Wanted {
  const local = escaped(search.address.slice(0, search.address.lastIndexOf('@')));
  const whole = `(?:(?<![\\p{L}\\p{N}._+-])|(?<=\\\\[bfnrt]))${local}@(?:${domainsOf(search).join('|')})(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`;
  const pattern = new RegExp(whole, 'giu');
  return { written: pattern, unescaped: pattern };
}

/** Escapes what has a meaning in a regular expression, of JavaScript and Postgres. */
function escaped(text: string): string {
  return text.replace(/[$()*+./?[\\\]^{|}-]/g, (char) => (char === '-' ? '[-]' : `\\${char}`));
}

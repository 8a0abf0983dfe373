import { sql } from 'kysely';
import { errorCode } from '../core/error-code.ts';
import { type KnownError, refusal } from '../core/known-error.ts';
import { formatMoney } from '../core/money.ts';
import { type Database, execute } from '../db/statement.ts';
import { isNumber, renderTableCsv } from '../render/csv.ts';
import { renderTable } from '../render/table.ts';
import type { Terminal } from '../render/terminal.ts';

export type QueryOptions = {
  /** A single select statement. */
  readonly text: string;
  readonly limit: number;
  readonly timeoutMs: number;
};

export type QueryResult = {
  /** Column names in order; empty if there are no rows. */
  readonly columns: readonly string[];
  /** Values exactly as the database writes them. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** Each row as JSON text, with exact numbers. */
  readonly json: readonly string[];
  /** Whether there are more rows than the limit. */
  readonly isCut: boolean;
};

/**
 * Runs one query, which cannot change anything. The transaction is read-only. The text is a subquery of a
 * statement with parameters, so Postgres accepts neither a second statement nor anything but a select. On a
 * server with the role `bi_reader`, the query has the rights of that role. Functions that change the role or
 * run text as a statement are refused by name. A login of its own (`database.bi_url`) has no other role to
 * change to. Without one, this protects against accidents, not against a person who has DATABASE_URL.
 *
 * @throws KnownError `query_failed` (exit 2) with Postgres's message.
 */
export async function queryViews(db: Database, options: QueryOptions): Promise<QueryResult> {
  const { text, limit, timeoutMs } = options;
  const question = text.trim().replace(/;\s*$/, '');
  if (question === '') throw failed('It is empty.');
  const refused = REFUSED.exec(question)?.[0];
  if (refused !== undefined) throw failed(`${refused} cannot be used in a query.`, ONLY_VIEWS);
  return db.transaction().execute(async (trx) => {
    // Set in SQL, because the dialect of the embedded database does not support access modes.
    await execute(trx)`set transaction read only`;
    await execute(trx)`
        select set_config('statement_timeout', ${String(timeoutMs)}, true),
          set_config('timezone', 'UTC', true),
          case
            when exists (select from pg_roles
              where rolname = 'bi_reader' and pg_has_role(oid, 'member')
                and has_schema_privilege(oid, 'bi', 'usage'))
            then set_config('role', 'bi_reader', true) end`;
    // The line break before `) as question` ends a comment at the end of the query. The size is measured in
    // the database, so that rows beyond the limit are not transferred.
    const { rows } = await sql<
      | { json: string; columns: string[]; cells: (string | null)[] }
      | { json: null; columns: null; cells: null }
    >`
        select case when fits then q.text end as json,
          case when fits then array(select json_object_keys(q.text::json)) end as columns,
          case when fits then array(select value from json_each_text(q.text::json)) end as cells
        from (
          select question.text,
            sum(octet_length(question.text)) over (rows unbounded preceding) <= ${MAX_ANSWER_BYTES} as fits
          from (select row_to_json(question)::text as text from (${sql.raw(question)}
          ) as question limit ${limit + 1}) question
        ) q`
      .execute(trx)
      .catch((error: unknown) => {
        throw explain(error, timeoutMs);
      });
    const shown = rows.slice(0, limit).map((row) => {
      if (row.json === null) throw tooLarge();
      return row;
    });
    return {
      columns: shown[0]?.columns ?? [],
      rows: shown.map(({ cells }) => cells),
      json: shown.map(({ json }) => json),
      isCut: rows.length > limit,
    };
  });
}

/** More than any screen or spreadsheet shows, and small enough for one process. */
const MAX_ANSWER_BYTES = 32 * 1024 ** 2;

/**
 * Functions that a query must not call, because they change the role or a setting, run text as a statement,
 * or write elsewhere. Names with escapes (U&"…") could hide one.
 */
const REFUSED =
  /\b(?:set_config|\w+_to_xml\w*|ts_stat|ts_rewrite|dblink\w*|lo_\w+|pg_(?:try_)?advisory\w*|pg_notify|nextval|setval)\b|u&"/i;

/** SQLSTATE query_canceled, insufficient_privilege and syntax_error. */
const CANCELLED = '57014';
const NOT_ALLOWED = '42501';
const NOT_SQL = '42601';

function explain(error: unknown, timeoutMs: number): unknown {
  const code = errorCode(error) ?? '';
  if (!(error instanceof Error) || !/^[0-9A-Z]{5}$/.test(code)) return error;
  if (/invalid memory alloc request size|out of memory/.test(error.message)) return tooLarge();
  // The server is gone, or this project has a bug: not the query's fault.
  if (/^(08|53|57P|58|XX)/.test(code)) return error;
  if (code === CANCELLED)
    return failed(
      `It took longer than ${timeoutMs / 1000} s.`,
      'Query fewer days, or raise the limit with --timeout.',
    );
  const hint = 'hint' in error && typeof error.hint === 'string' ? ` ${error.hint}` : '';
  return failed(`${error.message}.${hint}`, HELP[code]);
}

const ONE_SELECT = 'Give one statement that selects, for example: select * from bi.runs.';

const ONLY_VIEWS = 'Analysts read the views of schema bi.';

const HELP: Readonly<Record<string, string>> = { [NOT_ALLOWED]: ONLY_VIEWS, [NOT_SQL]: ONE_SELECT };

function tooLarge(): KnownError {
  return failed(
    `The answer has more than ${MAX_ANSWER_BYTES / 1024 ** 2} MiB.`,
    'Select fewer columns or rows (--limit), or use psql as bi_reader.',
  );
}

function failed(
  message: string,
  help = `${ONE_SELECT} docs/data-dictionary.md lists the views and their columns.`,
): KnownError {
  return refusal({ code: 'query_failed', message: `The query failed: ${message}`, help });
}

/** Renders the result of a query as CSV, as a table, or, if not even the titles fit in one line, row by row. */
export function renderQuery(
  { columns, rows }: QueryResult,
  { terminal, isCsv }: { terminal: Terminal; isCsv: boolean },
): string {
  if (isCsv) return rows.length === 0 ? '' : renderTableCsv(columns, withoutNulls(rows));
  if (rows.length === 0) return 'No rows.\n';
  const cells = readable(columns, withoutNulls(rows));
  const fits = columns.join(GAP).length <= terminal.columns;
  return fits ? asTable({ columns, cells }, terminal) : asRecords({ columns, cells }, terminal);
}

const GAP = '  ';

type Shown = { readonly columns: readonly string[]; readonly cells: readonly (readonly string[])[] };

function asTable({ columns, cells }: Shown, terminal: Terminal): string {
  const titled = columns.map((title, index) => ({
    title,
    align: cells.every((row) => isNumber(row[index] ?? '')) ? ('right' as const) : ('left' as const),
  }));
  return `${renderTable(titled, cells, { terminal })}\n`;
}

function asRecords({ columns, cells }: Shown, terminal: Terminal): string {
  const records = cells.map((row, index) => {
    const pairs = columns.map((title, column) => [title, row[column] ?? '']);
    const titled = [{ title: 'row' }, { title: String(index + 1) }];
    return renderTable(titled, pairs, { terminal });
  });
  return `${records.join('\n\n')}\n`;
}

function withoutNulls(rows: QueryResult['rows']): readonly (readonly string[])[] {
  return rows.map((row) => row.map((cell) => cell ?? ''));
}

/** Formats times and amounts as in all commands. CSV and JSON keep their full precision. */
function readable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const isMoney = columns.map((_, index) => rows.every((row) => MONEY.test(row[index] ?? '')));
  const currency = columns.indexOf('currency');
  return rows.map((row) =>
    row.map((cell, index) => {
      // Times are shown as everywhere; CSV and JSON keep the full value.
      if (isMoney[index] !== true || cell === '')
        return cell.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?\+00:00$/, '$1 $2');
      // The currency has its own column.
      return formatMoney(cell, row[currency] || null).split(' ')[0] ?? cell;
    }),
  );
}

/** Only amounts are stored with four decimals. */
const MONEY = /^(-?\d+\.\d{4})?$/;

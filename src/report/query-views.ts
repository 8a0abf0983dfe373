import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';

export type QueryOptions = {
  /** One statement that selects. */
  readonly text: string;
  /** Rows at most. */
  readonly limit: number;
  readonly timeoutMs: number;
};

export type QueryResult = {
  /** Names of the columns, in their order; none when there is no row. */
  readonly columns: readonly string[];
  /** Exactly as the database writes them; null is null. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** Each row as JSON text, numbers as exact as they are. */
  readonly json: readonly string[];
  /** There are more rows than the limit. */
  readonly isCut: boolean;
};

/**
 * Asks one question. It cannot change anything: the transaction is read-only, the text stands in a subquery and is sent with a parameter, so
 * that Postgres takes neither a second statement nor anything but a select; on a server it sees what `bi_reader` sees, where that role
 * exists. Functions that would change the role, or run a text as another statement, are refused by their names. A login of its own
 * (`database.bi_url`) has no other role to change to; without one this guards against accidents, not against who holds DATABASE_URL.
 *
 * @throws KnownError `query_failed` (exit 2) with what Postgres says.
 */
export async function queryViews(db: Database, options: QueryOptions): Promise<QueryResult> {
  const { text, limit, timeoutMs } = options;
  const question = text.trim().replace(/;\s*$/, '');
  if (question === '') throw failed('It is empty.');
  const refused = REFUSED.exec(question)?.[0];
  if (refused !== undefined) throw failed(`${refused} cannot be used in a query.`, ONLY_VIEWS);
  return db.transaction().execute(async (trx) => {
    // Said in SQL: the dialect of the embedded database knows no access modes.
    await sql`set transaction read only`.execute(trx);
    await sql`
        select set_config('statement_timeout', ${String(timeoutMs)}, true), set_config('timezone', 'UTC', true),
          case when exists (select from pg_roles where rolname = 'bi_reader' and pg_has_role(oid, 'member') and has_schema_privilege(oid, 'bi', 'usage'))
            then set_config('role', 'bi_reader', true) end`.execute(trx);
    // The line break ends a comment at the end of the question.
    // What would not fit is measured where it is, and does not come.
    const { rows } = await sql<{ json: string | null; columns: string[]; cells: (string | null)[] }>`
        select case when fits then q.text end as json,
          case when fits then array(select json_object_keys(q.text::json)) end as columns,
          case when fits then array(select value from json_each_text(q.text::json)) end as cells
        from (
          select question.text, sum(octet_length(question.text)) over (rows unbounded preceding) <= ${MAX_ANSWER_BYTES} as fits
          from (select row_to_json(question)::text as text from (${sql.raw(question)}
          ) as question limit ${limit + 1}) question
        ) q`
      .execute(trx)
      .catch((error: unknown) => {
        throw explain(error, timeoutMs);
      });
    const shown = rows.slice(0, limit).map(({ json, columns, cells }) => {
      if (json === null) throw tooLarge();
      return { json, columns, cells };
    });
    return {
      columns: shown[0]?.columns ?? [],
      rows: shown.map(({ cells }) => cells),
      json: shown.map(({ json }) => json),
      isCut: rows.length > limit,
    };
  });
}

/** What one process can show: more than any screen or spreadsheet does. */
const MAX_ANSWER_BYTES = 32 * 1024 ** 2;

/**
 * Functions that a question must not call: they change the role or a setting, run a text as a statement, or write elsewhere. Names with
 * escapes (U&"…") could hide one.
 */
const REFUSED =
  /\b(?:set_config|\w+_to_xml\w*|ts_stat|ts_rewrite|dblink\w*|lo_\w+|pg_(?:try_)?advisory\w*|pg_notify|nextval|setval)\b|u&"/i;

/** SQLSTATE query_canceled, insufficient_privilege and syntax_error. */
const CANCELLED = '57014';
const NOT_ALLOWED = '42501';
const NOT_SQL = '42601';

function explain(error: unknown, timeoutMs: number): unknown {
  if (!(error instanceof Error) || !('code' in error) || !/^[0-9A-Z]{5}$/.test(String(error.code)))
    return error;
  if (/invalid memory alloc request size|out of memory/.test(error.message)) return tooLarge();
  // The server is gone, or a bug of ours: not the question's fault.
  if (/^(08|53|57P|58|XX)/.test(String(error.code))) return error;
  if (error.code === CANCELLED)
    return failed(
      `It took longer than ${timeoutMs / 1000} s.`,
      'Query fewer days, or raise the limit with --timeout.',
    );
  const hint = 'hint' in error && typeof error.hint === 'string' ? ` ${error.hint}` : '';
  return failed(`${error.message}.${hint}`, HELP[String(error.code)]);
}

const ONE_SELECT = 'Give one statement that selects, for example: select * from bi.runs.';

const ONLY_VIEWS = 'Analysts read the views of schema bi.';

const HELP: Readonly<Record<string, string>> = {
  [NOT_ALLOWED]: ONLY_VIEWS,
  [NOT_SQL]: ONE_SELECT,
};

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
  return new KnownError({
    code: 'query_failed',
    message: `The query failed: ${message}`,
    help,
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}

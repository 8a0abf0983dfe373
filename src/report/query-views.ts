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
 * exists. This guards against accidents, not against who holds DATABASE_URL.
 *
 * @throws KnownError `query_failed` (exit 2) with what Postgres says.
 */
export async function queryViews(db: Database, options: QueryOptions): Promise<QueryResult> {
  const { text, limit, timeoutMs } = options;
  const question = text.trim().replace(/;\s*$/, '');
  if (question === '') throw failed('It is empty.');
  return db.transaction().execute(async (trx) => {
    // Said in SQL: the dialect of the embedded database knows no access modes.
    await sql`set transaction read only`.execute(trx);
    await sql`
        select set_config('statement_timeout', ${String(timeoutMs)}, true), set_config('timezone', 'UTC', true),
          case when exists (select from pg_roles where rolname = 'bi_reader' and pg_has_role(oid, 'member') and has_schema_privilege(oid, 'bi', 'usage'))
            then set_config('role', 'bi_reader', true) end`.execute(trx);
    // The line break ends a comment at the end of the question.
    const { rows } = await sql<{ json: string; columns: string[]; cells: (string | null)[] }>`
        select q.json::text as json, array(select json_object_keys(q.json)) as columns,
          array(select value from json_each_text(q.json)) as cells
        from (select row_to_json(question) as json from (${sql.raw(question)}
        ) as question limit ${limit + 1}) q`
      .execute(trx)
      .catch((error: unknown) => {
        throw explain(error, timeoutMs);
      });
    const shown = rows.slice(0, limit);
    return {
      columns: shown[0]?.columns ?? [],
      rows: shown.map(({ cells }) => cells),
      json: shown.map(({ json }) => json),
      isCut: rows.length > limit,
    };
  });
}

/** SQLSTATE query_canceled, insufficient_privilege and syntax_error. */
const CANCELLED = '57014';
const NOT_ALLOWED = '42501';
const NOT_SQL = '42601';

function explain(error: unknown, timeoutMs: number): unknown {
  if (!(error instanceof Error) || !('code' in error) || !/^[0-9A-Z]{5}$/.test(String(error.code)))
    return error;
  // The server is gone, or a bug of ours: not the question's fault.
  if (/^(08|53|57P|58|XX)/.test(String(error.code))) return error;
  if (error.code === CANCELLED)
    return failed(
      `It took longer than ${timeoutMs / 1000} s.`,
      'Ask for fewer days, or give it longer with --timeout.',
    );
  const hint = 'hint' in error && typeof error.hint === 'string' ? ` ${error.hint}` : '';
  return failed(`${error.message}.${hint}`, HELP[String(error.code)]);
}

const ONE_SELECT =
  'Only one statement is answered, and only one that selects, for example: select * from bi.runs.';

const HELP: Readonly<Record<string, string>> = {
  [NOT_ALLOWED]: 'Analysts read the views of schema bi.',
  [NOT_SQL]: ONE_SELECT,
};

function failed(
  message: string,
  help = `${ONE_SELECT} docs/data-dictionary.md has the views and their columns.`,
): KnownError {
  return new KnownError({
    code: 'query_failed',
    message: `The question could not be answered: ${message}`,
    help,
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}

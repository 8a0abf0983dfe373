import type pg from 'pg';
import { KEEPS_PLAN } from '../keeps-plan.ts';
import type { WireClient } from './cancel-request.ts';

/**
 * Number of executions after which a session plans its prepared statements again. A plan that was made while
 * a table was small is thereby never used for long after the table has grown, even without autovacuum.
 */
const PLAN_AGAIN_AFTER = 64;

/**
 * SQLSTATE invalid_sql_statement_name: the session does not have the statement, because a pooler that was not
 * detected has exchanged it. feature_not_supported: a migration has changed the type of a result. In both
 * cases nothing was executed.
 */
const NOT_EXECUTED: readonly unknown[] = ['26000', '0A000'];

/** Executes a statement in a session. */
export type Execute = (text: string, parameters: readonly unknown[]) => Promise<pg.QueryResult>;

/**
 * Creates the function that executes the statements of one session. It prepares those that are marked with
 * `KEEPS_PLAN`, so that the server parses and plans them once.
 *
 * @param options.ownsSession false behind a pooler, where the next statement may reach another session. Then
 * nothing is prepared.
 */
export function preparingExecutor(
  client: WireClient,
  { ownsSession }: { readonly ownsSession: boolean },
): Execute {
  const names = new Map<string, string>();
  let isPreparing = ownsSession;
  let executions = 0;

  return async (text, parameters) => {
    const values = [...parameters];
    if (!isPreparing || !text.endsWith(KEEPS_PLAN)) return client.query(text, values);
    executions += 1;
    if (executions % PLAN_AGAIN_AFTER === 0) await client.query('discard plans');
    const name = names.get(text) ?? `kept${names.size + 1}`;
    names.set(text, name);
    try {
      return await client.query({ name, text, values });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && NOT_EXECUTED.includes(error.code))) throw error;
      isPreparing = false;
      return client.query(text, values);
    }
  };
}

import type pg from 'pg';
import { errorCode } from '../../core/error-code.ts';
import { CopyRows } from '../copy-rows.ts';
import { KEEPS_PLAN } from '../keeps-plan.ts';
import type { WireClient } from './cancel-request.ts';

/**
 * Number of executions after which a session plans its prepared statements again. A plan that was made while
 * a table was small is thereby never used for long after the table has grown, even without autovacuum.
 */
const PLAN_AGAIN_AFTER = 64;

/**
 * SQLSTATE invalid_sql_statement_name: the session does not have the statement, because a pooler that was not
 * detected has exchanged it. Nothing was executed.
 */
const NOT_PREPARED = '26000';
/**
 * SQLSTATE feature_not_supported: a migration has changed the type of a result since the statement was
 * prepared. Nothing was executed.
 */
const RESULT_CHANGED = '0A000';
/** SQLSTATE in_failed_sql_transaction: an error before this statement has aborted the transaction. */
const IN_ABORTED_TRANSACTION = '25P02';

/** Executes a statement in a session. */
export type Execute = (text: string, parameters: readonly unknown[]) => Promise<Executed>;

/** What Kysely reads of a result. */
export type Executed = Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>;

/**
 * Creates the function that executes the statements of one session. It prepares those that are marked with
 * `KEEPS_PLAN`, so that the server parses and plans them once.
 *
 * If the server no longer has a statement as it was prepared, it is executed unprepared. That is impossible
 * within a transaction, which the error has aborted: the function then throws that error, and its caller may
 * repeat the transaction as a whole.
 *
 * @param options.ownsSession false behind a pooler, where the next statement may reach another session. Then
 * nothing is prepared.
 */
export function preparingExecutor(client: WireClient, { ownsSession }: { ownsSession: boolean }): Execute {
  const names = new Map<string, string>();
  let isPreparing = ownsSession;
  let executions = 0;
  let prepared = 0;

  return async (text, parameters) => {
    const [first] = parameters;
    if (first instanceof CopyRows) {
      // Most commands copy nothing, and start faster without its package.
      const { copyIn } = await import('./copy-in.ts');
      return { command: 'COPY', rowCount: await copyIn(client, text, first), rows: [] };
    }
    const values = [...parameters];
    if (!isPreparing || !text.endsWith(KEEPS_PLAN)) return client.query(text, values);
    executions += 1;
    if (executions % PLAN_AGAIN_AFTER === 0) await client.query('discard plans');
    const name = names.get(text) ?? `kept${++prepared}`;
    names.set(text, name);
    try {
      return await client.query({ name, text, values });
    } catch (error) {
      const code = errorCode(error);
      if (code === NOT_PREPARED) isPreparing = false;
      // Its next execution prepares it again, with the new type.
      else if (code === RESULT_CHANGED) names.delete(text);
      else throw error;
      return client.query(text, values).catch((again: unknown) => {
        throw errorCode(again) === IN_ABORTED_TRANSACTION ? error : again;
      });
    }
  };
}

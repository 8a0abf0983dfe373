import { CompiledQuery } from 'kysely';
import pRetry, { type Options as RetryOptions } from 'p-retry';
import type { Db as BossDatabase, PgBoss } from 'pg-boss';
import { errorCode } from '../../core/error-code.ts';
import { configurationError, type KnownError } from '../../core/known-error.ts';
import { UNIT_KINDS } from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';

/** The queues of units: pg-boss in the database of the ledger, in its own schema. Opened on first use. */
export type WorkQueue = {
  open(): Promise<PgBoss>;
  /** Closes the queues if they were opened, and waits for units that are being performed. */
  close(): Promise<void>;
};

/**
 * The lease of a unit: if its worker has given no heartbeat for so long, another worker starts the unit
 * again. A heartbeat every 5 seconds (`startWorker`) renews it, so a worker may miss two.
 */
export const UNIT_LEASE_SECONDS = 15;
/** How often units of dead workers are searched for. */
const SUPERVISE_SECONDS = 5;
/**
 * After a failure a unit is started again until `ATTEMPTS_AT_MOST` ends it. pg-boss must not end it earlier.
 */
const RETRIES = 20;
const RETRY_AFTER_SECONDS = 1;
const DAY_SECONDS = 86_400;

const QUEUE = {
  heartbeatSeconds: UNIT_LEASE_SECONDS,
  // A unit whose worker is alive never expires.
  expireInSeconds: DAY_SECONDS - 1,
  retryLimit: RETRIES,
  retryDelay: RETRY_AFTER_SECONDS,
  deleteAfterSeconds: DAY_SECONDS,
};

/**
 * Creates the queues on a server. The first process that opens them creates the schema `pgboss`, for which
 * its user needs the privilege to create a schema.
 *
 * @param onTrouble called with errors in the background, which are retried.
 */
export function createWorkQueue(db: Database, onTrouble: (error: Error) => void): WorkQueue {
  let opening: Promise<PgBoss> | null = null;

  async function open(): Promise<PgBoss> {
    const { PgBoss: Boss } = await import('pg-boss');
    const boss = new Boss({
      db: connectionsOf(db),
      // ops.slots replaces the schedules of pg-boss.
      schedule: false,
      superviseIntervalSeconds: SUPERVISE_SECONDS,
      monitorIntervalSeconds: SUPERVISE_SECONDS,
    });
    boss.on('error', onTrouble);
    try {
      await boss.start();
      for (const kind of UNIT_KINDS)
        if ((await boss.getQueue(kind)) === null) await boss.createQueue(kind, QUEUE);
      return boss;
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {});
      throw error instanceof Error && errorCode(error) === REFUSED ? queuesRefused(error) : error;
    }
  }

  return {
    open() {
      opening ??= open().catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    },
    async close() {
      const boss = await opening?.catch(() => null);
      await boss?.stop({ graceful: true });
    },
  };
}

/**
 * Lets pg-boss use our connection pool. pg-boss begins and ends transactions within one text of several
 * statements. If such a text fails, the transaction is still open, so it must be rolled back before another
 * user gets the connection. A text that the server rolled back because of another process is tried again.
 */
function connectionsOf(db: Database): BossDatabase {
  const executeOnce = (text: string, values: unknown[]) =>
    db.connection().execute(async (connection) => {
      try {
        const { rows } = await connection.executeQuery(CompiledQuery.raw(text, values));
        return { rows: [...rows] };
      } catch (error) {
        await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => {});
        throw error;
      }
    });
  return { executeSql: (text, values = []) => pRetry(() => executeOnce(text, values), REPEATING) };
}

/**
 * SQLSTATEs that are retried: deadlock, serialization failure, failed transaction, and objects that another
 * process has just created.
 */
const UNDONE = ['40P01', '40001', '25P02', '42P07', '42710', '23505'];

const REPEATING: RetryOptions = {
  retries: 2,
  minTimeout: 0,
  shouldRetry: ({ error }) => UNDONE.includes(errorCode(error) ?? ''),
};

/** SQLSTATE insufficient_privilege. */
const REFUSED = '42501';

function queuesRefused(cause: Error): KnownError {
  return configurationError({
    code: 'queues_refused',
    message: `The user of the database may not make the queues of units (schema pgboss): ${cause.message}.`,
    help: 'Run  npx influencer-sync migrate --roles  once with this configuration, as the user who owns the tables.',
    safe: 'Nothing was read or sent.',
    cause,
  });
}

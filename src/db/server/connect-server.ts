import {
  Kysely,
  type MigrationLockOptions,
  PostgresAdapter,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  sql,
} from 'kysely';
import pRetry from 'p-retry';
import pg from 'pg';
import { errorCode } from '../../core/error-code.ts';
import { currentPhase } from '../phase.ts';
import { execute } from '../statement.ts';
import type { DB } from '../tables.ts';
import type { WireClient } from './cancel-request.ts';
import { type Executed, preparingExecutor } from './prepared-statements.ts';
import { applicationName, type PreparedSession, prepareSession } from './session.ts';
import { cut, type StatementWatch, watchStatements } from './statement-watch.ts';

/** A connection attempt that takes longer than this is a network problem, not a slow server. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Timeout of the extra connection that is opened while a statement is slow. */
const CONNECT_BESIDE_TIMEOUT_MS = 5_000;
/**
 * Timeout after the server has stopped answering, until it answers again. A run that ends connects several
 * times, and each attempt would otherwise wait for the full timeout.
 */
const RECONNECT_TIMEOUT_MS = 2_000;
/**
 * Idle time after which TCP checks whether the peer is alive. Ten seconds later the connection counts as
 * broken.
 */
const KEEP_ALIVE_AFTER_MS = 10_000;
/** Closing a connection to a dead server would otherwise never end. */
const CLOSE_TIMEOUT_MS = 2_000;
/**
 * A statement outside a transaction that the server rolled back in favour of another one is repeated, at most
 * seven times. The waits are random, so that the same statements do not collide again.
 */
const REPEATING = { retries: 7, minTimeout: 5, randomize: true };

/** How to connect to a server. The embedded database ignores all of them. */
export type ServerOptions = {
  /** `postgres://…`. */
  readonly url: string;
  /** Maximum number of connections. */
  readonly maxConnections?: number;
  /** What the process does with the connection, for a person who inspects the server: `run orders`. */
  readonly purpose?: string;
  /** Time limit of a statement whose phase sets no limit. */
  readonly statementLimitMs?: number;
  /** Minimum memory for each sort and each hash table of a statement, if the server's own setting is smaller. */
  readonly sortMemoryMb?: number;
};

/** Opens a pool of connections to a server, whose statements are watched (`statement-watch.ts`). */
export function connectServer(options: ServerOptions): {
  readonly db: Kysely<DB>;
  readonly cancelAll: () => Promise<void>;
} {
  const application_name = applicationName(options.purpose ?? '');
  const connection = {
    connectionString: options.url,
    application_name,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
  const owned = new WeakSet<object>();
  const pool = new pg.Pool({
    ...connection,
    max: options.maxConnections ?? 8,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    async onConnect(client) {
      const { ownsSession } = await prepared(client as WireClient, options.sortMemoryMb ?? 0);
      if (ownsSession) owned.add(client);
    },
  });
  const clients = new Set<WireClient>();
  const reasons = new WeakMap<object, Error>();
  // If the server closes a connection (a restart), idle or in use, the process must not crash. The query that
  // needs the connection reports the error.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    pool.options.connectionTimeoutMillis = CONNECT_TIMEOUT_MS;
    clients.add(client as WireClient);
    // If an error occurs between two statements, the next statement would only report that the connection
    // cannot be used.
    client.on('error', (error) => reasons.set(client, error));
  });
  pool.on('remove', (client) => clients.delete(client as WireClient));
  const watch = watchStatements({
    limitMs: options.statementLimitMs ?? DEFAULT_STATEMENT_LIMIT_MS,
    applicationName: application_name,
    async connectBeside() {
      const client = new pg.Client({ ...connection, connectionTimeoutMillis: CONNECT_BESIDE_TIMEOUT_MS });
      client.on('error', () => {});
      await client.connect();
      return client;
    },
    onUnreachable(error) {
      pool.options.connectionTimeoutMillis = RECONNECT_TIMEOUT_MS;
      for (const client of clients) cut(client, error);
    },
  });
  const dialect = new ServerDialect({ pool: guarded(pool, { watch, reasons, clients, owned }) });
  return { db: new Kysely<DB>({ dialect }), cancelAll: watch.cancelAll };
}

/**
 * Equals the default of `database.statement_minutes`, for tests and tools that open a database themselves.
 */
const DEFAULT_STATEMENT_LIMIT_MS = 15 * 60_000;

/** Sets up a session within a time limit, because the pool's own limit covers only the handshake. */
async function prepared(client: WireClient, sortMemoryMb: number): Promise<PreparedSession> {
  const error = new Error('timeout exceeded when trying to connect');
  const timer = setTimeout(() => cut(client, error), CONNECT_TIMEOUT_MS);
  try {
    return await prepareSession(client, { sortMemoryMb });
  } finally {
    clearTimeout(timer);
  }
}

type Guard = {
  readonly watch: StatementWatch;
  readonly reasons: WeakMap<object, Error>;
  readonly clients: ReadonlySet<WireClient>;
  /** Clients whose session in the server is theirs alone. */
  readonly owned: WeakSet<object>;
};

/**
 * The pool as Kysely uses it. A connection is always wrapped in the same object, because Kysely identifies
 * connections by that object.
 */
function guarded(pool: pg.Pool, guard: Guard): PostgresPool {
  const known = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    options: {},
    async connect() {
      const client = (await pool.connect()) as WireClient;
      const seen = known.get(client) ?? guardClient(client, guard);
      known.set(client, seen);
      return seen;
    },
    async end() {
      await guard.watch.stop();
      const { promise: isLate, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      const closed = pool.end();
      await Promise.race([closed, isLate]);
      clearTimeout(timer);
      // The remaining connections belong to abandoned work, or to a dead server. They are never released.
      for (const client of guard.clients) cut(client, new Error('Connection terminated'));
    },
  };
}

function guardClient(client: WireClient, { watch, reasons, owned }: Guard): PostgresPoolClient {
  const execute = preparingExecutor(client, { ownsSession: owned.has(client) });
  let isInTransaction = false;
  let wasCancelled = false;

  async function ask(text: string, parameters: readonly unknown[]): Promise<Executed> {
    const statement = watch.begin(client, text);
    const { onStatement } = currentPhase();
    const begunAt = performance.now();
    let code: string | null = null;
    try {
      return await execute(text, parameters);
    } catch (error) {
      code = errorCode(error) ?? 'unknown';
      throw watch.explain(statement, reasons.get(client) ?? error);
    } finally {
      watch.end(statement);
      onStatement?.({ text, seconds: (performance.now() - begunAt) / 1000, code });
      wasCancelled ||= statement.ending !== null;
    }
  }

  /**
   * Repeats a single statement that the server rolled back in favour of another one (a deadlock, a stricter
   * isolation level). It can be repeated unchanged.
   */
  function askAgain(text: string, parameters: readonly unknown[]): Promise<Executed> {
    return pRetry(() => ask(text, parameters), {
      ...REPEATING,
      shouldRetry: ({ error }) => !isInTransaction && UNDONE.includes(errorCode(error) ?? ''),
    });
  }

  return {
    processID: client.processID,
    // Kysely uses a cursor only if the dialect was given one.
    query: (async (text: string, parameters: readonly unknown[]) => {
      if (text !== 'begin') {
        const result = await askAgain(text, parameters);
        if (text === 'commit' || text === 'rollback') isInTransaction = false;
        return result;
      }
      // Behind a pooler we cannot configure the session, but we can configure each transaction.
      const result = await ask('begin isolation level read committed', parameters);
      isInTransaction = true;
      return result;
    }) as unknown as PostgresPoolClient['query'],
    release(destroy) {
      isInTransaction = false;
      // A cancel request may still be on its way, and must not reach another statement of this connection.
      client.release(destroy === true || wasCancelled);
    },
  };
}

/** SQLSTATE serialization_failure and deadlock_detected. */
const UNDONE = ['40001', '40P01'];

/** Kysely's Postgres dialect with a different migration lock. */
export class ServerDialect extends PostgresDialect {
  override createAdapter(): ServerAdapter {
    return new ServerAdapter();
  }
}

/**
 * Locks the table of migrations instead of taking an advisory lock. Any role can take an advisory lock, and
 * it belongs to the session instead of the transaction, so behind a pooler it would stay with a connection
 * that others use. Migrations must run in a transaction, which releases the lock.
 */
class ServerAdapter extends PostgresAdapter {
  override async acquireMigrationLock(db: Kysely<unknown>, options: MigrationLockOptions): Promise<void> {
    const { lockTable, lockTableSchema = 'public' } = options;
    await execute(db)`lock table ${sql.table(`${lockTableSchema}.${lockTable}`)} in exclusive mode`;
  }

  override async releaseMigrationLock(): Promise<void> {}
}

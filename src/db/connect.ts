import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, PGliteDialect } from 'kysely';
import { errorCode } from '../core/error-code.ts';
import { configurationError, KnownError } from '../core/known-error.ts';
import { requireOpenEmbedded } from './move/closed-database.ts';
import type { ServerOptions } from './server/connect-server.ts';
import type { Database } from './statement.ts';
import type { DB } from './tables.ts';

export type { Database };

export type ConnectOptions = ServerOptions & {
  /** Folder of the embedded database (absolute path), which is opened if `url` is empty. */
  readonly embeddedFolder: string;
  /** Opens an embedded database that was moved to a server: to finish the move. */
  readonly isMoving?: boolean;
};

/**
 * OIDs of types that need a parser in the embedded database. In both drivers `int8` and `numeric` stay text,
 * and timestamps become `Date`.
 */
const INT8 = 20;
const NUMERIC = 1700;

/**
 * Opens Postgres (15 or later), or the embedded database if `url` is empty. Loads only the driver that is
 * needed, so that `--help` stays fast.
 *
 * @throws KnownError `database_in_use` (exit 5) if another process has opened the embedded database;
 * `database_moved` (exit 2) if it was moved to a server;
 * `embedded_database_failed` (exit 1).
 */
export async function connect(options: ConnectOptions): Promise<Database> {
  if (options.url === '') return connectEmbedded(options.embeddedFolder, options.isMoving === true);
  const { connectServer } = await import('./server/connect-server.ts');
  const { db, cancelAll } = connectServer(options);
  cancellers().set(db, cancelAll);
  return db;
}

/**
 * Cancels all statements of this process in the server, so that none continues after the process exits.
 * Returns within seconds; the cancelled statements fail where they are awaited. The embedded database ends
 * with the process.
 */
export async function cancelStatements(db: Database): Promise<void> {
  await cancellers().get(db)?.();
}

/** True for a server outside a transaction. The embedded database cannot read rows from its client (`CopyRows`). */
export function canCopy(db: Database): boolean {
  return cancellers().has(db);
}

const known: { cancellers?: WeakMap<Database, () => Promise<void>> } = {};

function cancellers(): WeakMap<Database, () => Promise<void>> {
  known.cancellers ??= new WeakMap();
  return known.cancellers;
}

async function connectEmbedded(folder: string, isMoving: boolean): Promise<Database> {
  const { PGlite } = await import('@electric-sql/pglite');
  const parsers = { [INT8]: (text: string) => text, [NUMERIC]: (text: string) => text };
  const unlock = await takeFolder(folder);
  try {
    if (!isMoving) requireOpenEmbedded(folder);
    const pglite = await PGlite.create({ dataDir: join(folder, 'postgres'), parsers });
    const close = pglite.close.bind(pglite);
    pglite.close = async () => {
      await close();
      unlock();
    };
    const db = new Kysely<DB>({ dialect: new PGliteDialect({ pglite }) });
    // Kysely closes only a connection that was used. Without this, a process that runs no query would not
    // release the folder.
    await db.connection().execute(async () => {});
    return db;
  } catch (cause) {
    unlock();
    if (cause instanceof KnownError) throw cause;
    throw notOpened(folder, cause);
  }
}

/**
 * Creates the folder if it is missing, and locks it for this process. @returns a function that releases the
 * lock.
 */
async function takeFolder(folder: string): Promise<() => void> {
  const { lockFolder } = await import('./server/lock-folder.ts');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return lockFolder(folder);
  } catch (cause) {
    // Another folder, or another owner of this one, is for a person to set.
    if (cause instanceof KnownError) throw cause;
    throw configurationError({ ...notOpened(folder, cause).details, cause });
  }
}

function notOpened(folder: string, cause: unknown): KnownError {
  const code = errorCode(cause);
  return new KnownError({
    code: 'embedded_database_failed',
    message: `The embedded database could not be opened${code === null ? '' : ` (${code})`}.`,
    where: folder,
    help: 'Check that it is a folder, that this user may write to it, and that there is space. Or set database.url of the configuration to a Postgres server.',
    safe: 'Nothing was read or sent.',
    cause,
  });
}

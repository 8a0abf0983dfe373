import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, PGliteDialect } from 'kysely';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import type { DB } from './tables.ts';

/** Every query goes through this type; a function that must run in a transaction takes a `Transaction<DB>` instead. */
export type Database = Kysely<DB>;

export type ConnectOptions = {
  /** `postgres://…`, or empty for the embedded database. */
  readonly url: string;
  /** Where the embedded database lives (absolute path). Not used with a url. */
  readonly embeddedFolder: string;
  /** Connections at most. Not used by the embedded database, which has one. */
  readonly maxConnections?: number;
  /** What the process does with it, for a person who looks at the server: `run orders`. */
  readonly purpose?: string;
  /** A statement of a phase without a limit of its own takes so long at most. The embedded database cannot be interrupted. */
  readonly statementLimitMs?: number;
};

/** `int8` and `numeric` stay text and instants become Date, in both drivers alike. */
const INT8 = 20;
const NUMERIC = 1700;

/**
 * Opens Postgres (15 and later), or the embedded database where `url` is empty.
 * Loads only the driver that it needs, so that `--help` stays quick.
 *
 * @throws KnownError `database_in_use` (exit 5) when another process has the embedded database open; `embedded_database_failed` (exit 1).
 */
export async function connect(options: ConnectOptions): Promise<Database> {
  if (options.url === '') return connectEmbedded(options.embeddedFolder);
  const { connectServer } = await import('./server/connect-server.ts');
  const { db, cancelAll } = connectServer(options);
  cancellers().set(db, cancelAll);
  return db;
}

/**
 * Cancels in the server whatever this process has it do, so that nothing goes on there when the process exits. Returns within seconds; the
 * statements fail where they are waited for. The embedded database ends with the process.
 */
export async function cancelStatements(db: Database): Promise<void> {
  await cancellers().get(db)?.();
}

const known: { cancellers?: WeakMap<Database, () => Promise<void>> } = {};

function cancellers(): WeakMap<Database, () => Promise<void>> {
  known.cancellers ??= new WeakMap();
  return known.cancellers;
}

async function connectEmbedded(folder: string): Promise<Database> {
  const { PGlite } = await import('@electric-sql/pglite');
  const parsers = { [INT8]: (text: string) => text, [NUMERIC]: (text: string) => text };
  const unlock = await takeFolder(folder);
  try {
    const pglite = await PGlite.create({ dataDir: join(folder, 'postgres'), parsers });
    const close = pglite.close.bind(pglite);
    pglite.close = async () => {
      await close();
      unlock();
    };
    const db = new Kysely<DB>({ dialect: new PGliteDialect({ pglite }) });
    // Kysely closes only what it has begun to use: who asks nothing would not give the folder back.
    await db.connection().execute(async () => {});
    return db;
  } catch (cause) {
    unlock();
    throw notOpened(folder, cause);
  }
}

/** Makes the folder where there is none, and takes it for this process. @returns a function that gives it back. */
async function takeFolder(folder: string): Promise<() => void> {
  const { lockFolder } = await import('./server/lock-folder.ts');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return lockFolder(folder);
  } catch (cause) {
    throw cause instanceof KnownError ? cause : notOpened(folder, cause);
  }
}

function notOpened(folder: string, cause: unknown): KnownError {
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new KnownError({
    code: 'embedded_database_failed',
    message: `The embedded database could not be opened${code}.`,
    where: folder,
    help: 'Check that it is a folder, that this user may write to it, and that there is space. Or set database.url of the configuration to a Postgres server.',
    safe: 'Nothing was read or sent.',
    exitCode: EXIT.crash,
    cause,
  });
}

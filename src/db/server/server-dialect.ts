import { type Kysely, type MigrationLockOptions, PostgresAdapter, PostgresDialect, sql } from 'kysely';

/** Kysely's dialect of Postgres, except for the lock that processes take turns with when they migrate. */
export class ServerDialect extends PostgresDialect {
  override createAdapter(): ServerAdapter {
    return new ServerAdapter();
  }
}

/**
 * Locks the table of migrations instead of taking an advisory lock, which every role can take, and which belongs to a session and not to a
 * transaction: behind a pooler it would stay with a connection that others use. Migrations must run in a transaction, which releases it.
 */
class ServerAdapter extends PostgresAdapter {
  override async acquireMigrationLock(db: Kysely<unknown>, options: MigrationLockOptions): Promise<void> {
    const { lockTable, lockTableSchema = 'public' } = options;
    await sql`lock table ${sql.table(`${lockTableSchema}.${lockTable}`)} in exclusive mode`.execute(db);
  }

  override async releaseMigrationLock(): Promise<void> {}
}
